/* Properties held here, of a training step on circuits, on every fabric of the registry:
 *   - one link between two servers takes reconfiguration + propagation + 2 io + bytes/rate, to the picosecond;
 *   - compute + payload + latency + reconfiguration + waiting is the step; the same step has the same hash;
 *   - no step is shorter than its longest chain of ops or the work of its busiest server;
 *   - one server takes the sum of its ops; without bytes the network is free, and all fabrics agree;
 *   - chains: more bandwidth or less delay never lengthens them, slower switching never shortens them (10^4 cases);
 *   - on static, jobs side by side take as long as each alone, whatever lies between their servers;
 *   - a link that never comes is a deadlock that names its op; figures beyond the clock or 2^60 bytes are refused. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_world.h"
#include "step/stepper.h"
#include "strategies.h"
#include "suites.h"
#include "figures.h"

static const uint32_t spread[] = {0, 5, 10, 15, 20, 25, 30, 3};

/* ---- the closed form ---- */

struct one_step {
    struct engine *engine;
    struct stepper_report report;
    uint32_t calls;
};

static void keep_report(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    struct one_step *step = context;
    (void)job;
    step->report = *report;
    step->calls++;
    engine_stop(step->engine);
}

/* What the network says of itself, for the expectation. */
struct figures {
    uint64_t rate_bytes_per_s;
    sim_time latency;
};

