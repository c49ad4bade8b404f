/* Circuits, one rule at a time.
 *
 * Properties: a transfer on an idle fabric takes reconfiguration + propagation + 2 io + bytes / rate to the picosecond;
 * hold, teardown and linger pay what they say; hardware serves one circuit at a time and switching darkens its scope;
 * orders and backfill decide who goes; books add up to the run's length; what cannot be is refused or has the right
 * limit.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "network_world.h"
#include "figures.h"

enum { LATENCY_PS = 250000 }; /* 50 ns + 2 * 100 ns in all topology files of 32 servers */

static struct transfer_report send_alone(struct world *world, uint32_t source, uint32_t target, uint64_t bytes)
{
    struct transfer_report report;
    world_send(world, source, target, bytes, &report);
    engine_run(world->engine, SIM_TIME_MAX);
    return report;
}

static void check_parts(const struct transfer_report *report, sim_time wait, sim_time reconfiguration, sim_time payload)
{
    CU_ASSERT_EQUAL(report->wait, wait);
    CU_ASSERT_EQUAL(report->reconfiguration, reconfiguration);
    CU_ASSERT_EQUAL(report->latency, LATENCY_PS);
    CU_ASSERT_EQUAL(report->payload, payload);
    CU_ASSERT_EQUAL(report->end - report->start, wait + reconfiguration + LATENCY_PS + payload);
}

/* --- One transfer ------------------------------------------------------------ */

static void test_one_ramp(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    /* 1.6 TB/s over 4 transceivers: 2.5 ps a byte, in slots of 20 ns. */
    struct transfer_report report = send_alone(&world, 0, 9, 1000001);
    check_parts(&report, 0, 1000, 2520000);
    CU_ASSERT_EQUAL(report.end, 1000 + LATENCY_PS + 2520000);
    world_stop(&world);
    *figure_whole(&world.topology, "ramp.slot") = 0;
    world_start(&world);
    report = send_alone(&world, 0, 9, 1000001);
    check_parts(&report, 0, 1000, 2500003); /* 2500002.5 rounded up once */
    world_close(&world);
}

static void test_one_ocs(void)
{
    struct world world;
    world_open(&world, "topologies/ocs-32.yaml");
    world_start(&world);
    struct transfer_report report = send_alone(&world, 0, 9, 1000001);
    check_parts(&report, 0, INT64_C(10000000000), 2500003);
    world_close(&world);
}

static void test_one_awgr(void)
{
    struct world world;
    world_open(&world, "topologies/awgr-32.yaml");
    world_start(&world);
    struct transfer_report report = send_alone(&world, 0, 9, 1000001);
    check_parts(&report, 0, 3840, 2600000);
    world_close(&world);
}

static void test_one_other_tick(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    world.options.tick_ps = 1000;
    *figure_whole(&world.topology, "ramp.slot") = 0;
    world_start(&world);
    struct transfer_report report = send_alone(&world, 0, 9, 1000001);
    CU_ASSERT_EQUAL(report.end, 1 + 250 + 2501);
    world_close(&world);
}

/* --- What becomes of a circuit ------------------------------------------------- */

/* Two transfers of one pair, the second sent when the first is done and so much later. */
static void send_twice(struct world *world, sim_time later, struct transfer_report reports[2])
{
    reports[0] = send_alone(world, 0, 9, 8000);
    engine_run(world->engine, reports[0].end + later);
    reports[1] = send_alone(world, 0, 9, 8000);
}

static void test_hold(void)
{
    struct world world;
    struct transfer_report reports[2];
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    send_twice(&world, 1000000000, reports);
    CU_ASSERT_EQUAL(reports[0].reconfiguration, 1000);
    CU_ASSERT_EQUAL(reports[1].reconfiguration, 0);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, 1);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_reused, 1);
    /* Another pair that wants the transmitter gets it at once, and the first then pays again. */
    struct transfer_report report = send_alone(&world, 0, 11, 8000);
    check_parts(&report, 0, 1000, 20000);
    report = send_alone(&world, 0, 9, 8000);
    check_parts(&report, 0, 1000, 20000);
    world_close(&world);
}

static void test_teardown(void)
{
    struct world world;
    struct transfer_report reports[2];
    world_open(&world, "topologies/ramp-32.yaml");
    world.options.circuits = NETWORK_TEARDOWN;
    world_start(&world);
    send_twice(&world, 0, reports);
    CU_ASSERT_EQUAL(reports[0].reconfiguration, 1000);
    CU_ASSERT_EQUAL(reports[1].reconfiguration, 1000);
    world_close(&world);
}

