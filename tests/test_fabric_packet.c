/* Packets on a fat tree. Properties: bottlenecks computed by hand, exactly, with the default tolerance; random flows
 * that come and go always meet the max-min conditions within the tolerance, and flows out of reach of a change keep
 * their rate to the bit; latency grows with the switches passed and holds no link; what cannot be is refused; 1000
 * random cases end as the slow tree says without a tolerance; thousands into one server end in time.
 */
#include "suites.h"

#include <math.h>
#include <string.h>

#include "engine/random.h"
#include "fabric/packet_share.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 1000, TRANSFERS = 24, LATENCY = 250000, HOP = 400000 };

/* 16 servers, 4 an edge switch, a byte a picosecond, switches that take no time. */
static void open_small(struct world *world, double oversubscription)
{
    world_open(world, "topologies/packet-32.yaml");
    world->topology.groups = 16;
    world->topology.racks_per_group = world->topology.servers_per_rack = 1;
    world->topology.server_count = world->topology.device_count = 16;
    *figure_whole(&world->topology, "packet.radix") = 4;
    *figure_real(&world->topology, "packet.oversubscription") = oversubscription;
    *figure_whole(&world->topology, "packet.hop_latency") = 0;
    world->topology.node_rate_bytes_per_s = 1e12;
}

static void test_one(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/packet-32.yaml");
    world_start(&world);
    world_send(&world, 3, 29, 1600001, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, 1000001 + LATENCY + 3 * HOP); /* rounded up once */
    CU_ASSERT_EQUAL(report.payload, 1000001);
    CU_ASSERT_EQUAL(report.latency, LATENCY + 3 * HOP);
    CU_ASSERT_EQUAL(report.wait + report.reconfiguration, 0);
    world_close(&world);
}

/* One switch within an edge, three across the core. The second of a pair sent behind the first's last byte, which is
 * still on its way, has the link to itself. */
static void test_hops(void)
{
    struct world world;
    struct transfer_report within, across, next = {.end = -1};
    open_small(&world, 1);
    *figure_whole(&world.topology, "packet.hop_latency") = HOP;
    world_start(&world);
    world_send(&world, 0, 3, 1000, &within);
    world_send(&world, 4, 8, 1000, &across);
    engine_run(world.engine, 1000);
    world_send(&world, 4, 8, 500, &next);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(within.end, 1000 + LATENCY + HOP);
    CU_ASSERT_EQUAL(across.end, 1000 + LATENCY + 3 * HOP);
    CU_ASSERT_EQUAL(within.latency, LATENCY + HOP);
    CU_ASSERT_EQUAL(across.latency, LATENCY + 3 * HOP);
    CU_ASSERT_EQUAL(across.payload, 1000);
    CU_ASSERT_EQUAL(next.end, 1500 + LATENCY + 3 * HOP);
    CU_ASSERT_EQUAL(next.payload, 500);
    world_close(&world);
}

/* Two out of one server, one of them into a server that a third also sends to:
 * all three at a half; the short one leaves at 2000, then the others change. */
static void test_by_hand(void)
{
    struct world world;
    struct transfer_report a, b, c;
    open_small(&world, 1);
    world_start(&world);
    world_send(&world, 0, 1, 1000, &a);
    world_send(&world, 0, 2, 4000, &b);
    world_send(&world, 3, 2, 5000, &c);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(a.end, 2000 + LATENCY);
    CU_ASSERT_EQUAL(b.end, 8000 + LATENCY); /* still held to a half by c at server 2 */
    CU_ASSERT_EQUAL(c.end, 9000 + LATENCY); /* 4000 at a half, then 1000 alone */
    world_close(&world);
}

/* Three into one server, one of whose sources sends elsewhere too: 1/3 each, the fourth takes the 2/3 left. */
static void test_by_hand_leftover(void)
{
    struct world world;
    struct transfer_report in[3], rest;
    open_small(&world, 1);
    world_start(&world);
    for (uint32_t i = 0; i < 3; i++)
        world_send(&world, i, 3, 3000, &in[i]);
    world_send(&world, 0, 4, 6000, &rest);
    engine_run(world.engine, SIM_TIME_MAX);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(in[i].end, 9000 + LATENCY);
    CU_ASSERT_EQUAL(rest.end, 9000 + LATENCY);
    world_close(&world);
}