/* One step on the stepper itself, in ticks. */
static struct stepper_report step_in_ticks(struct job_world *job, const struct topology *topology,
                                           struct figures *figures)
{
    struct one_step step = {.engine = engine_create()};
    struct circuit_options options = {.network.circuits = NETWORK_TEARDOWN, .clock = {1}};
    struct step_input input = job_world_input(job, topology);
    struct stepper *stepper = NULL;
    struct stepper_job *placed = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(stepper_create(step.engine, topology, 0, &options, &stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(stepper_add(stepper, &input, 0, keep_report, &step, &placed, &error), STATUS_OK);
    stepper_start(placed);
    engine_run(step.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(stepper_status(stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL(step.calls, 1);
    *figures = (struct figures){network_fabric(stepper_network(stepper))->rate_bytes_per_s,
                                network_fabric(stepper_network(stepper))->latency};
    stepper_remove(placed);
    stepper_destroy(stepper);
    engine_destroy(step.engine);
    return step.report;
}

/* Two ops on two servers: the link forth, the join at home, the link back. */
static void check_closed_form(const char *fabric, double bytes)
{
    struct topology topology;
    struct job_world job;
    struct figures figures;
    const struct sim_clock clock = {1};
    const struct job_world_op ops[] = {{0.003, 0.005, bytes}, {0.007, 0.011, bytes}};
    job_world_topology(fabric, &topology);
    if (fabric[0] == 'r' && fabric[1] == 'a')
        *figure_whole(&topology, "ramp.slot") = 0;
    else if (fabric[0] == 'a')
        *figure_whole(&topology, "awgr.slot") = 0;
    job_world_put(&job, job_world_chain(ops, 2), &topology, spread);
    struct stepper_report report = step_in_ticks(&job, &topology, &figures);
    sim_time payload = 0;
    for (uint32_t l = 0; l < job.tasks->link_count; l++) {
        const struct task_link *link = &job.tasks->links[l];
        if (job.tasks->tasks[link->source].is_backward == job.tasks->tasks[link->target].is_backward)
            payload += clock_duration(&clock, (uint64_t)ceil(link->bytes), figures.rate_bytes_per_s);
    }
    CU_ASSERT_EQUAL(figures.latency, topology.propagation_ps + 2 * topology.io_latency_ps);
    CU_ASSERT_EQUAL(report.start, 0);
    CU_ASSERT_EQUAL(report.path.ticks[PATH_COMPUTE], 26000000);
    CU_ASSERT_EQUAL(report.path.ticks[PATH_WAIT_DEVICE] + report.path.ticks[PATH_WAIT_NETWORK], 0);
    CU_ASSERT_EQUAL(report.path.ticks[PATH_RECONFIGURATION], 2 * *job_world_reconfiguration(&topology));
    CU_ASSERT_EQUAL(report.path.ticks[PATH_LATENCY], 2 * figures.latency);
    CU_ASSERT_EQUAL(report.path.ticks[PATH_PAYLOAD], payload);
    CU_ASSERT(payload > 0);
    CU_ASSERT_EQUAL(step_path_length(&report.path), report.end);
    job_world_end(&job);
    topology_free(&topology);
}

static void test_closed_form(void)
{
    static const char *const circuits[] = {"ramp", "ocs", "awgr", "ring"};
    static const double sizes[] = {1, 1e3, 123456789, 4e11};
    for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            check_closed_form(circuits[i], sizes[j]);
}

/* ---- what adds up, and bounds ---- */

/* The longest chain of tasks, in ticks. */
static sim_time critical_path(const struct task_graph *tasks, const sim_time *cost)
{
    const struct graph *graph = tasks->graph;
    uint32_t n = graph->op_count;
    sim_time *end = memory_alloc(2 * (size_t)n, sizeof *end), longest = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t task = i < n ? graph->order[i] : n + graph->order[2 * n - 1 - i];
        for (uint32_t l = tasks->in_start[task]; l < tasks->in_start[task + 1]; l++) {
            const struct task_link *link = &tasks->links[tasks->in_link[l]];
            if (link->pattern != LINK_SYNC && end[link->source] > end[task])
                end[task] = end[link->source];
        }
        end[task] += cost[task];
        longest = end[task] > longest ? end[task] : longest;
    }
    free(end);
    return longest;
}

/* The work of the busiest server, in ticks. */
static sim_time busiest(const struct job_world *job, const sim_time *cost)
{
    const struct deployment *deployment = &job->deployment;
    uint32_t n = job->graph->op_count;
    sim_time *work = memory_alloc(32, sizeof *work), most = 0;
    for (uint32_t op = 0; op < n; op++) {
        struct device_list at = deployment->lists[deployment->list_of_op[op]];
        for (uint32_t part = 0; part < at.count; part++) {
            sim_time *sum = &work[deployment->devices[at.start + part]];
            *sum += cost[op] + cost[n + op];
            most = *sum > most ? *sum : most;
        }
    }
    free(work);
    return most;
}

static sim_time *costs_of(const struct job_world *job)
{
    uint32_t n = job->graph->op_count;
    sim_time *cost = memory_alloc(2 * (size_t)n, sizeof *cost);
    for (uint32_t op = 0; op < n; op++) {
        double parts = job->tasks->parts[op];
        cost[op] = llrint(job->graph->ops[op].forward_ms / parts * 1e9);
        cost[n + op] = llrint(job->graph->ops[op].backward_ms / parts * 1e9);
    }
    return cost;
}

static void check_adds_up(struct job_world *job, const struct topology *topology)
{
    struct circuit_options options = job_world_options(2);
    struct step_result step = job_world_step(job, topology, &options), again = job_world_step(job, topology, &options);
    sim_time *cost = costs_of(job);
    struct time_parts all = step_times(&step, 2);
    double slack_s = 1e-12 * job->tasks->degree; /* halves of a tick may round either way, part by part */
    CU_ASSERT(oracle_is_near(job_world_sum_s(&step.step), step.step.total_s, 1e-13));
    CU_ASSERT(oracle_is_near(job_world_sum_s(&all), all.total_s, 1e-13));
    CU_ASSERT(step.step.total_s >= (double)critical_path(job->tasks, cost) * 1e-12 - slack_s * job->graph->op_count);
    CU_ASSERT(step.step.total_s >= (double)busiest(job, cost) * 1e-12 - slack_s * job->graph->op_count);
    CU_ASSERT(all.total_s >= step.step.total_s);
    CU_ASSERT_EQUAL(step.trace_hash, again.trace_hash);
    CU_ASSERT_EQUAL(step.events, again.events);
    CU_ASSERT_EQUAL(step.step.total_s, again.step.total_s);
    free(cost);
}

static void test_adds_up(void)
{
    struct random_stream *random = random_open(11, "placements", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 24; seed++) {
            struct job_world job;
            struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)(seed % 20), seed % 2);
            if (seed % 3 == 0)
                job_world_split(&job, graph, &topology, 2 + 2 * (uint32_t)(seed % 4), &place_ramp_first_fit);
            else
                job_world_put_randomly(&job, graph, &topology, random, spread, 1 + (uint32_t)(seed % 8));
            check_adds_up(&job, &topology);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* Every all-reduce, with barriers and without: still adds up, still ends. */
static void test_collectives_in_steps(void)
{
    static const enum collective_algorithm algorithms[] = {COLLECTIVE_RING, COLLECTIVE_HALVING_DOUBLING,
                                                           COLLECTIVE_RAMP, COLLECTIVE_PARAMETER_SERVER};
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        struct job_world job;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        job_world_split(&job, oracle_random_graph(5, 6, false), &topology, 8, &place_ramp_compact);
        CU_ASSERT(job.tasks->degree > 1);
        for (size_t a = 0; a < 8; a++) {
            struct circuit_options options = job_world_options(1);
            options.all_reduce = algorithms[a / 2];
            options.has_barriers = a % 2;
            struct step_result step = job_world_step(&job, &topology, &options);
            CU_ASSERT(oracle_is_near(job_world_sum_s(&step.step), step.step.total_s, 1e-13));
            CU_ASSERT(step.flows > 0);
            CU_ASSERT(step.step.part_s[TIME_COMM] > 0);
        }
        job_world_end(&job);
        topology_free(&topology);
    }
}

/* ---- no network to speak of ---- */

static void test_one_server(void)
{
    static const uint32_t alone[] = {7};
    struct random_stream *random = random_open(3, "placements", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct job_world job;
            struct circuit_options options = job_world_options(3);
            job_world_put_randomly(&job, oracle_random_graph(seed, 3 + (uint32_t)seed * 3, seed % 2), &topology, random,
                                   alone, 1);
            sim_time *cost = costs_of(&job), sum = 0;
            for (uint32_t task = 0; task < 2 * job.graph->op_count; task++)
                sum += cost[task];
            struct step_result step = job_world_step(&job, &topology, &options);
            CU_ASSERT_EQUAL(llrint(step.step.total_s * 1e12), sum);
            CU_ASSERT_EQUAL(step.step.part_s[TIME_COMM], 0);
            CU_ASSERT_EQUAL(step.step.part_s[TIME_RECONFIG], 0);
            CU_ASSERT_EQUAL(step.start_up.total_s, 0);
            CU_ASSERT_EQUAL(step.flows, 0);
            free(cost);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* The published step knows no circuits: where nothing is sent, both are the same list schedule. */
static void check_free_network(uint64_t seed, const struct topology *topology)
{
    struct job_world job;
    struct step_result published;
    struct error error = {0};
    struct circuit_options options = job_world_options(2);
    struct random_stream *random = random_open(seed, "placements", 1);
    struct graph *graph = oracle_random_graph(seed, 3 + (uint32_t)(seed % 30), seed % 2);
    for (uint32_t op = 0; op < graph->op_count; op++)
        graph->ops[op].activation_bytes = graph->ops[op].parameter_bytes = 0;
    job_world_put_randomly(&job, graph, topology, random, spread, 2 + (uint32_t)(seed % 6));
    struct step_input input = job_world_input(&job, topology);
    CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, NULL, &published, &error), STATUS_OK);
    struct step_result step = job_world_step(&job, topology, &options);
    CU_ASSERT(oracle_is_near(step.step.total_s, published.step.total_s, 1e-9));
    CU_ASSERT_EQUAL(step.step.part_s[TIME_COMM], 0);
    CU_ASSERT_EQUAL(step.step.part_s[TIME_RECONFIG], 0);
    CU_ASSERT_EQUAL(step.start_up.total_s, 0);
    job_world_end(&job);
    random_close(random);
}

static void test_nothing_to_send(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 40; seed++)
            check_free_network(seed, &topology);
        topology_free(&topology);
    }
}

/* ---- monotone ---- */

enum change { CHANGE_RATE, CHANGE_PROPAGATION, CHANGE_IO, CHANGE_RECONFIGURATION, CHANGE_COUNT };

/* Makes the network worse. A rotor that is dark for longer turns at other times, which may suit a job better: there is
 * no such promise. False where the fabric has no such figure. */
static bool worsen(struct topology *topology, enum change change, double factor)
{
    const int64_t *reconfiguration_ps = job_world_reconfiguration(topology);
    if (change == CHANGE_RATE)
        topology->node_rate_bytes_per_s /= factor;
    else if (change == CHANGE_PROPAGATION)
        topology->propagation_ps = llrint((double)topology->propagation_ps * factor);
    else if (change == CHANGE_IO)
        topology->io_latency_ps = llrint((double)topology->io_latency_ps * factor);
    else if (reconfiguration_ps && strcmp(topology->fabric.strategy->name, "rotor") != 0)
        topology->reconfiguration_ps = llrint((double)*reconfiguration_ps * factor);
    else
        return false;
    return true;
}

static struct circuit_options random_policy(struct random_stream *random)
{
    struct circuit_options options = job_world_options(2);
    options.network.circuits = (enum network_circuits)random_below(random, 3);
    options.network.order = (enum network_order)random_below(random, 3);
    options.network.is_strict = random_below(random, 2) != 0;
    options.network.linger_ps =
        options.network.circuits == NETWORK_LINGER ? (int64_t)random_below(random, 300000000) : 0;
    return options;
}

/* One chain before and after each change; answers the cases seen. */
static uint32_t check_monotone(const struct topology *topology, struct random_stream *random)
{
    struct job_world job;
    struct circuit_options options = random_policy(random);
    uint32_t servers = 2 + (uint32_t)random_below(random, 7), cases = 0;
    struct graph *graph = job_world_random_chain(random, 2 + (uint32_t)random_below(random, 6), 1e8);
    job_world_put_randomly(&job, graph, topology, random, spread, servers);
    struct step_result before = job_world_step(&job, topology, &options);
    double before_s = step_times(&before, options.steps).total_s;
    for (enum change change = 0; change < CHANGE_COUNT; change++) {
        struct topology worse = *topology;
        double factor = change == CHANGE_RECONFIGURATION ? 2 : 1 + 9 * random_uniform(random);
        if (!worsen(&worse, change, factor))
            continue;
        struct step_result after = job_world_step(&job, &worse, &options);
        double after_s = step_times(&after, options.steps).total_s;
        if (after_s < before_s * (1 - 1e-14))
            printf("\n  %s change %d: %.17g s before, %.17g s after\n", topology->fabric.strategy->name, change,
                   before_s, after_s);
        CU_ASSERT(after_s >= before_s * (1 - 1e-14));
        cases++;
    }
    job_world_end(&job);
    return cases;
}

static void test_monotone(void)
{
    uint32_t cases = 0;
    struct random_stream *random = random_open(17, "monotone", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint32_t n = 0; n < 400; n++)
            cases += check_monotone(&topology, random);
        topology_free(&topology);
    }
    CU_ASSERT(cases >= 10000);
    random_close(random);
}

