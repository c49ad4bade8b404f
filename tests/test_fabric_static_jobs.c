/* The static fabric, a graph a job. Properties: a job never uses links of servers that are not its own; jobs side by
 * side run as each alone; closed forms for one hop and many; opening and closing refuse nonsense and leave everything
 * as it was; closed jobs leave no memory behind and their transfers end;
 * 600 random cases, with open jobs and others, end as the slow fabric says.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/static_jobs.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 600, TRANSFERS = 24, RECONFIGURATION_NS = 10000000 };

static const char *const graphs[] = {"ring", "torus", "expander"};
static const uint32_t spread[] = {30, 3, 17, 8, 21, 12};
static const uint32_t others[] = {31, 2, 16, 9, 20, 13, 0};

/* 100 GB/s a link: a megabyte is 10 us, a cell of 4 kB 40 ns. */
static void open_world(struct world *world, const char *graph, int64_t degree)
{
    world_open(world, "topologies/static-32.yaml");
    figure_choose(&world->topology, "static.graph", graph);
    *figure_whole(&world->topology, "static.degree") = degree;
    world->topology.node_rate_bytes_per_s = 100e9 * (double)(strcmp(graph, "torus") == 0 ? 6 : degree);
}

static enum status send_bytes(struct world *world, uint32_t job, uint32_t source, uint32_t target, uint64_t bytes,
                              struct transfer_report *report)
{
    struct transfer_request request = {
        .source = source, .target = target, .job = job, .bytes = bytes, .done = world_keep, .context = report};
    return network_send(world->network, &request, NULL, NULL);
}

/* Everybody to everybody; count * count reports. */
static void send_all(struct world *world, const struct world_job *job, struct transfer_report *reports)
{
    for (uint32_t i = 0; i < job->count; i++)
        for (uint32_t k = 0; k < job->count; k++)
            CU_ASSERT_EQUAL(send_bytes(world, job->job, job->servers[i], job->servers[k], 1000 * (1 + i + 7 * k),
                                       &reports[i * job->count + k]),
                            STATUS_OK);
}

struct strangers {
    const struct world_job *job;
    uint32_t ports;
    int busy, busy_elsewhere;
};

static void count_strangers(void *context, const struct hardware_use *use)
{
    struct strangers *strangers = context;
    bool is_own = false;
    for (uint32_t i = 0; i < strangers->job->count; i++)
        is_own |= use->hardware / strangers->ports == strangers->job->servers[i];
    strangers->busy += use->busy > 0;
    strangers->busy_elsewhere += use->busy > 0 && !is_own;
}

/* Busy links of servers that are none of the job's. */
static int links_elsewhere(const char *graph, const struct world_job *job, bool is_open)
{
    struct world world;
    struct transfer_report reports[36];
    open_world(&world, graph, 4);
    world.jobs = job;
    world.job_count = is_open;
    world_start(&world);
    send_all(&world, job, reports);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    struct strangers strangers = {.job = job, .ports = strcmp(graph, "torus") == 0 ? 6 : 4};
    network_visit_hardware(world.network, count_strangers, &strangers);
    CU_ASSERT(strangers.busy > 0);
    world_close(&world);
    return strangers.busy_elsewhere;
}

static void test_own_links(void)
{
    for (int i = 0; i < 3; i++) {
        for (uint32_t count = 2; count <= 6; count++)
            CU_ASSERT_EQUAL(links_elsewhere(graphs[i], &(struct world_job){5, count, spread}, true), 0);
        CU_ASSERT(links_elsewhere(graphs[i], &(struct world_job){5, 4, spread}, false) > 0);
    }
}

/* Runs those of two jobs whose bit is set. */
static void run_pair(const char *graph, int which, struct transfer_report *left, struct transfer_report *right)
{
    static const struct world_job jobs[] = {{1, 6, spread}, {2, 7, others}};
    struct world world;
    open_world(&world, graph, 4);
    world.jobs = jobs;
    world.job_count = 2;
    world_start(&world);
    if (which & 1)
        send_all(&world, &jobs[0], left);
    if (which & 2)
        send_all(&world, &jobs[1], right);
    engine_run(world.engine, SIM_TIME_MAX);
    world_close(&world);
}

static int differences(const struct transfer_report *left, const struct transfer_report *right, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += left[i].end != right[i].end || left[i].wait != right[i].wait || left[i].payload != right[i].payload ||
                 left[i].reconfiguration != right[i].reconfiguration || left[i].latency != right[i].latency;
    return wrong;
}

