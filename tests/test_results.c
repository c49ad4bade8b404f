/* Properties held here, of the files that ocsim run leaves:
 *   - the columns of the contract, in its order; one row per run, one row per job; metrics agree with the jobs;
 *   - the same bytes again, with any number of processes, and when a damaged run is done anew;
 *   - summary.json and manifest.json are JSON. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "process.h"
#include "suites.h"

static const char runs_header[] =
    "seed,status,jobs_arrived,jobs_blocked,jobs_completed,blocking_rate,blocked_refused,blocked_no_block,blocked_late,"
    "blocked_horizon,jct_mean_s,jct_p50_s,jct_p95_s,jct_p99_s,speedup_mean,throughput_bytes_per_s,device_utilisation,"
    "degree_mean,devices_per_job_mean,comm_fraction_mean,events,trace_hash,jobs_late,comp_mean_s,comm_mean_s,"
    "reconfig_mean_s,wait_mean_s,comm_share,blocking_rate_decided,payload_mean_s,latency_mean_s,"
    "wait_device_mean_s,wait_network_mean_s,energy_mean_j,restarts_mean";
static const char jobs_header[] = "job,model,arrival_s,beta,sequential_s,limit_s,degree,outcome,cause,jct_s,comm_s,"
                                  "comp_s,reconfig_s,wait_s,devices,device_list,payload_s,latency_s,"
                                  "wait_device_s,wait_network_s,energy_j,restarts";

/* One experiment in a folder of its own. */
struct experiment {
    char *folder, *scenario;
    char results[300];
};

static void experiment_open(struct experiment *experiment, const char *text)
{
    experiment->folder = oracle_folder();
    experiment->scenario = oracle_write(experiment->folder, "s.yaml", text);
    snprintf(experiment->results, sizeof experiment->results, "%s/out", experiment->folder);
}

static void experiment_close(struct experiment *experiment)
{
    oracle_remove(experiment->folder);
    free(experiment->folder);
    free(experiment->scenario);
}

static void experiment_run(const struct experiment *experiment, const char *results, const char *jobs)
{
    struct process process;
    process_run(&process, (const char *const[]){"run", experiment->scenario, "-o", results, "-j", jobs, NULL});
    if (process.code)
        printf("\n  said: %s\n", process.err);
    CU_ASSERT_EQUAL_FATAL(process.code, 0);
    CU_ASSERT_STRING_EQUAL(process.out, "");
    process_end(&process);
}

static char *read_result(const char *results, const char *name)
{
    char path[512], *text;
    size_t size;
    struct error error;
    snprintf(path, sizeof path, "%s/%s", results, name);
    CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 26, &text, &size, &error), STATUS_OK);
    return text;
}