static void test_linger(void)
{
    struct world world;
    struct transfer_report reports[2], other;
    world_open(&world, "topologies/ramp-32.yaml");
    world.options.circuits = NETWORK_LINGER;
    world.options.linger_ps = 5000000;
    world_start(&world);
    reports[0] = send_alone(&world, 0, 9, 8000); /* runs on until the circuit is dark again */
    CU_ASSERT_EQUAL(engine_now(world.engine), world_gone(&reports[0]) + 5000000);
    reports[1] = send_alone(&world, 0, 9, 8000);
    CU_ASSERT_EQUAL(reports[1].reconfiguration, 1000);
    world_send(&world, 0, 9, 8000, &reports[0]);
    engine_run(world.engine, engine_now(world.engine) + 1000000);
    world_send(&world, 0, 9, 8000, &reports[1]); /* while it lingers: lit */
    world_send(&world, 0, 11, 8000, &other);     /* and kept, though this one wants it */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(reports[1].reconfiguration, 0);
    CU_ASSERT_EQUAL(other.wait, world_gone(&reports[1]) + 5000000 - other.start);
    CU_ASSERT_EQUAL(other.reconfiguration, 1000);
    world_close(&world);
}

/* --- Who holds what -------------------------------------------------------------- */

/* Sends two at once on ramp; returns how long the second waited. */
static sim_time wait_of_second(struct world *world, uint32_t from, uint32_t to, uint32_t other_from, uint32_t other_to)
{
    struct transfer_report first, second;
    world_start(world);
    world_send(world, from, to, 8000, &first);
    world_send(world, other_from, other_to, 8000, &second);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(first.wait, 0);
    CU_ASSERT_TRUE(second.wait == 0 || second.wait == world_gone(&first) - first.start);
    world_stop(world);
    return second.wait;
}

/* Server numbers on ramp-32 are group * 8 + rack * 2 + place. */
static void test_ramp_collisions(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    CU_ASSERT_NOT_EQUAL(wait_of_second(&world, 0, 8, 0, 9), 0); /* one transmitter a target group */
    CU_ASSERT_EQUAL(wait_of_second(&world, 0, 8, 0, 17), 0);    /* another group, another transmitter */
    CU_ASSERT_NOT_EQUAL(wait_of_second(&world, 0, 8, 1, 8), 0); /* one receiver a source group */
    CU_ASSERT_EQUAL(wait_of_second(&world, 0, 8, 16, 8), 0);    /* another group, another receiver */
    *figure_whole(&world.topology, "ramp.planes") = 1;
    CU_ASSERT_NOT_EQUAL(wait_of_second(&world, 0, 8, 1, 10), 0); /* same place, other rack: one wavelength */
    CU_ASSERT_EQUAL(wait_of_second(&world, 0, 8, 1, 11), 0);     /* other place, other wavelength */
    CU_ASSERT_EQUAL(wait_of_second(&world, 0, 8, 16, 10), 0);    /* other source group, other subnet */
    *figure_whole(&world.topology, "ramp.planes") = 4;
    CU_ASSERT_EQUAL(wait_of_second(&world, 0, 8, 1, 10), 0); /* racks on planes of their own */
    CU_ASSERT_NOT_EQUAL(wait_of_second(&world, 0, 8, 1, 8), 0);
    topology_free(&world.topology);
}

static void test_ocs_ports(void)
{
    struct world world;
    struct transfer_report reports[6];
    world_open(&world, "topologies/ocs-32.yaml");
    *figure_whole(&world.topology, "ocs.switches") = 2;
    world_start(&world);
    for (uint32_t i = 0; i < 3; i++) {
        world_send(&world, 0, 1 + i, 8000, &reports[i]);       /* two ports to send with */
        world_send(&world, 10 + i, 20, 8000, &reports[3 + i]); /* two to receive with */
    }
    engine_run(world.engine, SIM_TIME_MAX);
    sim_time alone = world_gone(&reports[0]);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(reports[i].wait, i % 3 == 2 ? alone : 0);
    world_close(&world);
}

/* Two lanes, then two of another pair on the lit circuit's left-overs, then the first pair again: theirs are still lit,
 * and what they would have to give way for was dark. */
