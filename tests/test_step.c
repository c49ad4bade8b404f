/* Properties held here, of one training step of one placed job:
 *   - the published figures of five models at every legal degree, and of every part of every op;
 *   - models the published program fails on get an answer, between even division and one after the other;
 *   - lower and upper bounds on random graphs and random placements; one device takes the sum of its ops;
 *   - equal steps for placements that differ in names only; the same hash again;
 *   - time units scale computation alone; other schedulers keep the bounds. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "oracle.h"
#include "strategies.h"
#include "fabric/fabrics.h"
#include "suites.h"

static const char ramp_32[] = "topologies/ramp-32.yaml";

/* ---- published figures ---- */

static void check_single_job(const struct csv *table, const char *parts_column, const char *devices_column)
{
    const char *model = oracle_text(table, "model");
    uint32_t degree = (uint32_t)oracle_number(table, "degree");
    struct oracle_job job;
    CU_ASSERT_FATAL(oracle_job_run(&job, model, degree, ramp_32, &place_ramp_first_fit, NULL));
    const double tolerance = 1e-9;
    CU_ASSERT_EQUAL((double)task_graph_parts(job.tasks), oracle_number(table, parts_column));
    CU_ASSERT_EQUAL((double)job.tasks->dep_count, oracle_number(table, "deps"));
    CU_ASSERT_EQUAL((double)job.step.flows, oracle_number(table, "flows"));
    CU_ASSERT_EQUAL((double)job.deployment.used_count, oracle_number(table, devices_column));
    CU_ASSERT(oracle_is_near(50 * job.step.step.total_s, oracle_number(table, "jct_s"), tolerance));
    CU_ASSERT(oracle_is_near(50 * job.step.step.part_s[TIME_COMM], oracle_number(table, "comm_s"), tolerance));
    CU_ASSERT(oracle_is_near(50 * job.step.step.part_s[TIME_COMP], oracle_number(table, "comp_s"), tolerance));
    char *names = oracle_names(&job.topology, job.deployment.used, job.deployment.used_count);
    CU_ASSERT_STRING_EQUAL(names, oracle_text(table, "device_list"));
    free(names);
    oracle_job_end(&job);
}

static void test_single_jobs(void)
{
    struct csv *table = oracle_open(ORACLE_GOLDEN "single-job.csv");
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    int rows = 0;
    for (; oracle_next(table); rows++)
        check_single_job(table, "parts", "device_count");
    CU_ASSERT_EQUAL(rows, 30);
    csv_close(table);
    table = oracle_open(ORACLE_FULL "single-job.csv");
    for (rows = 0; table && oracle_next(table); rows++)
        check_single_job(table, "ops", "devices");
    CU_ASSERT(!table || rows >= 30);
    csv_close(table);
}

/* ---- op by op ---- */

/* Stretches as the step tells them, joined where an op just went on. */
struct stretch {
    uint32_t task, part, server;
    double start_s, end_s;
    bool is_met;
};

struct recorder {
    struct stretch *stretches;
    size_t count, capacity;
};

static void record(void *context, uint32_t task, uint32_t part, uint32_t server, double start_s, double end_s)
{
    struct recorder *recorder = context;
    for (size_t i = recorder->count; i-- > 0;) {
        struct stretch *before = &recorder->stretches[i];
        if (before->task != task || before->part != part || before->end_s != start_s)
            continue;
        before->end_s = end_s;
        return;
    }
    recorder->stretches =
        memory_grow(recorder->stretches, &recorder->capacity, recorder->count + 1, sizeof *recorder->stretches);
    recorder->stretches[recorder->count++] = (struct stretch){task, part, server, start_s, end_s, false};
}