static void keep_busy(void *context, const struct hardware_use *use)
{
    ((sim_time *)context)[use->hardware] = use->busy;
}

/* Links are busy while any flow crosses them: servers up, servers down, edge switches up, edge switches down. */
static void test_books(void)
{
    struct world world;
    struct transfer_report a, b;
    sim_time busy[2 * (16 + 4)] = {0};
    open_small(&world, 1);
    world_start(&world);
    world_send(&world, 0, 1, 1000, &a);
    world_send(&world, 0, 5, 4000, &b);
    engine_run(world.engine, SIM_TIME_MAX);
    network_visit_hardware(world.network, keep_busy, busy);
    CU_ASSERT_EQUAL(busy[0], 5000);
    CU_ASSERT_EQUAL(busy[16 + 1], 2000);
    CU_ASSERT_EQUAL(busy[16 + 5], 5000);
    CU_ASSERT_EQUAL(busy[32 + 0], 5000);
    CU_ASSERT_EQUAL(busy[36 + 1], 5000);
    CU_ASSERT_EQUAL(busy[36 + 0] + busy[1] + busy[16], 0);
    world_close(&world);
}

/* 4 servers below an edge switch, oversubscribed 2 to 1: 4 flows across share 2 links' worth, one within is free. */
static void test_oversubscription(void)
{
    struct world world;
    struct transfer_report across[4], within;
    open_small(&world, 2);
    world_start(&world);
    for (uint32_t i = 0; i < 4; i++)
        world_send(&world, i, 4 + i, 1000, &across[i]);
    world_send(&world, 8, 9, 1000, &within);
    engine_run(world.engine, SIM_TIME_MAX);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(across[i].end, 2000 + LATENCY);
    CU_ASSERT_EQUAL(within.end, 1000 + LATENCY);
    world_close(&world);
}

enum { LINKS = 24, FLOWS = 40 };

struct flow_set {
    double capacity[LINKS];
    uint32_t number[FLOWS], links[FLOWS][SHARE_LINKS], count[FLOWS];
    bool is_there[FLOWS];
};

static bool does_cross(const struct flow_set *set, int flow, uint32_t link)
{
    for (uint32_t i = 0; set->is_there[flow] && i < set->count[flow]; i++)
        if (set->links[flow][i] == link)
            return true;
    return false;
}

/* No link carries more than it can; every flow has a full link on which nobody is faster. A full link's level is off
 * by t of it at most, so the link carries from 1 - t to 1 / (1 - t) of what it can. */
static int breaches(const struct share *share, const struct flow_set *set, double t)
{
    double used[LINKS] = {0}, fastest[LINKS] = {0};
    int wrong = 0;
    for (uint32_t link = 0; link < LINKS; link++) {
        for (int i = 0; i < FLOWS; i++)
            if (does_cross(set, i, link)) {
                double rate = share_rate(share, set->number[i]);
                used[link] += rate;
                fastest[link] = rate > fastest[link] ? rate : fastest[link];
            }
        wrong += used[link] > set->capacity[link] / (1 - t) * (1 + 1e-12);
    }
    for (int i = 0; i < FLOWS; i++) {
        bool has_bottleneck = !set->is_there[i];
        for (uint32_t link = 0; link < LINKS; link++)
            if (does_cross(set, i, link))
                has_bottleneck |= used[link] >= set->capacity[link] * (1 - t) * (1 - 1e-12) &&
                                  share_rate(share, set->number[i]) >= fastest[link] * (1 - 1e-12);
        wrong += !has_bottleneck;
    }
    return wrong;
}

