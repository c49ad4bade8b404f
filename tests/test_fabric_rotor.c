/* Rotor switches. Properties: windows by arithmetic are those of the schedule's definition; the goodput of a saturated
 * pair is duty / (matchings / switches), exactly over whole cycles; a transfer over many windows takes few events, and
 * none happen while nothing is pending; detours help a lone sender; what cannot be is refused; the duty is kept
 * whatever the dark time; a network that begins later begins at that phase; 2000 random cases, one hop and two, at any
 * phase, end as the slow rotor says, and ports are busy while bytes are sent.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "engine/random.h"
#include "fabric/rotor.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 1000, TRANSFERS = 16 };

/* One byte a tick and port. */
static void open_small(struct world *world, uint32_t servers, int64_t switches)
{
    world_open(world, "topologies/rotor-32.yaml");
    world->topology.groups = servers;
    world->topology.racks_per_group = world->topology.servers_per_rack = 1;
    world->topology.server_count = world->topology.device_count = servers;
    *figure_whole(&world->topology, "rotor.switches") = switches;
    world->topology.node_rate_bytes_per_s = 1e12 * (double)switches;
}

/* Time 0, the pair of showing 0: it is connected at once, for 90us of every 31 * 100us / 4. */
static void test_one(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/rotor-32.yaml");
    world_start(&world);
    world_send(&world, 0, 1, 4000000, &report); /* 0.4TB/s a port: 10us */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, 10000000 + 250000);
    CU_ASSERT_EQUAL(report.wait, 0);
    world_send(&world, 0, 31, 4000000, &report); /* showing 30: slot 7 of switch 2 */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, 7 * INT64_C(100000000) + 10000000 + 250000);
    CU_ASSERT_EQUAL(report.payload, 10000000);
    CU_ASSERT_EQUAL(report.latency, 250000);
    CU_ASSERT_EQUAL(report.reconfiguration, 10000000); /* the switch turns before slot 7 */
    CU_ASSERT_EQUAL(report.wait, 7 * INT64_C(100000000) - 10250000 - 10000000);
    world_close(&world);
}

/* Sent 4us before its window, in the middle of the dark; then on through two more windows. */
static void test_dark(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/rotor-32.yaml");
    world_start(&world);
    engine_run(world.engine, 7 * INT64_C(100000000) - 4000000);
    world_send(&world, 0, 31, UINT64_C(80000000), &report); /* 200us: 90 + 90 + 20 */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.payload, 200000000);
    CU_ASSERT_EQUAL(report.reconfiguration, 4000000 + 2 * 10000000);
    world_close(&world);
}

/* Over k * matchings slots a pair sends for k * switches lit slots and not a tick more. */
static void check_goodput(uint32_t servers, int64_t switches, bool is_staggered, uint32_t target, int64_t cycles)
{
    struct world world;
    struct transfer_report less, more;
    open_small(&world, servers, switches);
    struct topology *t = &world.topology;
    *figure_truth(t, "rotor.staggered") = is_staggered;
    *figure_whole(t, "rotor.slot") = 90;
    *figure_whole(t, "rotor.dark") = 10;
    int64_t span = cycles * (servers - 1) * 100, work = cycles * switches * 90;
    /* A pair that is connected at time 0 already had some of its window before: begin when its first window begins. */
    struct rotor_schedule schedule = {servers, servers - 1, (uint32_t)switches, 90, 100, is_staggered, 0};
    sim_time begin = rotor_showing(&schedule, (int64_t)target - 1);
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
    for (int is_staggered = 0; is_staggered < 2; is_staggered++)
        for (uint32_t servers = 3; servers < 20; servers += 4)
            for (int64_t switches = 1; switches < servers; switches += 2) {
                check_goodput(servers, switches, is_staggered, 1, 1);
                check_goodput(servers, switches, is_staggered, servers - 1, 7);
                check_goodput(servers, switches, is_staggered, servers / 2 + 1, 1000000);
            }
}

