/* Properties held here: results are neither lost nor mixed.
 *   - a folder belongs to one scenario, and --fresh removes what ocsim wrote and nothing else;
 *   - a run that fails, a worker that dies and a disk that is full are told and cost nothing that is done;
 *   - bad input leaves nothing behind;
 *   - the manifest, the progress line and -q say what they should. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/progress.h"
#include "input/file.h"
#include "oracle.h"
#include "process.h"
#include "suites.h"
#include "sweep.h"

/* ---- whose folder ---- */

static void test_identity(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    uint64_t whole = sweep_hash(sweep.paths[0]);
    sweep_spoil(sweep.paths[0], "notes.txt", "mine");
    sweep_expect(&sweep, sweep.paths[0], "workload.jobs=7", NULL, STATUS_USER, "holds results of another scenario");
    sweep_expect(&sweep, sweep.paths[0], "--shard=0/2", "--fresh", STATUS_USER, "--fresh");
    sweep_spoil(sweep.folder, "s.yaml", "title: other\nrun: {horizon: 5000s}\n");
    sweep_expect(&sweep, sweep.paths[0], NULL, NULL, STATUS_USER, "use --fresh or another -o");
    sweep_run(&sweep, sweep.paths[0], "--fresh", NULL);
    CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], "run.csv"), 1);
    CU_ASSERT(process_is_file(sweep.paths[0], "notes.txt"));
    /* How the scenario is spelled does not matter: what it says does. */
    sweep_spoil(sweep.folder, "s.yaml", "# the same\nrun:\n  horizon: 5000s\ntitle: other\n");
    sweep_expect(&sweep, sweep.paths[0], NULL, NULL, STATUS_OK, "1 done before");
    CU_ASSERT_NOT_EQUAL(sweep_hash(sweep.paths[0]), whole);
    sweep_close(&sweep);
}

static void test_foreign_folders(void)
{
    struct sweep sweep;
    char runs[SWEEP_PATH_BYTES];
    sweep_open(&sweep, "run: {horizon: 5000s}\n");
    sweep_expect(&sweep, sweep.folder, NULL, NULL, STATUS_OK, NULL); /* holds s.yaml, which is none of its business */
    CU_ASSERT(process_is_file(sweep.folder, "s.yaml"));
    snprintf(runs, sizeof runs, "%s/runs", sweep.paths[0]);
    CU_ASSERT_EQUAL(mkdir(sweep.paths[0], 0777), 0);
    CU_ASSERT_EQUAL(mkdir(runs, 0777), 0);
    sweep_spoil(runs, "precious", "mine");
    sweep_expect(&sweep, sweep.paths[0], NULL, NULL, STATUS_USER, "no scenario.yaml");
    sweep_expect(&sweep, sweep.paths[0], "--fresh", NULL, STATUS_USER, "no scenario.yaml");
    CU_ASSERT(process_is_file(runs, "precious"));
    CU_ASSERT_EQUAL(mkdir(sweep.paths[1], 0777), 0);
    sweep_spoil(sweep.paths[1], "scenario.yaml", "title: mine\n");
    sweep_expect(&sweep, sweep.paths[1], "--fresh", NULL, STATUS_USER, "was not written by");
    CU_ASSERT(process_is_file(sweep.paths[1], "scenario.yaml"));
    sweep_close(&sweep);
}

/* Another process that holds the folder's lock is waited for, then told. */
static void test_two_at_once(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_longer);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    pid_t first = sweep_start(&sweep, sweep.paths[1], "-j", "1"),
          second = sweep_start(&sweep, sweep.paths[1], "-j", "1");
    int codes[] = {sweep_finish(first), sweep_finish(second)};
    CU_ASSERT(codes[0] == STATUS_OK || codes[1] == STATUS_OK);
    for (int i = 0; i < 2; i++)
        CU_ASSERT(codes[i] == STATUS_OK || codes[i] == STATUS_USER);
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[1]), sweep_hash(sweep.paths[0]));
    sweep_close(&sweep);
}

static void test_dry_run(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_small);
    const char *arguments[] = {"run", sweep.scenario, "-o", sweep.paths[0], "--dry-run", NULL};
    struct process process;
    process_run(&process, arguments);
    CU_ASSERT_EQUAL(process.code, STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.out, "0000  partition.strategy=max  workload.beta=A  seed=0  to do\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(process.out, "12 runs: 0 done, 12 to do\n"));
    CU_ASSERT_FALSE(process_is_file(sweep.paths[0], ""));
    process_end(&process);
    sweep_run(&sweep, sweep.paths[0], "--shard", "1/4");
    uint64_t before = sweep_hash(sweep.paths[0]);
    process_run(&process, arguments);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.out, "12 runs: 3 done, 9 to do\n"));
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[0]), before);
    process_end(&process);
    sweep_close(&sweep);
}