static struct csv *open_result(const char *results, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", results, name);
    struct csv *csv = oracle_open(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(csv);
    return csv;
}

static bool is_json(const char *results, const char *name)
{
    char *text = read_result(results, name);
    cJSON *json = cJSON_Parse(text);
    bool is_object = cJSON_IsObject(json);
    cJSON_Delete(json);
    free(text);
    return is_object;
}

/* ---- columns ---- */

static void test_columns(void)
{
    struct experiment experiment;
    experiment_open(&experiment, "workload: {jobs: 20}\n");
    experiment_run(&experiment, experiment.results, "1");
    char *runs = read_result(experiment.results, "runs.csv"),
         *jobs = read_result(experiment.results, "runs/0000/jobs.csv");
    CU_ASSERT_EQUAL(strncmp(runs, "run,", 4), 0);
    CU_ASSERT_EQUAL(strncmp(runs + 4, runs_header, sizeof runs_header - 1), 0);
    CU_ASSERT_PTR_NOT_NULL(strchr(",\n", runs[4 + sizeof runs_header - 1])); /* more columns may stand behind these */
    CU_ASSERT_EQUAL(strncmp(jobs, jobs_header, sizeof jobs_header - 1), 0);
    CU_ASSERT_PTR_NOT_NULL(strchr(",\n", jobs[sizeof jobs_header - 1]));
    CU_ASSERT(is_json(experiment.results, "summary.json"));
    CU_ASSERT(is_json(experiment.results, "manifest.json"));
    free(runs);
    free(jobs);
    experiment_close(&experiment);
}

static void test_no_jobs_file(void)
{
    struct experiment experiment;
    experiment_open(&experiment, "workload: {jobs: 20}\nrun: {jobs_file: false}\n");
    experiment_run(&experiment, experiment.results, "1");
    CU_ASSERT(process_is_file(experiment.results, "runs.csv"));
    CU_ASSERT(!process_is_file(experiment.results, "runs/0000/jobs.csv"));
    experiment_close(&experiment);
}

/* ---- rows ---- */

struct counts {
    double jobs, blocked, completed, jct_sum_s, degrees, devices;
};

/* Adds up jobs.csv; checks what each row says about itself. */
static struct counts count_jobs(const char *results)
{
    struct counts counts = {0};
    struct csv *csv = open_result(results, "runs/0000/jobs.csv");
    while (oracle_next(csv)) {
        bool is_completed = strcmp(oracle_text(csv, "outcome"), "completed") == 0;
        double limit_s = oracle_number(csv, "limit_s");
        CU_ASSERT_EQUAL(oracle_number(csv, "job"), counts.jobs);
        CU_ASSERT(oracle_is_near(limit_s, oracle_number(csv, "beta") * oracle_number(csv, "sequential_s"), 1e-12));
        CU_ASSERT_EQUAL(is_completed, !*oracle_text(csv, "cause"));
        counts.jobs++;
        counts.blocked += !is_completed;
        if (!is_completed)
            continue;
        CU_ASSERT(oracle_number(csv, "jct_s") <= limit_s);
        counts.completed++;
        counts.jct_sum_s += oracle_number(csv, "jct_s");
        counts.degrees += oracle_number(csv, "degree");
        counts.devices += oracle_number(csv, "devices");
    }
    csv_close(csv);
    return counts;
}

static void test_rows(void)
{
    struct experiment experiment;
    experiment_open(&experiment, "workload: {jobs: 200}\npartition: {strategy: random}\nrun: {seed: 3}\n");
    experiment_run(&experiment, experiment.results, "1");
    struct counts counts = count_jobs(experiment.results);
    struct csv *runs = open_result(experiment.results, "runs.csv");
    CU_ASSERT_FATAL(oracle_next(runs));
    CU_ASSERT_EQUAL(counts.jobs, 200);
    CU_ASSERT_STRING_EQUAL(oracle_text(runs, "run"), "0000");
    CU_ASSERT_STRING_EQUAL(oracle_text(runs, "status"), "ok");
    CU_ASSERT_EQUAL(oracle_number(runs, "seed"), 3);
    CU_ASSERT_EQUAL(oracle_number(runs, "jobs_arrived"), counts.jobs);
    CU_ASSERT_EQUAL(oracle_number(runs, "jobs_blocked"), counts.blocked);
    CU_ASSERT_EQUAL(oracle_number(runs, "jobs_completed"), counts.completed);
    CU_ASSERT(oracle_is_near(oracle_number(runs, "blocking_rate"), counts.blocked / counts.jobs, 1e-12));
    CU_ASSERT(oracle_is_near(oracle_number(runs, "jct_mean_s"), counts.jct_sum_s / counts.completed, 1e-9));
    CU_ASSERT(oracle_is_near(oracle_number(runs, "degree_mean"), counts.degrees / counts.completed, 1e-9));
    CU_ASSERT(oracle_is_near(oracle_number(runs, "devices_per_job_mean"), counts.devices / counts.completed, 1e-9));
    CU_ASSERT(oracle_number(runs, "jct_p50_s") <= oracle_number(runs, "jct_p95_s"));
    CU_ASSERT(oracle_number(runs, "jct_p95_s") <= oracle_number(runs, "jct_p99_s"));
    CU_ASSERT_EQUAL(strlen(oracle_text(runs, "trace_hash")), 16);
    CU_ASSERT(!oracle_next(runs));
    csv_close(runs);
    experiment_close(&experiment);
}

/* A run in which nothing completes has no means. */
static void test_nothing_completed(void)
{
    struct experiment experiment;
    experiment_open(&experiment, "workload: {jobs: 5, beta: fixed, beta_value: 0.01}\n");
    experiment_run(&experiment, experiment.results, "1");
    struct csv *runs = open_result(experiment.results, "runs.csv");
    CU_ASSERT_FATAL(oracle_next(runs));
    CU_ASSERT_EQUAL(oracle_number(runs, "blocking_rate"), 1);
    CU_ASSERT_EQUAL(oracle_number(runs, "blocked_late"), 5);
    CU_ASSERT_STRING_EQUAL(oracle_text(runs, "jct_mean_s"), "");
    csv_close(runs);
    CU_ASSERT(is_json(experiment.results, "summary.json"));
    experiment_close(&experiment);
}

/* A model named by a path with a comma and a quote comes back from the table as it was. */
static void test_quoted_names(void)
{
    struct experiment experiment;
    char *text, path[400], line[900];
    size_t size;
    struct error error;
    experiment_open(&experiment, "title: quoted\n");
    CU_ASSERT_EQUAL_FATAL(file_read("models/alexnet.json", 1 << 20, &text, &size, &error), STATUS_OK);
    free(oracle_write(experiment.folder, "odd, \"model\".json", text));
    free(text);
    snprintf(line, sizeof line, "model,arrival_s,beta\n\"odd, \"\"model\"\".json\",0,1\n");
    free(oracle_write(experiment.folder, "jobs.csv", line));
    free(oracle_write(experiment.folder, "s.yaml", "workload: {trace: jobs.csv}\n"));
    experiment_run(&experiment, experiment.results, "1");
    struct csv *jobs = open_result(experiment.results, "runs/0000/jobs.csv");
    CU_ASSERT_FATAL(oracle_next(jobs));
    snprintf(path, sizeof path, "odd, \"model\".json");
    CU_ASSERT_STRING_EQUAL(oracle_text(jobs, "model"), path);
    csv_close(jobs);
    experiment_close(&experiment);
}

/* ---- the same again ---- */

static const char sweep[] = "workload: {jobs: 60, arrivals: poisson}\n"
                            "sweep:\n"
                            "  strategy: {key: partition.strategy, values: [max, random, min_sufficient]}\n"
                            "  repeat: 2\n";

static void test_same_bytes(void)
{
    static const char *const files[] = {"runs.csv", "summary.json", "runs/0000/jobs.csv", "runs/0005/jobs.csv"};
    struct experiment experiment;
    char other[320];
    experiment_open(&experiment, sweep);
    snprintf(other, sizeof other, "%s2", experiment.results);
    experiment_run(&experiment, experiment.results, "1");
    experiment_run(&experiment, other, "2");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *first = read_result(experiment.results, files[i]), *second = read_result(other, files[i]);
        CU_ASSERT_STRING_EQUAL(first, second);
        free(first);
        free(second);
    }
    experiment_close(&experiment);
}