static void toggle(struct share *share, struct flow_set *set, struct random_stream *draws)
{
    int i = (int)random_below(draws, FLOWS);
    if (set->is_there[i]) {
        share_remove(share, set->number[i]);
        set->is_there[i] = false;
        return;
    }
    uint32_t step = 1 + (uint32_t)random_below(draws, 5), first = (uint32_t)random_below(draws, LINKS);
    set->count[i] = 1 + (uint32_t)random_below(draws, SHARE_LINKS);
    for (uint32_t k = 0; k < set->count[i]; k++)
        set->links[i][k] = (first + k * step) % LINKS;
    set->number[i] = share_add(share, set->links[i], set->count[i]);
    set->is_there[i] = true;
}

static void test_max_min(void)
{
    struct random_stream *draws = random_open(1, "max-min", 0);
    int wrong = 0;
    for (int round = 0; round < 200; round++) {
        double tolerance = (double[]){0, 0.001, 0.01, 0.1}[round % 4];
        struct share *share = share_create(LINKS, tolerance);
        struct flow_set set = {{0}, {0}, {{0}}, {0}, {0}};
        for (uint32_t i = 0; i < LINKS; i++) {
            set.capacity[i] = 1 + (double)random_below(draws, 1000);
            share_capacity(share, i, set.capacity[i]);
        }
        for (int i = 0; i < 60; i++) {
            size_t changed;
            for (uint64_t k = random_below(draws, 4); k-- > 0;)
                toggle(share, &set, draws);
            (void)share_update(share, &changed);
            wrong += breaches(share, &set, tolerance);
        }
        share_destroy(share);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
}

/* Two components: what happens in one is not even looked at in the other. */
static void test_components(void)
{
    struct share *share = share_create(4, 0);
    size_t changed;
    for (uint32_t i = 0; i < 4; i++)
        share_capacity(share, i, 12);
    uint32_t a = share_add(share, (uint32_t[]){0, 1}, 2), b = share_add(share, (uint32_t[]){2, 3}, 2);
    (void)share_update(share, &changed);
    CU_ASSERT_EQUAL(changed, 2);
    uint32_t c = share_add(share, (uint32_t[]){1}, 1);
    const uint64_t *list = share_update(share, &changed);
    CU_ASSERT_EQUAL_FATAL(changed, 2);
    CU_ASSERT(list[0] + list[1] == a + c && list[0] != b && list[1] != b);
    CU_ASSERT_EQUAL(share_rate(share, a), 6);
    CU_ASSERT_EQUAL(share_rate(share, b), 12);
    share_remove(share, a);
    (void)share_update(share, &changed);
    CU_ASSERT_EQUAL(changed, 1);
    CU_ASSERT_EQUAL(share_rate(share, c), 12);
    share_destroy(share);
}

/* Into one server, all of different lengths: the last byte leaves when the link carried them all, within the tolerance,
 * and it costs no n * n. */
static void test_many_into_one(void)
{
    enum { SERVERS = 20000 };
    struct world world;
    struct error error = {0};
    uint64_t bytes = 0;
    double tolerance;
    open_small(&world, 1);
    world.topology.groups = world.topology.server_count = world.topology.device_count = SERVERS;
    tolerance = *figure_real(&world.topology, "packet.tolerance");
    world_start(&world);
    for (uint32_t i = 1; i < SERVERS; i++) {
        struct transfer_request request = {.source = i, .bytes = 1000000 + UINT64_C(100) * i};
        bytes += request.bytes;
        CU_ASSERT_EQUAL_FATAL(network_send(world.network, &request, NULL, &error), STATUS_OK);
    }
    engine_run(world.engine, SIM_TIME_MAX);
    double whole = (double)bytes, took = (double)(engine_now(world.engine) - LATENCY);
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    CU_ASSERT(took >= whole * (1 - tolerance) && took <= whole / (1 - tolerance));
    world_close(&world);
}

static void test_impossible(void)
{
    struct world world;
    struct error error = {0};
    struct transfer_report report;
    open_small(&world, 1e15);
    world.engine = engine_create();
    CU_ASSERT_EQUAL(network_create(world.engine, &world.topology, &world.options, &world.network, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "oversubscription"));
    world_stop(&world);
    *figure_real(&world.topology, "packet.oversubscription") = 1;
    world.topology.node_rate_bytes_per_s = 0.5;
    world.engine = engine_create();
    CU_ASSERT_EQUAL(network_create(world.engine, &world.topology, &world.options, &world.network, &error), STATUS_USER);
    world_stop(&world);
    world.topology.node_rate_bytes_per_s = 1e12;
    world_start(&world);
    struct transfer_request request = {.source = 0, .target = 5, .bytes = UINT64_MAX};
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, &error), STATUS_USER);
    world_send(&world, 2, 2, 1000, &report);
    world_send(&world, 2, 3, 0, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, 0);
    world_send(&world, 0, 5, UINT64_C(1) << 60, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, (INT64_C(1) << 60) + LATENCY);
    world_close(&world);
}

