/* The network against a second one that is slow and simple, and against order.
 *
 * Properties: on random small cases of each fabric with circuits, under every policy, every transfer of the fast
 * network ends when the slow one says, having waited and switched as long; and on a fixed order of transfers, more rate
 * or less delay never ends one later, nor does doubling the reconfiguration end one earlier.
 */
#include "suites.h"

#include <stdio.h>

#include "engine/random.h"
#include "network_world.h"
#include "reference_network.h"
#include "figures.h"

enum { CASES = 2000, TRANSFERS = 40, ORDERED_CASES = 10000, ORDERED_TRANSFERS = 8 };

struct sender {
    struct world *world;
    struct reference_transfer *transfers;
    struct transfer_report *reports;
};

static void on_send(struct engine *engine, const struct event *event, void *context)
{
    struct sender *sender = context;
    const struct reference_transfer *x = &sender->transfers[event->entity];
    struct transfer_request request = {.source = x->source,
                                       .target = x->targets[0],
                                       .targets = x->target_count > 1 ? x->targets : NULL,
                                       .target_count = x->target_count,
                                       .bytes = x->bytes,
                                       .priority = x->priority,
                                       .lanes = x->lanes,
                                       .first_lane = x->first_lane,
                                       .is_cleared_when_blocked = x->is_cleared_when_blocked,
                                       .done = world_keep,
                                       .context = &sender->reports[event->entity]};
    struct error error;
    (void)engine;
    sender->reports[event->entity].end = -1;
    CU_ASSERT_EQUAL_FATAL(network_send(sender->world->network, &request, NULL, &error), STATUS_OK);
}

static void run_fast(struct world *world, struct reference_transfer *transfers, struct transfer_report *reports,
                     int count)
{
    struct sender sender = {world, transfers, reports};
    world_start(world);
    engine_on(world->engine, WORLD_SEND_KIND, on_send, &sender);
    for (int i = 0; i < count; i++)
        (void)engine_schedule(world->engine, transfers[i].sent, 0, WORLD_SEND_KIND, (uint32_t)i, 0);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world->network), 0);
    world_stop(world);
}

static void draw_targets(const struct world *world, struct random_stream *draws, bool can_multicast, uint32_t nodes,
                         struct reference_transfer *x)
{
    x->target_count = can_multicast && random_below(draws, 8) == 0 ? 2 + (uint32_t)random_below(draws, 2) : 1;
    uint32_t step = 1 + (uint32_t)random_below(draws, nodes / REFERENCE_TARGETS - 1);
    for (uint32_t i = 0; i < x->target_count; i++)
        x->targets[i] = (x->source + (i + 1) * step) % nodes;
    (void)world;
}

/* Few nodes and few distinct times, so that hardware is fought over and instants coincide. */
static void draw_transfers(const struct world *world, struct random_stream *draws, int lanes_max,
                           struct reference_transfer *transfers)
{
    bool is_ramp = world->topology.fabric.strategy->name[0] == 'r';
    uint32_t nodes = 6 + (uint32_t)random_below(draws, world->topology.server_count - 5);
    int64_t span = INT64_C(1) << random_below(draws, 8), unit = INT64_C(100000) << random_below(draws, 4), sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        struct reference_transfer *x = &transfers[i];
        *x = (struct reference_transfer){.source = (uint32_t)random_below(draws, nodes)};
        sent += random_below(draws, 3) == 0 ? (int64_t)random_below(draws, (uint64_t)span) * unit : 0;
        x->sent = sent;
        x->bytes = (1 + random_below(draws, 5)) * 100000 * (1 + random_below(draws, 20));
        x->priority = (int64_t)random_below(draws, 3) - 1;
        draw_targets(world, draws, is_ramp, nodes, x);
        x->is_cleared_when_blocked = random_below(draws, 10) == 0;
        if (lanes_max > 1 && random_below(draws, 4) == 0)
            x->lanes = (uint16_t)(1 + random_below(draws, (uint64_t)lanes_max));
        if (is_ramp && random_below(draws, 4) == 0)
            x->first_lane = (uint16_t)(1 + random_below(draws, (uint64_t)lanes_max));
    }
}

static void draw_options(struct world *world, struct random_stream *draws)
{
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3),
                                              .is_strict = random_below(draws, 4) == 0,
                                              .circuits = (enum network_circuits)random_below(draws, 4)};
    world->options.linger_ps = (int64_t)random_below(draws, 5) * 1000000;
}

