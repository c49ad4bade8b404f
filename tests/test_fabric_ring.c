/* The ring of fibres. Properties: closed forms to the picosecond; a wavelength is shared by disjoint arcs and both
 * directions and never by overlapping ones; the other arc only with first_fit; lanes; what cannot be is refused; 2500
 * random cases end as the slow ring says; sets of bits and trees of masks agree with booleans; a gap finds whom a plain
 * list finds.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/ring_bits.h"
#include "fabric/ring_masks.h"
#include "fabric/ring_waiting.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 2500, TRANSFERS = 50, LATENCY = 250000, TUNING = 25000000, MEGABYTE = 1000000 };
/* 1.6TB/s over 64 micro-rings: 25GB/s, 40us a megabyte. */
#define PAYLOAD INT64_C(40000000)

static void open_small(struct world *world, uint32_t servers, int64_t wavelengths, int64_t transceivers)
{
    world_open(world, "topologies/ring-32.yaml");
    world->topology.groups = servers;
    world->topology.racks_per_group = world->topology.servers_per_rack = 1;
    world->topology.server_count = world->topology.device_count = servers;
    *figure_whole(&world->topology, "ring.wavelengths") = wavelengths;
    world->topology.node_rate_bytes_per_s = 25e9 * (double)transceivers;
    *figure_whole(&world->topology, "ring.transceivers") = transceivers;
}

static void test_one(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/ring-32.yaml");
    world_start(&world);
    world_send(&world, 3, 9, MEGABYTE, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, TUNING + LATENCY + PAYLOAD);
    CU_ASSERT_EQUAL(report.reconfiguration, TUNING);
    CU_ASSERT_EQUAL(report.latency, LATENCY);
    CU_ASSERT_EQUAL(report.payload, PAYLOAD);
    CU_ASSERT_EQUAL(report.wait, 0);
    world_close(&world);
}