/* Every tick of some cycles, by looking at every switch. */
static void test_schedule(void)
{
    static const uint32_t cases[][2] = {{3, 1}, {3, 2}, {5, 3}, {8, 7}, {9, 4}, {16, 4}, {10, 9}};
    int wrong = 0;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        sim_time phase = (sim_time)(i % 3) * 23;
        struct rotor_schedule s = {cases[i / 2][0], cases[i / 2][0] - 1, cases[i / 2][1], 7, 10, i % 2, phase};
        for (sim_time now = 0; now < 300; now++)
            for (uint32_t k = 1; k < s.servers; k++) {
                bool is_lit = false;
                for (uint32_t p = 0; p < s.switches; p++) {
                    int64_t shifted =
                        now + phase - (s.is_staggered ? p * s.period / s.switches : 0) + s.period * s.matchings;
                    int64_t slot = shifted / s.period;
                    is_lit |= shifted % s.period < s.lit && (slot * s.switches + p) % s.matchings + 1 == k;
                }
                int64_t j = rotor_next(&s, 0, k, now);
                sim_time begin = rotor_showing(&s, j);
                wrong += (begin <= now) != is_lit || begin + s.lit <= now;
                wrong += rotor_showing(&s, j - s.matchings) + s.lit > now;
                wrong += rotor_next(&s, 0, k, now + rotor_turn(&s)) % s.matchings != j % s.matchings && j >= 0;
            }
        wrong += rotor_turn(&s) % s.period || rotor_turn(&s) / s.period * s.switches % s.matchings;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static enum status try_open(struct world *world, char *message)
{
    struct error error = {0};
    world->engine = engine_create();
    enum status status = network_create(world->engine, &world->topology, &world->options, &world->network, &error);
    strcpy(message, error.message);
    return status;
}

static void test_impossible(void)
{
    static const struct {
        uint32_t servers;
        int64_t switches, slot_ps;
        double rate;
        const char *message;
    } cases[] = {{1, 1, 90, 1e12, "at least 3 servers"},      {2, 1, 90, 1e12, "1 matching:"},
                 {4, 4, 90, 1e12, "rotor.switches is 4"},     {4, 2, 0, 1e12, "at least one tick"},
                 {4, 2, INT64_MAX, 1e12, "fit in the clock"}, {4, 2, 90, 1, "node_rate"}};
    char message[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        open_small(&world, cases[i].servers, cases[i].switches);
        *figure_whole(&world.topology, "rotor.slot") = cases[i].slot_ps;
        *figure_whole(&world.topology, "rotor.dark") = 0;
        world.topology.node_rate_bytes_per_s = cases[i].rate;
        CU_ASSERT_EQUAL(try_open(&world, message), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(message, cases[i].message));
        world_close(&world);
    }
}

/* What is too long for the clock is refused; what is not, ends, without an event a window. */
static void test_huge(void)
{
    for (int is_two_hop = 0; is_two_hop < 2; is_two_hop++) {
        struct world world;
        struct error error = {0};
        struct transfer_report report;
        world_open(&world, "topologies/rotor-512.yaml");
        *figure_truth(&world.topology, "rotor.two_hop") = is_two_hop;
        world_start(&world);
        struct transfer_request request = {.source = 1, .target = 9, .bytes = UINT64_C(1) << 60};
        CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, &error), STATUS_USER);
        CU_ASSERT(strlen(error.message) > 10);
        CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
        world_send(&world, 1, 1, 1000, &report);
        world_send(&world, 1, 9, 0, &report);
        engine_run(world.engine, SIM_TIME_MAX);
        CU_ASSERT_EQUAL(report.end, 0);
        CU_ASSERT_EQUAL(engine_events(world.engine), 2);
        if (!is_two_hop) {
            world_send(&world, 1, 9, UINT64_C(1) << 50, &report);
            engine_run(world.engine, SIM_TIME_MAX);
            CU_ASSERT(report.end > 0 && engine_events(world.engine) < 10);
        }
        world_close(&world);
    }
}

static sim_time lone_sender(bool is_two_hop)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/rotor-32.yaml");
    *figure_truth(&world.topology, "rotor.two_hop") = is_two_hop;
    world_start(&world);
    world_send(&world, 0, 20, UINT64_C(4000000000), &report);
    engine_run(world.engine, SIM_TIME_MAX);
    world_close(&world);
    return report.end;
}

