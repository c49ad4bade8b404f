/* Properties held here: a sweep's files depend on its scenario alone.
 *   - any number of workers, shards and ranks gives the same bytes, but for manifest.json;
 *   - killed at any instant and started again, it ends with the same bytes (OCSIM_KILLS says how often it is tried);
 *   - stopped by a signal it leaves nothing half written, and goes on from there;
 *   - a point is repeated until the rule holds, whoever does it. */
#include <CUnit/Basic.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/random.h"
#include "run/progress.h"
#include "scenario/stop_rule.h"
#include "input/file.h"
#include "oracle.h"
#include "process.h"
#include "suites.h"
#include "sweep.h"

enum { LONGER_RUNS = 80 };
static const double RUN_S = 0.005; /* what a run of the longer sweep takes, about: kills are spread over it */

/* ---- the same bytes ---- */

static void test_workers_and_shards(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], "run.csv"), 12);
    CU_ASSERT_EQUAL(sweep_count(sweep.paths[0], "jobs.csv"), 12);
    sweep_run(&sweep, sweep.paths[1], "-j", "2");
    sweep_run(&sweep, sweep.paths[2], "-j7", NULL);
    sweep_run(&sweep, sweep.paths[3], "--shard", "2/3");
    CU_ASSERT_EQUAL(sweep_count(sweep.paths[3], "run.csv"), 4);
    CU_ASSERT_NOT_EQUAL(sweep_hash(sweep.paths[3]), sweep_hash(sweep.paths[0]));
    sweep_run(&sweep, sweep.paths[3], "--shard", "0/3");
    sweep_run(&sweep, sweep.paths[3], "--shard", "1/3");
    for (int i = 1; i < 4; i++)
        CU_ASSERT_EQUAL(sweep_hash(sweep.paths[i]), sweep_hash(sweep.paths[0]));
    sweep_expect(&sweep, sweep.paths[0], "-j", "0", STATUS_USER, "from 1 to 1024");
    sweep_expect(&sweep, sweep.paths[0], "--shard", "3/3", STATUS_USER, "I from 0 to N-1");
    sweep_expect(&sweep, sweep.paths[0], "--shard", "1", STATUS_USER, "I from 0 to N-1");
    sweep_close(&sweep);
}

/* Two shards at the same instant, in a folder neither has seen. */
static void test_shards_at_once(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        char shard[16];
        snprintf(shard, sizeof shard, "%d/4", i);
        children[i] = sweep_start(&sweep, sweep.paths[1], "--shard", shard);
    }
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(sweep_finish(children[i]), 0);
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[1]), sweep_hash(sweep.paths[0]));
    sweep_close(&sweep);
}

static const char rule_sweep[] = "workload: {jobs: 20}\n"
                                 "run: {horizon: 20000s}\n"
                                 "sweep:\n"
                                 "  beta: {key: workload.beta, values: [A, B, C]}\n"
                                 "  repeat: 3\n"
                                 "  stop_when: {metric: blocking_rate, relative_half_width: 0.25, max_repeat: 12}\n";

static void test_rule_whoever_does_it(void)
{
    struct sweep sweep;
    sweep_open(&sweep, rule_sweep);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    size_t runs = sweep_count(sweep.paths[0], "run.csv");
    CU_ASSERT(runs >= 9 && runs < 36);
    sweep_run(&sweep, sweep.paths[1], "-j", "3");
    sweep_run(&sweep, sweep.paths[2], "--shard", "1/2");
    sweep_run(&sweep, sweep.paths[2], "--shard", "0/2");
    for (int i = 1; i < 3; i++)
        CU_ASSERT_EQUAL(sweep_hash(sweep.paths[i]), sweep_hash(sweep.paths[0]));
    sweep_close(&sweep);
}

/* The rule itself, on made-up values: 1, 2, 1.5, 1.5, ... has half-widths of 6.35, 1.24, 0.650, 0.439, ... */
static void test_rule(void)
{
    enum { RUNS = 8 };
    struct stop_rule rule = {2, RUNS, true, METRIC_BLOCKING_RATE, 0.35};
    bool is_done[RUNS], is_settled;
    double values[RUNS] = {1, 2, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5};
    for (int i = 0; i < RUNS; i++)
        is_done[i] = true;
    CU_ASSERT_EQUAL(stop_rule_count(&rule, RUNS, is_done, values, &is_settled), 5);
    CU_ASSERT(is_settled);
    rule.least = 7;
    CU_ASSERT_EQUAL(stop_rule_count(&rule, RUNS, is_done, values, &is_settled), 7);
    rule.least = 2;
    is_done[3] = false; /* what stands behind a gap does not count */
    CU_ASSERT_EQUAL(stop_rule_count(&rule, RUNS, is_done, values, &is_settled), 3);
    CU_ASSERT_FALSE(is_settled);
    is_done[3] = true;
    values[2] = NAN; /* a run without a value counts as a run, not as a value */
    CU_ASSERT_EQUAL(stop_rule_count(&rule, RUNS, is_done, values, &is_settled), 6);
    rule.relative_half_width = 1e-9;
    CU_ASSERT_EQUAL(stop_rule_count(&rule, RUNS, is_done, values, &is_settled), RUNS);
    CU_ASSERT(is_settled);
}

