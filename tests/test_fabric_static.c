/* The fixed graphs. Properties: a path is shortest, and of these the first by ports, in all three graphs; expanders are
 * regular, simple and connected, also with 65,536 servers; closed forms of messages in cells and stored whole, to the
 * picosecond; messages follow each other at the rate of the link; reconfiguration once per job; what cannot be is
 * refused; 1500 random cases end as the slow fabric says, cell by cell, links busy while they send.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/static_graph.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { CASES = 1500, TRANSFERS = 24 };

static void shape(struct world *world, int64_t groups, int64_t racks, int64_t servers)
{
    world->topology.groups = groups;
    world->topology.racks_per_group = racks;
    world->topology.servers_per_rack = servers;
    world->topology.server_count = world->topology.device_count = (uint32_t)(groups * racks * servers);
}

/* Six links of a server, 100 GB/s each: a megabyte is 10 us and a cell of 4 kB 40 ns. 4 x 4 x 2: 0-0-0 to 2-1-1 is
 * 2 + 1 + 1 hops. */
static void test_one(void)
{
    struct world world;
    struct transfer_report report;
    world_open(&world, "topologies/static-32.yaml");
    world.topology.node_rate_bytes_per_s = 600e9;
    world_start(&world);
    world_send(&world, 0, 2 * 8 + 1 * 2 + 1, 1000000, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.reconfiguration, INT64_C(10000000000));
    CU_ASSERT_EQUAL(report.latency, 4 * 250000);
    CU_ASSERT_EQUAL(report.payload, 10000000 + 3 * 40000);
    CU_ASSERT_EQUAL(report.end, INT64_C(10000000000) + 4 * 250000 + 3 * 40000 + 10000000);
    world_send(&world, 31, 0, 1000000, &report); /* the same job: -1, -1, -1 with the ends joined */
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end - report.start, 3 * 250000 + 2 * 40000 + 10000000);
    world_close(&world);
}

/* On the idle path of `hops` links of a ring. */
static sim_time idle_time(struct world *world, uint32_t hops, uint64_t bytes)
{
    struct transfer_report report;
    *figure_whole(&world->topology, "static.reconfiguration") = 0;
    world_start(world);
    world_send(world, 0, hops, bytes, &report);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.wait + report.latency + report.payload, report.end);
    CU_ASSERT_EQUAL(report.wait, 0);
    world_stop(world);
    return report.end;
}

static int64_t ticks(uint64_t bytes, uint64_t rate)
{
    return (int64_t)((bytes * UINT64_C(1000000) + rate / 1000000 - 1) / (rate / 1000000));
}

/* hops * latency + (hops - 1) * cell + payload, a message below a cell being one of its own; stored, every hop takes
 * the whole message. */
static void test_idle_path(void)
{
    static const uint64_t sizes[] = {1, 63, 64, 65, 3999, 4000, 4001, 1000003, 100000000},
                          cells[] = {1, 64, 4000, 100000};
    struct world world;
    world_open(&world, "topologies/static-32.yaml");
    figure_choose(&world.topology, "static.graph", "ring");
    *figure_whole(&world.topology, "static.degree") = 1;
    world.topology.node_rate_bytes_per_s = 266666e6;
    for (uint32_t hops = 1; hops < 32; hops += hops < 5 ? 1 : 13)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            int64_t payload = ticks(sizes[i], UINT64_C(266666000000));
            for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
                int64_t cell = ticks(cells[k] < sizes[i] ? cells[k] : sizes[i], UINT64_C(266666000000));
                figure_choose(&world.topology, "static.forwarding", "cells");
                *figure_real(&world.topology, "static.cell") = (double)cells[k];
                CU_ASSERT_EQUAL(idle_time(&world, hops, sizes[i]),
                                hops * INT64_C(250000) + (hops - 1) * cell + payload);
            }
            figure_choose(&world.topology, "static.forwarding", "store");
            CU_ASSERT_EQUAL(idle_time(&world, hops, sizes[i]), hops * (INT64_C(250000) + payload));
        }
    topology_free(&world.topology);
}