/* 10ms of sending: alone in one window of 31 / 4 slots, or over everybody else's windows as well. */
static void test_detour(void)
{
    sim_time one = lone_sender(false), two = lone_sender(true);
    CU_ASSERT(one > INT64_C(80000000000));
    CU_ASSERT(two < one / 2);
}

/* The lit time follows the dark time, whoever says that, unless it is given. Showing 0 is lit at once: as much as fits
 * ends in it, and a byte more a window later: in slot 7, of switch 3.
 */
static void check_duty(int64_t slot_ps, int64_t delay_ps, double duty, int64_t lit_ps, int64_t dark_ps)
{
    struct world world;
    struct transfer_report fits, more;
    world_open(&world, "topologies/rotor-32.yaml");
    *figure_whole(&world.topology, "rotor.slot") = slot_ps;
    *figure_real(&world.topology, "rotor.duty") = duty;
    world.topology.node_rate_bytes_per_s = 4e12; /* a byte a tick */
    world.topology.reconfiguration_ps = delay_ps;
    CU_ASSERT_EQUAL(fabric_cycle(&world.topology, &(struct sim_clock){1}), 31 * (lit_ps + dark_ps));
    world_start(&world);
    world_send(&world, 0, 1, (uint64_t)lit_ps, &fits);
    world_send(&world, 1, 2, (uint64_t)lit_ps + 1, &more);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(fits.end, lit_ps + 250000);
    CU_ASSERT_EQUAL(more.end, 7 * (lit_ps + dark_ps) + 1 + 250000);
    world_close(&world);
}

static void test_duty(void)
{
    check_duty(0, TOPOLOGY_AS_FABRIC, .9, 90000000, 10000000);
    check_duty(0, 1000, .9, 9000, 1000);
    check_duty(0, INT64_C(10000000000), .9, INT64_C(90000000000), INT64_C(10000000000));
    check_duty(0, 3000, .75, 9000, 3000);
    check_duty(90000000, TOPOLOGY_AS_FABRIC, .9, 90000000, 10000000);
    check_duty(90000000, 1000, .9, 90000000, 1000);
    check_duty(5000, 0, .9, 5000, 0);
}

static enum status parse(const char *keys, struct error *error)
{
    struct topology topology;
    char text[256];
    snprintf(text, sizeof text, "fabric: rotor\ngroups: 4\nracks_per_group: 2\nservers_per_rack: 2\nrotor: {%s}\n",
             keys);
    enum status status = topology_parse(text, strlen(text), "here", &fabrics, &topology, error);
    if (status == STATUS_OK)
        topology_free(&topology);
    return status;
}

static void test_duty_keys(void)
{
    struct error error = {0};
    CU_ASSERT_EQUAL(parse("dark: 1us, duty: 0.98", &error), STATUS_OK);
    CU_ASSERT_EQUAL(parse("dark: 1us, slot: 3us", &error), STATUS_OK);
    CU_ASSERT_EQUAL(parse("slot: 3us, duty: 0.98", &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "rotor.slot"));
    CU_ASSERT_EQUAL(parse("duty: 1", &error), STATUS_USER);
    CU_ASSERT_EQUAL(parse("duty: 0", &error), STATUS_USER);
}

/* A network whose clock begins later in the run does what one from the start does from then on. */
static void test_phase(void)
{
    for (int i = 0; i < 24; i++) {
        struct world world;
        struct transfer_report whole[2], late[2];
        sim_time start = i * INT64_C(98765432);
        world_open(&world, i % 2 ? "topologies/rotor-32.yaml" : "topologies/awgr-32.yaml");
        if (i % 2 == 0)
            figure_choose(&world.topology, "awgr.schedule", "round_robin");
        else
            *figure_truth(&world.topology, "rotor.two_hop") = i % 4 == 1;
        for (int k = 0; k < 2; k++) {
            struct transfer_report *reports = k ? late : whole;
            world.options.epoch = k ? start : 0;
            world_start(&world);
            engine_run(world.engine, k ? 0 : start);
            world_send(&world, 0, 9, 3000000, &reports[0]);
            world_send(&world, 5, 31, 70000, &reports[1]);
            engine_run(world.engine, SIM_TIME_MAX);
            world_stop(&world);
        }
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(whole[k].end - start, late[k].end);
            CU_ASSERT_EQUAL(whole[k].wait, late[k].wait);
            CU_ASSERT_EQUAL(whole[k].reconfiguration, late[k].reconfiguration);
        }
        topology_free(&world.topology);
    }
}