/* ---- going on ---- */

static void test_damage(void)
{
    struct sweep sweep;
    char path[SWEEP_PATH_BYTES], *row, *text;
    size_t size;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    uint64_t whole = sweep_hash(sweep.paths[0]);
    snprintf(path, sizeof path, "%s/runs/0004/run.csv", sweep.paths[0]);
    CU_ASSERT_EQUAL_FATAL(file_read(path, SWEEP_FILE_LIMIT_BYTES, &text, &size, NULL), STATUS_OK);
    sweep_spoil(sweep.paths[0], "runs/0003/run.csv", text); /* whole, but of another run */
    row = strchr(text, '\n');
    row[30] = row[30] == '1' ? '2' : '1'; /* one digit */
    sweep_spoil(sweep.paths[0], "runs/0004/run.csv", text);
    text[size / 2] = '\0'; /* cut short */
    sweep_spoil(sweep.paths[0], "runs/0005/run.csv", text);
    sweep_spoil(sweep.paths[0], "runs/0006/run.csv", "");
    sweep_spoil(sweep.paths[0], "runs/0007/jobs.csv.tmp", "half");
    snprintf(path, sizeof path, "%s/runs/0007/run.csv", sweep.paths[0]);
    CU_ASSERT_EQUAL(unlink(path), 0);
    sweep_spoil(sweep.paths[0], "runs.csv", "run,seed\nnonsense\n");
    sweep_expect(&sweep, sweep.paths[0], NULL, NULL, STATUS_OK, "5 runs done");
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[0]), whole);
    sweep_expect(&sweep, sweep.paths[0], "-j", "2", STATUS_OK, "0 runs done");
    CU_ASSERT_EQUAL(sweep_hash(sweep.paths[0]), whole);
    free(text);
    sweep_close(&sweep);
}

static int kill_count(void)
{
    const char *asked = getenv("OCSIM_KILLS");
    if (asked && atoi(asked) > 0)
        return atoi(asked);
    return getenv("OCSIM_SHORT") ? 3 : 10;
}

/* Kills the sweep when the share of its runs that instant says is done, and a part of the next; true where that cut it
 * short. Told by files and not by the clock, an instant means the same on a busy machine. */
static bool cut_at(const struct sweep *sweep, const char *path, const char *workers, double instant)
{
    char name[32];
    double done = floor(instant * LONGER_RUNS);
    pid_t child = sweep_start(sweep, path, "-j", workers);
    snprintf(name, sizeof name, "runs/%04d/run.csv", (int)done - 1);
    if (done > 0)
        sweep_wait(child, path, name);
    sweep_pause((instant * LONGER_RUNS - done) * RUN_S);
    kill(child, SIGKILL);
    return sweep_finish(child) == 128 + SIGKILL;
}

/* Resumes a copy, so that the folder itself can be killed once more. */
static void check_resumed(const struct sweep *sweep, const char *workers, uint64_t whole)
{
    char command[3 * SWEEP_PATH_BYTES];
    const char *copy = sweep->paths[2];
    snprintf(command, sizeof command, "[ ! -e %s ] || cp -r %s %s", sweep->paths[1], sweep->paths[1], copy);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
    CU_ASSERT_EQUAL(sweep_finish(sweep_start(sweep, copy, "-j", workers)), 0);
    CU_ASSERT_EQUAL(sweep_hash(copy), whole);
    CU_ASSERT_EQUAL(sweep_count(copy, "run.csv"), LONGER_RUNS);
    CU_ASSERT_EQUAL(sweep_count(copy, "jobs.csv"), LONGER_RUNS);
    CU_ASSERT_EQUAL(sweep_count(copy, ".tmp"), 0);
    oracle_remove(copy);
}

/* Instants are spread over the whole sweep, its last files included, where a kill may come too late: hence four of
 * five. Every folder is killed twice, the second time in what is left of it. */
static void test_kills(void)
{
    struct sweep sweep;
    sweep_open(&sweep, sweep_longer);
    struct random_stream *random = random_open(1, "kills", 0);
    sweep_run(&sweep, sweep.paths[0], "-j", "1");
    uint64_t whole = sweep_hash(sweep.paths[0]);
    int kills = kill_count(), cut = 0;
    double instant = 0;
    for (int i = 0; i < kills; i++) {
        const char *workers = i % 4 < 2 ? "1" : "2";
        instant += (1 - instant) * random_uniform(random);
        cut += cut_at(&sweep, sweep.paths[1], workers, instant);
        check_resumed(&sweep, workers, whole);
        if (i % 2 == 0)
            continue;
        oracle_remove(sweep.paths[1]);
        instant = 0;
    }
    CU_ASSERT(cut >= kills * 8 / 10);
    if (cut < kills * 8 / 10)
        printf("\n  %d of %d kills came in time", cut, kills);
    random_close(random);
    sweep_close(&sweep);
}

