/* Properties held here, of a stream of jobs on a cluster (PAC-ML simulator, sections 8 to 11):
 *   - the published streams, decision by decision;
 *   - servers are never shared, and all free when all jobs have ended;
 *   - remembered steps equal simulated ones; the same run has the same hash; strategies see the same jobs;
 *   - exact_min takes the smallest degree that meets the limit, on the published figures;
 *   - the mask is stale by one instant; the job at the very end is counted, never decided;
 *   - waiting in a queue, giving up, and not being counted while warming up;
 *   - columns stand where their constants say. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/memo.h"
#include "cluster/metrics.h"
#include "oracle.h"
#include "strategies.h"
#include "fabric/fabrics.h"
#include "suites.h"

/* ---- published streams ---- */

static bool is_decided_so(const struct csv *table, const struct topology *topology, const struct cluster_result *result,
                          const struct job_record *job)
{
    char *names = oracle_names(topology, result->devices + job->device_start, job->device_count);
    bool is_same =
        job->degree == (uint32_t)oracle_number(table, "degree") &&
        strcmp(outcome_name(job->outcome), oracle_text(table, "outcome")) == 0 &&
        strcmp(cause_name(job->cause), oracle_text(table, "cause")) == 0 &&
        strcmp(names, oracle_text(table, "device_list")) == 0 &&
        (!*oracle_text(table, "jct_s") || oracle_is_near(job->time.total_s, oracle_number(table, "jct_s"), 1e-6));
    if (!is_same)
        printf("\n  line %d: got degree %u, %s, %s, %.17g s on %s\n", csv_line(table), job->degree,
               outcome_name(job->outcome), cause_name(job->cause), job->time.total_s, names);
    free(names);
    return is_same;
}

/* Replays a table of jobs and compares each decision. */
static size_t check_stream(const char *expected, const char *jobs, const char *strategy)
{
    char trace[256], partition[64];
    struct oracle_world world;
    struct cluster_result result;
    struct error error;
    snprintf(trace, sizeof trace, "workload.trace=%s", jobs);
    snprintf(partition, sizeof partition, "partition.strategy=%s", strategy);
    oracle_world_open(&world,
                      (const char *const[]){trace, partition, "step.memo=model_degree", "run.horizon=1000000s", NULL});
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
    struct csv *table = oracle_open(expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    size_t rows = 0;
    for (; oracle_next(table); rows++) {
        CU_ASSERT_FATAL(rows < result.job_count);
        CU_ASSERT(is_decided_so(table, &world.world.topology, &result, &result.jobs[rows]));
    }
    CU_ASSERT_EQUAL(rows, result.job_count);
    csv_close(table);
    cluster_result_free(&result);
    oracle_world_close(&world);
    return rows;
}

static void test_golden_streams(void)
{
    static const char *const streams[][2] = {
        {"stream-max.csv", "max"}, {"stream-min-sufficient.csv", "min_sufficient"}, {"stream-random.csv", "trace"}};
    char *folder = oracle_folder(), golden[128], jobs[128];
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        snprintf(golden, sizeof golden, ORACLE_GOLDEN "%s", streams[i][0]);
        snprintf(jobs, sizeof jobs, "%s/%s", folder, streams[i][0]);
        oracle_strip(golden, jobs);
        CU_ASSERT_EQUAL(check_stream(golden, jobs, streams[i][1]), 250);
    }
    oracle_remove(folder);
    free(folder);
}

static void test_full_streams(void)
{
    static const char *const streams[][2] = {{ORACLE_FULL "trace-max-A-seed1799.csv", "max"},
                                             {ORACLE_FULL "trace-min_sufficient-C-seed1799.csv", "min_sufficient"},
                                             {ORACLE_FULL "trace-random-C-seed1799.csv", "trace"}};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct csv *table = oracle_open(streams[i][0]);
        if (!table)
            continue;
        csv_close(table);
        CU_ASSERT_EQUAL(check_stream(streams[i][0], streams[i][0], streams[i][1]), 1000);
    }
}