/* 1,000 messages of 4 kB over several links, 40 ns each: the latency is paid once, not by each, and the links are busy
 * for the bytes alone. */
static void test_line_rate(void)
{
    struct world world;
    struct transfer_report reports[1000];
    world_open(&world, "topologies/static-32.yaml");
    figure_choose(&world.topology, "static.graph", "ring");
    *figure_whole(&world.topology, "static.degree") = 1;
    *figure_whole(&world.topology, "static.reconfiguration") = 0;
    world.topology.node_rate_bytes_per_s = 100e9;
    for (uint32_t hops = 1; hops < 6; hops += 2) {
        struct slow_transfer transfers[1000] = {0};
        for (int i = 0; i < 1000; i++)
            transfers[i] = (struct slow_transfer){.source = 3, .target = 3 + hops, .bytes = 4000};
        sim_time busy = fast_run(&world, transfers, reports, 1000);
        CU_ASSERT_EQUAL(reports[999].end, 1000 * 40000 + hops * 250000 + (hops - 1) * 40000);
        CU_ASSERT_EQUAL(busy, hops * INT64_C(1000) * 40000);
        CU_ASSERT(1000 * 40000 > .95 * (double)reports[999].end);
    }
    topology_free(&world.topology);
}

static void send_for(struct world *world, uint32_t job, uint32_t source, uint32_t target,
                     struct transfer_report *report)
{
    struct error error = {0};
    struct transfer_request request = {
        .source = source, .target = target, .job = job, .bytes = 1000000, .done = world_keep, .context = report};
    CU_ASSERT_EQUAL_FATAL(network_send(world->network, &request, NULL, &error), STATUS_OK);
}

static void test_jobs(void)
{
    struct world world;
    struct transfer_report first, second, other, later;
    world_open(&world, "topologies/static-32.yaml");
    world.topology.node_rate_bytes_per_s = 600e9;
    world_start(&world);
    send_for(&world, 7, 0, 1, &first);
    engine_run(world.engine, 4000);
    send_for(&world, 7, 8, 9, &second);
    engine_run(world.engine, 5000);
    send_for(&world, 8, 16, 17, &other);
    engine_run(world.engine, INT64_C(20000000000));
    send_for(&world, 7, 1, 0, &later);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(first.reconfiguration, INT64_C(10000000000));
    CU_ASSERT_EQUAL(second.reconfiguration, INT64_C(10000000000) - 4000);
    CU_ASSERT_EQUAL(other.reconfiguration, INT64_C(10000000000));
    CU_ASSERT_EQUAL(later.reconfiguration, 0);
    for (uint32_t job = 100; job < 1100; job++)
        send_for(&world, job, 4, 5, &later);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(later.reconfiguration, INT64_C(10000000000));
    CU_ASSERT_EQUAL(later.wait, 999 * INT64_C(10000000)); /* all lit at once, one link */
    world_close(&world);
}

/* Links to the target from everywhere, by a plain search backwards. */
static uint32_t *distances(const struct static_graph *graph, uint32_t n, uint32_t target)
{
    uint32_t ports = static_graph_ports(graph), *far = memory_alloc(n, sizeof *far);
    memset(far, 255, n * sizeof *far);
    far[target] = 0;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t port = 0; port < ports; port++) {
                uint32_t next = far[static_graph_neighbour(graph, i, port)];
                if (next != UINT32_MAX && next + 1 < far[i]) {
                    far[i] = next + 1;
                    is_changed = true;
                }
            }
    }
    return far;
}

static int wrong_steps(struct static_graph *graph, uint32_t n, uint32_t source, uint32_t target, const uint32_t *far)
{
    uint8_t *path;
    uint32_t hops = static_graph_route(graph, source, target, &path), node = source;
    int wrong = hops != far[source];
    for (uint32_t step = 0; step < hops; step++) {
        uint32_t port = path ? path[step] : static_graph_port(graph, node, target), first = 0;
        while (far[static_graph_neighbour(graph, node, first)] + 1 != far[node])
            first++;
        wrong += port != first;
        node = static_graph_neighbour(graph, node, port);
    }
    free(path);
    return wrong + (node != target) + (node >= n);
}