/* ---- trouble ---- */

static const char tight_topology[] = "title: small memory\nfabric: ramp\ngroups: 4\nracks_per_group: 4\n"
                                     "servers_per_rack: 2\n"
                                     "device: {name: D, memory: 200MB, memory_rate: 2TB/s, peak: 130e12}\n"
                                     "node_rate: 1.6TB/s\npropagation: 50ns\nio_latency: 100ns\n";

/* Degrees too low for the devices' memory fail; the one that fits is done all the same. */
static void test_failing_runs(void)
{
    struct sweep sweep;
    sweep_open(&sweep, "topology: tight.yaml\nworkload: {jobs: 5, models: [vgg16]}\nrun: {horizon: 5000s}\n"
                       "sweep: {degree: {key: partition.max_degree, values: [2, 16, 1]}}\n");
    sweep_spoil(sweep.folder, "tight.yaml", tight_topology);
    sweep_expect(&sweep, sweep.paths[0], "-j", "1", STATUS_USER, "2 runs failed, the first is run 0000");
    sweep_expect(&sweep, sweep.paths[1], "-j", "3", STATUS_USER, "2 runs failed, the first is run 0000");
    CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], "run.csv"), 1);
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[1]), sweep_hash(sweep.paths[0]));
    sweep_spoil(sweep.folder, "s.yaml",
                "topology: tight.yaml\nworkload: {jobs: 5, models: [vgg16]}\n"
                "partition: {max_degree: 1}\n");
    sweep_expect(&sweep, sweep.paths[3], NULL, NULL, STATUS_USER, "needs");
    CU_ASSERT_FALSE(process_is_file(sweep.paths[3], "")); /* nothing came of it, so nothing is left */
    sweep_close(&sweep);
}

static void test_bad_input_leaves_nothing(void)
{
    struct sweep sweep;
    sweep_open(&sweep, "sweep: {topology: {key: topology, values: [ramp-32, broken.yaml]}}\n");
    sweep_spoil(sweep.folder, "broken.yaml", "fabric: ramp\ngroups: many\n");
    sweep_expect(&sweep, sweep.paths[0], "-j", "2", STATUS_USER, "broken.yaml:2");
    CU_ASSERT_FALSE(process_is_file(sweep.paths[0], ""));
    sweep_close(&sweep);
}

/* Any one worker of a process, 0 = none is there. */
static pid_t some_worker(pid_t parent)
{
    char path[64];
    int worker = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &worker) != 1)
        worker = 0;
    fclose(file);
    return worker;
}

/* Kills a worker amid a sweep; the sweep's exit code. On a busy machine the sweep may be through first: then again. */
static int lose_worker(const struct sweep *sweep, const char *path)
{
    for (int tries = 0; tries < 5; tries++) {
        pid_t child = sweep_start(sweep, path, "-j", "2");
        pid_t worker = sweep_wait(child, path, "runs/0003/run.csv") ? some_worker(child) : 0;
        bool is_killed = worker > 0 && kill(worker, SIGKILL) == 0;
        int code = sweep_finish(child);
        if (is_killed)
            return code;
        oracle_remove(path);
    }
    CU_FAIL_FATAL("no worker could be killed");
    return -1;
}

static void test_dying_worker(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_longer);
    sweep_run(&sweep, sweep.paths[0], "-j", "2");
    int code = lose_worker(&sweep, sweep.paths[1]);
    size_t done = sweep_count(sweep.paths[1], "run.csv");
    /* One run at most is lost; a worker killed between two runs takes none with it. */
    CU_ASSERT(code == STATUS_MEMORY || code == STATUS_BUG || (code == STATUS_OK && done == 80));
    CU_ASSERT(done >= 79);
    sweep_run(&sweep, sweep.paths[1], NULL, NULL);
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[1]), sweep_hash(sweep.paths[0]));
    sweep_close(&sweep);
}

static void test_full_disk(void)
{
    struct sweep sweep;
    char path[SWEEP_PATH_BYTES];
    struct process process;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    uint64_t whole = sweep_hash(sweep.paths[0]);
    snprintf(path, sizeof path, "%s/runs/0005/run.csv", sweep.paths[0]);
    for (int workers = 1; workers <= 2; workers++) {
        const char *arguments[] = {"run", sweep.scenario, "-o", sweep.paths[0], "-j", workers == 1 ? "1" : "2", NULL};
        CU_ASSERT_EQUAL(unlink(path), 0);
        process_run_small(&process, arguments, 1024);
        CU_ASSERT_EQUAL(process.code, STATUS_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "run 0005"));
        CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "cannot write it"));
        CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], "run.csv"), 11);
        CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], ".tmp"), 0);
        process_end(&process);
        sweep_run(&sweep, sweep.paths[0], NULL, NULL);
        CU_ASSERT_EQUAL(sweep_hash(sweep.paths[0]), whole);
    }
    sweep_close(&sweep);
}

