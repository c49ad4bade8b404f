/* Properties held here: who looks on sees what the books say, and changes nothing.
 *   - stays of one piece of hardware come in their order and never overlap;
 *   - those that carry add up to its busy time, those that switch to its switching, whatever the policy, also where a
 *     run ends in the middle and where whole switches go dark;
 *   - a circuit of its own scope switches for exactly its reconfiguration;
 *   - the hash of a run is the same with and without an observer;
 *   - fabrics without circuits show each transfer once, at its source. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "network_world.h"
#include "figures.h"

enum { TRANSFERS = 120, CASES = 24, HARDWARE_MAX = 1 << 16 };

struct seen {
    uint64_t hardware;
    sim_time end, light[3];
};

/* All that was told, by hardware. */
struct watch {
    struct seen *items;
    size_t count;
    uint64_t stays, overlaps, odd_switching, bytes;
    sim_time reconfiguration;
};

static struct seen *seen_of(struct watch *watch, uint64_t hardware)
{
    size_t place = (size_t)(hardware * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    while (watch->items[place].hardware != 0 && watch->items[place].hardware != hardware + 1)
        place = (place + 1) % HARDWARE_MAX;
    watch->count += watch->items[place].hardware == 0;
    CU_ASSERT_FATAL(watch->count < HARDWARE_MAX / 2);
    watch->items[place].hardware = hardware + 1;
    return &watch->items[place];
}

static void on_stay(void *context, const struct network *network, const struct network_stay *stay)
{
    struct watch *watch = context;
    struct seen *seen = seen_of(watch, stay->hardware);
    CU_ASSERT_EQUAL(stay->end > engine_now(network_engine(network)), false);
    watch->stays++;
    watch->overlaps += stay->start < seen->end || stay->start >= stay->end;
    watch->odd_switching += stay->light == NETWORK_SWITCHING && stay->end - stay->start != watch->reconfiguration;
    watch->bytes += stay->bytes;
    seen->end = stay->end;
    seen->light[stay->light] += stay->end - stay->start;
}

/* What is open when somebody looks at the books before the end comes later; so the books are read behind the last stay
 * of each, which network_destroy tells. */
struct books {
    struct hardware_use *items;
    size_t count;
};

static void keep_use(void *context, const struct hardware_use *use)
{
    struct books *books = context;
    CU_ASSERT_FATAL(books->count < HARDWARE_MAX);
    books->items[books->count++] = *use;
}

static void send_at_random(struct world *world, struct random_stream *draws)
{
    uint32_t nodes = world->topology.server_count;
    for (int i = 0; i < TRANSFERS; i++) {
        struct transfer_request request = {.source = (uint32_t)random_below(draws, nodes),
                                           .target = (uint32_t)random_below(draws, nodes),
                                           .bytes = 1 + random_below(draws, 4000000)};
        struct error error = {0};
        if (request.source == request.target)
            continue;
        CU_ASSERT_EQUAL_FATAL(network_send(world->network, &request, NULL, &error), STATUS_OK);
        if (random_below(draws, 3) == 0)
            engine_run(world->engine, engine_now(world->engine) + (sim_time)random_below(draws, 3000000));
    }
}

/* One run; until < 0 runs to the end. Returns its hash. */
static uint64_t run_once(struct world *world, uint64_t seed, sim_time until, struct books *books)
{
    struct random_stream *draws = random_open(seed, "observed transfers", 0);
    world_start(world);
    send_at_random(world, draws);
    engine_run(world->engine, until < 0 ? SIM_TIME_MAX : engine_now(world->engine) + until);
    books->count = 0;
    network_visit_hardware(world->network, keep_use, books);
    uint64_t hash = engine_trace_hash(world->engine);
    world_stop(world);
    random_close(draws);
    return hash;
}

/* Runs twice, with and without; compares hashes. The caller frees watch->items and books->items. */
static void observe(struct world *world, uint64_t seed, sim_time until, struct watch *watch, struct books *books)
{
    const struct network_observer observer = {on_stay, watch};
    watch->items = memory_alloc(HARDWARE_MAX, sizeof *watch->items);
    books->items = memory_alloc(HARDWARE_MAX, sizeof *books->items);
    uint64_t alone = run_once(world, seed, until, books);
    world->options.observer = &observer;
    CU_ASSERT_EQUAL(run_once(world, seed, until, books), alone);
    world->options.observer = NULL;
    CU_ASSERT(watch->stays > TRANSFERS);
    CU_ASSERT_EQUAL(watch->overlaps, 0);
}

static void compare_books(struct watch *watch, const struct books *books)
{
    size_t wrong = 0, used = 0;
    for (size_t i = 0; i < books->count; i++) {
        const struct seen *seen = seen_of(watch, books->items[i].hardware);
        wrong += seen->light[NETWORK_CARRYING] != books->items[i].busy;
        wrong += seen->light[NETWORK_SWITCHING] != books->items[i].switching;
        wrong += seen->light[NETWORK_IDLE] > books->items[i].idle;
        used += books->items[i].busy > 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(used > 10);
}

static void check_fabric(const char *path, bool is_switch_scope, sim_time reconfiguration)
{
    struct world world;
    world_open(&world, path);
    if (is_switch_scope)
        figure_choose(&world.topology, "ocs.scope", "switch");
    if (strstr(path, "ocs"))
        *figure_whole(&world.topology, "ocs.reconfiguration") = reconfiguration;
    for (uint64_t i = 0; i < CASES; i++) {
        struct watch watch = {.reconfiguration = reconfiguration};
        struct books books = {0};
        bool is_cut = i % 2;
        world.options = (struct network_options){.order = (enum network_order)(i / 2 % 3),
                                                 .circuits = (enum network_circuits)(i / 6 % 3),
                                                 .linger_ps = 2000000};
        observe(&world, i, is_cut ? 1500000 : -1, &watch, &books);
        compare_books(&watch, &books);
        if (!is_cut && !is_switch_scope)
            CU_ASSERT_EQUAL(watch.odd_switching, 0);
        free(watch.items);
        free(books.items);
    }
    topology_free(&world.topology);
}

static void test_books(void)
{
    check_fabric("topologies/ramp-32.yaml", false, 1000);
    check_fabric("topologies/ocs-32.yaml", false, 700000);
    check_fabric("topologies/awgr-32.yaml", false, 3840);
    check_fabric("topologies/ring-32.yaml", false, 25000000);
}

static void test_stopped_switches(void)
{
    check_fabric("topologies/ocs-32.yaml", true, 700000);
}

/* One transfer, one hold, and the hardware of another pair: what is told, word for word. */
static void test_one_circuit(void)
{
    struct world world;
    struct watch watch = {.reconfiguration = 1000};
    const struct network_observer observer = {on_stay, &watch};
    struct transfer_report report;
    char text[NETWORK_TEXT_BYTES];
    watch.items = memory_alloc(HARDWARE_MAX, sizeof *watch.items);
    world_open(&world, "topologies/ramp-32.yaml");
    world.options = (struct network_options){.circuits = NETWORK_HOLD, .observer = &observer};
    world_start(&world);
    network_describe(world.network, 0, text);
    CU_ASSERT_STRING_EQUAL(text, "transmitter 0 of 0-0-0");
    world_send(&world, 0, 9, 8000, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    sim_time carried = report.payload, latency = report.latency;
    CU_ASSERT_EQUAL(watch.stays, 6); /* transmitter, receiver, wavelength: switching and lit */
    engine_run(world.engine, report.end + 5000000);
    world_send(&world, 0, 9, 8000, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(watch.stays, 12); /* idle and lit; no switching */
    world_stop(&world);
    CU_ASSERT_EQUAL(watch.stays, 15); /* idle while the last bits are in flight */
    CU_ASSERT_EQUAL(watch.count, 3);
    CU_ASSERT_EQUAL(watch.odd_switching, 0);
    CU_ASSERT_EQUAL(watch.overlaps, 0);
    for (size_t i = 0; i < HARDWARE_MAX; i++) {
        if (watch.items[i].hardware == 0)
            continue;
        CU_ASSERT_EQUAL(watch.items[i].light[NETWORK_SWITCHING], 1000);
        CU_ASSERT_EQUAL(watch.items[i].light[NETWORK_CARRYING], 2 * carried);
        CU_ASSERT_EQUAL(watch.items[i].light[NETWORK_IDLE], 5000000 + 2 * latency);
    }
    free(watch.items);
    topology_free(&world.topology);
}

static void count_stay(void *context, const struct network *network, const struct network_stay *stay)
{
    struct watch *watch = context;
    watch->stays++;
    watch->bytes += stay->bytes;
    CU_ASSERT_EQUAL(stay->light, NETWORK_CARRYING);
    CU_ASSERT_EQUAL(stay->hardware, stay->source);
    CU_ASSERT(stay->start < stay->end && stay->end <= engine_now(network_engine(network)));
}

/* To an instant at which some transfers are over and some are under way. */
static void run_into_the_middle(struct world *world)
{
    struct network_totals totals;
    do {
        engine_run(world->engine, engine_now(world->engine) + 1000000);
        totals = network_totals(world->network);
    } while (network_unfinished(world->network) && (totals.done <= 20 || totals.moving == 0));
}

static void test_other_fabrics(void)
{
    static const char *const paths[] = {"topologies/rotor-32.yaml", "topologies/static-32.yaml",
                                        "topologies/packet-32.yaml"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            struct world world;
            struct watch watch = {0};
            const struct network_observer observer = {count_stay, &watch};
            struct random_stream *draws = random_open(7, "observed transfers", 0);
            char text[NETWORK_TEXT_BYTES];
            world_open(&world, paths[i]);
            world.options.observer = &observer;
            world_start(&world);
            send_at_random(&world, draws);
            run_into_the_middle(&world);
            if (!is_cut)
                engine_run(world.engine, SIM_TIME_MAX);
            struct network_totals totals = network_totals(world.network);
            network_describe(world.network, 1, text);
            CU_ASSERT_STRING_EQUAL(text, "transfers from 0-0-1");
            world_close(&world);
            CU_ASSERT(totals.done > 20 && (is_cut ? totals.moving > 0 : totals.moving == 0));
            CU_ASSERT_EQUAL(watch.stays, totals.done + totals.moving);
            CU_ASSERT_EQUAL(watch.bytes, (uint64_t)totals.bytes_sent);
            random_close(draws);
        }
}

void suite_network_observer(void)
{
    CU_pSuite suite = CU_add_suite("network observer", NULL, NULL);
    CU_add_test(suite, "one circuit", test_one_circuit);
    CU_add_test(suite, "stays add up to the books", test_books);
    CU_add_test(suite, "switches that stop as a whole", test_stopped_switches);
    CU_add_test(suite, "fabrics without circuits", test_other_fabrics);
}