static void check_all_paths(struct static_graph *graph, uint32_t n)
{
    int wrong = 0;
    for (uint32_t target = 0; target < n; target += 1 + n / 40) {
        uint32_t *far = distances(graph, n, target);
        for (uint32_t source = 0; source < n; source++)
            wrong += source != target && wrong_steps(graph, n, source, target, far);
        free(far);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void check_paths(struct world *world, const char *name, int64_t figure)
{
    struct static_graph *graph;
    struct error error = {0};
    figure_choose(&world->topology, "static.graph", name);
    *figure_whole(&world->topology, "static.degree") = figure;
    *figure_whole(&world->topology, "static.dimensions") = figure;
    CU_ASSERT_EQUAL_FATAL(static_graph_create(&world->topology, &graph, &error), STATUS_OK);
    check_all_paths(graph, world->topology.server_count);
    static_graph_destroy(graph);
}

static void test_paths(void)
{
    static const int64_t shapes[][3] = {{2, 1, 1}, {3, 1, 1}, {4, 4, 2}, {5, 3, 4}, {8, 8, 8}, {1, 7, 6}};
    struct world world;
    world_open(&world, "topologies/static-32.yaml");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        shape(&world, shapes[i][0], shapes[i][1], shapes[i][2]);
        uint32_t n = world.topology.server_count;
        for (int64_t dimensions = 1; dimensions <= 3; dimensions++)
            check_paths(&world, "torus", dimensions);
        for (int64_t degree = 1; degree <= 7; degree++)
            if (degree == 1 || (degree + 1) / 2 <= (n - 1) / 2)
                check_paths(&world, "ring", degree);
        for (int64_t degree = 2; degree <= 7; degree++)
            if (degree < n && (degree % 2 == 0 || n % 2 == 0))
                check_paths(&world, "expander", degree);
    }
    topology_free(&world.topology);
}

/* Any number of servers, linked by no more ports than the graph over all has. */
static void test_job_paths(void)
{
    static const char *const names[] = {"ring", "torus", "expander"};
    struct world world;
    world_open(&world, "topologies/static-32.yaml");
    shape(&world, 8, 8, 2);
    for (uint32_t count = 2; count <= 70; count += count < 24 ? 1 : 9)
        for (int64_t figure = 1; figure <= 64; figure += figure < 8 ? 1 : 19)
            for (int kind = 0; kind < 3; kind++) {
                struct static_graph *graph;
                figure_choose(&world.topology, "static.graph", names[kind]);
                *figure_whole(&world.topology, "static.degree") = *figure_whole(&world.topology, "static.dimensions") =
                    figure;
                if ((kind == 1 && figure > 3) || (kind == 2 && figure == 1))
                    continue;
                CU_ASSERT_EQUAL_FATAL(static_graph_create_job(&world.topology, count, &graph, NULL), STATUS_OK);
                uint32_t ports = static_graph_ports(graph);
                CU_ASSERT(kind == 1 ? ports <= 2 * figure : ports <= figure && ports < count);
                CU_ASSERT(kind == 1 || ports + 1 >= figure || ports + 1 == count);
                check_all_paths(graph, count);
                static_graph_destroy(graph);
            }
    topology_free(&world.topology);
}

/* The farthest two nodes of the best torus of all: half of each side, added up. */
static uint32_t best_reach(uint32_t n, int64_t dimensions)
{
    uint32_t best = UINT32_MAX, reach = 0;
    for (uint32_t a = 1; a <= n; a++)
        for (uint32_t b = 1; n % a == 0 && b <= n / a; b++) {
            uint32_t c = n / a / b;
            if (n / a % b || (dimensions < 3 && c > 1) || (dimensions < 2 && b > 1) || a + b + c >= best)
                continue;
            best = a + b + c;
            reach = a / 2 + b / 2 + c / 2;
        }
    return reach;
}

static void test_job_torus(void)
{
    struct world world;
    world_open(&world, "topologies/static-32.yaml");
    shape(&world, 16, 16, 2);
    int64_t *dimensions = figure_whole(&world.topology, "static.dimensions");
    for (*dimensions = 1; *dimensions <= 3; ++*dimensions)
        for (uint32_t n = 2; n <= 200; n++) {
            struct static_graph *graph;
            uint8_t *path;
            uint32_t reach = 0;
            CU_ASSERT_EQUAL_FATAL(static_graph_create_job(&world.topology, n, &graph, NULL), STATUS_OK);
            for (uint32_t target = 1; target < n; target++) {
                uint32_t hops = static_graph_route(graph, 0, target, &path);
                reach = hops > reach ? hops : reach;
            }
            CU_ASSERT_EQUAL(reach, best_reach(n, *dimensions));
            static_graph_destroy(graph);
        }
    topology_free(&world.topology);
}

/* 65,536 servers: made in a moment, regular and simple, and paths of a few hops without tables of n * n. */
static void test_large(void)
{
    static const char *const names[] = {"ring", "torus", "expander"};
    static const uint32_t most[] = {600, 64, 12};
    struct world world;
    struct random_stream *draws = random_open(1, "static large", 0);
    world_open(&world, "topologies/static-32.yaml");
    shape(&world, 64, 32, 32);
    *figure_whole(&world.topology, "static.degree") = 6;
    for (int i = 0; i < 3; i++) {
        struct static_graph *graph;
        struct error error = {0};
        uint8_t *path;
        figure_choose(&world.topology, "static.graph", names[i]);
        CU_ASSERT_EQUAL_FATAL(static_graph_create(&world.topology, &graph, &error), STATUS_OK);
        uint32_t longest = 0;
        for (int k = 0; k < 2000; k++) {
            uint32_t source = (uint32_t)random_below(draws, 65536), target = (source + 1 + 31 * (uint32_t)k) % 65536;
            uint32_t hops = static_graph_route(graph, source, target, &path);
            longest = hops > longest ? hops : longest;
            free(path);
        }
        CU_ASSERT(longest > 3 && longest <= most[i]);
        int wrong = 0;
        for (uint32_t node = 0; node < 65536; node++)
            for (uint32_t port = 0; port < 6; port++)
                for (uint32_t other = 0; other <= port; other++)
                    wrong += static_graph_neighbour(graph, node, port) ==
                             (other < port ? static_graph_neighbour(graph, node, other) : node);
        CU_ASSERT_EQUAL(wrong, 0);
        static_graph_destroy(graph);
    }
    random_close(draws);
    topology_free(&world.topology);
}

static void test_impossible(void)
{
    static const struct {
        int64_t servers;
        const char *graph;
        int64_t degree;
        double rate;
    } cases[] = {{1, "ring", 2, 1e12},     {4, "ring", 4, 1e12},     {2, "ring", 2, 1e12},     {1, "expander", 2, 1e12},
                 {8, "expander", 1, 1e12}, {8, "expander", 8, 1e12}, {9, "expander", 3, 1e12}, {9, "ring", 4, 3}};
    struct world world;
    world_open(&world, "topologies/static-32.yaml");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        shape(&world, cases[i].servers, 1, 1);
        figure_choose(&world.topology, "static.graph", cases[i].graph);
        *figure_whole(&world.topology, "static.degree") = cases[i].degree;
        world.topology.node_rate_bytes_per_s = cases[i].rate;
        world.engine = engine_create();
        CU_ASSERT_EQUAL(network_create(world.engine, &world.topology, &world.options, &world.network, &error),
                        STATUS_USER);
        CU_ASSERT(strlen(error.message) > 10);
        world_stop(&world);
    }
    topology_free(&world.topology);
}