/* The second transfer of a pair, sent when the first has ended. */
static sim_time second_of(enum network_circuits circuits)
{
    struct world world;
    struct transfer_report report;
    open_small(&world, 8, 2, 2);
    world.options.circuits = circuits;
    world_start(&world);
    world_send(&world, 0, 3, MEGABYTE, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    world_send(&world, 0, 3, MEGABYTE, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    world_close(&world);
    return report.end - report.start;
}

static void test_two(void)
{
    CU_ASSERT_EQUAL(second_of(NETWORK_HOLD), LATENCY + PAYLOAD);
    CU_ASSERT_EQUAL(second_of(NETWORK_TEARDOWN), TUNING + LATENCY + PAYLOAD);
}

/* What the second of two transfers waits on one wavelength. */
static sim_time wait_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d, const char *route)
{
    struct world world;
    struct transfer_report first, second;
    open_small(&world, 8, 1, 2);
    figure_choose(&world.topology, "ring.route", route);
    world_start(&world);
    world_send(&world, a, b, MEGABYTE, &first);
    world_send(&world, c, d, MEGABYTE, &second);
    engine_run(world.engine, SIM_TIME_MAX);
    world_close(&world);
    return second.wait;
}

static void test_reuse(void)
{
    sim_time whole = TUNING + PAYLOAD;
    CU_ASSERT_EQUAL(wait_of(0, 2, 2, 4, "shortest"), 0);
    CU_ASSERT_EQUAL(wait_of(0, 3, 5, 1, "shortest"), whole); /* 5 to 1 goes up through 0 */
    CU_ASSERT_EQUAL(wait_of(0, 2, 1, 3, "shortest"), whole);
    CU_ASSERT_EQUAL(wait_of(0, 2, 2, 0, "shortest"), 0);
    CU_ASSERT_EQUAL(wait_of(6, 1, 0, 2, "shortest"), whole);
    CU_ASSERT_EQUAL(wait_of(0, 2, 1, 3, "first_fit"), 0);
    CU_ASSERT_EQUAL(wait_of(0, 4, 0, 4, "first_fit"), 0);
    CU_ASSERT_EQUAL(wait_of(0, 4, 0, 4, "shortest"), whole);
}

static enum status try_send(struct world *world, uint32_t source, uint32_t target, uint64_t bytes, uint16_t lanes)
{
    struct error error = {0};
    struct transfer_request request = {.source = source, .target = target, .bytes = bytes, .lanes = lanes};
    enum status status = network_send(world->network, &request, NULL, &error);
    CU_ASSERT(status == STATUS_OK || strlen(error.message) > 10);
    return status;
}

static void test_impossible(void)
{
    struct world world;
    struct error error = {0};
    open_small(&world, 1, 4, 4);
    world.engine = engine_create();
    CU_ASSERT_EQUAL(network_create(world.engine, &world.topology, &world.options, &world.network, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "2 servers"));
    world_close(&world);
    open_small(&world, 8, 3, 4);
    world.topology.node_rate_bytes_per_s = 3;
    world.engine = engine_create();
    CU_ASSERT_EQUAL(network_create(world.engine, &world.topology, &world.options, &world.network, &error), STATUS_USER);
    world_close(&world);
    open_small(&world, 8, 3, 4);
    world_start(&world);
    CU_ASSERT_EQUAL(try_send(&world, 0, 4, 1000, 4), STATUS_USER); /* more wavelengths than there are */
    CU_ASSERT_EQUAL(try_send(&world, 0, 4, 1000, 3), STATUS_OK);
    CU_ASSERT_EQUAL(try_send(&world, 0, 8, 1000, 1), STATUS_USER);
    CU_ASSERT_EQUAL(try_send(&world, 0, 4, UINT64_C(1) << 60, 1), STATUS_USER);
    CU_ASSERT_EQUAL(try_send(&world, 0, 4, 0, 1), STATUS_OK);
    CU_ASSERT_EQUAL(try_send(&world, 5, 5, 1000, 1), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    CU_ASSERT_EQUAL(network_totals(world.network).local, 2);
    world_close(&world);
}

static void draw(struct world *world, struct random_stream *draws, struct slow_transfer *transfers)
{
    struct topology *t = &world->topology;
    t->server_count = t->device_count = 2 + (uint32_t)random_below(draws, 19);
    t->groups = t->server_count;
    *figure_whole(t, "ring.wavelengths") = 1 + (int64_t)random_below(draws, 4);
    *figure_whole(t, "ring.transceivers") = 1 + (int64_t)random_below(draws, 3);
    *figure_whole(t, "ring.reconfiguration") = (int64_t)random_below(draws, 3) * 1000;
    figure_choose(t, "ring.route", random_below(draws, 2) ? "first_fit" : "shortest");
    t->node_rate_bytes_per_s = 1e12 * (double)*figure_whole(t, "ring.transceivers");
    t->propagation_ps = (int64_t)random_below(draws, 3) * 100;
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3),
                                              .is_strict = random_below(draws, 4) == 0,
                                              .circuits = (enum network_circuits)random_below(draws, 4),
                                              .linger_ps = (int64_t)random_below(draws, 4) * 1000};
    uint64_t most = (uint64_t)(*figure_whole(t, "ring.wavelengths") < *figure_whole(t, "ring.transceivers")
                                   ? *figure_whole(t, "ring.wavelengths")
                                   : *figure_whole(t, "ring.transceivers"));
    int64_t sent = 0, span = (int64_t)1 << random_below(draws, 6);
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, t->server_count);
        uint32_t further = 1 + (uint32_t)random_below(draws, t->server_count - 1);
        sent += (int64_t)random_below(draws, (uint64_t)span) * 250;
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 500 * (1 + random_below(draws, 8)),
                                              .priority = (int64_t)random_below(draws, 3) - 1,
                                              .source = source,
                                              .target = (source + further) % t->server_count,
                                              .lanes = (uint16_t)(1 + random_below(draws, most)),
                                              .is_cleared_when_blocked = random_below(draws, 10) == 0};
    }
}