static void test_side_by_side(void)
{
    for (int i = 0; i < 3; i++) {
        struct transfer_report left[36], right[49], left_alone[36], right_alone[49];
        run_pair(graphs[i], 1, left_alone, NULL);
        run_pair(graphs[i], 2, NULL, right_alone);
        run_pair(graphs[i], 3, left, right);
        CU_ASSERT_EQUAL(differences(left, left_alone, 36), 0);
        CU_ASSERT_EQUAL(differences(right, right_alone, 49), 0);
        CU_ASSERT(left_alone[1].reconfiguration == INT64_C(1000) * RECONFIGURATION_NS);
    }
}

static void check_hops(const char *graph, int64_t degree, uint32_t count, uint32_t target, int hops)
{
    static const uint32_t servers[] = {30, 3, 17, 8, 21, 12, 31, 2, 16, 9, 20, 13};
    struct world_job job = {5, count, servers};
    struct world world;
    struct transfer_report report;
    open_world(&world, graph, degree);
    world.jobs = &job;
    world.job_count = 1;
    world_start(&world);
    CU_ASSERT_EQUAL(send_bytes(&world, 5, servers[0], servers[target], 1000000, &report), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.reconfiguration, INT64_C(1000) * RECONFIGURATION_NS);
    CU_ASSERT_EQUAL(report.latency, 250000 * hops);
    CU_ASSERT_EQUAL(report.payload, 10000000 + 40000 * (hops - 1));
    CU_ASSERT_EQUAL(report.end, INT64_C(1000) * RECONFIGURATION_NS + 250000 * hops + report.payload);
    world_close(&world);
}

static void test_closed_forms(void)
{
    check_hops("ring", 2, 6, 1, 1);
    check_hops("ring", 2, 6, 3, 3);
    check_hops("ring", 2, 12, 7, 5);   /* down */
    check_hops("ring", 1, 12, 11, 11); /* one way only */
    check_hops("ring", 4, 4, 2, 1);    /* three links: everybody's neighbour */
    check_hops("torus", 4, 12, 11, 3); /* 3 x 2 x 2, from corner to corner: the ends are joined */
    check_hops("torus", 4, 12, 4, 1);
    check_hops("torus", 4, 7, 3, 3); /* a prime: one ring */
    check_hops("torus", 4, 2, 1, 1);
    check_hops("expander", 6, 5, 4, 1); /* all linked */
    check_hops("expander", 3, 3, 2, 1);
    check_hops("expander", 3, 2, 1, 1);
}

static void check_refused(struct world *world, uint32_t job, const uint32_t *servers, uint32_t count, const char *what)
{
    struct error error = {0};
    CU_ASSERT_EQUAL(network_open_job(world->network, job, servers, count, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, what));
}

static void test_nonsense(void)
{
    static const uint32_t twice[] = {4, 5, 6, 5}, far[] = {1, 32}, taken[] = {4, 5, 17};
    struct world world;
    struct error error = {0};
    struct transfer_report report;
    open_world(&world, "ring", 2);
    world.jobs = &(struct world_job){5, 4, spread};
    world.job_count = 1;
    world_start(&world);
    check_refused(&world, 6, NULL, 0, "no servers");
    check_refused(&world, 6, far, 2, "there are 32");
    check_refused(&world, 6, twice, 4, "named twice");
    check_refused(&world, 6, taken, 3, "taken by another");
    check_refused(&world, 5, taken, 2, "open or has sent");
    CU_ASSERT_EQUAL(network_close_job(world.network, 6, &error), STATUS_USER);
    CU_ASSERT_EQUAL(network_open_job(world.network, 6, taken, 2, &error), STATUS_OK); /* nothing was left behind */
    CU_ASSERT_EQUAL(send_bytes(&world, 5, 30, 4, 10, &report), STATUS_USER);
    CU_ASSERT_EQUAL(send_bytes(&world, 5, 21, 30, 10, &report), STATUS_USER);
    CU_ASSERT_EQUAL(send_bytes(&world, 7, 30, 4, 10, &report), STATUS_OK); /* not open: over all */
    check_refused(&world, 7, twice, 1, "open or has sent");
    CU_ASSERT_EQUAL(network_close_job(world.network, 7, &error), STATUS_USER);
    CU_ASSERT_EQUAL(network_close_job(world.network, 6, &error), STATUS_OK);
    CU_ASSERT_EQUAL(network_close_job(world.network, 6, &error), STATUS_USER);
    CU_ASSERT_EQUAL(network_open_job(world.network, 8, others + 6, 1, &error), STATUS_OK);
    CU_ASSERT_EQUAL(send_bytes(&world, 8, 0, 1, 10, &report), STATUS_USER);
    CU_ASSERT_EQUAL(send_bytes(&world, 8, 0, 0, 10, &report), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    world_close(&world);
}

/* Fabrics that set circuits up on request take any job as it comes. */
static void test_other_fabrics(void)
{
    static const char *const paths[] = {"topologies/ocs-32.yaml", "topologies/rotor-32.yaml",
                                        "topologies/packet-32.yaml"};
    static const uint32_t far[] = {32};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct world world;
        struct error error = {0};
        world_open(&world, paths[i]);
        world_start(&world);
        CU_ASSERT_EQUAL(network_open_job(world.network, 1, spread, 6, &error), STATUS_OK);
        CU_ASSERT_EQUAL(network_open_job(world.network, 2, far, 1, &error), STATUS_USER);
        CU_ASSERT_EQUAL(network_close_job(world.network, 1, &error), STATUS_OK);
        world_close(&world);
    }
}