/* 2^60 bytes stored over 4 hops are too long for the clock, over 1 hop of a fast link they are not. */
static void test_huge(void)
{
    struct world world;
    struct error error = {0};
    struct transfer_report report;
    world_open(&world, "topologies/static-32.yaml");
    figure_choose(&world.topology, "static.forwarding", "store");
    world_start(&world);
    struct transfer_request request = {.source = 0, .target = 21, .bytes = UINT64_C(1) << 60};
    CU_ASSERT_EQUAL(network_send(world.network, &request, NULL, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "run.tick"));
    CU_ASSERT_EQUAL(network_unfinished(world.network), 0);
    world_send(&world, 0, 1, UINT64_C(1) << 60, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT(report.payload > INT64_C(4000000000000000000));
    world_send(&world, 3, 3, 1000, &report);
    world_send(&world, 3, 4, 0, &report);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(report.end, report.start);
    world_close(&world);
}

static void draw(struct world *world, struct random_stream *draws, struct slow_transfer *transfers)
{
    static const char *const names[] = {"ring", "torus", "expander"};
    struct topology *t = &world->topology;
    shape(world, 2 + (int64_t)random_below(draws, 3), 1 + (int64_t)random_below(draws, 2),
          2 + (int64_t)random_below(draws, 2));
    figure_choose(t, "static.graph", names[random_below(draws, 3)]);
    *figure_whole(t, "static.degree") = 2;
    *figure_whole(t, "static.dimensions") = 1 + (int64_t)random_below(draws, 3);
    *figure_whole(t, "static.reconfiguration") = (int64_t)random_below(draws, 4) * 1000;
    figure_choose(t, "static.forwarding", random_below(draws, 4) ? "cells" : "store");
    *figure_real(t, "static.cell") = 70 + (double)random_below(draws, 40) * 40;
    bool is_torus = figure_is(t, "static.graph", "torus");
    t->node_rate_bytes_per_s = 2e12 * (is_torus ? (double)*figure_whole(t, "static.dimensions") : 1);
    t->propagation_ps = (int64_t)random_below(draws, 3) * 100;
    world->options = (struct network_options){.order = (enum network_order)random_below(draws, 3)};
    uint64_t span = UINT64_C(1) << random_below(draws, 6);
    int64_t sent = 0;
    for (int i = 0; i < TRANSFERS; i++) {
        uint32_t source = (uint32_t)random_below(draws, t->server_count);
        uint32_t further = 1 + (uint32_t)random_below(draws, t->server_count - 1);
        sent += (int64_t)random_below(draws, span) * 250;
        transfers[i] = (struct slow_transfer){.sent = sent,
                                              .bytes = 1 + random_below(draws, random_below(draws, 2) ? 4000 : 300),
                                              .priority = (int64_t)random_below(draws, 3) - 1,
                                              .source = source,
                                              .target = (source + further) % t->server_count,
                                              .job = (uint32_t)random_below(draws, 3),
                                              .is_cleared_when_blocked = random_below(draws, 8) == 0};
    }
}

static void test_reference(void)
{
    struct world world;
    int wrong = 0;
    world_open(&world, "topologies/static-32.yaml");
    struct random_stream *draws = random_open(1, "reference static", 0);
    for (int i = 0; i < CASES; i++) {
        struct slow_transfer transfers[TRANSFERS];
        struct transfer_report reports[TRANSFERS];
        draw(&world, draws, transfers);
        sim_time busy = fast_run(&world, transfers, reports, TRANSFERS);
        wrong += slow_static(&world, transfers, TRANSFERS) != busy;
        wrong += slow_differences(transfers, reports, TRANSFERS);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    random_close(draws);
    topology_free(&world.topology);
}

void suite_fabric_static(void)
{
    CU_pSuite suite = CU_add_suite("fabric static", NULL, NULL);
    CU_add_test(suite, "one transfer to the picosecond", test_one);
    CU_add_test(suite, "an idle path in cells and stored whole", test_idle_path);
    CU_add_test(suite, "messages follow each other at the line rate", test_line_rate);
    CU_add_test(suite, "reconfiguration once per job", test_jobs);
    CU_add_test(suite, "shortest paths", test_paths);
    CU_add_test(suite, "shortest paths over the servers of a job", test_job_paths);
    CU_add_test(suite, "a job's torus is as near to a cube as can be", test_job_torus);
    CU_add_test(suite, "65,536 servers", test_large);
    CU_add_test(suite, "what cannot be", test_impossible);
    CU_add_test(suite, "2^60 bytes, none, and to itself", test_huge);
    CU_add_test(suite, "as the slow fabric says", test_reference);
}