static void compare(struct world *world, struct random_stream *draws, int lanes_max)
{
    struct reference_transfer transfers[TRANSFERS];
    struct transfer_report reports[TRANSFERS];
    int wrong = 0;
    draw_options(world, draws);
    draw_transfers(world, draws, lanes_max, transfers);
    run_fast(world, transfers, reports, TRANSFERS);
    reference_network_run(&world->topology, &world->options, transfers, TRANSFERS);
    for (int i = 0; i < TRANSFERS; i++)
        wrong += transfers[i].end != reports[i].end || transfers[i].was_cleared != reports[i].is_cleared ||
                 transfers[i].wait != reports[i].wait || transfers[i].reconfiguration != reports[i].reconfiguration;
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_ramp(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    struct random_stream *draws = random_open(1, "reference ramp", 0);
    for (int i = 0; i < CASES; i++) {
        *figure_whole(&world.topology, "ramp.planes") = 1 + (int64_t)random_below(draws, 4);
        *figure_whole(&world.topology, "ramp.slot") = random_below(draws, 2) ? 20000 : 0;
        *figure_whole(&world.topology, "ramp.reconfiguration") = (int64_t)random_below(draws, 3) * 1000000;
        compare(&world, draws, 4);
    }
    random_close(draws);
    topology_free(&world.topology);
}

static void test_ocs(void)
{
    struct world world;
    world_open(&world, "topologies/ocs-32.yaml");
    struct random_stream *draws = random_open(1, "reference ocs", 0);
    for (int i = 0; i < CASES; i++) {
        bool is_all_stop = random_below(draws, 2) == 0;
        figure_choose(&world.topology, "ocs.scope", is_all_stop ? "switch" : "port");
        *figure_whole(&world.topology, "ocs.switches") = 1 + (int64_t)random_below(draws, 4);
        *figure_whole(&world.topology, "ocs.reconfiguration") = (int64_t)random_below(draws, 4) * 500000;
        compare(&world, draws, is_all_stop ? 1 : (int)*figure_whole(&world.topology, "ocs.switches"));
    }
    random_close(draws);
    topology_free(&world.topology);
}

static void test_awgr(void)
{
    struct world world;
    world_open(&world, "topologies/awgr-32.yaml");
    struct random_stream *draws = random_open(1, "reference awgr", 0);
    for (int i = 0; i < CASES; i++) {
        *figure_whole(&world.topology, "awgr.wavelengths") = 3 + (int64_t)random_below(draws, 30);
        *figure_whole(&world.topology, "awgr.planes") = 1 + (int64_t)random_below(draws, 3);
        *figure_whole(&world.topology, "awgr.reconfiguration") = (int64_t)random_below(draws, 4) * 500000;
        compare(&world, draws, (int)*figure_whole(&world.topology, "awgr.planes"));
    }
    random_close(draws);
    topology_free(&world.topology);
}

/* Strict order and no reuse: a transfer starts behind the one before it and behind whoever had its hardware, so ends
 * are sums and maxima of durations, which cannot go down when one of these goes up. */
static void run_ordered(struct world *world, struct reference_transfer *transfers, sim_time *ends)
{
    struct transfer_report reports[ORDERED_TRANSFERS];
    run_fast(world, transfers, reports, ORDERED_TRANSFERS);
    for (int i = 0; i < ORDERED_TRANSFERS; i++)
        ends[i] = reports[i].end;
}

static int count_earlier(const sim_time *these, const sim_time *those)
{
    int earlier = 0;
    for (int i = 0; i < ORDERED_TRANSFERS; i++)
        earlier += these[i] < those[i];
    return earlier;
}

static void check_order(struct world *world, struct random_stream *draws)
{
    struct reference_transfer transfers[ORDERED_TRANSFERS];
    sim_time base[ORDERED_TRANSFERS], changed[ORDERED_TRANSFERS];
    struct topology *t = &world->topology;
    for (int i = 0; i < ORDERED_TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, 6);
        transfers[i] = (struct reference_transfer){.source = source,
                                                   .targets = {(source + 1 + (uint32_t)random_below(draws, 5)) % 6},
                                                   .target_count = 1,
                                                   .bytes = 1 + random_below(draws, 1000000)};
    }
    t->node_rate_bytes_per_s = 1e12 + (double)random_below(draws, 1000000000000);
    t->reconfiguration_ps = 1 + (int64_t)random_below(draws, 1000000);
    struct topology kept = *t;
    run_ordered(world, transfers, base);
    t->reconfiguration_ps *= 2;
    run_ordered(world, transfers, changed);
    CU_ASSERT_EQUAL(count_earlier(changed, base), 0);
    *t = kept;
    t->node_rate_bytes_per_s *= 1 + random_uniform(draws);
    run_ordered(world, transfers, changed);
    CU_ASSERT_EQUAL(count_earlier(base, changed), 0);
    *t = kept;
    t->propagation_ps = (int64_t)random_below(draws, 50000);
    run_ordered(world, transfers, changed);
    CU_ASSERT_EQUAL(count_earlier(base, changed), 0);
    *t = kept;
}

static void test_monotone(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-8.yaml");
    struct random_stream *draws = random_open(1, "monotone", 0);
    world.options = (struct network_options){.is_strict = true, .circuits = NETWORK_TEARDOWN};
    for (int i = 0; i < ORDERED_CASES; i++)
        check_order(&world, draws);
    random_close(draws);
    topology_free(&world.topology);
}

void suite_network_reference(void)
{
    CU_pSuite suite = CU_add_suite("network reference", NULL, NULL);
    CU_add_test(suite, "ramp ends when the reference says", test_ramp);
    CU_add_test(suite, "ocs ends when the reference says", test_ocs);
    CU_add_test(suite, "awgr ends when the reference says", test_awgr);
    CU_add_test(suite, "more rate or less delay never ends later", test_monotone);
}