static void test_reference(void)
{
    struct world world;
    int wrong = 0;
    open_small(&world, 8, 2, 2);
    struct random_stream *draws = random_open(1, "reference ring", 0);
    for (int i = 0; i < CASES; i++) {
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report reports[TRANSFERS];
        draw(&world, draws, transfers);
        (void)fast_run(&world, transfers, reports, TRANSFERS);
        slow_ring(&world, transfers, TRANSFERS);
        wrong += slow_differences(transfers, reports, TRANSFERS);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
    topology_free(&world.topology);
}

static void test_bits(void)
{
    enum { SIZE = 200 };
    struct random_stream *draws = random_open(1, "ring bits", 0);
    int wrong = 0;
    for (int round = 0; round < 2000; round++) {
        uint32_t n = 1 + (uint32_t)random_below(draws, SIZE);
        uint64_t bits[(SIZE + 63) / 64] = {0};
        bool plain[SIZE] = {false};
        for (int i = 0; i < 6; i++) {
            uint32_t first = (uint32_t)random_below(draws, n), changed = (uint32_t)random_below(draws, n);
            ring_bits_put(bits, changed, !plain[changed]);
            plain[changed] = !plain[changed];
            uint32_t next = first, back = first, steps = 0;
            while (next < n && !plain[next])
                next++;
            for (; !plain[back] && steps < n; steps++)
                back = (back + n - 1) % n;
            wrong += ring_bits_next(bits, first, n) != next;
            wrong += steps < n && ring_bits_back(bits, n, first) != back;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
}

enum { SEGMENTS = 40, WAVES = 70, ARCS = 12 };

/* Taken wavelengths as plain booleans. */
struct plain_ring {
    uint32_t n;
    bool is_taken[WAVES][SEGMENTS];
};

struct plain_arc {
    uint32_t wave, first, length;
    bool is_taken;
};

static bool is_free_on(const struct plain_ring *plain, uint32_t wave, uint32_t first, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (plain->is_taken[wave][(first + i) % plain->n])
            return false;
    return true;
}

static int differences_of_arc(const struct ring_masks *masks, const struct plain_ring *plain, uint32_t first,
                              uint32_t length)
{
    uint64_t mask[(WAVES + 63) / 64] = {0};
    int wrong = 0;
    ring_masks_add(masks, first, length, mask);
    for (uint32_t wave = 0; wave < WAVES; wave++)
        wrong += is_free_on(plain, wave, first, length) == ring_bits_has(mask, wave);
    return wrong;
}

static int differences_of_gap(const struct ring_masks *masks, const struct plain_ring *plain, uint32_t wave,
                              uint32_t at)
{
    uint32_t n = plain->n, from = 0, before = 0, answer_from, answer_before, taken = ring_masks_taken(masks, wave, at);
    if (plain->is_taken[wave][at]) {
        for (uint32_t i = 0; i < taken; i++)
            if (at + i >= n || !plain->is_taken[wave][at + i])
                return 1;
        return taken == 0;
    }
    while (from < n && !plain->is_taken[wave][(at + from) % n])
        from++;
    while (before < n && !plain->is_taken[wave][(at + n - before - 1) % n])
        before++;
    ring_masks_gap(masks, wave, at, &answer_from, &answer_before);
    return taken != 0 || answer_from != from || answer_before != before;
}

/* Takes the arc somewhere else, if it is free there, or gives it back. */
static void change_arc(struct ring_masks *masks, struct plain_ring *plain, struct plain_arc *arc,
                       struct random_stream *draws)
{
    if (!arc->is_taken) {
        arc->wave = (uint32_t)random_below(draws, 3) * 33;
        arc->first = (uint32_t)random_below(draws, plain->n);
        arc->length = 1 + (uint32_t)random_below(draws, plain->n);
        if (!is_free_on(plain, arc->wave, arc->first, arc->length))
            return;
    }
    arc->is_taken = !arc->is_taken;
    ring_masks_set(masks, arc->wave, arc->first, arc->length, arc->is_taken);
    for (uint32_t i = 0; i < arc->length; i++)
        plain->is_taken[arc->wave][(arc->first + i) % plain->n] = arc->is_taken;
}

/* Arcs on three of the wavelengths, so that these fill. */
static void test_masks(void)
{
    struct random_stream *draws = random_open(1, "ring masks", 0);
    int wrong = 0;
    for (int round = 0; round < 500; round++) {
        struct plain_ring plain = {.n = 1 + (uint32_t)random_below(draws, SEGMENTS)};
        struct ring_masks masks = ring_masks_create(plain.n, WAVES);
        struct plain_arc arcs[ARCS] = {{0}};
        for (int i = 0; i < 60; i++) {
            change_arc(&masks, &plain, &arcs[random_below(draws, ARCS)], draws);
            wrong += differences_of_arc(&masks, &plain, (uint32_t)random_below(draws, plain.n),
                                        1 + (uint32_t)random_below(draws, plain.n));
            wrong += differences_of_gap(&masks, &plain, (uint32_t)random_below(draws, 3) * 33,
                                        (uint32_t)random_below(draws, plain.n));
        }
        ring_masks_free(&masks);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
}

enum { WAITERS = 60 };

/* The first in turn by looking at everybody, or NULL. */
static const struct ring_waiter *first_plain(const struct ring_waiter *waiters, uint32_t first, uint32_t end)
{
    const struct ring_waiter *best = NULL;
    for (int i = 0; i < WAITERS; i++)
        if (waiters[i].stamp != 0 && waiters[i].first >= first && waiters[i].end <= end &&
            (!best || turn_is_before(&waiters[i].turn, &best->turn)))
            best = &waiters[i];
    return best;
}

/* Adds one that is not there, or removes one that is, every other time. */
static void change_waiter(struct ring_waiting *list, struct ring_waiter *waiters, uint64_t stamp,
                          struct random_stream *draws)
{
    uint32_t which = (uint32_t)random_below(draws, WAITERS), first = (uint32_t)random_below(draws, 30);
    if (waiters[which].stamp == 0) {
        waiters[which] = (struct ring_waiter){.turn = {random_below(draws, 4), stamp},
                                              .stamp = stamp,
                                              .first = first,
                                              .end = first + 1 + (uint32_t)random_below(draws, 20),
                                              .what = which};
        ring_waiting_add(list, &waiters[which]);
    } else if (random_below(draws, 2)) {
        ring_waiting_remove(list, &waiters[which]);
        waiters[which].stamp = 0;
    }
}

/* Some have the same arc; whoever is found is whom a plain list finds. */
static void test_waiting(void)
{
    struct random_stream *draws = random_open(1, "ring waiting", 0);
    struct ring_waiting list = {0};
    struct ring_waiter waiters[WAITERS] = {{.stamp = 0}};
    int wrong = 0;
    for (uint64_t stamp = 1; stamp < 20000; stamp++) {
        change_waiter(&list, waiters, stamp, draws);
        uint32_t first = (uint32_t)random_below(draws, 30), end = first + (uint32_t)random_below(draws, 40);
        const struct ring_waiter *expected = first_plain(waiters, first, end);
        uint32_t found = ring_waiting_find(&list, first, end);
        wrong += (found != 0) != (expected != NULL);
        if (found != 0 && expected != NULL && random_below(draws, 3) == 0) {
            wrong += ring_waiting_take(&list, found).stamp != expected->stamp;
            waiters[expected->what].stamp = 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    ring_waiting_free(&list);
    random_close(draws);
}

/* 65,536 servers, each to one half around the ring: 2 segments' worth of waiting and no n * n. */
static void test_large(void)
{
    struct world world;
    enum { SERVERS = 65536, SENT = 2000 };
    open_small(&world, SERVERS, 8, 2);
    world_start(&world);
    for (uint32_t i = 0; i < SENT; i++)
        CU_ASSERT_EQUAL(try_send(&world, i * 32, (i * 32 + 1 + i * 16) % SERVERS, MEGABYTE, 1), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    CU_ASSERT_EQUAL(network_totals(world.network).done, SENT);
    world_close(&world);
}

/* A gap that helps thousands: all neighbours below one long arc wait for its wavelength, and start when it ends. */
static void test_one_before_many(void)
{
    enum { SERVERS = 65536, HALF = SERVERS / 2 };
    struct world world;
    int wrong = 0;
    struct transfer_report first, *reports = memory_alloc(HALF, sizeof *reports);
    open_small(&world, SERVERS, 1, 2);
    world_start(&world);
    world_send(&world, 0, HALF, MEGABYTE, &first);
    for (uint32_t i = 0; i < HALF; i++)
        world_send(&world, i, i + 1, MEGABYTE, &reports[i]);
    engine_run(world.engine, SIM_TIME_MAX);
    for (uint32_t i = 0; i < HALF; i++)
        wrong += reports[i].wait != TUNING + PAYLOAD || reports[i].end != 2 * reports[i].wait + LATENCY;
    CU_ASSERT_EQUAL(first.wait, 0);
    CU_ASSERT_EQUAL(wrong, 0);
    free(reports);
    world_close(&world);
}

void suite_fabric_ring(void)
{
    CU_pSuite suite = CU_add_suite("fabric ring", NULL, NULL);
    CU_add_test(suite, "one transfer to the picosecond", test_one);
    CU_add_test(suite, "the second transfer of a circuit", test_two);
    CU_add_test(suite, "arcs that share a wavelength", test_reuse);
    CU_add_test(suite, "what cannot be", test_impossible);
    CU_add_test(suite, "sets of segments", test_bits);
    CU_add_test(suite, "masks over segments", test_masks);
    CU_add_test(suite, "whom a gap helps", test_waiting);
    CU_add_test(suite, "as the slow ring says", test_reference);
    CU_add_test(suite, "65,536 servers", test_large);
    CU_add_test(suite, "one before thousands", test_one_before_many);
}
