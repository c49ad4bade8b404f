/* Properties held here, of deployments, whoever made them:
 *   - the checker refuses each thing it names, with the op or the device in the message, and accepts what every placer
 *     and every scheduler of the registries make, whatever is taken; memory lent between devices is the placer's word;
 *   - a step without synchronisation ends no later than one with it and sends less; a way to synchronise that the
 *     deployment asks for is that of the network by default; the published formulas know their own alone;
 *   - a part takes its time on the device it sits on: half of it where that is twice as fast. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_world.h"
#include "fabric/fabrics.h"
#include "strategies.h"
#include "suites.h"

/* ---- the checker ---- */

/* A deployment that can be, on 32 servers: a random graph, split, placed and ranked. */
struct bench {
    struct topology topology;
    struct job_world job;
    uint32_t wide, narrow; /* ops of several parts and of one */
};

static void bench_open(struct bench *bench)
{
    struct graph *graph = oracle_random_graph(3, 30, false);
    *bench = (struct bench){0};
    job_world_topology("ramp", &bench->topology);
    job_world_split(&bench->job, graph, &bench->topology, 4, &place_ramp_compact);
    rank_by(&schedule_srpt, &bench->topology, 1, &bench->job.deployment);
    while (bench->job.tasks->parts[bench->wide] < 2)
        bench->wide++;
    while (bench->job.tasks->parts[bench->narrow] > 1)
        bench->narrow++;
    CU_ASSERT_FATAL(bench->wide < graph->op_count && bench->narrow < graph->op_count);
}

static void bench_close(struct bench *bench)
{
    job_world_end(&bench->job);
    topology_free(&bench->topology);
}

static void spoil_list(struct bench *bench)
{
    bench->job.deployment.list_of_op[bench->wide] = bench->job.deployment.list_count;
}

static void spoil_count(struct bench *bench)
{
    bench->job.deployment.list_of_op[bench->wide] = bench->job.deployment.list_of_op[bench->narrow];
}

static uint32_t *devices_of(struct bench *bench, uint32_t op)
{
    struct deployment *deployment = &bench->job.deployment;
    return deployment->devices + deployment->lists[deployment->list_of_op[op]].start;
}

static void spoil_device(struct bench *bench)
{
    devices_of(bench, bench->wide)[1] = 32;
}

static void spoil_twice(struct bench *bench)
{
    devices_of(bench, bench->wide)[1] = devices_of(bench, bench->wide)[0];
}

static void spoil_memory(struct bench *bench)
{
    bench->topology.classes[0].memory_bytes = 1e6;
}

static void spoil_equal_ranks(struct bench *bench)
{
    bench->job.deployment.rank[5] = bench->job.deployment.rank[6];
}

static void spoil_high_rank(struct bench *bench)
{
    bench->job.deployment.rank[5] = bench->job.tasks->task_count;
}

static void spoil_link(struct bench *bench)
{
    struct task_graph *tasks = bench->job.tasks;
    uint32_t link = 0;
    while (tasks->parts[tasks->tasks[tasks->links[link].source].op] ==
           tasks->parts[tasks->tasks[tasks->links[link].target].op])
        link++;
    tasks->links[link].pattern = LINK_ONE_TO_ONE;
}

static enum status check_bench(const struct bench *bench, bool counts_memory, struct error *error)
{
    return deployment_check(&bench->job.deployment, &bench->topology, counts_memory, error);
}

static void test_refused(void)
{
    static const struct {
        void (*spoil)(struct bench *bench);
        const char *says;
    } cases[] = {{spoil_list, "parts and 0 devices"},
                 {spoil_count, "parts and 1 devices"},
                 {spoil_device, "device 32 does not exist; the cluster has 32"},
                 {spoil_twice, "two parts of one op"},
                 {spoil_memory, "device 0-0-0 has 0.001 GB"},
                 {spoil_equal_ranks, "rank"},
                 {spoil_high_rank, "rank"},
                 {spoil_link, "like part"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench bench;
        struct error error = {0};
        bench_open(&bench);
        CU_ASSERT_EQUAL(check_bench(&bench, true, &error), STATUS_OK);
        cases[i].spoil(&bench);
        CU_ASSERT_EQUAL(check_bench(&bench, true, &error), STATUS_USER);
        if (!strstr(error.message, cases[i].says))
            printf("\n  said: %s\n", error.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].says));
        CU_ASSERT_EQUAL(check_bench(&bench, false, &error), cases[i].spoil == spoil_memory ? STATUS_OK : STATUS_USER);
        bench_close(&bench);
    }
}