/* ---- what cannot be ---- */

static void test_deadlock(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        struct job_world job;
        struct step_result step = {.flows = 77};
        struct error error = {0};
        struct circuit_options options = job_world_options(1);
        const struct job_world_op ops[] = {{1, 1, 1e6}, {1, 1, 1e6}, {1, 1, 1e6}};
        job_world_topology(fabrics.strategies[i]->name, &topology);
        job_world_put(&job, job_world_chain(ops, 3), &topology, spread);
        for (uint32_t link = 0; link < job.tasks->link_count; link++)
            if (job.tasks->links[link].source == 1 && !job.tasks->tasks[job.tasks->links[link].target].is_backward)
                job.tasks->links[link].target = 1;
        struct step_input input = job_world_input(&job, &topology);
        CU_ASSERT_EQUAL(step_run(&input, 1, &options, &step, &error), STATUS_IMPOSSIBLE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "deadlock: forward op 2 of model chain waits for 1 of 2"));
        CU_ASSERT_EQUAL(step.flows, 77);
        job_world_end(&job);
        topology_free(&topology);
    }
}

static void check_refused(const struct topology *topology, const struct job_world_op *op, int64_t tick_ps,
                          const char *says)
{
    struct job_world job;
    struct step_result step = {.flows = 77};
    struct error error = {0};
    struct circuit_options options = job_world_options(1);
    const struct job_world_op ops[] = {*op, *op, *op};
    options.clock.tick_ps = tick_ps;
    job_world_put(&job, job_world_chain(ops, 3), topology, spread);
    struct step_input input = job_world_input(&job, topology);
    CU_ASSERT_EQUAL(step_run(&input, 1, &options, &step, &error), STATUS_USER);
    if (!strstr(error.message, says))
        printf("\n  %s said: %s\n", topology->fabric.strategy->name, error.message);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says));
    CU_ASSERT_EQUAL(step.flows, 77);
    job_world_end(&job);
}