static void draw(struct world *world, struct random_stream *draws, struct slow_transfer *transfers)
{
    struct topology *t = &world->topology;
    t->server_count = t->device_count = 3 + (uint32_t)random_below(draws, 6);
    t->groups = t->server_count;
    *figure_whole(t, "rotor.switches") =
        1 + (int64_t)random_below(draws, t->server_count - 1 < 4 ? t->server_count - 1 : 4);
    *figure_whole(t, "rotor.slot") = 1 + (int64_t)random_below(draws, 12);
    *figure_whole(t, "rotor.dark") = (int64_t)random_below(draws, 5);
    *figure_truth(t, "rotor.staggered") = random_below(draws, 2);
    t->node_rate_bytes_per_s = 1e12 * (double)*figure_whole(t, "rotor.switches");
    t->propagation_ps = (int64_t)random_below(draws, 5);
    t->io_latency_ps = (int64_t)random_below(draws, 3);
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3)};
    world->options.epoch = (int64_t)random_below(draws, 400) - 100;
    uint64_t span = UINT64_C(1) << random_below(draws, 7);
    uint32_t senders = random_below(draws, 2) ? 3 : t->server_count; /* few: detours; all: lines at those in between */
    int64_t sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, t->server_count) % senders;
        uint32_t further = 1 + (uint32_t)random_below(draws, t->server_count - 1);
        sent += (int64_t)random_below(draws, span);
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 1 + random_below(draws, 40),
                                              .priority = (int64_t)random_below(draws, 3) - 1,
                                              .source = source,
                                              .target = (source + further) % t->server_count,
                                              .is_cleared_when_blocked = random_below(draws, 10) == 0};
    }
}

static void compare(bool is_two_hop)
{
    struct world world;
    int wrong = 0;
    open_small(&world, 8, 2);
    *figure_truth(&world.topology, "rotor.two_hop") = is_two_hop;
    struct random_stream *draws = random_open(1, "reference rotor", is_two_hop);
    for (int i = 0; i < CASES; i++) {
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report reports[TRANSFERS];
        draw(&world, draws, transfers);
        sim_time busy = fast_run(&world, transfers, reports, TRANSFERS);
        wrong += slow_rotor(&world, transfers, TRANSFERS) != busy;
        wrong += slow_differences(transfers, reports, TRANSFERS);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
    topology_free(&world.topology);
}

static void test_reference(void)
{
    compare(false);
}

static void test_reference_two_hop(void)
{
    compare(true);
}

void suite_fabric_rotor(void)
{
    CU_pSuite suite = CU_add_suite("fabric rotor", NULL, NULL);
    CU_add_test(suite, "one transfer to the picosecond", test_one);
    CU_add_test(suite, "darkness is reconfiguration", test_dark);
    CU_add_test(suite, "windows by arithmetic", test_schedule);
    CU_add_test(suite, "goodput of a saturated pair", test_goodput);
    CU_add_test(suite, "the lit time follows the dark time", test_duty);
    CU_add_test(suite, "a duty or a lit time", test_duty_keys);
    CU_add_test(suite, "a clock that begins later in the run", test_phase);
    CU_add_test(suite, "what cannot be", test_impossible);
    CU_add_test(suite, "2^60 bytes, none, and to itself", test_huge);
    CU_add_test(suite, "a detour helps a lone sender", test_detour);
    CU_add_test(suite, "as the slow rotor says, one hop", test_reference);
    CU_add_test(suite, "as the slow rotor says, two hops", test_reference_two_hop);
}
