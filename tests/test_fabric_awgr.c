/* The round robin of wavelength gratings. Properties: a transfer has its turns to the picosecond, dark while its
 * transmitter tunes; the goodput of a saturated pair is exact over whole cycles; 200 random cases are those of a rotor
 * with the same figures, part by part; network.reconfiguration is its dark time; what cannot be is refused, by the
 * names of its own keys. Circuits on request are in test_network.c.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "engine/random.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 200, TRANSFERS = 16 };

/* One byte a tick and plane. */
static void open_small(struct world *world, uint32_t servers, int64_t planes)
{
    world_open(world, "topologies/awgr-32.yaml");
    struct topology *t = &world->topology;
    t->groups = servers;
    t->racks_per_group = t->servers_per_rack = 1;
    t->server_count = t->device_count = servers;
    figure_choose(t, "awgr.schedule", "round_robin");
    *figure_whole(t, "awgr.planes") = planes;
    t->node_rate_bytes_per_s = 1e12 * (double)planes;
}

/* One plane: a turn of 100ns every 31 * 103.84ns; server 3 is the third. */
static void test_one(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/awgr-32.yaml");
    figure_choose(&world.topology, "awgr.schedule", "round_robin");
    world_start(&world);
    world_send(&world, 0, 3, 320000, &report); /* 1.6TB/s: 200ns, two turns */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, (2 + 31) * 103840 + 100000 + 250000);
    CU_ASSERT_EQUAL(report.payload, 200000);
    CU_ASSERT_EQUAL(report.latency, 250000);
    CU_ASSERT_EQUAL(report.reconfiguration, 2 * 3840);
    CU_ASSERT_EQUAL(report.wait, report.end - 200000 - 250000 - 2 * 3840);
    world_close(&world);
}

/* From its first turn on, over cycles of all targets a pair sends for a slot a plane and not a tick more. */
static void check_goodput(uint32_t servers, int64_t planes, uint32_t target, int64_t cycles)
{
    struct world world;
    struct transfer_report less, more;
    open_small(&world, servers, planes);
    *figure_whole(&world.topology, "awgr.slot") = 90;
    *figure_whole(&world.topology, "awgr.reconfiguration") = 10;
    int64_t span = cycles * (servers - 1) * 100, work = cycles * planes * 90;
    int64_t begin = (target - 1) / planes * 100;
    for (int i = 0; i < 2; i++) {
        world_start(&world);
        engine_run(world.engine, begin);
        world_send(&world, 0, target, (uint64_t)(work + i), i ? &more : &less);
        engine_run(world.engine, SIM_TIME_MAX);
        CU_ASSERT(engine_events(world.engine) < 10);
        world_stop(&world);
    }
    CU_ASSERT_EQUAL(less.payload, work);
    CU_ASSERT(less.end - less.latency <= begin + span);
    CU_ASSERT_EQUAL(more.end - more.latency, begin + span + 1);
    topology_free(&world.topology);
}

static void test_goodput(void)
{
    for (uint32_t servers = 3; servers < 20; servers += 4)
        for (int64_t planes = 1; planes < servers; planes += 2) {
            check_goodput(servers, planes, 1, 1);
            check_goodput(servers, planes, servers - 1, 7);
            check_goodput(servers, planes, servers / 2 + 1, 1000000);
        }
}

/* The same figures for both. */
static void draw(struct world *world, struct world *turning, struct random_stream *draws,
                 struct slow_transfer *transfers)
{
    struct topology *t = &world->topology, *r = &turning->topology;
    t->server_count = t->device_count = 3 + (uint32_t)random_below(draws, 6);
    r->server_count = r->device_count = t->server_count;
    t->groups = r->groups = t->server_count;
    *figure_whole(t, "awgr.planes") = *figure_whole(r, "rotor.switches") =
        1 + (int64_t)random_below(draws, t->server_count - 1);
    *figure_whole(t, "awgr.slot") = *figure_whole(r, "rotor.slot") = 1 + (int64_t)random_below(draws, 12);
    *figure_whole(t, "awgr.reconfiguration") = *figure_whole(r, "rotor.dark") = (int64_t)random_below(draws, 5);
    t->node_rate_bytes_per_s = r->node_rate_bytes_per_s = 1e12 * (double)*figure_whole(t, "awgr.planes");
    world->options = turning->options = (struct network_options){.order = (enum network_order)random_below(draws, 3)};
    int64_t sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, 3);
        uint32_t further = 1 + (uint32_t)random_below(draws, t->server_count - 1);
        sent += (int64_t)random_below(draws, 20);
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 1 + random_below(draws, 40),
                                              .priority = (int64_t)random_below(draws, 3) - 1,
                                              .source = source,
                                              .target = (source + further) % t->server_count,
                                              .is_cleared_when_blocked = random_below(draws, 10) == 0};
    }
}