static void test_too_much(void)
{
    const struct job_world_op heavy = {1, 1, 0x1p60}, slow = {1e12, 1, 1}, sum = {8e9, 1, 1}, sent = {1, 1, 1e15};
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        check_refused(&topology, &heavy, 1, "2^60");
        check_refused(&topology, &slow, 1, "1ns");
        check_refused(&topology, &sum, 1, "coarser run.tick");
        topology.node_rate_bytes_per_s = 64; /* a byte per second for each of 64 transceivers */
        check_refused(&topology, &sent, 1, "tick");
        topology_free(&topology);
    }
}

/* The same of a split job, whose links are collectives. */
static void test_too_much_together(void)
{
    struct topology topology;
    struct job_world job;
    struct step_result step;
    struct error error = {0};
    struct circuit_options options = job_world_options(1);
    const struct job_world_op ops[] = {{1, 1, 1e17}, {1, 1, 1e17}};
    job_world_topology("ramp", &topology);
    topology.classes[0].memory_bytes = 1e18;
    topology.node_rate_bytes_per_s = 64;
    job_world_split(&job, job_world_chain(ops, 2), &topology, 4, &place_ramp_first_fit);
    struct step_input input = job_world_input(&job, &topology);
    CU_ASSERT_EQUAL(step_run(&input, 1, &options, &step, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "tick"));
    job_world_end(&job);
    topology_free(&topology);
}