static void test_no_folder_to_be_had(void)
{
    struct sweep sweep;
    char below[SWEEP_PATH_BYTES];
    sweep_open(&sweep, "run: {horizon: 5000s}\n");
    sweep_expect(&sweep, sweep.scenario, NULL, NULL, STATUS_IO, "expected a folder for the results, found a file");
    snprintf(below, sizeof below, "%.200s/x", sweep.scenario);
    sweep_expect(&sweep, below, NULL, NULL, STATUS_IO, sweep.scenario);
    sweep_expect(&sweep, "/proc/no/such", NULL, NULL, STATUS_IO, "/proc/no");
    sweep_close(&sweep);
}

/* ---- what is told ---- */

static void test_manifest(void)
{
    struct sweep sweep;
    char path[SWEEP_PATH_BYTES], *text;
    size_t size;
    struct process process;
    sweep_open(&sweep, sweep_small);
    const char *arguments[] = {"run", sweep.scenario, "-o", sweep.paths[0], "-j", "2", "title=two words", NULL};
    process_run(&process, arguments);
    CU_ASSERT_EQUAL(process.code, STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "12 runs done"));
    process_end(&process);
    snprintf(path, sizeof path, "%s/manifest.json", sweep.paths[0]);
    CU_ASSERT_EQUAL_FATAL(file_read(path, SWEEP_FILE_LIMIT_BYTES, &text, &size, NULL), STATUS_OK);
    cJSON *root = cJSON_Parse(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    CU_ASSERT_PTR_NOT_NULL(strstr(cJSON_GetObjectItem(root, "command_line")->valuestring, " 'title=two words'"));
    CU_ASSERT_EQUAL(cJSON_GetObjectItem(root, "runs_done")->valueint, 12);
    CU_ASSERT_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(root, "seeds")), 3);
    /* scenario, topology and five models; scenario.yaml, runs.csv, summary.json and two files per run */
    CU_ASSERT_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(root, "inputs")), 7);
    CU_ASSERT_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(root, "outputs")), 3 + 24);
    CU_ASSERT(cJSON_GetObjectItem(root, "peak_memory_bytes")->valuedouble > 1e6);
    CU_ASSERT(cJSON_GetObjectItem(root, "events")->valuedouble > 12);
    cJSON_Delete(root);
    free(text);
    sweep_close(&sweep);
}

static void test_progress(void)
{
    char text[160], time[PROGRESS_TIME_BYTES];
    struct progress progress = {.done = 37, .done_before = 12, .total = 400, .workers = 2, .start_s = 100};
    progress_format(&progress, 102, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "[ 37/400] 9% | 2 workers | 12.5 runs/s | ETA 29s");
    progress.done = 12;
    progress_format(&progress, 102, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "[ 12/400] 3% | 2 workers | 0 runs/s | ETA ?");
    CU_ASSERT_STRING_EQUAL(progress_duration(372, time), "6m12s");
    CU_ASSERT_STRING_EQUAL(progress_duration(11105, time), "3h05m");
    CU_ASSERT_STRING_EQUAL(progress_duration(59.7, time), "1m00s");
    CU_ASSERT_STRING_EQUAL(progress_duration(0.125, time), "0.12s");
}

static void test_quiet(void)
{
    struct sweep sweep;
    struct process process;
    sweep_open(&sweep, sweep_small);
    const char *arguments[] = {"run", sweep.scenario, "-o", sweep.paths[0], "-q", NULL};
    process_run(&process, arguments);
    CU_ASSERT_EQUAL(process.code, STATUS_OK);
    CU_ASSERT_STRING_EQUAL(process.err, "");
    CU_ASSERT_STRING_EQUAL(process.out, "");
    process_end(&process);
    sweep_close(&sweep);
}

void suite_claim(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"a folder belongs to one scenario", test_identity},
                 {"what is not ocsim's stays", test_foreign_folders},
                 {"two at once do not mix", test_two_at_once},
                 {"a dry run lists and writes nothing", test_dry_run},
                 {"a failing run costs no other", test_failing_runs},
                 {"bad input leaves nothing", test_bad_input_leaves_nothing},
                 {"a dying worker costs one run at most", test_dying_worker},
                 {"a full disk costs nothing that is done", test_full_disk},
                 {"no folder to be had", test_no_folder_to_be_had},
                 {"the manifest", test_manifest},
                 {"progress", test_progress},
                 {"quiet", test_quiet}};
    CU_pSuite suite = CU_add_suite("claim", NULL, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        CU_add_test(suite, tests[i].name, tests[i].run);
}