static void check_lanes_again(struct world *world)
{
    struct transfer_report reports[4];
    static const uint32_t targets[4] = {9, 10, 9, 10};
    world_start(world);
    for (int i = 0; i < 4; i++) {
        struct transfer_request request = {.source = 0,
                                           .target = targets[i],
                                           .bytes = 8000000,
                                           .lanes = 2,
                                           .done = world_keep,
                                           .context = &reports[i]};
        struct error error;
        CU_ASSERT_EQUAL_FATAL(network_send(world->network, &request, NULL, &error), STATUS_OK);
        engine_run(world->engine, SIM_TIME_MAX);
        CU_ASSERT_EQUAL(reports[i].reconfiguration > 0, i < 2);
    }
    CU_ASSERT_EQUAL(network_totals(world->network).circuits_reused, 2);
    world_stop(world);
}

static void test_lanes_again(void)
{
    struct world world;
    world_open(&world, "topologies/ocs-32.yaml");
    *figure_whole(&world.topology, "ocs.switches") = 4;
    figure_choose(&world.topology, "ocs.scope", "port");
    check_lanes_again(&world);
    topology_free(&world.topology);
    world_open(&world, "topologies/awgr-32.yaml");
    *figure_whole(&world.topology, "awgr.planes") = 4;
    check_lanes_again(&world);
    topology_free(&world.topology);
}

static void test_awgr_planes(void)
{
    struct world world;
    struct transfer_report reports[3];
    world_open(&world, "topologies/awgr-32.yaml");
    *figure_whole(&world.topology, "awgr.planes") = 2;
    world_start(&world);
    for (uint32_t i = 0; i < 3; i++)
        world_send(&world, 0, 8 + i, 8000, &reports[i]);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(reports[0].wait, 0);
    CU_ASSERT_EQUAL(reports[1].wait, 0);
    CU_ASSERT_EQUAL(reports[2].wait, world_gone(&reports[0]));
    world_close(&world);
}

/* A switch that stops as a whole: what moves on it is late by every set-up, what is set up meanwhile too. */
static void test_all_stop(void)
{
    struct world world;
    struct transfer_report first, second, third;
    world_open(&world, "topologies/ocs-32.yaml");
    *figure_whole(&world.topology, "ocs.switches") = 1;
    figure_choose(&world.topology, "ocs.scope", "switch");
    *figure_whole(&world.topology, "ocs.reconfiguration") = 1000000;
    world_start(&world);
    world_send(&world, 0, 1, 16000000, &first); /* 10 us of payload at 1.6 TB/s */
    engine_run(world.engine, 3000000);
    world_send(&world, 2, 3, 16000000, &second);
    engine_run(world.engine, 3400000);
    world_send(&world, 4, 5, 1600, &third);
    engine_run(world.engine, SIM_TIME_MAX);
    check_parts(&first, 0, 1000000 + 1400000, 10000000); /* dark from 3 us to 4.4 us */
    check_parts(&second, 0, 1000000 + 400000, 10000000);
    check_parts(&third, 0, 1000000, 1000);
    world_close(&world);
}

static void test_multicast(void)
{
    struct world world;
    struct transfer_report report, blocked;
    const uint32_t targets[3] = {8, 9, 17};
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    struct transfer_request request = {
        .source = 0, .targets = targets, .target_count = 3, .bytes = 8000, .done = world_keep, .context = &report};
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, NULL), STATUS_OK);
    world_send(&world, 1, 9, 8000, &blocked); /* its receiver is taken */
    engine_run(world.engine, SIM_TIME_MAX);
    check_parts(&report, 0, 1000, 20000);
    CU_ASSERT_EQUAL(blocked.wait, world_gone(&report));
    CU_ASSERT_TRUE(network_totals(world.network).bytes_received == 4 * 8000);
    world_close(&world);
    world_open(&world, "topologies/ocs-32.yaml");
    world_start(&world);
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, NULL), STATUS_USER);
    world_close(&world);
}

/* --- Who goes first ---------------------------------------------------------------- */

/* One transmitter, four requests at once; `order` gets the positions in which they ended. */
static void run_orders(enum network_order policy, int expected[4])
{
    static const uint64_t bytes[4] = {40000, 30000, 20000, 10000};
    static const int64_t priorities[4] = {0, 5, -5, INT64_MIN};
    struct world world;
    struct transfer_report reports[4];
    world_open(&world, "topologies/ramp-32.yaml");
    world.options.order = policy;
    world_start(&world);
    for (int i = 0; i < 4; i++) {
        struct transfer_request request = {.source = 0,
                                           .target = 8 + (uint32_t)i,
                                           .bytes = bytes[i],
                                           .priority = priorities[i],
                                           .done = world_keep,
                                           .context = &reports[i]};
        CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, NULL), STATUS_OK);
    }
    engine_run(world.engine, SIM_TIME_MAX);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(reports[expected[i]].end < reports[expected[i + 1]].end);
    world_close(&world);
}