/* Sends the signal amid a sweep; the exit code. On a busy machine the sweep may be through first: then again. */
static int stop_by(const struct sweep *sweep, const char *path, const char *workers, int number)
{
    int code = 0;
    for (int tries = 0; tries < 5 && code == 0; tries++) {
        oracle_remove(path);
        pid_t child = sweep_start(sweep, path, "-j", workers);
        sweep_wait(child, path, "runs/0003/run.csv");
        kill(child, number);
        code = sweep_finish(child);
    }
    return code;
}

static void test_signals(void)
{
    static const struct {
        int signal, code;
        const char *workers;
    } cases[] = {{SIGINT, 130, "1"}, {SIGTERM, 143, "1"}, {SIGINT, 130, "2"}, {SIGTERM, 143, "2"}};
    struct sweep sweep;
    sweep_open(&sweep, sweep_longer);
    sweep_run(&sweep, sweep.paths[0], "-j", "2");
    uint64_t whole = sweep_hash(sweep.paths[0]);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(stop_by(&sweep, sweep.paths[1], cases[i].workers, cases[i].signal), cases[i].code);
        CU_ASSERT_EQUAL(sweep_count(sweep.paths[1], ".tmp"), 0);
        size_t kept = sweep_count(sweep.paths[1], "run.csv");
        CU_ASSERT(kept >= 1 && kept < LONGER_RUNS);
        if (i % 2 == 1) {
            sweep_run(&sweep, sweep.paths[1], "-j", "2");
            CU_ASSERT_EQUAL(sweep_hash(sweep.paths[1]), whole);
        }
        oracle_remove(sweep.paths[1]);
    }
    sweep_close(&sweep);
}

/* ---- ranks ---- */

/* `make test-mpi` has just built both programs and sets OCSIM_MPI: then nothing is skipped. */
static bool has_ranks(void)
{
    struct stat program, ranks;
    bool has_launcher = system("command -v mpirun >/dev/null 2>&1") == 0;
    bool has_both = stat("./ocsim", &program) == 0 && stat("./ocsim-mpi", &ranks) == 0;
    if (getenv("OCSIM_MPI")) {
        CU_ASSERT_FATAL(has_launcher);
        CU_ASSERT_FATAL(has_both);
        return true;
    }
    if (has_launcher && has_both && ranks.st_mtime >= program.st_mtime)
        return true;
    printf("\n  skipped: no ./ocsim-mpi as new as ./ocsim (make test-mpi) ... ");
    return false;
}

static int run_ranks(const struct sweep *sweep, const char *path, int ranks, const char *options)
{
    char command[3 * SWEEP_PATH_BYTES];
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n %d ./ocsim-mpi run "
             "%s -o %s -q %s >/dev/null 2>&1",
             ranks, sweep->scenario, path, options);
    int state = system(command);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void test_ranks(void)
{
    struct sweep sweep;
    if (!has_ranks())
        return;
    sweep_open(&sweep, sweep_small);
    sweep_run(&sweep, sweep.paths[0], NULL, NULL);
    CU_ASSERT_EQUAL(run_ranks(&sweep, sweep.paths[1], 2, ""), 0);
    CU_ASSERT_EQUAL(run_ranks(&sweep, sweep.paths[2], 4, ""), 0);
    sweep_run(&sweep, sweep.paths[3], "--shard", "1/5");
    CU_ASSERT_EQUAL(run_ranks(&sweep, sweep.paths[3], 3, ""), 0);
    for (int i = 1; i < 4; i++)
        CU_ASSERT_EQUAL(sweep_hash(sweep.paths[i]), sweep_hash(sweep.paths[0]));
    CU_ASSERT_EQUAL(run_ranks(&sweep, sweep.paths[1], 2, "workload.jobs=3"), STATUS_USER);
    CU_ASSERT_EQUAL(run_ranks(&sweep, sweep.paths[1], 2, "-j 2"), STATUS_USER);
    sweep_close(&sweep);
}

void suite_runner(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"workers and shards give the same bytes", test_workers_and_shards},
                 {"shards at the same instant", test_shards_at_once},
                 {"a rule stops alike, whoever does the runs", test_rule_whoever_does_it},
                 {"the rule looks at repetitions in order", test_rule},
                 {"damaged files are made again", test_damage},
                 {"killed at any instant, it ends the same", test_kills},
                 {"signals stop it cleanly", test_signals}};
    CU_pSuite suite = CU_add_suite("runner", NULL, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        CU_add_test(suite, tests[i].name, tests[i].run);
    CU_add_test(CU_add_suite("ranks", NULL, NULL), "ranks give the same bytes", test_ranks);
}