/* Closed on the way: the transfers end as if nothing had happened, the servers are free at once, and the number starts
 * anew. */
static void test_close_early(void)
{
    struct world world;
    struct error error = {0};
    struct transfer_report first, second, third;
    open_world(&world, "expander", 3);
    world.jobs = &(struct world_job){5, 4, spread};
    world.job_count = 1;
    world_start(&world);
    CU_ASSERT_EQUAL(send_bytes(&world, 5, 30, 8, 1000000, &first), STATUS_OK);
    engine_run(world.engine, 1000);
    CU_ASSERT_EQUAL(network_close_job(world.network, 5, &error), STATUS_OK);
    CU_ASSERT_EQUAL(network_open_job(world.network, 5, spread + 2, 4, &error), STATUS_OK);
    CU_ASSERT_EQUAL(send_bytes(&world, 5, 21, 12, 1000000, &second), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(first.end, INT64_C(10010250000));
    CU_ASSERT_EQUAL(second.end, INT64_C(10010250000) + 1000);
    CU_ASSERT_EQUAL(second.reconfiguration, INT64_C(10000000000));
    CU_ASSERT_EQUAL(send_bytes(&world, 5, 21, 12, 1000000, &third), STATUS_OK);
    CU_ASSERT_EQUAL(network_close_job(world.network, 5, &error), STATUS_OK);
    world_close(&world); /* the third is still under way */
}

/* A long stream of jobs: the map stays small and whole; what leaks is for the sanitizer to see. */
static void test_many(void)
{
    struct world world;
    struct static_graph *graph;
    struct static_jobs jobs;
    world_open(&world, "topologies/static-32.yaml");
    CU_ASSERT_EQUAL_FATAL(static_graph_create(&world.topology, &graph, NULL), STATUS_OK);
    static_jobs_init(&jobs, &world.topology, graph);
    struct random_stream *draws = random_open(3, "static jobs", 0);
    uint32_t job_on[16] = {0}, next = 1;
    for (int i = 0; i < 20000; i++) {
        uint32_t at = (uint32_t)random_below(draws, 16), servers[] = {2 * at + 1, 2 * at};
        struct static_way way;
        if (job_on[at]) {
            CU_ASSERT_EQUAL(static_jobs_find(&jobs, job_on[at], 2 * at, 2 * at + 1, &way, NULL), STATUS_OK);
            CU_ASSERT(way.wiring->count == 2 && way.source == 1 && way.target == 0);
            CU_ASSERT_EQUAL(static_jobs_close(&jobs, job_on[at], NULL), STATUS_OK);
            CU_ASSERT_EQUAL(static_jobs_close(&jobs, job_on[at], NULL), STATUS_USER);
            job_on[at] = 0;
        } else {
            job_on[at] = next++;
            CU_ASSERT_EQUAL(static_jobs_open(&jobs, job_on[at], servers, 2, NULL), STATUS_OK);
        }
    }
    CU_ASSERT(jobs.map.count <= 16 && jobs.map.size == 64 && jobs.places.count <= 16 && next > 9000);
    static_jobs_fini(&jobs);
    random_close(draws);
    topology_free(&world.topology);
}

struct drawn {
    uint32_t servers[64];
    struct world_job jobs[3];
};

/* Two to four servers for each of some jobs, in any order; job 3 is never opened. */
static void draw_jobs(struct world *world, struct random_stream *draws, struct drawn *drawn)
{
    uint32_t n = world->topology.server_count, taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)random_below(draws, (uint64_t)i + 1);
        drawn->servers[i] = drawn->servers[at];
        drawn->servers[at] = i;
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t count = 2 + (uint32_t)random_below(draws, 7);
        drawn->jobs[i] = (struct world_job){i, count, drawn->servers + taken};
        taken += count;
    }
    require(taken <= n);
    world->jobs = drawn->jobs;
    world->job_count = 1 + (uint32_t)random_below(draws, 3);
}