static void test_orders(void)
{
    run_orders(NETWORK_FIFO, (int[4]){0, 1, 2, 3});
    run_orders(NETWORK_SRPT, (int[4]){3, 2, 1, 0});
    run_orders(NETWORK_PRIORITY, (int[4]){3, 2, 0, 1});
}

static void test_backfill(void)
{
    struct world world;
    struct transfer_report first, stuck, free_to_go;
    world_open(&world, "topologies/ramp-32.yaml");
    for (int strict = 0; strict < 2; strict++) {
        world.options.is_strict = strict == 1;
        world_start(&world);
        world_send(&world, 0, 8, 8000, &first);
        world_send(&world, 0, 9, 8000, &stuck);
        world_send(&world, 2, 19, 8000, &free_to_go);
        engine_run(world.engine, SIM_TIME_MAX);
        CU_ASSERT_EQUAL(stuck.wait, world_gone(&first));
        CU_ASSERT_EQUAL(free_to_go.wait, strict ? world_gone(&first) : 0);
        world_stop(&world);
    }
    topology_free(&world.topology);
}

static void test_cleared(void)
{
    struct world world;
    struct transfer_report first, second, third;
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    world_send(&world, 0, 8, 8000, &first);
    struct transfer_request request = {.source = 0,
                                       .target = 9,
                                       .bytes = 8000,
                                       .is_cleared_when_blocked = true,
                                       .done = world_keep,
                                       .context = &second};
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, NULL), STATUS_OK);
    request.target = 17;
    request.context = &third;
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, NULL), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_TRUE(second.is_cleared && second.end == 0);
    CU_ASSERT_TRUE(!third.is_cleared && third.end == first.end);
    CU_ASSERT_EQUAL(network_totals(world.network).cleared, 1);
    world_close(&world);
}

/* --- Books ----------------------------------------------------------------------- */

struct books {
    uint64_t count, used;
    sim_time busy, switching, length;
};

static void keep_books(void *context, const struct hardware_use *use)
{
    struct books *books = context;
    books->count++;
    books->used += use->busy > 0;
    books->busy += use->busy;
    books->switching += use->switching;
    CU_ASSERT_EQUAL(use->busy + use->switching + use->idle, books->length);
}

static void test_books(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    world_send(&world, 0, 9, 8000, &report);
    engine_run(world.engine, 1000 + 15000); /* under way */
    struct books books = {.length = 16000};
    network_visit_hardware(world.network, keep_books, &books);
    CU_ASSERT_EQUAL(books.busy, 3 * 15000);
    engine_run(world.engine, 1000 + 70000); /* in flight, on no hardware */
    books = (struct books){.length = 71000};
    network_visit_hardware(world.network, keep_books, &books);
    CU_ASSERT_EQUAL(books.busy, 3 * 20000);
    CU_ASSERT_TRUE(network_totals(world.network).bytes_in_flight == 8000);
    engine_run(world.engine, 1000000);
    books = (struct books){.length = 1000000};
    network_visit_hardware(world.network, keep_books, &books);
    CU_ASSERT_EQUAL(books.count, 2 * 32 * 4 + 1); /* transmitters, receivers, the wavelength used */
    CU_ASSERT_EQUAL(books.used, 3);
    CU_ASSERT_EQUAL(books.busy, 3 * 20000);
    CU_ASSERT_EQUAL(books.switching, 3 * 1000);
    network_check(world.network);
    world_close(&world);
}

static void test_explain(void)
{
    struct world world;
    struct transfer_report reports[3];
    char text[512] = {0};
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    world_send(&world, 0, 9, 8000, &reports[0]);
    world_send(&world, 0, 11, 4000, &reports[1]);
    world_send(&world, 0, 13, 4000, &reports[2]);
    engine_run(world.engine, 1000);
    FILE *out = fmemopen(text, sizeof text, "w");
    network_explain_waiting(world.network, 1, out);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "0-0-0 to 1-1-1, 4000 bytes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "waits for transmitter 1 of 0-0-0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "and 1 more"));
    CU_ASSERT_EQUAL(network_unfinished(world.network), 3);
    world_close(&world);
}

/* --- What cannot be --------------------------------------------------------------- */

static void test_nothing_to_send(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    struct transfer_report report = send_alone(&world, 0, 9, 0);
    CU_ASSERT_TRUE(report.end == 0 && report.latency == 0);
    report = send_alone(&world, 5, 5, 8000);
    CU_ASSERT_TRUE(report.end == 0 && report.payload == 0);
    CU_ASSERT_EQUAL(network_totals(world.network).local, 2);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, 0);
    world_close(&world);
}