static bool is_same_time(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* Marks the stretch of this part on this device between these times; false where there is none left. */
static bool meet(struct recorder *recorder, const struct topology *topology, uint32_t task, uint32_t part,
                 const char *device, double start_s, double end_s)
{
    char name[TOPOLOGY_NAME_BYTES];
    for (size_t i = 0; i < recorder->count; i++) {
        struct stretch *at = &recorder->stretches[i];
        if (at->is_met || at->task != task || at->part != part || !is_same_time(at->start_s, start_s) ||
            !is_same_time(at->end_s, end_s))
            continue;
        topology_name(topology, at->server, name);
        at->is_met = strcmp(name, device) == 0;
        return at->is_met;
    }
    printf("\n  task %u part %u: nothing from %.17g to %.17g on %s\n", task, part, start_s, end_s, device);
    return false;
}

static uint32_t task_of(const struct graph *graph, uint32_t id, bool is_forward)
{
    for (uint32_t op = 0; op < graph->op_count; op++)
        if (graph->ops[op].id == id)
            return is_forward ? op : graph->op_count + op;
    CU_FAIL("no such op");
    return 0;
}

static void run_recorded(struct oracle_job *job, struct recorder *recorder, const char *model, uint32_t degree)
{
    const struct step_observer observer = {.ran = record, .context = recorder};
    CU_ASSERT_FATAL(oracle_job_run(job, model, degree, ramp_32, &place_ramp_first_fit, &observer));
}

static void end_recorded(struct oracle_job *job, struct recorder *recorder)
{
    size_t met = 0;
    for (size_t i = 0; i < recorder->count; i++)
        met += recorder->stretches[i].is_met;
    CU_ASSERT_EQUAL(met, recorder->count); /* nothing ran that should not have */
    free(recorder->stretches);
    oracle_job_end(job);
}

static void check_golden_step(const char *model)
{
    char path[64];
    struct oracle_job job;
    struct recorder recorder = {0};
    snprintf(path, sizeof path, ORACLE_GOLDEN "step-%s-4.csv", model);
    struct csv *table = oracle_open(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    run_recorded(&job, &recorder, model, 4);
    while (oracle_next(table)) {
        uint32_t task = task_of(job.graph, (uint32_t)oracle_number(table, "op"),
                                strcmp(oracle_text(table, "pass"), "forward") == 0);
        CU_ASSERT(meet(&recorder, &job.topology, task, (uint32_t)oracle_number(table, "part"),
                       oracle_text(table, "device"), oracle_number(table, "start_s"), oracle_number(table, "end_s")));
    }
    csv_close(table);
    end_recorded(&job, &recorder);
}

static void test_golden_ops(void)
{
    check_golden_step("alexnet");
    check_golden_step("gnmt");
}

/* There, parts carry letters behind the number, and the backward twin of i is 2n - i + 1. */
static void meet_op(struct recorder *recorder, const struct oracle_job *job, const cJSON *op)
{
    char *letter;
    uint32_t n = job->graph->op_count;
    uint32_t id = (uint32_t)strtoul(cJSON_GetObjectItem(op, "id")->valuestring, &letter, 10);
    uint32_t part = *letter ? (uint32_t)(*letter - 'a') : 0;
    uint32_t task = task_of(job->graph, id > n ? 2 * n - id + 1 : id, id <= n);
    const cJSON *segment;
    cJSON_ArrayForEach(segment, cJSON_GetObjectItem(op, "segments"))
    {
        CU_ASSERT(meet(recorder, &job->topology, task, part, cJSON_GetObjectItem(op, "device")->valuestring,
                       cJSON_GetArrayItem(segment, 0)->valuedouble, cJSON_GetArrayItem(segment, 1)->valuedouble));
    }
}

static void check_full_step(const char *model, uint32_t degree)
{
    char path[128], *text;
    size_t size;
    struct oracle_job job;
    struct recorder recorder = {0};
    snprintf(path, sizeof path, ORACLE_FULL "%s_degree%u.json", model, degree);
    if (file_read(path, 1 << 26, &text, &size, NULL) != STATUS_OK)
        return;
    cJSON *root = cJSON_Parse(text), *ops = cJSON_GetObjectItem(root, "ops");
    const cJSON *op;
    free(text);
    run_recorded(&job, &recorder, model, degree);
    CU_ASSERT_EQUAL((uint64_t)cJSON_GetArraySize(ops), task_graph_parts(job.tasks));
    cJSON_ArrayForEach(op, ops) meet_op(&recorder, &job, op);
    cJSON_Delete(root);
    end_recorded(&job, &recorder);
}

static void test_full_ops(void)
{
    check_full_step("alexnet", 2);
    check_full_step("alexnet", 4);
    check_full_step("gnmt", 4);
}

/* ---- beyond the published ---- */

/* Inception v3 has a forward sink that is split: the published program divides by zero there. */
static void test_split_sinks(void)
{
    static const uint32_t degrees[] = {1, 2, 4, 8, 16};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        struct oracle_job job;
        CU_ASSERT_FATAL(oracle_job_run(&job, "inception_v3", degrees[i], ramp_32, &place_ramp_first_fit, NULL));
        CU_ASSERT(job.step.step.total_s <= job.tasks->sequential_ms * (1 + 1e-12));
        CU_ASSERT(job.step.step.total_s >= job.tasks->sequential_ms / degrees[i] * (1 - 1e-12));
        oracle_job_end(&job);
    }
}

static void test_every_model(void)
{
    static const char *const models[] = {"densenet121", "gnmt_large", "nasnetalarge", "nasnetamobile",
                                         "resnet101",   "resnet50",   "resnext101",   "resnext50"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (uint32_t degree = 1; degree <= 4; degree *= 2) {
            struct oracle_job job;
            CU_ASSERT_FATAL(oracle_job_run(&job, models[i], degree, ramp_32, &place_ramp_compact, NULL));
            CU_ASSERT(job.deployment.used_count <= degree);
            CU_ASSERT(job.step.step.total_s <= job.tasks->sequential_ms * (1 + 1e-12));
            CU_ASSERT(job.step.step.total_s >= job.tasks->sequential_ms / degree * (1 - 1e-12));
            oracle_job_end(&job);
        }
}

/* ---- random graphs ---- */

/* Each op, unsplit, on a server of its own choosing. */
static void place_randomly(const struct task_graph *tasks, struct random_stream *random, uint32_t server_count,
                           const struct topology *topology, struct deployment *deployment)
{
    struct place_scratch scratch;
    const struct place_request request = {.tasks = tasks, .scratch = &scratch};
    place_scratch_init(&scratch, topology);
    deployment_start(deployment, tasks);
    for (uint32_t op = 0; op < tasks->graph->op_count; op++) {
        uint32_t server = (uint32_t)random_below(random, server_count) * 5 % topology->server_count;
        place_assign(&request, deployment, op, place_add_list(&request, deployment, &server, 1));
    }
    place_end(&request, deployment);
    place_scratch_fini(&scratch);
}

/* The longest chain of tasks, without any time for transfers. Tasks in topological order: forward, then twins back. */
static double critical_ms(const struct task_graph *tasks)
{
    const struct graph *graph = tasks->graph;
    uint32_t n = graph->op_count;
    double *end_ms = memory_alloc(2 * (size_t)n, sizeof *end_ms), longest_ms = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t task = i < n ? graph->order[i] : n + graph->order[2 * n - 1 - i];
        double start_ms = 0;
        for (uint32_t l = tasks->in_start[task]; l < tasks->in_start[task + 1]; l++)
            start_ms = fmax(start_ms, end_ms[tasks->links[tasks->in_link[l]].source]);
        end_ms[task] = start_ms + (task < n ? graph->ops[task].forward_ms : graph->ops[task - n].backward_ms);
        longest_ms = fmax(longest_ms, end_ms[task]);
    }
    free(end_ms);
    return longest_ms;
}

/* What all transfers would take one after the other, by the formula of section 6. */
static double transfers_s(const struct deployment *deployment)
{
    double sum_s = 0;
    const struct task_graph *tasks = deployment->tasks;
    for (uint32_t l = 0; l < tasks->link_count; l++) {
        const struct task_link *link = &tasks->links[l];
        if (deployment_list(deployment, link->source).start != deployment_list(deployment, link->target).start &&
            link->bytes > 0)
            sum_s += 250e-9 + link->bytes / 4e11;
    }
    return sum_s;
}

static void test_bounds(void)
{
    struct topology topology;
    struct error error;
    struct step_result step;
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology(ramp_32, &topology, &error), STATUS_OK);
    struct random_stream *random = random_open(7, "placements", 0);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct deployment deployment = {0};
        struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)(seed % 60), seed % 2);
        struct task_graph *tasks = oracle_split(graph, 1);
        place_randomly(tasks, random, 1 + (uint32_t)(seed % 12), &topology, &deployment);
        CU_ASSERT_EQUAL_FATAL(oracle_step(&deployment, &topology, &step), STATUS_OK);
        CU_ASSERT(step.step.total_s >= critical_ms(tasks) * (1 - 1e-12));
        CU_ASSERT(step.step.total_s >= tasks->sequential_ms / deployment.used_count * (1 - 1e-12));
        CU_ASSERT(step.step.total_s <= (tasks->sequential_ms + transfers_s(&deployment)) * (1 + 1e-12));
        if (deployment.used_count == 1) {
            CU_ASSERT(oracle_is_near(step.step.total_s, tasks->sequential_ms, 1e-12));
            CU_ASSERT_EQUAL(step.flows, 0);
            CU_ASSERT_EQUAL(step.step.part_s[TIME_COMM], 0);
        }
        deployment_free(&deployment);
        task_graph_free(tasks);
        graph_free(graph);
    }
    random_close(random);
    topology_free(&topology);
}