/* One used for a small graph and then for a larger one knows nothing of the ranks of the first. */
static void test_started_anew(void)
{
    static const struct job_world_op ops[] = {{1, 1, 1}, {1, 1, 1}};
    struct bench bench;
    struct error error = {0};
    struct graph *chain = job_world_chain(ops, 2);
    struct task_graph *few = oracle_split(chain, 1);
    struct deployment deployment = {0};
    struct occupancy occupancy;
    struct place_scratch scratch;
    bench_open(&bench);
    occupancy_init(&occupancy, &bench.topology);
    place_scratch_init(&scratch, &bench.topology);
    CU_ASSERT_FATAL(oracle_place(&place_ramp_compact, few, &occupancy, &scratch, &deployment));
    rank_by(&schedule_first_ready, &bench.topology, 1, &deployment);
    CU_ASSERT(deployment.rank && deployment.pick);
    CU_ASSERT_FATAL(oracle_place(&place_ramp_compact, bench.job.tasks, &occupancy, &scratch, &deployment));
    CU_ASSERT(!deployment.rank && !deployment.pick);
    CU_ASSERT_EQUAL(deployment_check(&deployment, &bench.topology, true, &error), STATUS_OK);
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
    deployment_free(&deployment);
    task_graph_free(few);
    graph_free(chain);
    bench_close(&bench);
}

/* What fits exactly fits; a byte less does not. */
static void test_exact_memory(void)
{
    struct bench bench;
    struct error error = {0};
    bench_open(&bench);
    double held[32] = {0}, most = 0;
    const struct deployment *deployment = &bench.job.deployment;
    for (uint32_t op = 0; op < deployment->op_count; op++)
        for (uint32_t part = 0; part < bench.job.tasks->parts[op]; part++) {
            double *sum = &held[devices_of(&bench, op)[part]];
            *sum += task_graph_op_bytes(bench.job.tasks, op) / bench.job.tasks->parts[op];
            most = fmax(most, *sum);
        }
    bench.topology.classes[0].memory_bytes = most;
    CU_ASSERT_EQUAL(check_bench(&bench, true, &error), STATUS_OK);
    bench.topology.classes[0].memory_bytes = most - 1;
    CU_ASSERT_EQUAL(check_bench(&bench, true, &error), STATUS_USER);
    bench_close(&bench);
}

/* Every placer, every scheduler, one deployment used again and again. Answers how many jobs found devices. */
static uint32_t check_strategies(const struct topology *topology, const struct occupancy *occupancy,
                                 const struct task_graph *tasks, struct deployment *deployment)
{
    struct place_scratch scratch;
    struct error error = {0};
    uint32_t placed = 0;
    place_scratch_init(&scratch, topology);
    for (size_t i = 0; i < placers.count; i++) {
        const struct placer *placer = (const struct placer *)placers.strategies[i];
        if (!oracle_place(placer, tasks, occupancy, &scratch, deployment))
            continue;
        for (size_t j = 0; j < schedulers.count; j++) {
            rank_by((const struct scheduler *)schedulers.strategies[j], topology, 1, deployment);
            CU_ASSERT_EQUAL(deployment_check(deployment, topology, !placer->counts_memory_together, &error), STATUS_OK);
        }
        placed++;
    }
    place_scratch_fini(&scratch);
    return placed;
}

static void test_placers_accepted(void)
{
    struct topology topology;
    struct deployment deployment = {0};
    uint32_t placed = 0;
    struct random_stream *random = random_open(9, "taken", 0);
    job_world_topology("ramp", &topology);
    topology.classes[0].memory_bytes = 2e9; /* scarce: the random graphs need that much on one device */
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct occupancy occupancy;
        struct graph *graph = oracle_random_graph(seed, 5 + (uint32_t)(seed % 40), seed % 2);
        struct task_graph *tasks = oracle_split(graph, seed % 5 ? 2 + 2 * (uint32_t)(seed % 4) : 1);
        occupancy_init(&occupancy, &topology);
        for (uint32_t device = 0; device < topology.device_count; device++)
            if (random_below(random, 100) < seed / 4)
                occupancy_take(&occupancy, &device, 1);
        placed += check_strategies(&topology, &occupancy, tasks, &deployment);
        occupancy_fini(&occupancy);
        task_graph_free(tasks);
        graph_free(graph);
    }
    CU_ASSERT(placed > 300 && placed < 600); /* some find no room */
    deployment_free(&deployment);
    random_close(random);
    topology_free(&topology);
}