static void test_sweep_rows(void)
{
    struct experiment experiment;
    static const char *const strategies[] = {"max", "max", "random", "random", "min_sufficient", "min_sufficient"};
    experiment_open(&experiment, sweep);
    experiment_run(&experiment, experiment.results, "1");
    struct csv *runs = open_result(experiment.results, "runs.csv");
    CU_ASSERT_STRING_EQUAL(csv_column_name(runs, 1), "partition.strategy");
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_FATAL(oracle_next(runs));
        CU_ASSERT_STRING_EQUAL(oracle_text(runs, "partition.strategy"), strategies[i]);
        CU_ASSERT_EQUAL(oracle_number(runs, "jobs_arrived"), 60);
    }
    CU_ASSERT(!oracle_next(runs));
    csv_close(runs);
    experiment_close(&experiment);
}

/* What is done is kept, what is damaged is done anew, and the table is as before. */
static void test_resume(void)
{
    struct experiment experiment;
    experiment_open(&experiment, sweep);
    experiment_run(&experiment, experiment.results, "1");
    char *before = read_result(experiment.results, "runs.csv"), folder[400];
    snprintf(folder, sizeof folder, "%s/runs/0003", experiment.results);
    free(oracle_write(folder, "run.csv", "run,seed\n"));
    experiment_run(&experiment, experiment.results, "1");
    char *after = read_result(experiment.results, "runs.csv"), *again = read_result(folder, "run.csv");
    CU_ASSERT_STRING_EQUAL(before, after);
    CU_ASSERT_STRING_NOT_EQUAL(again, "run,seed\n");
    free(before);
    free(after);
    free(again);
    experiment_close(&experiment);
}

void suite_results(void)
{
    CU_pSuite suite = CU_add_suite("results", NULL, NULL);
    CU_ADD_TEST(suite, test_columns);
    CU_ADD_TEST(suite, test_no_jobs_file);
    CU_ADD_TEST(suite, test_rows);
    CU_ADD_TEST(suite, test_nothing_completed);
    CU_ADD_TEST(suite, test_quoted_names);
    CU_ADD_TEST(suite, test_same_bytes);
    CU_ADD_TEST(suite, test_sweep_rows);
    CU_ADD_TEST(suite, test_resume);
}
