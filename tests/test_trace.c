/* Properties held here: a timeline is valid JSON that says what the run did, no more and no less.
 *   - times are exact to the tick, texts are escaped, the window and the limit are kept;
 *   - bars of one track nest or follow each other;
 *   - drawing a run does not change it; every job is drawn once, as long as it was;
 *   - the ops drawn of a step are all its parts, each as long as it takes. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "scenario/scenario.h"
#include "timeline/timeline.h"
#include "timeline/timeline_jobs.h"
#include "scenario/simulation.h"
#include "input/file.h"
#include "suites.h"

static const char path[] = "build/test-trace.json";
static const struct timeline_args no_args = {0};

static cJSON *read_back(char **text)
{
    size_t size;
    CU_ASSERT_EQUAL_FATAL(file_read(path, (size_t)1 << 28, text, &size, NULL), STATUS_OK);
    cJSON *tree = cJSON_ParseWithLength(*text, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
    CU_ASSERT(cJSON_IsArray(tree));
    return tree;
}

static const char *text_of(const cJSON *event, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(event, name));
    return text ? text : "";
}

static double number_of(const cJSON *event, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(event, name));
}

/* ---- the writer ---- */

static void test_writer(void)
{
    struct timeline_options options = {.clock = {1}, .window_start = 0, .window_end = SIM_TIME_MAX, .limit = 100};
    struct timeline *timeline;
    struct timeline_totals totals;
    struct timeline_track track = {7, 8};
    const struct timeline_arg args[] = {{.name = "a\"b", .text = "x\\y\n"}, {.name = "n", .number = 0.25}};
    char *text;
    CU_ASSERT_EQUAL_FATAL(timeline_create(path, &options, &timeline, NULL), STATUS_OK);
    timeline_name_process(timeline, 7, "seven");
    /* 106 days in picoseconds and one more: past what a double holds. */
    timeline_bar(timeline, track, "bar", 9000000000000000001, 9000000000001500002, (struct timeline_args){args, 2});
    timeline_count(timeline, 7, "busy", 2000000, NAN);
    CU_ASSERT_EQUAL_FATAL(timeline_finish(timeline, &totals, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(totals.written, 3);
    CU_ASSERT_EQUAL(totals.left_out, 0);
    cJSON *tree = read_back(&text);
    CU_ASSERT_EQUAL(cJSON_GetArraySize(tree), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"ts\":9000000000000.000001,\"dur\":1.500001,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"ts\":2,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"busy\":null}"));
    const cJSON *args_back = cJSON_GetObjectItem(cJSON_GetArrayItem(tree, 1), "args");
    CU_ASSERT_STRING_EQUAL(text_of(args_back, "a\"b"), "x\\y\n");
    CU_ASSERT_EQUAL(number_of(args_back, "n"), 0.25);
    cJSON_Delete(tree);
    free(text);
}

/* A coarse tick times many ticks is more than 64 bits of picoseconds. */
static void test_coarse_tick(void)
{
    struct timeline_options options = {.clock = {1000000}, .window_end = SIM_TIME_MAX, .limit = 9};
    struct timeline *timeline;
    struct timeline_totals totals;
    char *text;
    CU_ASSERT_EQUAL_FATAL(timeline_create(path, &options, &timeline, NULL), STATUS_OK);
    timeline_mark(timeline, (struct timeline_track){1, 1}, "late", 9000000000000000001, no_args);
    CU_ASSERT_EQUAL_FATAL(timeline_finish(timeline, &totals, NULL), STATUS_OK);
    cJSON_Delete(read_back(&text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"ts\":9000000000000000001,"));
    free(text);
}

static void test_window_and_limit(void)
{
    struct timeline_options options = {.clock = {1}, .window_start = 100, .window_end = 200, .limit = 3};
    struct timeline_track track = {1, 1};
    struct timeline *timeline;
    struct timeline_totals totals;
    char *text;
    CU_ASSERT_EQUAL_FATAL(timeline_create(path, &options, &timeline, NULL), STATUS_OK);
    timeline_bar(timeline, track, "before", 0, 99, no_args);
    timeline_bar(timeline, track, "touches", 0, 100, no_args);
    timeline_bar(timeline, track, "inside", 120, 130, no_args);
    timeline_bar(timeline, track, "behind", 201, 300, no_args);
    timeline_bar(timeline, track, "last", 200, 300, no_args);
    CU_ASSERT(timeline_is_full(timeline));
    timeline_bar(timeline, track, "too many", 150, 160, no_args);
    timeline_name_thread(timeline, track, "too many");
    CU_ASSERT_EQUAL_FATAL(timeline_finish(timeline, &totals, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(totals.written, 3);
    CU_ASSERT_EQUAL(totals.left_out, 1);
    CU_ASSERT_EQUAL(totals.full_at, 150);
    cJSON *tree = read_back(&text);
    CU_ASSERT_EQUAL_FATAL(cJSON_GetArraySize(tree), 3);
    CU_ASSERT_STRING_EQUAL(text_of(cJSON_GetArrayItem(tree, 0), "name"), "touches");
    CU_ASSERT_STRING_EQUAL(text_of(cJSON_GetArrayItem(tree, 2), "name"), "last");
    cJSON_Delete(tree);
    free(text);
}

static void test_abandoned(void)
{
    struct timeline_options options = {.clock = {1}, .window_end = SIM_TIME_MAX, .limit = 3};
    struct timeline *timeline;
    unlink(path);
    CU_ASSERT_EQUAL_FATAL(timeline_create(path, &options, &timeline, NULL), STATUS_OK);
    timeline_abandon(timeline);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    CU_ASSERT_NOT_EQUAL(access("build/test-trace.json.tmp", F_OK), 0);
}

/* Bars in the order of ends never meet on a lane, and lanes are used again. */
static void test_lanes(void)
{
    enum { BARS = 2000, LANES = 64 };
    struct timeline_lanes lanes = {0};
    sim_time last_end[BARS] = {0};
    uint32_t most = 0;
    for (sim_time i = 0; i < BARS; i++) {
        sim_time start = i - (i * 7919) % 40, end = i;
        bool is_new;
        if (start < 0)
            start = 0;
        uint32_t lane = timeline_lane(&lanes, start, end, &is_new);
        CU_ASSERT_FATAL(lane < BARS);
        CU_ASSERT_EQUAL(is_new, lane == most);
        CU_ASSERT(last_end[lane] <= start);
        last_end[lane] = end;
        most += is_new;
    }
    CU_ASSERT(most > 1);
    CU_ASSERT(most <= LANES);
    timeline_lanes_fini(&lanes);
}

/* ---- a run ---- */

static const char stream[] = "workload: {models: [alexnet, resnet18], interarrival: 400s, steps: 50}\n"
                             "admission: {policy: queue, length: 3}\n"
                             "partition: {strategy: fixed, degree: 8}\n"
                             "run: {horizon: 12000s, seed: 3}\n";

struct stage {
    struct scenario *scenario;
    struct simulation world;
};

static void open_stage(struct stage *stage, const char *text)
{
    struct error error = {0};
    struct scenario_overrides none = {0};
    CU_ASSERT_EQUAL_FATAL(scenario_parse(text, strlen(text), "s.yaml", none, &stage->scenario, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(simulation_open(&stage->world, &stage->scenario->settings, &error), STATUS_OK);
}

static void close_stage(struct stage *stage)
{
    simulation_close(&stage->world);
    scenario_free(stage->scenario);
}

static void run_stage(const char *text, struct cluster_result *result)
{
    struct stage stage;
    struct error error = {0};
    open_stage(&stage, text);
    CU_ASSERT_EQUAL_FATAL(cluster_run(&stage.world.cluster, result, &error), STATUS_OK);
    close_stage(&stage);
}

static cJSON *draw_stage(const char *scenario, const struct timeline_jobs_options *options,
                         struct timeline_totals *totals)
{
    struct stage stage;
    struct error error = {0};
    char *text;
    open_stage(&stage, scenario);
    CU_ASSERT_EQUAL_FATAL(timeline_jobs_run(&stage.world.cluster, options, path, totals, &error), STATUS_OK);
    close_stage(&stage);
    cJSON *tree = read_back(&text);
    free(text);
    CU_ASSERT_EQUAL((uint64_t)cJSON_GetArraySize(tree), totals->written);
    return tree;
}

static const struct timeline_jobs_options whole = {
    .window_end_s = INFINITY, .limit = 1000000, .job = TIMELINE_ALL_JOBS, .steps = 1};

struct bar {
    double process, thread, start, end;
    size_t place; /* in the file */
};

static int bar_total(const void *left, const void *right)
{
    const struct bar *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static struct bar *collect_bars(const cJSON *tree, size_t *count)
{
    struct bar *bars = memory_alloc((size_t)cJSON_GetArraySize(tree), sizeof *bars);
    const cJSON *event;
    *count = 0;
    cJSON_ArrayForEach(event, tree)
    {
        if (strcmp(text_of(event, "ph"), "X") != 0)
            continue;
        double start = number_of(event, "ts");
        bars[*count] = (struct bar){number_of(event, "pid"), number_of(event, "tid"), start,
                                    start + number_of(event, "dur"), *count};
        ++*count;
    }
    return bars;
}

/* Bars of a track in the order viewers sort them: each ends inside the one that holds it. */
static void check_nesting(const char *scenario, size_t least)
{
    struct timeline_totals totals;
    size_t count, bad = 0, depth = 0;
    cJSON *tree = draw_stage(scenario, &whole, &totals);
    struct bar *bars = collect_bars(tree, &count), stack[8];
    CU_ASSERT(count > least);
    qsort(bars, count, sizeof *bars, bar_total);
    for (size_t i = 0; i < count; i++) {
        const double rounding_us = 1e-3; /* of the double that cJSON makes */
        if (i && (bars[i].process != bars[i - 1].process || bars[i].thread != bars[i - 1].thread))
            depth = 0;
        while (depth && stack[depth - 1].end <= bars[i].start + rounding_us)
            depth--;
        bad += depth && bars[i].end > stack[depth - 1].end + rounding_us;
        CU_ASSERT_FATAL(depth < 8);
        stack[depth++] = bars[i];
    }
    CU_ASSERT_EQUAL(bad, 0);
    free(bars);
    cJSON_Delete(tree);
}

static void test_bars_nest(void)
{
    static const char in_ms[] = "workload: {models: [alexnet, resnet18], interarrival: 1s, time_unit: ms}\n"
                                "admission: {policy: queue, length: 3}\n"
                                "run: {horizon: 20s, seed: 3}\n";
    char scenario[500];
    check_nesting(stream, 1000);
    snprintf(scenario, sizeof scenario, "%snetwork: {model: circuit}\n", in_ms);
    check_nesting(scenario, 1000);
    snprintf(scenario, sizeof scenario, "%snetwork: {model: circuit, sharing: shared}\n", in_ms);
    check_nesting(scenario, 100);
}

static void count_events(const cJSON *tree, size_t *jobs, size_t *blocked, size_t *waits, size_t *counters)
{
    const cJSON *event;
    cJSON_ArrayForEach(event, tree)
    {
        const char *phase = text_of(event, "ph");
        bool is_bar = strcmp(phase, "X") == 0;
        *jobs += is_bar && cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), "jct_s") != NULL;
        *waits += is_bar && strstr(text_of(event, "name"), " waits") != NULL;
        *blocked += strcmp(phase, "i") == 0;
        *counters += strcmp(phase, "C") == 0;
    }
}

/* Every job appears as what became of it, and looking on changes nothing. */
static void test_says_what_happened(void)
{
    struct timeline_totals totals;
    struct cluster_result result;
    size_t jobs = 0, blocked = 0, waits = 0, counters = 0, ran = 0, refused = 0, waited = 0, changes = 0;
    run_stage(stream, &result);
    cJSON *tree = draw_stage(stream, &whole, &totals);
    count_events(tree, &jobs, &blocked, &waits, &counters);
    for (size_t i = 0; i < result.job_count; i++) {
        const struct job_record *job = &result.jobs[i];
        bool has_run = job->outcome != OUTCOME_BLOCKED && job->device_count > 0;
        ran += has_run;
        refused += job->outcome == OUTCOME_BLOCKED;
        waited += has_run && job->time.part_s[TIME_WAIT] > 0;
        changes += has_run ? 1u + (job->outcome == OUTCOME_COMPLETED) : 0;
    }
    CU_ASSERT(ran > 3);
    CU_ASSERT(waited > 0);
    CU_ASSERT(refused > 0);
    CU_ASSERT_EQUAL(jobs, ran);
    CU_ASSERT_EQUAL(blocked, refused);
    CU_ASSERT(waits >= waited);
    CU_ASSERT_EQUAL(counters, changes);
    cJSON_Delete(tree);
    cluster_result_free(&result);
}

struct watched {
    uint32_t started, ended;
};

static void watch_start(void *context, uint32_t number, const struct job_record *job,
                        const struct deployment *deployment, sim_time start)
{
    (void)number;
    struct watched *watched = context;
    CU_ASSERT_EQUAL(deployment->used_count, job->device_count);
    CU_ASSERT(job->end >= start);
    watched->started++;
}

static void watch_end(void *context, uint32_t number, const struct job_record *job, sim_time now)
{
    (void)number;
    (void)now;
    struct watched *watched = context;
    CU_ASSERT_NOT_EQUAL(job->outcome, OUTCOME_UNFINISHED);
    watched->ended++;
}

static void test_observer_changes_nothing(void)
{
    struct cluster_result plain, observed;
    struct watched watched = {0};
    const struct cluster_observer observer = {watch_start, watch_end, &watched};
    struct stage stage;
    struct error error = {0};
    uint32_t started = 0, ended = 0;
    run_stage(stream, &plain);
    open_stage(&stage, stream);
    stage.world.cluster.observer = &observer;
    CU_ASSERT_EQUAL_FATAL(cluster_run(&stage.world.cluster, &observed, &error), STATUS_OK);
    CU_ASSERT_EQUAL(plain.trace_hash, observed.trace_hash);
    CU_ASSERT_EQUAL(plain.job_count, observed.job_count);
    for (size_t i = 0; i < observed.job_count; i++) {
        started += observed.jobs[i].outcome != OUTCOME_BLOCKED && observed.jobs[i].device_count > 0;
        ended += observed.jobs[i].outcome != OUTCOME_UNFINISHED;
    }
    CU_ASSERT_EQUAL(watched.started, started);
    CU_ASSERT_EQUAL(watched.ended, ended);
    close_stage(&stage);
    cluster_result_free(&plain);
    cluster_result_free(&observed);
}

/* One job alone: the ops that are drawn take the time of the whole step on all devices together. */
static void test_ops_of_a_step(void)
{
    static const char one[] = "workload: {models: [alexnet], jobs: 1, beta: fixed, beta_value: 1}\n"
                              "partition: {strategy: fixed, degree: 4}\n";
    static const char circuits[] = "workload: {models: [alexnet], jobs: 1, beta: fixed, beta_value: 1}\n"
                                   "partition: {strategy: fixed, degree: 4}\n"
                                   "network: {model: circuit}\n";
    for (int64_t i = 0; i < 6; i++) {
        int64_t steps = i / 2;
        struct timeline_jobs_options options = whole;
        struct timeline_totals totals;
        double ops_us = 0;
        size_t flights = 0;
        options.steps = steps;
        cJSON *tree = draw_stage(i % 2 ? circuits : one, &options, &totals);
        const cJSON *event;
        cJSON_ArrayForEach(event, tree)
        {
            const cJSON *args = cJSON_GetObjectItem(event, "args");
            ops_us += cJSON_GetObjectItem(args, "part") ? number_of(event, "dur") : 0;
            flights += cJSON_GetObjectItem(args, "bytes a dependency") != NULL;
        }
        /* 36,061.15 s is the sequential time of 50 steps, in the published reading of its profile. */
        CU_ASSERT_DOUBLE_EQUAL(ops_us, (double)steps * 36061.15 / 50 * 1e6, 1);
        CU_ASSERT(steps ? flights > 10 : flights == 0);
        cJSON_Delete(tree);
    }
}

static void test_one_job(void)
{
    struct timeline_jobs_options options = whole;
    struct timeline_totals totals;
    const cJSON *event;
    options.job = 2;
    cJSON *tree = draw_stage(stream, &options, &totals);
    cJSON_ArrayForEach(event, tree)
    {
        const cJSON *job = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), "job");
        CU_ASSERT(!job || cJSON_GetNumberValue(job) == 2);
        CU_ASSERT_STRING_NOT_EQUAL(text_of(event, "ph"), "C");
    }
    CU_ASSERT(totals.written > 100);
    cJSON_Delete(tree);

    struct stage stage;
    struct error error = {0};
    options.job = 100000;
    open_stage(&stage, stream);
    unlink(path);
    CU_ASSERT_EQUAL(timeline_jobs_run(&stage.world.cluster, &options, path, &totals, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no job 100000"));
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    close_stage(&stage);
}

/* Steps in the middle of a job are drawn where the window asks for them. */
static void test_window_in_a_job(void)
{
    static const char one[] = "workload: {models: [alexnet], jobs: 1, beta: fixed, beta_value: 1}\n"
                              "partition: {strategy: fixed, degree: 4}\n";
    struct timeline_jobs_options options = whole;
    struct timeline_totals totals;
    size_t ops = 0, outside = 0;
    options.window_start_s = 3000;
    options.window_end_s = 3100;
    cJSON *tree = draw_stage(one, &options, &totals);
    const cJSON *event;
    cJSON_ArrayForEach(event, tree)
    {
        if (!cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), "part"))
            continue;
        ops++;
        outside += number_of(event, "ts") > 3100e6 || number_of(event, "ts") + number_of(event, "dur") < 3000e6;
    }
    CU_ASSERT(ops > 4);
    CU_ASSERT_EQUAL(outside, 0);
    cJSON_Delete(tree);
}

/* ---- the command ---- */

static int command(const char *const *arguments, int count)
{
    char *argv[12];
    require(count < 12);
    for (int i = 0; i < count; i++)
        argv[i] = (char *)(uintptr_t)arguments[i];
    return cli_command(count, argv);
}

static void test_command(void)
{
    static const char scenario[] = "build/test-trace.yaml";
    struct file_writer *writer;
    CU_ASSERT_EQUAL_FATAL(file_create(scenario, &writer, NULL), STATUS_OK);
    file_printf(writer, "%s", stream);
    CU_ASSERT_EQUAL_FATAL(file_finish(writer, NULL), STATUS_OK);
    unlink(path);
    const char *good[] = {"trace", scenario, "run.seed=4", "-o", path, "--window", "0s,2000s", "--limit=500"};
    CU_ASSERT_EQUAL(command(good, 8), STATUS_OK);
    char *text;
    cJSON *tree = read_back(&text);
    CU_ASSERT_EQUAL(cJSON_GetArraySize(tree), 500);
    cJSON_Delete(tree);
    free(text);
    static const char *const wrong[][2] = {{"--window", "5,6"},     {"--window", "6s,5s"}, {"--window", "5s"},
                                           {"--job", "-1"},         {"--job", "x"},        {"--limit", "0"},
                                           {"--steps", "1.5"},      {"--steps", ""},       {"--bogus", "1"},
                                           {"--window", "nan,inf"}, {"--limit", "1e99"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *bad[] = {"trace", scenario, "-o", path, wrong[i][0], wrong[i][1]};
        CU_ASSERT_EQUAL(command(bad, 6), STATUS_USER);
    }
    unlink(scenario);
    unlink(path);
}

void suite_trace(void)
{
    CU_pSuite suite = CU_add_suite("trace", NULL, NULL);
    CU_add_test(suite, "the writer is exact and escapes", test_writer);
    CU_add_test(suite, "coarse ticks", test_coarse_tick);
    CU_add_test(suite, "window and limit", test_window_and_limit);
    CU_add_test(suite, "abandoned, nothing is left", test_abandoned);
    CU_add_test(suite, "lanes never overlap", test_lanes);
    CU_add_test(suite, "bars of a track nest", test_bars_nest);
    CU_add_test(suite, "every job is drawn as it was", test_says_what_happened);
    CU_add_test(suite, "observers change nothing", test_observer_changes_nothing);
    CU_add_test(suite, "ops of a step", test_ops_of_a_step);
    CU_add_test(suite, "one job", test_one_job);
    CU_add_test(suite, "a window in the middle of a job", test_window_in_a_job);
    CU_add_test(suite, "the command", test_command);
}