static struct graph *read_model(const char *text)
{
    struct graph *graph = NULL;
    struct error error = {0};
    enum status status = graph_read_json(text, strlen(text), "model.json", &graph, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    return graph;
}

/* The published placer counts the memory of a parent's devices together: 60 GB on one of them and 45 GB on each are
 * too much for 80 GB and still placed there. */
static void test_lent_memory(void)
{
    static const char text[] =
        "{\"format\": \"ocsim-model-1\", \"name\": \"big\", \"device\": \"\", \"batch\": 0, \"source\": \"\", \"ops\": "
        "[{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 0.02, \"backward_ms\": 1, \"activation_bytes\": 0, "
        "\"parameter_bytes\": 0}, {\"id\": 2, \"kind\": \"b\", \"forward_ms\": 0, \"backward_ms\": 1, "
        "\"activation_bytes\": 6e10, \"parameter_bytes\": 0}, {\"id\": 3, \"kind\": \"c\", \"forward_ms\": 0.02, "
        "\"backward_ms\": 1, \"activation_bytes\": 9e10, \"parameter_bytes\": 0}], \"edges\": [[1, 2], [1, 3]]}";
    struct topology topology;
    struct job_world job;
    struct error error = {0};
    job_world_topology("ramp", &topology);
    job_world_split(&job, read_model(text), &topology, 2, &place_ramp_first_fit);
    CU_ASSERT(place_ramp_first_fit.counts_memory_together);
    CU_ASSERT_EQUAL(job.deployment.used_count, 2);
    CU_ASSERT_EQUAL(deployment_check(&job.deployment, &topology, false, &error), STATUS_OK);
    CU_ASSERT_EQUAL(deployment_check(&job.deployment, &topology, true, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "device 0-0-0 has 80 GB, what sits on it needs 105 GB"));
    job_world_end(&job);
    topology_free(&topology);
}

/* ---- gradients ---- */

/* A chain that is split, so that every op has a gradient to synchronise. */
static void split_chain(struct job_world *job, const struct topology *topology, struct random_stream *random)
{
    struct graph *graph = job_world_random_chain(random, 2 + (uint32_t)random_below(random, 6), 1e8);
    job_world_split(job, graph, topology, 4, &place_ramp_compact);
}

static enum gradient_sync *all_ops(const struct job_world *job, enum gradient_sync sync)
{
    enum gradient_sync *syncs = memory_alloc(job->graph->op_count, sizeof *syncs);
    for (uint32_t op = 0; op < job->graph->op_count; op++)
        syncs[op] = sync;
    return syncs;
}

static void check_unsynchronised(struct job_world *job, const struct topology *topology)
{
    struct circuit_options options = job_world_options(1);
    enum gradient_sync *syncs = all_ops(job, SYNC_STANDARD);
    struct step_result standard = job_world_step(job, topology, &options);
    job->deployment.sync = syncs;
    CU_ASSERT_EQUAL(job_world_step(job, topology, &options).trace_hash, standard.trace_hash);
    uint64_t flows = standard.flows;
    for (uint32_t op = 0; op < job->graph->op_count; op++) {
        syncs[op] = SYNC_NONE;
        struct step_result fewer = job_world_step(job, topology, &options);
        CU_ASSERT(fewer.flows < flows || job->tasks->parts[op] == 1);
        flows = fewer.flows;
    }
    struct step_result none = job_world_step(job, topology, &options);
    CU_ASSERT(none.step.total_s <= standard.step.total_s);
    CU_ASSERT(oracle_is_near(job_world_sum_s(&none.step), none.step.total_s, 1e-13));
    job->deployment.sync = NULL;
    free(syncs);
}

static void test_unsynchronised(void)
{
    struct random_stream *random = random_open(29, "gradients", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (int n = 0; n < 20; n++) {
            struct job_world job;
            split_chain(&job, &topology, random);
            check_unsynchronised(&job, &topology);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* Asked for by the deployment or by the network's settings: the same events. */
static void test_own_algorithm(void)
{
    static const struct {
        enum gradient_sync sync;
        enum collective_algorithm algorithm;
    } ways[] = {{SYNC_RAMP, COLLECTIVE_RAMP},
                {SYNC_RING, COLLECTIVE_RING},
                {SYNC_HALVING_DOUBLING, COLLECTIVE_HALVING_DOUBLING},
                {SYNC_PARAMETER_SERVER, COLLECTIVE_PARAMETER_SERVER}};
    struct random_stream *random = random_open(31, "gradients", 0);
    struct topology topology;
    struct job_world job;
    job_world_topology("ocs", &topology);
    split_chain(&job, &topology, random);
    for (size_t i = 0; i < 4; i++) {
        struct circuit_options own = job_world_options(2), other = job_world_options(2);
        own.all_reduce = ways[i].algorithm;
        other.all_reduce = ways[(i + 1) % 4].algorithm;
        enum gradient_sync *syncs = all_ops(&job, ways[i].sync);
        struct step_result standard = job_world_step(&job, &topology, &own);
        CU_ASSERT_NOT_EQUAL(job_world_step(&job, &topology, &other).trace_hash, standard.trace_hash);
        job.deployment.sync = syncs;
        struct step_result asked = job_world_step(&job, &topology, &other);
        CU_ASSERT_EQUAL(asked.trace_hash, standard.trace_hash);
        CU_ASSERT_EQUAL(asked.step.total_s, standard.step.total_s);
        CU_ASSERT_EQUAL(asked.flows, standard.flows);
        job.deployment.sync = NULL;
        free(syncs);
    }
    job_world_end(&job);
    topology_free(&topology);
    random_close(random);
}

static void test_published_sync(void)
{
    struct random_stream *random = random_open(37, "gradients", 0);
    struct topology topology;
    struct job_world job;
    struct step_result step = {.flows = 77};
    struct error error = {0};
    job_world_topology("ramp", &topology);
    split_chain(&job, &topology, random);
    enum gradient_sync *syncs = all_ops(&job, SYNC_STANDARD);
    struct step_input input = job_world_input(&job, &topology);
    job.deployment.sync = syncs;
    CU_ASSERT_EQUAL(step_run(&input, 1, NULL, &step, &error), STATUS_OK);
    for (enum gradient_sync sync = SYNC_RAMP; sync <= SYNC_NONE; sync++) {
        step.flows = 77;
        syncs[1] = sync;
        CU_ASSERT_EQUAL(step_run(&input, 1, NULL, &step, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "published knows one way to synchronise"));
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "network.model: circuit"));
        CU_ASSERT_EQUAL(step.flows, 77);
    }
    free(syncs);
    job_world_end(&job);
    topology_free(&topology);
    random_close(random);
}

struct count_of_ends {
    struct engine *engine;
    uint32_t calls;
};

static void count_end(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    struct count_of_ends *ends = context;
    (void)job;
    (void)report;
    ends->calls++;
    engine_stop(ends->engine);
}

/* A step whose last op has nothing to synchronise ends once. */
static void test_ends_once(void)
{
    struct random_stream *random = random_open(41, "gradients", 0);
    struct count_of_ends ends = {.engine = engine_create()};
    struct circuit_options options = job_world_options(1);
    struct topology topology;
    struct job_world job;
    struct stepper *stepper = NULL;
    struct stepper_job *placed = NULL;
    struct error error = {0};
    job_world_topology("ocs", &topology);
    split_chain(&job, &topology, random);
    enum gradient_sync *syncs = all_ops(&job, SYNC_NONE);
    job.deployment.sync = syncs;
    struct step_input input = job_world_input(&job, &topology);
    CU_ASSERT_EQUAL_FATAL(stepper_create(ends.engine, &topology, 0, &options, &stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(stepper_add(stepper, &input, 0, count_end, &ends, &placed, &error), STATUS_OK);
    stepper_start(placed);
    engine_run(ends.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(ends.calls, 1);
    stepper_remove(placed);
    stepper_destroy(stepper);
    engine_destroy(ends.engine);
    free(syncs);
    job_world_end(&job);
    topology_free(&topology);
    random_close(random);
}

/* ---- unlike devices ---- */

static double compute_s(const struct topology *topology, const struct job_world_op *ops, uint32_t count,
                        const uint32_t *servers, double *total_s)
{
    struct job_world job;
    struct circuit_options options = job_world_options(1);
    job_world_put(&job, job_world_chain(ops, count), topology, servers);
    struct step_result step = job_world_step(&job, topology, &options);
    job_world_end(&job);
    *total_s = step.step.total_s;
    return step.step.part_s[TIME_COMP];
}

static void test_fast_device(void)
{
    static const struct job_world_op ops[] = {{0.2, 0.4, 1e6}, {0.6, 0.8, 1e6}, {0.1, 0.3, 1e6}};
    static const uint32_t slow[] = {4, 4, 4}, fast[] = {5, 5, 5}, mixed[] = {4, 5, 4}, even[] = {4, 6, 4};
    struct job_world_unlike unlike;
    double slow_s, fast_s, mixed_s, even_s;
    job_world_unlike(&unlike);
    CU_ASSERT(oracle_is_near(compute_s(&unlike.topology, ops, 3, slow, &slow_s), 2.4e-3, 1e-12));
    CU_ASSERT(oracle_is_near(compute_s(&unlike.topology, ops, 3, fast, &fast_s), 1.2e-3, 1e-12));
    CU_ASSERT_EQUAL(2 * fast_s, slow_s);
    CU_ASSERT(oracle_is_near(compute_s(&unlike.topology, ops, 3, mixed, &mixed_s), 1.7e-3, 1e-12));
    CU_ASSERT(oracle_is_near(compute_s(&unlike.topology, ops, 3, even, &even_s), 2.4e-3, 1e-12));
    CU_ASSERT(oracle_is_near(even_s - mixed_s, 0.7e-3, 1e-9)); /* the network is as fast as ever */
    topology_free(&unlike.topology);
}

/* An op with a part on each kind of device takes as long as on the slow one, and is ranked by that. */
static void test_slowest_part(void)
{
    static const struct job_world_op ops[] = {{0.4, 0.4, 0}, {0.3, 0.3, 0}};
    static const uint32_t both[] = {4, 5}, fast[] = {7, 9};
    struct job_world_unlike unlike;
    struct place_scratch scratch;
    job_world_unlike(&unlike);
    struct job_world job = {.graph = job_world_chain(ops, 2)};
    struct circuit_options options = job_world_options(1);
    job.tasks = split_create(job.graph, &(struct split_rule){0.01, 2, TRAFFIC_PUBLISHED}, unlike.speeds, 2);
    const struct place_request request = {.tasks = job.tasks, .scratch = &scratch};
    place_scratch_init(&scratch, &unlike.topology);
    for (int i = 0; i < 2; i++) {
        deployment_start(&job.deployment, job.tasks);
        place_assign(&request, &job.deployment, 0, place_add_list(&request, &job.deployment, i ? both : fast, 2));
        place_assign(&request, &job.deployment, 1, place_add_list(&request, &job.deployment, i ? fast : both, 2));
        place_end(&request, &job.deployment);
        struct step_result step = job_world_step(&job, &unlike.topology, &options);
        /* halves of 0.4 and 0.3 ms, each twice, one of them on the slow device */
        CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMP], i ? 0.55e-3 : 0.5e-3, 1e-12));
        CU_ASSERT_EQUAL(job.deployment.rank[1] > job.deployment.rank[0], i == 1); /* 0.15 or 0.075 to 0.2 or 0.1 ms */
    }
    place_scratch_fini(&scratch);
    job_world_end(&job);
    topology_free(&unlike.topology);
}

/* What is made for a grid of servers with one device each, all alike, says so; first_fit takes any devices. */
static void test_no_grid(void)
{
    static const char *const paths[] = {"topologies/hosts-64.yaml", "topologies/machines-12.yaml"};
    static const struct job_world_op ops[] = {{1, 1, 1}, {1, 1, 1}};
    static const uint32_t devices[] = {0, 1};
    for (size_t n = 0; n < 2; n++) {
        struct topology topology;
        struct job_world job;
        struct step_result step;
        struct error error = {0};
        CU_ASSERT_EQUAL_FATAL(fabric_load_topology(paths[n], &topology, &error), STATUS_OK);
        for (size_t i = 0; i < placers.count; i++) {
            const struct placer *placer = (const struct placer *)placers.strategies[i];
            bool takes_any = strcmp(placer->strategy.name, "first_fit") == 0;
            CU_ASSERT_EQUAL(place_check(placer, &topology, &error), takes_any ? STATUS_OK : STATUS_USER);
            CU_ASSERT(takes_any || strstr(error.message, "layout: grid"));
        }
        job_world_put(&job, job_world_chain(ops, 2), &topology, devices);
        struct step_input input = job_world_input(&job, &topology);
        CU_ASSERT_EQUAL(step_run(&input, 1, NULL, &step, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "needs network.model: circuit"));
        job_world_end(&job);
        topology_free(&topology);
    }
}

void suite_deployment(void)
{
    CU_pSuite suite = CU_add_suite("deployment", NULL, NULL);
    CU_ADD_TEST(suite, test_refused);
    CU_ADD_TEST(suite, test_started_anew);
    CU_ADD_TEST(suite, test_exact_memory);
    CU_ADD_TEST(suite, test_placers_accepted);
    CU_ADD_TEST(suite, test_lent_memory);
    CU_ADD_TEST(suite, test_unsynchronised);
    CU_ADD_TEST(suite, test_own_algorithm);
    CU_ADD_TEST(suite, test_published_sync);
    CU_ADD_TEST(suite, test_ends_once);
    CU_ADD_TEST(suite, test_fast_device);
    CU_ADD_TEST(suite, test_slowest_part);
    CU_ADD_TEST(suite, test_no_grid);
}