/* Sixteen times 2^60 bytes through one link do not fit in the clock: the run stops and says so. */
static void test_clock_ends(void)
{
    struct world world;
    struct error error = {0};
    struct transfer_report reports[16];
    open_small(&world, 1);
    world_start(&world);
    for (uint32_t i = 1; i < 16; i++)
        world_send(&world, i, 0, UINT64_C(1) << 60, &reports[i]);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_status(world.network, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "run.tick"));
    world_close(&world);
}

static void draw(struct world *world, struct random_stream *draws, struct slow_transfer *transfers)
{
    static const double factors[] = {1, 1.5, 2, 3, 8};
    struct topology *t = &world->topology;
    t->server_count = t->device_count = 2 + (uint32_t)random_below(draws, 15);
    t->groups = t->server_count;
    *figure_whole(t, "packet.radix") = 1 + (int64_t)random_below(draws, 5);
    *figure_real(t, "packet.oversubscription") = factors[random_below(draws, 5)];
    t->propagation_ps = (int64_t)random_below(draws, 3) * 100;
    *figure_whole(t, "packet.hop_latency") = (int64_t)random_below(draws, 3) * 700;
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3)};
    uint64_t span = UINT64_C(1) << random_below(draws, 8);
    int64_t sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, t->server_count);
        uint32_t further = 1 + (uint32_t)random_below(draws, t->server_count - 1);
        sent += (int64_t)random_below(draws, span) * 100;
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 1 + random_below(draws, 50000),
                                              .source = source,
                                              .target = (source + further) % t->server_count};
    }
}

static void test_reference(void)
{
    struct world world;
    int wrong = 0;
    open_small(&world, 1);
    *figure_real(&world.topology, "packet.tolerance") = 0;
    struct random_stream *draws = random_open(1, "reference packet", 0);
    for (int i = 0; i < CASES; i++) {
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report reports[TRANSFERS];
        draw(&world, draws, transfers);
        (void)fast_run(&world, transfers, reports, TRANSFERS);
        slow_packet(&world, transfers, TRANSFERS);
        wrong += slow_differences(transfers, reports, TRANSFERS);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
    topology_free(&world.topology);
}

void suite_fabric_packet(void)
{
    CU_pSuite suite = CU_add_suite("fabric packet", NULL, NULL);
    CU_add_test(suite, "one transfer to the picosecond", test_one);
    CU_add_test(suite, "latency by switches passed", test_hops);
    CU_add_test(suite, "bottlenecks by hand", test_by_hand);
    CU_add_test(suite, "what others leave, by hand", test_by_hand_leftover);
    CU_add_test(suite, "oversubscription", test_oversubscription);
    CU_add_test(suite, "books of links", test_books);
    CU_add_test(suite, "the max-min conditions", test_max_min);
    CU_add_test(suite, "components apart", test_components);
    CU_add_test(suite, "thousands into one server", test_many_into_one);
    CU_add_test(suite, "what cannot be", test_impossible);
    CU_add_test(suite, "the end of the clock", test_clock_ends);
    CU_add_test(suite, "as the slow tree says", test_reference);
}