/* ---- servers ---- */

/* Follows arrivals and ends: at no time do two jobs hold one server. Jobs come in order of arrival. */
static void check_exclusive(const struct cluster_result *result, uint32_t server_count)
{
    sim_time *free_from = memory_alloc(server_count, sizeof *free_from);
    for (size_t i = 0; i < result->job_count; i++) {
        const struct job_record *job = &result->jobs[i];
        if (job->outcome == OUTCOME_BLOCKED || !job->device_count)
            continue;
        sim_time start = job->end - (sim_time)llround((job->time.total_s - job->time.part_s[TIME_WAIT]) * 1e12);
        for (uint32_t d = 0; d < job->device_count; d++) {
            uint32_t server = result->devices[job->device_start + d];
            CU_ASSERT_FATAL(server < server_count);
            CU_ASSERT(free_from[server] <= start + 200000); /* the published slack of 1e-7 s counts as now */
            free_from[server] = job->end;
        }
    }
    free(free_from);
}

static void test_exclusive_servers(void)
{
    static const char *const strategies[] = {"partition.strategy=max", "partition.strategy=random",
                                             "partition.strategy=exact_min"};
    static const char *const places[] = {"place.strategy=ramp_first_fit", "place.strategy=ramp_compact"};
    for (size_t s = 0; s < 3; s++)
        for (size_t p = 0; p < 2; p++) {
            struct cluster_result result;
            oracle_run((const char *const[]){strategies[s], places[p], "workload.arrivals=poisson", "workload.jobs=200",
                                             "run.horizon=150000s", NULL},
                       &result);
            CU_ASSERT(result.job_count > 100);
            check_exclusive(&result, 32);
            cluster_result_free(&result);
        }
}