static int differences(const struct transfer_report *left, const struct transfer_report *right)
{
    int wrong = 0;
    for (int i = 0; i < TRANSFERS; i++)
        wrong += left[i].end != right[i].end || left[i].is_cleared != right[i].is_cleared ||
                 left[i].wait != right[i].wait || left[i].reconfiguration != right[i].reconfiguration ||
                 left[i].payload != right[i].payload || left[i].latency != right[i].latency;
    return wrong;
}

static void test_as_rotor(void)
{
    struct world world, turning;
    int wrong = 0;
    sim_time reconfiguration = 0;
    open_small(&world, 8, 2);
    world_open(&turning, "topologies/rotor-32.yaml");
    turning.topology.racks_per_group = world.topology.racks_per_group;
    turning.topology.servers_per_rack = world.topology.servers_per_rack;
    turning.topology.propagation_ps = world.topology.propagation_ps;
    turning.topology.io_latency_ps = world.topology.io_latency_ps;
    struct random_stream *draws = random_open(1, "awgr as rotor", 0);
    for (int i = 0; i < CASES; i++) {
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report turns[TRANSFERS], rotor[TRANSFERS];
        draw(&world, &turning, draws, transfers);
        sim_time busy = fast_run(&world, transfers, turns, TRANSFERS);
        wrong += fast_run(&turning, transfers, rotor, TRANSFERS) != busy;
        wrong += differences(turns, rotor);
        for (int k = 0; k < TRANSFERS; k++)
            reconfiguration += turns[k].reconfiguration;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(reconfiguration > 0);
    random_close(draws);
    topology_free(&turning.topology);
    topology_free(&world.topology);
}

static void test_impossible(void)
{
    static const struct {
        uint32_t servers;
        int64_t planes, slot_ps;
        const char *message;
    } cases[] = {{1, 1, 90, "fabric awgr over 1 server has 0 matchings"},
                 {2, 1, 90, "at least 3 servers"},
                 {4, 4, 90, "awgr.planes is 4"},
                 {4, 2, 0, "awgr.slot is 0ps"},
                 {4, 2, INT64_MAX, "fit in the clock"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        struct error error = {0};
        open_small(&world, cases[i].servers, cases[i].planes);
        *figure_whole(&world.topology, "awgr.slot") = cases[i].slot_ps;
        world.engine = engine_create();
        enum status status = network_create(world.engine, &world.topology, &world.options, &world.network, &error);
        CU_ASSERT_EQUAL(status, STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].message));
        world_close(&world);
    }
}

static enum status parse(const char *figures, struct topology *topology, struct error *error)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "title: t\nfabric: awgr\ngroups: 4\nracks_per_group: 1\nservers_per_rack: 1\ndevice: {name: d}\nawgr: %s\n",
        figures);
    return fabric_parse_topology(text, strlen(text), "t.yaml", topology, error);
}

/* Wavelengths make blocks, which a round robin does not have. */
static void test_keys(void)
{
    struct topology topology;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse("{planes: 2}", &topology, &error), STATUS_OK);
    CU_ASSERT(figure_is(&topology, "awgr.schedule", "on_demand"));
    topology_free(&topology);
    CU_ASSERT_EQUAL_FATAL(parse("{schedule: round_robin, planes: 2, slot: 50ns}", &topology, &error), STATUS_OK);
    CU_ASSERT(figure_is(&topology, "awgr.schedule", "round_robin"));
    topology_free(&topology);
    CU_ASSERT_EQUAL(parse("{schedule: round_robin, wavelengths: 8}", &topology, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "awgr.wavelengths"));
    CU_ASSERT_EQUAL(parse("{schedule: sometimes}", &topology, &error), STATUS_USER);
}

void suite_fabric_awgr(void)
{
    CU_pSuite suite = CU_add_suite("fabric awgr, round robin", NULL, NULL);
    CU_add_test(suite, "one transfer to the picosecond", test_one);
    CU_add_test(suite, "goodput of a saturated pair", test_goodput);
    CU_add_test(suite, "as a rotor with the same figures", test_as_rotor);
    CU_add_test(suite, "what cannot be", test_impossible);
    CU_add_test(suite, "its keys", test_keys);
}
