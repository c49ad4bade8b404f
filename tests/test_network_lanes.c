/* Lanes, patience and delays. Properties: lanes belong to circuits, so that 2, 1, 2, 1 lanes on one idle pair cost two
 * set-ups; lanes that join late carry the rest; a transfer waits for its own circuit as long as that is sooner; small
 * messages follow each other at the line rate; control, lock and guard add up; a RAMP with a plane per rack is the same
 * network as parallel switches.
 */
#include "suites.h"

#include "engine/random.h"
#include "figures.h"
#include "network_world.h"

/* ocs-32: 1.6 TB/s over 4 ports: 2.5 ps a byte; 250 ns from end to end. */
enum { LATENCY = 250000, DELAY = 10000000, MEGABYTE = 1000000 };
#define BYTE_PS(bytes) ((bytes) * INT64_C(5) / 2)

static void open_ocs(struct world *world, int64_t delay_ps)
{
    world_open(world, "topologies/ocs-32.yaml");
    *figure_whole(&world->topology, "ocs.reconfiguration") = delay_ps;
}

static void send_lanes(struct world *world, uint32_t source, uint32_t target, uint64_t bytes, uint16_t lanes,
                       struct transfer_report *report)
{
    struct transfer_request request = {.source = source,
                                       .target = target,
                                       .bytes = bytes,
                                       .lanes = lanes,
                                       .done = world_keep,
                                       .context = report};
    *report = (struct transfer_report){.end = -1};
    CU_ASSERT_EQUAL_FATAL(network_send(world->network, &request, NULL, NULL), STATUS_OK);
}

static struct transfer_report send_alone(struct world *world, uint64_t bytes, uint16_t lanes)
{
    struct transfer_report report;
    send_lanes(world, 0, 1, bytes, lanes, &report);
    engine_run(world->engine, SIM_TIME_MAX);
    return report;
}

static void test_reuse(void)
{
    static const uint16_t lanes[] = {2, 1, 2, 1, 2};
    struct world world;
    open_ocs(&world, DELAY);
    world_start(&world);
    for (size_t i = 0; i < 5; i++) {
        struct transfer_report report = send_alone(&world, MEGABYTE, lanes[i]);
        CU_ASSERT_EQUAL(report.reconfiguration, i == 0 ? DELAY : 0);
        CU_ASSERT_EQUAL(report.payload, BYTE_PS(MEGABYTE) / lanes[i]);
    }
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, 2);
    world_close(&world);
}

/* One lane is lit and carries 4 MB in the 10 us that three more take; the rest goes over all four. Less than 4 MB needs
 * no more lanes. */
static void test_join(void)
{
    struct world world;
    open_ocs(&world, DELAY);
    world_start(&world);
    (void)send_alone(&world, MEGABYTE, 1);
    struct transfer_report small = send_alone(&world, 4 * MEGABYTE, NETWORK_ALL_LANES);
    CU_ASSERT_EQUAL(small.payload, DELAY);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, 1);
    struct transfer_report large = send_alone(&world, 12 * MEGABYTE, NETWORK_ALL_LANES);
    CU_ASSERT_EQUAL(large.payload, DELAY + BYTE_PS(8 * MEGABYTE) / 4);
    CU_ASSERT_EQUAL(large.reconfiguration, 0);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, 4);
    world_close(&world);
}

/* Messages of 2.5 us each: up to four wait for the one circuit, behind each other; the fifth would wait for longer than
 * the 10 us of a new one. Another policy sets up a circuit for each. */
static void check_patience(enum network_circuits circuits, const sim_time *waits, uint64_t set_up)
{
    struct world world;
    struct transfer_report first, reports[5];
    open_ocs(&world, DELAY);
    world.options.circuits = circuits;
    world_start(&world);
    send_lanes(&world, 0, 1, MEGABYTE, 1, &first);
    engine_run(world.engine, DELAY); /* its first bit leaves now */
    for (int i = 0; i < 5; i++)
        send_lanes(&world, 0, 1, MEGABYTE, 1, &reports[i]);
    engine_run(world.engine, SIM_TIME_MAX);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(reports[i].wait, waits[i]);
    CU_ASSERT_EQUAL(network_totals(world.network).circuits_set_up, set_up);
    world_close(&world);
}

static void test_patience(void)
{
    const sim_time step = BYTE_PS(MEGABYTE), patient[] = {step, 2 * step, 3 * step, 4 * step, 0};
    const sim_time hold[] = {0, 0, 0, step, 2 * step};
    check_patience(NETWORK_PATIENT, patient, 2);
    check_patience(NETWORK_HOLD, hold, 4);
}