/* A job long after all others finds the cluster as the first one did. */
static void test_all_free_in_the_end(void)
{
    char *folder = oracle_folder(), trace[300];
    char *path = oracle_write(folder, "jobs.csv",
                              "model,arrival_s,beta\nvgg16,0,1\nalexnet,1,1\ngnmt,2,1\nresnet18,3,1\nvgg16,4,0.9\n"
                              "squeezenet1_0,5,0.3\ngnmt,5,1\nvgg16,1000000,1\n");
    struct cluster_result result;
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    oracle_run((const char *const[]){trace, "partition.strategy=max", NULL}, &result);
    CU_ASSERT_EQUAL_FATAL(result.job_count, 8);
    const struct job_record *first = &result.jobs[0], *last = &result.jobs[7];
    CU_ASSERT_EQUAL(first->degree, 16);
    CU_ASSERT_EQUAL(last->degree, 16);
    CU_ASSERT_EQUAL(last->time.total_s, first->time.total_s);
    CU_ASSERT_EQUAL_FATAL(last->device_count, first->device_count);
    CU_ASSERT_EQUAL(memcmp(result.devices + last->device_start, result.devices + first->device_start,
                           first->device_count * sizeof *result.devices),
                    0);
    for (size_t i = 0; i < 8; i++)
        CU_ASSERT_NOT_EQUAL(result.jobs[i].outcome, OUTCOME_UNFINISHED);
    cluster_result_free(&result);
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* ---- memory of steps ---- */

/* The steps of all jobs placed so far: placers carry no context, so the test keeps it here. */
static struct {
    double step_s[4096];
    size_t count;
} seen;

static bool place_and_simulate(const struct place_request *request, struct deployment *deployment)
{
    struct step_result step;
    if (!place_ramp_first_fit.place(request, deployment))
        return false;
    CU_ASSERT_EQUAL_FATAL(oracle_step(deployment, request->occupancy->topology, &step), STATUS_OK);
    CU_ASSERT_FATAL(seen.count < sizeof seen.step_s / sizeof *seen.step_s);
    seen.step_s[seen.count++] = step.step.total_s;
    return true;
}

static void test_memo_equals_simulation(void)
{
    struct placer simulating = place_ramp_first_fit;
    struct oracle_world world;
    struct cluster_result result;
    struct error error;
    oracle_world_open(&world, (const char *const[]){"partition.strategy=random", "workload.beta=uniform",
                                                    "workload.jobs=400", "workload.interarrival=700s", NULL});
    simulating.place = place_and_simulate;
    world.world.cluster.placer = (struct choice){&simulating.strategy, NULL};
    seen.count = 0;
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
    size_t placed = 0;
    for (size_t i = 0; i < result.job_count; i++)
        if (result.jobs[i].device_count)
            CU_ASSERT_EQUAL(result.jobs[i].time.total_s, seen.step_s[placed++] * 50);
    CU_ASSERT_EQUAL(placed, seen.count);
    CU_ASSERT(placed > 200);
    CU_ASSERT(result.steps_simulated < placed); /* it did remember */
    cluster_result_free(&result);
    oracle_world_close(&world);
}

/* Fills the table beyond its first size; every key is found again and no other. */
static void test_memo_grows(void)
{
    struct topology t;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology("topologies/ramp-32.yaml", &t, &error), STATUS_OK);
    struct memo *memo = memo_create(&t, true);
    struct place_scratch scratch;
    struct deployment deployment = {0};
    struct graph *graph = oracle_random_graph(1, 2, false);
    struct task_graph *tasks = oracle_split(graph, 1);
    const struct place_request request = {.tasks = tasks, .scratch = &scratch};
    uint32_t server = 5;
    place_scratch_init(&scratch, &t);
    deployment_start(&deployment, tasks);
    for (uint32_t op = 0; op < 2; op++)
        place_assign(&request, &deployment, op, place_add_list(&request, &deployment, &server, 1));
    for (uint32_t model = 0; model < 3000; model++) {
        CU_ASSERT_PTR_NULL_FATAL(memo_find(memo, model, 2, &deployment, 0));
        memo_add(memo, &(struct step_result){.step.total_s = model});
    }
    for (uint32_t model = 0; model < 3000; model++) {
        const struct step_result *known = memo_find(memo, model, 2, &deployment, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(known);
        CU_ASSERT_EQUAL(known->step.total_s, model);
    }
    CU_ASSERT_PTR_NULL(memo_find(memo, 7, 4, &deployment, 0));
    memo_free(memo);
    memo_free(NULL);
    place_end(&request, &deployment);
    deployment_free(&deployment);
    task_graph_free(tasks);
    graph_free(graph);
    place_scratch_fini(&scratch);
    topology_free(&t);
}

/* ---- determinism ---- */

static void test_same_again(void)
{
    static const char *const settings[] = {"partition.strategy=random",
                                           "workload.arrivals=poisson",
                                           "workload.jobs=300",
                                           "workload.beta=C",
                                           "run.seed=5",
                                           NULL};
    static const char *const other[] = {"partition.strategy=random",
                                        "workload.arrivals=poisson",
                                        "workload.jobs=300",
                                        "workload.beta=C",
                                        "run.seed=6",
                                        NULL};
    struct cluster_result first, again, different;
    oracle_run(settings, &first);
    oracle_run(settings, &again);
    oracle_run(other, &different);
    CU_ASSERT_EQUAL(first.trace_hash, again.trace_hash);
    CU_ASSERT_EQUAL(first.events, again.events);
    CU_ASSERT_NOT_EQUAL(first.trace_hash, different.trace_hash);
    cluster_result_free(&first);
    cluster_result_free(&again);
    cluster_result_free(&different);
}

static void test_strategies_see_the_same_jobs(void)
{
    struct cluster_result max, random;
    oracle_run((const char *const[]){"partition.strategy=max", "workload.arrivals=poisson", "workload.jobs=300", NULL},
               &max);
    oracle_run((const char *const[]){"partition.strategy=random", "workload.arrivals=poisson", "workload.jobs=300",
                                     "place.strategy=ramp_compact", NULL},
               &random);
    CU_ASSERT_EQUAL_FATAL(max.job_count, 300);
    CU_ASSERT_EQUAL_FATAL(random.job_count, 300);
    for (size_t i = 0; i < 300; i++)
        CU_ASSERT(max.jobs[i].model == random.jobs[i].model && max.jobs[i].arrival_s == random.jobs[i].arrival_s &&
                  max.jobs[i].beta == random.jobs[i].beta);
    cluster_result_free(&max);
    cluster_result_free(&random);
}

/* ---- decisions by hand ---- */

/* Runs a table of jobs given as text. */
static void run_jobs(const char *text, const char *first, const char *second, struct cluster_result *result)
{
    char *folder = oracle_folder(), trace[300];
    char *path = oracle_write(folder, "jobs.csv", text);
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    oracle_run((const char *const[]){trace, first, second, NULL}, result);
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* The published figures say which degree is the smallest that does. */
static uint32_t smallest_degree(const char *model, double beta)
{
    struct csv *table = oracle_open(ORACLE_GOLDEN "single-job.csv");
    uint32_t degree = 0;
    double sequential_s = 0;
    while (oracle_next(table)) {
        if (strcmp(oracle_text(table, "model"), model) != 0)
            continue;
        if (oracle_number(table, "degree") == 1)
            sequential_s = oracle_number(table, "comp_s");
        if (!degree && oracle_number(table, "jct_s") <= beta * sequential_s)
            degree = (uint32_t)oracle_number(table, "degree");
    }
    csv_close(table);
    return degree;
}

static void test_exact_min(void)
{
    static const char *const models[] = {"alexnet", "gnmt", "squeezenet1_0"};
    static const double betas[] = {0.999, 0.5, 0.49, 0.26, 0.25, 0.2, 0.13, 0.07, 0.05};
    for (size_t m = 0; m < 3; m++)
        for (size_t b = 0; b < sizeof betas / sizeof *betas; b++) {
            char text[128];
            struct cluster_result result;
            snprintf(text, sizeof text, "model,arrival_s,beta\n%s,0,%g\n", models[m], betas[b]);
            run_jobs(text, "partition.strategy=exact_min", "partition.max_degree=16", &result);
            uint32_t wanted = smallest_degree(models[m], betas[b]);
            CU_ASSERT_EQUAL(result.jobs[0].degree, wanted);
            CU_ASSERT_EQUAL(result.jobs[0].cause, wanted ? CAUSE_NONE : CAUSE_REFUSED);
            cluster_result_free(&result);
        }
}

/* Two jobs of 16 servers that end at 2254.7583303838487 s. Whoever arrives then sees no free server; a millisecond
 * later all are free. */
static void test_stale_mask(void)
{
    struct cluster_result result;
    static const char at_once[] = "model,arrival_s,beta\nalexnet,0,1\nalexnet,0,1\nalexnet,2254.7583303838487,1\n";
    static const char later[] = "model,arrival_s,beta\nalexnet,0,1\nalexnet,0,1\nalexnet,2254.7593303838487,1\n";
    run_jobs(at_once, "partition.strategy=max", "step.memo=model_degree", &result);
    CU_ASSERT_EQUAL_FATAL(result.job_count, 3);
    CU_ASSERT_EQUAL(result.jobs[1].degree, 16);
    CU_ASSERT_EQUAL(result.jobs[2].cause, CAUSE_REFUSED);
    cluster_result_free(&result);
    run_jobs(later, "partition.strategy=max", "step.memo=model_degree", &result);
    CU_ASSERT_EQUAL(result.jobs[2].degree, 16);
    CU_ASSERT_EQUAL(result.jobs[2].outcome, OUTCOME_COMPLETED);
    cluster_result_free(&result);
}

static void test_very_end(void)
{
    struct oracle_world world;
    struct cluster_result result;
    struct error error;
    double values[METRIC_COUNT];
    oracle_world_open(&world, (const char *const[]){"partition.strategy=max", NULL});
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(result.job_count, 1001);
    CU_ASSERT_EQUAL(result.length_s, 1e6);
    CU_ASSERT(result.jobs[999].is_decided);
    CU_ASSERT(!result.jobs[1000].is_decided);
    CU_ASSERT_EQUAL(result.jobs[1000].arrival_s, 1e6);
    metrics_compute(&world.world.cluster, &result, values);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_ARRIVED], 1001);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_BLOCKED] + values[METRIC_JOBS_COMPLETED], 1000);
    CU_ASSERT_EQUAL(values[METRIC_BLOCKED_REFUSED] + values[METRIC_BLOCKED_NO_BLOCK] + values[METRIC_BLOCKED_LATE] +
                        values[METRIC_BLOCKED_HORIZON],
                    values[METRIC_JOBS_BLOCKED]);
    CU_ASSERT_EQUAL(values[METRIC_BLOCKING_RATE], values[METRIC_JOBS_BLOCKED] / 1001);
    CU_ASSERT(values[METRIC_DEVICE_UTILISATION] > 0.3 && values[METRIC_DEVICE_UTILISATION] <= 1);
    cluster_result_free(&result);
    oracle_world_close(&world);
}