/* Splitting cannot beat even division, and every split graph ends, other sinks or not. */
static void test_split_bounds(void)
{
    struct topology topology;
    struct error error;
    struct step_result step;
    struct occupancy occupancy;
    struct place_scratch scratch;
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology(ramp_32, &topology, &error), STATUS_OK);
    occupancy_init(&occupancy, &topology);
    place_scratch_init(&scratch, &topology);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct deployment deployment = {0};
        struct graph *graph = oracle_random_graph(1000 + seed, 3 + (uint32_t)(seed % 40), seed % 3 == 0);
        struct task_graph *tasks = oracle_split(graph, 2 + 2 * (uint32_t)(seed % 4));
        const struct placer *placer = seed % 2 ? &place_ramp_first_fit : &place_ramp_compact;
        CU_ASSERT_FATAL(oracle_place(placer, tasks, &occupancy, &scratch, &deployment));
        CU_ASSERT_EQUAL_FATAL(oracle_step(&deployment, &topology, &step), STATUS_OK);
        CU_ASSERT(step.step.total_s >= tasks->sequential_ms / deployment.used_count * (1 - 1e-12));
        CU_ASSERT(step.step.part_s[TIME_COMP] <= step.step.total_s * (1 + 1e-12));
        CU_ASSERT(step.step.part_s[TIME_COMM] <= step.step.total_s * (1 + 1e-12));
        CU_ASSERT(step.step.part_s[TIME_COMP] + step.step.part_s[TIME_COMM] >= step.step.total_s * (1 - 1e-12));
        deployment_free(&deployment);
        task_graph_free(tasks);
        graph_free(graph);
    }
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
    topology_free(&topology);
}