/* 1,000 messages of 4 kB between two servers, which wait for nothing but each other. */
static void test_line_rate(void)
{
    static const char *const names[] = {"ocs", "ramp", "awgr", "ring"};
    for (int i = 0; i < 4; i++) {
        char path[64];
        struct world world;
        struct transfer_report reports[1000];
        snprintf(path, sizeof path, "topologies/%s-32.yaml", names[i]);
        world_open(&world, path);
        world.topology.reconfiguration_ps = 0;
        if (i == 1 || i == 2) /* slots round 4 kB up to 20 or 100 ns */
            *figure_whole(&world.topology, i == 1 ? "ramp.slot" : "awgr.slot") = 0;
        world_start(&world);
        for (int k = 0; k < 1000; k++)
            send_lanes(&world, 0, 9, 4000, NETWORK_ALL_LANES, &reports[k]);
        engine_run(world.engine, SIM_TIME_MAX);
        sim_time sending = 1000 * reports[0].payload;
        CU_ASSERT_EQUAL(reports[999].end, sending + LATENCY);
        world_close(&world);
    }
}

static void test_delays(void)
{
    struct world world;
    struct transfer_report first, second;
    open_ocs(&world, 2800000);
    *figure_whole(&world.topology, "ocs.control") = 68500000;
    *figure_whole(&world.topology, "ocs.lock") = 8700000;
    *figure_whole(&world.topology, "ocs.guard") = 100000;
    world_start(&world);
    first = send_alone(&world, MEGABYTE, 1);
    second = send_alone(&world, MEGABYTE, 1);
    CU_ASSERT_EQUAL(first.reconfiguration, 68500000 + 2800000 + 8700000 + 100000);
    CU_ASSERT_EQUAL(second.reconfiguration, 100000);
    CU_ASSERT_EQUAL(second.end - second.start, 100000 + BYTE_PS(MEGABYTE) + LATENCY);
    world_close(&world);
}

/* ---- RAMP and parallel switches ---- */

enum { CASES = 300, TRANSFERS = 60 };

struct sending {
    struct world *world;
    struct transfer_request *requests;
};

static void on_send(struct engine *engine, const struct event *event, void *context)
{
    const struct sending *sending = context;
    (void)engine;
    CU_ASSERT_EQUAL_FATAL(network_send(sending->world->network, &sending->requests[event->entity], NULL, NULL),
                          STATUS_OK);
}

static void run_all(struct world *world, struct transfer_request *requests, const sim_time *sent,
                    struct transfer_report *reports)
{
    struct sending sending = {world, requests};
    world_start(world);
    engine_on(world->engine, WORLD_SEND_KIND, on_send, &sending);
    for (uint32_t i = 0; i < TRANSFERS; i++) {
        requests[i].context = &reports[i];
        (void)engine_schedule(world->engine, sent[i], 0, WORLD_SEND_KIND, i, 0);
    }
    engine_run(world->engine, SIM_TIME_MAX);
    world_stop(world);
}

/* With a plane per rack no wavelength is shared by two targets, so what is left of RAMP is a transmitter and a receiver
 * for each lane at each server: ports on as many switches. Where nobody takes hardware that another has lit: whose is
 * taken differs, since a wavelength counts as well. */
static void test_ramp_is_ocs(void)
{
    struct world ramp, ocs;
    struct random_stream *draws = random_open(1, "ramp and ocs", 0);
    int wrong = 0;
    world_open(&ramp, "topologies/ramp-32.yaml");
    world_open(&ocs, "topologies/ocs-32.yaml");
    *figure_whole(&ramp.topology, "ramp.slot") = 0;
    for (int i = 0; i < CASES; i++) {
        struct transfer_request requests[TRANSFERS];
        struct transfer_report on_ramp[TRANSFERS], on_ocs[TRANSFERS];
        sim_time sent[TRANSFERS], at = 0;
        ramp.topology.reconfiguration_ps = ocs.topology.reconfiguration_ps = (int64_t)random_below(draws, 4) * 1000000;
        ramp.options.circuits = ocs.options.circuits = random_below(draws, 2) ? NETWORK_TEARDOWN : NETWORK_LINGER;
        ramp.options.linger_ps = ocs.options.linger_ps = 2000000;
        for (int k = 0; k < TRANSFERS; k++) {
            uint32_t source = (uint32_t)random_below(draws, 8);
            requests[k] = (struct transfer_request){.source = source,
                                                    .target = (source + 1 + (uint32_t)random_below(draws, 7)) % 8,
                                                    .bytes = 1 + random_below(draws, 3 * MEGABYTE),
                                                    .lanes = NETWORK_ALL_LANES,
                                                    .done = world_keep};
            sent[k] = at += (sim_time)random_below(draws, 500000);
        }
        run_all(&ramp, requests, sent, on_ramp);
        run_all(&ocs, requests, sent, on_ocs);
        for (int k = 0; k < TRANSFERS; k++)
            wrong += on_ramp[k].end != on_ocs[k].end || on_ramp[k].wait != on_ocs[k].wait;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    topology_free(&ramp.topology);
    topology_free(&ocs.topology);
    random_close(draws);
}

void suite_network_lanes(void)
{
    CU_pSuite suite = CU_add_suite("network lanes", NULL, NULL);
    CU_add_test(suite, "lanes belong to circuits", test_reuse);
    CU_add_test(suite, "lanes that join late", test_join);
    CU_add_test(suite, "patience", test_patience);
    CU_add_test(suite, "small messages at the line rate", test_line_rate);
    CU_add_test(suite, "control, lock and guard", test_delays);
    CU_add_test(suite, "ramp with a plane per rack is parallel switches", test_ramp_is_ocs);
}