/* One job cut off by the horizon counts as blocked and for what it did until then. */
static void test_horizon(void)
{
    char *folder = oracle_folder(), trace[300];
    char *path = oracle_write(folder, "jobs.csv", "model,arrival_s,beta\nalexnet,0,1\nalexnet,500,1\n");
    struct oracle_world world;
    struct cluster_result result;
    struct error error;
    double values[METRIC_COUNT];
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    oracle_world_open(&world, (const char *const[]){trace, "partition.strategy=fixed", "partition.degree=1",
                                                    "run.horizon=36062s", NULL});
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
    CU_ASSERT_EQUAL(result.jobs[0].outcome, OUTCOME_COMPLETED);
    CU_ASSERT_EQUAL(result.jobs[1].outcome, OUTCOME_UNFINISHED);
    CU_ASSERT_EQUAL(result.jobs[1].cause, CAUSE_HORIZON);
    metrics_compute(&world.world.cluster, &result, values);
    CU_ASSERT_EQUAL(values[METRIC_BLOCKED_HORIZON], 1);
    CU_ASSERT_EQUAL(values[METRIC_BLOCKING_RATE], 0.5);
    CU_ASSERT(oracle_is_near(values[METRIC_JCT_MEAN], 36061.15, 1e-12));
    CU_ASSERT_EQUAL(values[METRIC_DEGREE_MEAN], 1);
    CU_ASSERT_EQUAL(values[METRIC_COMM_FRACTION_MEAN], 0);
    CU_ASSERT(oracle_is_near(values[METRIC_DEVICE_UTILISATION], (36061.15 + 35562) / (32 * 36062.0), 1e-9));
    CU_ASSERT(oracle_is_near(values[METRIC_THROUGHPUT], (3046234440.0 + 2422161416.0) * (1 + 35562 / 36061.15) / 36062,
                             1e-9));
    cluster_result_free(&result);
    oracle_world_close(&world);
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* Where the jobs end before the horizon, nothing is simulated behind them, and what lies before the warm-up does not
 * count, whenever a job arrived: two jobs on a device each, at 0 and at 500. */
static void test_utilisation(void)
{
    static const char *const warm_ups[] = {"run.warm_up=0s", "run.warm_up=400s", "run.warm_up=1000s"};
    static const double from_s[] = {0, 400, 1000};
    char *folder = oracle_folder(), trace[300];
    char *path = oracle_write(folder, "jobs.csv", "model,arrival_s,beta\nalexnet,0,1\nalexnet,500,1\n");
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    for (size_t i = 0; i < 3; i++) {
        struct oracle_world world;
        struct cluster_result result;
        struct error error;
        double values[METRIC_COUNT], end_s = 500 + 36061.15;
        oracle_world_open(&world, (const char *const[]){trace, "partition.strategy=fixed", "partition.degree=1",
                                                        "run.horizon=1000000s", warm_ups[i], NULL});
        CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
        metrics_compute(&world.world.cluster, &result, values);
        double held_s = 36061.15 - from_s[i] + end_s - fmax(from_s[i], 500);
        CU_ASSERT(oracle_is_near(values[METRIC_DEVICE_UTILISATION], held_s / (32 * (end_s - from_s[i])), 1e-9));
        CU_ASSERT_EQUAL(result.length_s, 1e6);
        cluster_result_free(&result);
        oracle_world_close(&world);
    }
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* Three jobs of 16 servers: the third waits for the first to end, unless its limit or patience ends before. */
static void test_queue(void)
{
    static const char jobs[] = "model,arrival_s,beta\nalexnet,0,1\nalexnet,0,1\nalexnet,100,1\nalexnet,200,0.07\n";
    struct cluster_result result;
    run_jobs(jobs, "partition.strategy=max", "admission.policy=instant", &result);
    CU_ASSERT_EQUAL(result.jobs[2].cause, CAUSE_REFUSED);
    cluster_result_free(&result);
    run_jobs(jobs, "partition.strategy=max", "admission.policy=queue", &result);
    CU_ASSERT_EQUAL(result.jobs[2].outcome, OUTCOME_COMPLETED);
    CU_ASSERT(oracle_is_near(result.jobs[2].time.part_s[TIME_WAIT], result.jobs[0].time.total_s - 100, 1e-6));
    CU_ASSERT_EQUAL(result.jobs[2].time.part_s[TIME_WAIT_DEVICE], result.jobs[2].time.part_s[TIME_WAIT]);
    CU_ASSERT_EQUAL(result.jobs[2].time.part_s[TIME_WAIT_NETWORK], 0);
    CU_ASSERT(oracle_is_near(result.jobs[2].time.total_s, 2 * result.jobs[0].time.total_s - 100, 1e-6));
    CU_ASSERT_EQUAL(result.jobs[3].outcome, OUTCOME_BLOCKED);
    check_exclusive(&result, 32);
    cluster_result_free(&result);
}

static void test_queue_limits(void)
{
    char *folder = oracle_folder(), trace[300];
    char *path = oracle_write(folder, "jobs.csv",
                              "model,arrival_s,beta\nalexnet,0,1\nalexnet,0,1\nalexnet,100,1\nalexnet,200,1\n");
    struct cluster_result result;
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    oracle_run(
        (const char *const[]){trace, "admission.policy=queue", "admission.length=1", "admission.patience=2160s", NULL},
        &result);
    /* The third waits 2154.76 s, less than its patience; the fourth finds the queue full. */
    CU_ASSERT_EQUAL(result.jobs[2].outcome, OUTCOME_COMPLETED);
    CU_ASSERT_EQUAL(result.jobs[3].cause, CAUSE_REFUSED);
    cluster_result_free(&result);
    oracle_run((const char *const[]){trace, "admission.policy=queue", "admission.patience=2100s", NULL}, &result);
    /* The third gives up at 2200 s, the fourth has until 2300 s and gets its servers at 2254.76 s. */
    CU_ASSERT_EQUAL(result.jobs[2].cause, CAUSE_NO_BLOCK);
    CU_ASSERT_EQUAL(result.jobs[3].outcome, OUTCOME_COMPLETED);
    cluster_result_free(&result);
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* Many more jobs than servers: those that wait are served in order, whoever gives up in between. */
static void test_long_queue(void)
{
    struct cluster_result result;
    oracle_run((const char *const[]){"workload.jobs=3000", "workload.interarrival=150s", "admission.policy=queue",
                                     "admission.length=20", "workload.beta=uniform", NULL},
               &result);
    CU_ASSERT_EQUAL_FATAL(result.job_count, 3000);
    double last_start_s = 0;
    size_t waited = 0, given_up = 0;
    for (size_t i = 0; i < result.job_count; i++) {
        const struct job_record *job = &result.jobs[i];
        given_up += job->cause == CAUSE_NO_BLOCK;
        if (job->outcome != OUTCOME_COMPLETED)
            continue;
        CU_ASSERT(job->time.total_s <= job->limit_s);
        CU_ASSERT(job->arrival_s + job->time.part_s[TIME_WAIT] >= last_start_s - 1e-6); /* nobody overtakes */
        last_start_s = job->arrival_s + job->time.part_s[TIME_WAIT];
        waited += job->time.part_s[TIME_WAIT] > 0;
    }
    CU_ASSERT(waited > 100);
    CU_ASSERT(given_up > 100);
    check_exclusive(&result, 32);
    cluster_result_free(&result);
}

static void test_warm_up(void)
{
    struct oracle_world world;
    struct cluster_result result;
    struct error error;
    double values[METRIC_COUNT];
    oracle_world_open(&world,
                      (const char *const[]){"workload.jobs=100", "run.warm_up=50000s", "partition.strategy=max", NULL});
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &result, &error), STATUS_OK);
    CU_ASSERT_EQUAL(result.job_count, 100);
    metrics_compute(&world.world.cluster, &result, values);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_ARRIVED], 50);
    cluster_result_free(&result);
    oracle_world_close(&world);
}