static void refuse(struct world *world, const struct transfer_request *request, const char *says)
{
    struct error error = {0};
    CU_ASSERT_EQUAL(network_send(world->network, request, NULL, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says));
}

static void test_refused(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    refuse(&world, &(struct transfer_request){.source = 32, .target = 1, .bytes = 1}, "there are 32");
    refuse(&world, &(struct transfer_request){.source = 1, .target = 32, .bytes = 1}, "there are 32");
    refuse(&world, &(struct transfer_request){.source = 1, .target = 2, .bytes = 1, .lanes = 5}, "lanes");
    refuse(&world, &(struct transfer_request){.source = 1, .target = 2, .bytes = 1, .first_lane = 5}, "lane");
    refuse(&world, &(struct transfer_request){.source = 1, .target = 2, .bytes = UINT64_MAX}, "tick");
    CU_ASSERT_EQUAL(network_totals(world.network).sent, 0);
    world_close(&world);
}

static void test_huge(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    *figure_whole(&world.topology, "ramp.slot") = 0;
    world_start(&world);
    /* 2^60 bytes at 2.5 ps a byte fit the clock three times in a row; the fourth says that it does not when the last
     * bit of the third has left, and the run ends there. */
    struct transfer_report reports[4];
    for (int i = 0; i < 4; i++)
        world_send(&world, 0, 9, UINT64_C(1) << 60, &reports[i]);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(reports[0].payload, (INT64_C(1) << 59) * 5);
    CU_ASSERT_EQUAL(reports[1].end, LATENCY_PS + 1000 + (INT64_C(1) << 59) * 10);
    CU_ASSERT_EQUAL(reports[3].end, -1);
    struct error error = {0};
    CU_ASSERT_EQUAL(network_status(world.network, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "tick"));
    world_close(&world);
}

static void refuse_topology(struct world *world, const char *says)
{
    struct error error = {0};
    struct network *network = NULL;
    struct engine *engine = engine_create();
    CU_ASSERT_EQUAL(network_create(engine, &world->topology, &world->options, &network, &error), STATUS_USER);
    CU_ASSERT_PTR_NULL(network);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says));
    engine_destroy(engine);
}

static void test_impossible_topologies(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    world.topology.node_rate_bytes_per_s = 3;
    refuse_topology(&world, "bytes per second");
    world.topology.node_rate_bytes_per_s = 1e300;
    refuse_topology(&world, "node_rate");
    world.topology.node_rate_bytes_per_s = 1e12;
    world.topology.io_latency_ps = INT64_MAX / 2;
    refuse_topology(&world, "io_latency");
    topology_free(&world.topology);
    world_open(&world, "topologies/awgr-4096.yaml");
    *figure_whole(&world.topology, "awgr.wavelengths") = 1;
    *figure_whole(&world.topology, "awgr.planes") = 1024;
    refuse_topology(&world, "too many");
    topology_free(&world.topology);
}

void suite_network(void)
{
    CU_pSuite suite = CU_add_suite("network", NULL, NULL);
    CU_add_test(suite, "one transfer on ramp", test_one_ramp);
    CU_add_test(suite, "one transfer on ocs", test_one_ocs);
    CU_add_test(suite, "one transfer on awgr", test_one_awgr);
    CU_add_test(suite, "one transfer with another tick", test_one_other_tick);
    CU_add_test(suite, "hold", test_hold);
    CU_add_test(suite, "teardown", test_teardown);
    CU_add_test(suite, "linger", test_linger);
    CU_add_test(suite, "ramp: who collides", test_ramp_collisions);
    CU_add_test(suite, "ocs: ports", test_ocs_ports);
    CU_add_test(suite, "awgr: planes", test_awgr_planes);
    CU_add_test(suite, "ocs, awgr: several lanes find theirs lit", test_lanes_again);
    CU_add_test(suite, "all-stop", test_all_stop);
    CU_add_test(suite, "multicast", test_multicast);
    CU_add_test(suite, "orders", test_orders);
    CU_add_test(suite, "backfill", test_backfill);
    CU_add_test(suite, "cleared when blocked", test_cleared);
    CU_add_test(suite, "books", test_books);
    CU_add_test(suite, "who waits for what", test_explain);
    CU_add_test(suite, "nothing to send", test_nothing_to_send);
    CU_add_test(suite, "refused transfers", test_refused);
    CU_add_test(suite, "2^60 bytes and the end of time", test_huge);
    CU_add_test(suite, "impossible topologies", test_impossible_topologies);
}