/* ---- symmetry and repetition ---- */

/* Groups and racks turned, places swapped. */
static uint32_t rename_server(const struct topology *t, uint32_t server)
{
    uint32_t group = (topology_group(t, server) + 3) % 4, rack = (topology_rack(t, server) * 3 + 1) % 4;
    return (group * 4 + rack) * 2 + (1 - topology_place(t, server));
}

static void test_renamed_servers(void)
{
    static const char *const models[] = {"alexnet", "gnmt", "squeezenet1_0"};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t degree = 2; degree <= 8; degree *= 2) {
            struct oracle_job job;
            struct step_result again, renamed;
            CU_ASSERT_FATAL(oracle_job_run(&job, models[i], degree, ramp_32, &place_ramp_first_fit, NULL));
            CU_ASSERT_EQUAL(oracle_step(&job.deployment, &job.topology, &again), STATUS_OK);
            CU_ASSERT_EQUAL(again.trace_hash, job.step.trace_hash);
            for (uint32_t entry = 0; entry < job.deployment.entry_count; entry++)
                job.deployment.devices[entry] = rename_server(&job.topology, job.deployment.devices[entry]);
            for (uint32_t used = 0; used < job.deployment.used_count; used++)
                job.deployment.used[used] = rename_server(&job.topology, job.deployment.used[used]);
            CU_ASSERT_EQUAL(oracle_step(&job.deployment, &job.topology, &renamed), STATUS_OK);
            CU_ASSERT_EQUAL(renamed.step.total_s, job.step.step.total_s);
            CU_ASSERT_EQUAL(renamed.step.part_s[TIME_COMM], job.step.step.part_s[TIME_COMM]);
            CU_ASSERT_EQUAL(renamed.flows, job.step.flows);
            CU_ASSERT_EQUAL(renamed.trace_hash, job.step.trace_hash);
            oracle_job_end(&job);
        }
}