static void draw(struct world *world, struct random_stream *draws, struct drawn *drawn, struct slow_transfer *transfers)
{
    struct topology *t = &world->topology;
    figure_choose(t, "static.graph", graphs[random_below(draws, 3)]);
    *figure_whole(t, "static.degree") = 2 + (int64_t)random_below(draws, 4);
    *figure_whole(t, "static.dimensions") = 1 + (int64_t)random_below(draws, 3);
    *figure_whole(t, "static.reconfiguration") = (int64_t)random_below(draws, 4) * 1000;
    figure_choose(t, "static.forwarding", random_below(draws, 4) ? "cells" : "store");
    *figure_real(t, "static.cell") = 70 + (double)random_below(draws, 40) * 40;
    bool is_torus = figure_is(t, "static.graph", "torus");
    t->node_rate_bytes_per_s =
        1e12 * (double)(is_torus ? 2 * *figure_whole(t, "static.dimensions") : *figure_whole(t, "static.degree"));
    t->propagation_ps = (int64_t)random_below(draws, 3) * 100;
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3)};
    draw_jobs(world, draws, drawn);
    uint64_t span = UINT64_C(1) << random_below(draws, 6);
    int64_t sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t job = (uint32_t)random_below(draws, world->job_count + (uint64_t)1), n = t->server_count;
        bool is_open = job < world->job_count;
        uint32_t count = is_open ? drawn->jobs[job].count : n, source = (uint32_t)random_below(draws, count);
        uint32_t target = (source + 1 + (uint32_t)random_below(draws, count - 1)) % count;
        sent += (int64_t)random_below(draws, span) * 250;
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 1 + random_below(draws, random_below(draws, 2) ? 4000 : 300),
                                              .priority = (int64_t)random_below(draws, 3) - 1,
                                              .source = is_open ? drawn->jobs[job].servers[source] : source,
                                              .target = is_open ? drawn->jobs[job].servers[target] : target,
                                              .job = is_open ? job : 3,
                                              .is_cleared_when_blocked = random_below(draws, 8) == 0};
    }
}

static void test_reference(void)
{
    struct world world;
    int wrong = 0;
    world_open(&world, "topologies/static-32.yaml");
    struct random_stream *draws = random_open(1, "reference static jobs", 0);
    for (int i = 0; i < CASES; i++) {
        struct drawn drawn = {0};
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report reports[TRANSFERS];
        draw(&world, draws, &drawn, transfers);
        sim_time busy = fast_run(&world, transfers, reports, TRANSFERS);
        wrong += slow_static(&world, transfers, TRANSFERS) != busy;
        wrong += slow_differences(transfers, reports, TRANSFERS);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
    topology_free(&world.topology);
}

void suite_fabric_static_jobs(void)
{
    CU_pSuite suite = CU_add_suite("fabric static jobs", NULL, NULL);
    CU_add_test(suite, "a job uses links of its own servers alone", test_own_links);
    CU_add_test(suite, "transfers side by side as alone", test_side_by_side);
    CU_add_test(suite, "one hop and many to the picosecond", test_closed_forms);
    CU_add_test(suite, "nonsense is refused and leaves nothing", test_nonsense);
    CU_add_test(suite, "other fabrics take any job", test_other_fabrics);
    CU_add_test(suite, "closed on the way", test_close_early);
    CU_add_test(suite, "a long stream of jobs", test_many);
    CU_add_test(suite, "as the slow fabric says", test_reference);
}