/* Rows stand where their constants say. */
static void test_columns(void)
{
    static const struct job_record job = {.degree = 1,
                                          .arrival_s = 2,
                                          .beta = 3,
                                          .sequential_s = 4,
                                          .limit_s = 5,
                                          .time = {6, {7, 8, 9, 10, 11, 12}},
                                          .device_count = 13};
    static const enum job_column numbers[] = {JOB_DEGREE,  JOB_ARRIVAL, JOB_BETA,   JOB_SEQUENTIAL, JOB_LIMIT,
                                              JOB_JCT,     JOB_COMM,    JOB_COMP,   JOB_RECONFIG,   JOB_WAIT,
                                              JOB_PAYLOAD, JOB_LATENCY, JOB_DEVICES};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CU_ASSERT_EQUAL(job_number(&job, numbers[i]), i + 1);
    CU_ASSERT_STRING_EQUAL(job_columns[JOB_OUTCOME].column.name, "outcome");
    CU_ASSERT_STRING_EQUAL(job_columns[JOB_BLOCKED].column.name, "blocked");
    CU_ASSERT_STRING_EQUAL(metric_name(METRIC_BLOCKED_HORIZON), "blocked_horizon");
    CU_ASSERT_STRING_EQUAL(metric_name(METRIC_COMM_FRACTION_MEAN), "comm_fraction_mean");
    CU_ASSERT_STRING_EQUAL(metric_name(METRIC_COMM_SHARE), "comm_share");
    CU_ASSERT_STRING_EQUAL(metric_name(METRIC_LATENCY_MEAN), "latency_mean_s");
}

void suite_cluster(void)
{
    CU_pSuite suite = CU_add_suite("cluster", NULL, NULL);
    CU_ADD_TEST(suite, test_golden_streams);
    CU_ADD_TEST(suite, test_full_streams);
    CU_ADD_TEST(suite, test_exclusive_servers);
    CU_ADD_TEST(suite, test_all_free_in_the_end);
    CU_ADD_TEST(suite, test_memo_equals_simulation);
    CU_ADD_TEST(suite, test_memo_grows);
    CU_ADD_TEST(suite, test_same_again);
    CU_ADD_TEST(suite, test_strategies_see_the_same_jobs);
    CU_ADD_TEST(suite, test_exact_min);
    CU_ADD_TEST(suite, test_stale_mask);
    CU_ADD_TEST(suite, test_very_end);
    CU_ADD_TEST(suite, test_horizon);
    CU_ADD_TEST(suite, test_utilisation);
    CU_ADD_TEST(suite, test_queue);
    CU_ADD_TEST(suite, test_queue_limits);
    CU_ADD_TEST(suite, test_long_queue);
    CU_ADD_TEST(suite, test_warm_up);
    CU_ADD_TEST(suite, test_columns);
}