/* With profiles read as milliseconds computation shrinks a thousandfold and transfers stay. */
static void test_unit(void)
{
    struct oracle_job job;
    struct step_result measured;
    struct error error;
    CU_ASSERT_FATAL(oracle_job_run(&job, "vgg16", 4, ramp_32, &place_ramp_first_fit, NULL));
    struct step_input input = {.deployment = &job.deployment, .topology = &job.topology, .unit_s = 1e-3};
    rank_by(&schedule_fifo, &job.topology, 1e-3, &job.deployment);
    CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, NULL, &measured, &error), STATUS_OK);
    CU_ASSERT(oracle_is_near(measured.step.part_s[TIME_COMP], job.step.step.part_s[TIME_COMP] / 1000, 0.2));
    CU_ASSERT(measured.step.part_s[TIME_COMM] > job.step.step.part_s[TIME_COMM] / 2);
    CU_ASSERT(measured.step.total_s > job.tasks->sequential_ms / 1000 / job.deployment.used_count);
    CU_ASSERT(measured.step.part_s[TIME_COMM] / measured.step.total_s >
              10 * job.step.step.part_s[TIME_COMM] / job.step.step.total_s);
    oracle_job_end(&job);
}

/* No graph that loads can deadlock; one made to wait for itself says who waits for what. */
static void test_deadlock(void)
{
    struct oracle_job job;
    struct step_result step = {.flows = 77};
    struct error error = {0};
    CU_ASSERT_FATAL(oracle_job_run(&job, "alexnet", 2, ramp_32, &place_ramp_first_fit, NULL));
    struct task_link *link = &job.tasks->links[0];
    while (job.tasks->tasks[link->target].is_backward)
        link++;
    link->target = link->source;
    const struct step_input input = {.deployment = &job.deployment, .topology = &job.topology, .unit_s = 1};
    CU_ASSERT_EQUAL(step_run(&input, 1, NULL, &step, &error), STATUS_IMPOSSIBLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "deadlock: forward op"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "alexnet waits for"));
    CU_ASSERT_EQUAL(step.flows, 77);
    oracle_job_end(&job);
}

void suite_step(void)
{
    CU_pSuite suite = CU_add_suite("step", NULL, NULL);
    CU_ADD_TEST(suite, test_single_jobs);
    CU_ADD_TEST(suite, test_golden_ops);
    CU_ADD_TEST(suite, test_full_ops);
    CU_ADD_TEST(suite, test_split_sinks);
    CU_ADD_TEST(suite, test_every_model);
    CU_ADD_TEST(suite, test_bounds);
    CU_ADD_TEST(suite, test_split_bounds);
    CU_ADD_TEST(suite, test_renamed_servers);
    CU_ADD_TEST(suite, test_unit);
    CU_ADD_TEST(suite, test_deadlock);
}