/* ---- jobs with links of their own ---- */

/* The 2 jobs of inputs, whose servers lie between each other's. */
static void check_as_alone(struct job_world *jobs, const struct step_input *inputs, const struct topology *topology)
{
    struct circuit_options options = job_world_options(3);
    struct step_result both[2];
    CU_ASSERT_EQUAL_FATAL(step_run(inputs, 2, &options, both, NULL), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        struct step_result alone = job_world_step(&jobs[i], topology, &options);
        CU_ASSERT_DOUBLE_EQUAL(alone.step.total_s, both[i].step.total_s, 0);
        CU_ASSERT_DOUBLE_EQUAL(alone.step.part_s[TIME_COMM], both[i].step.part_s[TIME_COMM], 0);
        CU_ASSERT_DOUBLE_EQUAL(alone.step.part_s[TIME_WAIT], both[i].step.part_s[TIME_WAIT], 0);
        CU_ASSERT_DOUBLE_EQUAL(alone.start_up.total_s, both[i].start_up.total_s, 0);
    }
}

static void test_own_links(void)
{
    static const char *const graphs[] = {"torus", "ring", "expander"};
    static const uint32_t between[] = {1, 4, 11, 14, 21, 24, 31, 2};
    struct random_stream *random = random_open(7, "own links", 0);
    struct topology topology;
    job_world_topology("static", &topology);
    *figure_whole(&topology, "static.degree") = 3;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct job_world jobs[2];
        struct step_input inputs[2];
        figure_choose(&topology, "static.graph", graphs[seed % 3]);
        for (int i = 0; i < 2; i++) {
            struct graph *graph = oracle_random_graph(2 * seed + (uint64_t)i, 16, seed % 2);
            job_world_put_randomly(&jobs[i], graph, &topology, random, i ? between : spread, 8);
            inputs[i] = job_world_input(&jobs[i], &topology);
        }
        check_as_alone(jobs, inputs, &topology);
        job_world_end(&jobs[0]);
        job_world_end(&jobs[1]);
    }
    topology_free(&topology);
    random_close(random);
}

void suite_stepper(void)
{
    CU_pSuite suite = CU_add_suite("steps on circuits", NULL, NULL);
    CU_ADD_TEST(suite, test_closed_form);
    CU_ADD_TEST(suite, test_adds_up);
    CU_ADD_TEST(suite, test_collectives_in_steps);
    CU_ADD_TEST(suite, test_one_server);
    CU_ADD_TEST(suite, test_nothing_to_send);
    CU_ADD_TEST(suite, test_monotone);
    CU_ADD_TEST(suite, test_deadlock);
    CU_ADD_TEST(suite, test_too_much);
    CU_ADD_TEST(suite, test_too_much_together);
    CU_ADD_TEST(suite, test_own_links);
}
