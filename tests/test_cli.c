/* Properties held here, of the program as people run it:
 *   - whatever is wrong with the input: exit 2, the file and where there is one the line named, no runs.csv;
 *   - what the system refuses: exit 4, no half-written result;
 *   - step prints every field of the contract as JSON, and the same hash again;
 *   - every command helps, lists and explains. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"
#include "oracle.h"
#include "process.h"
#include "suites.h"

/* Runs a scenario and checks how it is refused. */
static void check_refusal(const char *folder, const char *scenario, const char *override, const char *said,
                          const char *named)
{
    char results[300];
    struct process process;
    snprintf(results, sizeof results, "%s/out", folder);
    process_run(&process, (const char *const[]){"run", scenario, "-o", results, override, NULL});
    bool is_refused = process.code == 2 && strstr(process.err, said) && strstr(process.err, named) &&
                      !process_is_file(results, "runs.csv");
    if (!is_refused)
        printf("\n  exit %d, said: %.300s\n  expected exit 2, '%s' and '%s'\n", process.code, process.err, said, named);
    CU_ASSERT(is_refused);
    process_end(&process);
}

/* ---- scenarios ---- */

static void test_bad_scenarios(void)
{
    static const struct {
        const char *text, *said, *place;
    } cases[] = {
        {"", "", "bad.yaml"},
        {"{[", "not valid YAML", "bad.yaml:"},
        {"- 1\n", "", "bad.yaml:1"},
        {"just text", "", "bad.yaml:1"},
        {"title: a\nworklod: {jobs: 1}\n", "did you mean workload.", "bad.yaml:2"},
        {"run:\n  seeed: 1\n", "run.seed", "bad.yaml:2"},
        {"run: {seed: 1}\nrun: {seed: 2}\n", "", "bad.yaml:2"},
        {"run:\n  seed: 1\n  seed: 2\n", "seed", "bad.yaml:3"},
        {"run: {seed: many}\n", "seed", "bad.yaml:1"},
        {"run: {seed: [1]}\n", "seed", "bad.yaml:1"},
        {"run: {horizon: 1000}\n", "unit", "bad.yaml:1"},
        {"run: {horizon: -5s}\n", "horizon", "bad.yaml:1"},
        {"run: {horizon: 0s}\n", "horizon", "bad.yaml:1"},
        {"run: {horizon: 1e30s}\n", "horizon", "bad.yaml:1"},
        {"run: {horizon: 1e8s}\n", "run.tick: 1ns would do", "bad.yaml:1"},
        {"run: {seed: 99999999999999999999}\n", "seed", "bad.yaml:1"},
        {"run: {seed: -1}\n", "seed", "bad.yaml:1"},
        {"workload: {beta: fixed, beta_value: nan}\n", "beta_value", "bad.yaml:1"},
        {"workload: {beta: fixed, beta_value: 1.5}\n", "beta_value", "bad.yaml:1"},
        {"workload: {beta: fixed, beta_value: 0}\n", "beta_value", "bad.yaml:1"},
        {"workload: {interarrival: inf}\n", "interarrival", "bad.yaml:1"},
        {"workload: {steps: 0}\n", "steps", "bad.yaml:1"},
        {"workload: {models: [alexnet], weights: [1, 2]}\n", "weights", "bad.yaml:1"},
        {"partition: {degree: 4}\n", "degree", "bad.yaml:1"},
        {"partition: {strategy: mux}\n", "max", "bad.yaml:1"},
        {"topology: nowhere.yaml\n", "nowhere.yaml", "bad.yaml:1"},
        {"extends: nowhere.yaml\n", "nowhere.yaml", "bad.yaml:1"},
        {"extends: bad.yaml\n", "", "bad.yaml:1"},
        {"title: a\nworkload:\n  models: [alexnet, no_such_model]\n", "no_such_model", "bad.yaml:3"},
        {"workload: {beta: mixture, beta_mixture: [A:1, E:2]}\n", "E:2", "bad.yaml:1"},
        {"workload: {beta: mixture, beta_mixture: [A:0]}\n", "A:0", "bad.yaml:1"},
    };
    char *folder = oracle_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = oracle_write(folder, "bad.yaml", cases[i].text);
        check_refusal(folder, path, "workload.jobs=1", cases[i].said, cases[i].place);
        free(path);
    }
    char *path = oracle_write(folder, "bad.yaml", "workload: {trace: nowhere.csv}\n");
    check_refusal(folder, path, NULL, "nowhere.csv", "bad.yaml:1");
    free(path);
    check_refusal(folder, "no-such-scenario.yaml", NULL, "", "no-such-scenario.yaml");
    oracle_remove(folder);
    free(folder);
}

/* Texts that are too much rather than wrong. */
static void test_hostile_scenarios(void)
{
    enum { MEBIBYTE = 1 << 20, DEEP = 20000 };
    char *folder = oracle_folder();
    char *text = memory_alloc(MEBIBYTE + 100, 1);
    int used = snprintf(text, 100, "title: ok\nrun: {seed: ");
    memset(text + used, '7', MEBIBYTE);
    strcpy(text + used + MEBIBYTE, "}\n");
    char *path = oracle_write(folder, "bad.yaml", text);
    check_refusal(folder, path, NULL, "", "bad.yaml:2");
    free(path);
    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    path = oracle_write(folder, "bad.yaml", text);
    check_refusal(folder, path, NULL, "", "bad.yaml:1");
    free(path);
    free(text);
    path = oracle_write(folder, "bad.yaml",
                        "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
                        "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
                        "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
                        "g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]\nh: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]\n");
    check_refusal(folder, path, NULL, "", "bad.yaml");
    free(path);
    oracle_remove(folder);
    free(folder);
}

/* ---- models and traces ---- */

#define OP(id, ms, bytes)                                                                                              \
    "{\"id\": " #id ", \"kind\": \"op\", \"forward_ms\": " #ms ", \"backward_ms\": 1, \"activation_bytes\": " #bytes   \
    ", \"parameter_bytes\": 0}"
#define MODEL(ops, edges)                                                                                              \
    "{\"format\": \"ocsim-model-1\", \"name\": \"bad\", \"device\": \"\", \"batch\": 0, \"source\": \"\",\n\"ops\": "  \
    "[" ops "],\n\"edges\": [" edges "]}\n"

static void test_bad_models(void)
{
    static const struct {
        const char *text, *said, *place;
    } cases[] = {
        {MODEL(OP(1, 1, 1) ", " OP(2, 1, 1) ", " OP(3, 1, 1), "[1, 2], [2, 3], [3, 1]"), "cycle of 3 ops",
         "bad.json:2"},
        {MODEL(OP(1, 1, 1), ""), "op", "bad.json"},
        {MODEL(OP(1, 1, 1) ", " OP(2, -1, 1), "[1, 2]"), "forward_ms", "bad.json:2"},
        {MODEL(OP(1, 1, 1) ", " OP(2, NaN, 1), "[1, 2]"), "", "bad.json:2"},
        {MODEL(OP(1, 1, 1) ", " OP(2, 1e999, 1), "[1, 2]"), "", "bad.json:2"},
        {MODEL(OP(1, 1, 1) ", " OP(1, 1, 1), "[1, 1]"), "", "bad.json:"},
        {MODEL(OP(1, 1, 1) ", " OP(2, 1, 1), "[1, 7]"), "7", "bad.json:3"},
        {"", "", "bad.json"},
        {"{", "", "bad.json:1"},
        {MODEL(OP(1, 1, 1) ", " OP(2, 0, 9e11), "[1, 2]"), "op 2 needs 900 GB", "bad"},
    };
    char *folder = oracle_folder(), models[300];
    char *scenario = oracle_write(folder, "s.yaml", "workload: {jobs: 2}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = oracle_write(folder, "bad.json", cases[i].text);
        snprintf(models, sizeof models, "workload.models=%s", path);
        check_refusal(folder, scenario, models, cases[i].said, cases[i].place);
        free(path);
    }
    free(scenario);
    oracle_remove(folder);
    free(folder);
}

static void test_bad_traces(void)
{
    static const struct {
        const char *text, *said, *place;
    } cases[] = {
        {"model,arrival_s,beta\nalexnet,5,1\nalexnet,4,1\n", "goes back in time", "bad.csv:3"},
        {"model,arrival_s,beta\nalexnet,5,1\nalxnet,6,1\n", "alxnet", "bad.csv:3"},
        {"model,arrival_s,beta\nalexnet,nan,1\n", "arrival_s", "bad.csv:2"},
        {"model,arrival_s\nalexnet,0\n", "beta", "bad.csv:1"},
        {"model,arrival_s,beta\n", "no jobs", "bad.csv"},
        {"", "", "bad.csv"},
    };
    char *folder = oracle_folder(), trace[300];
    char *scenario = oracle_write(folder, "s.yaml", "title: replay\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = oracle_write(folder, "bad.csv", cases[i].text);
        snprintf(trace, sizeof trace, "workload.trace=%s", path);
        check_refusal(folder, scenario, trace, cases[i].said, cases[i].place);
        free(path);
    }
    free(scenario);
    oracle_remove(folder);
    free(folder);
}

/* ---- the system refuses ---- */

static void test_unwritable(void)
{
    char *folder = oracle_folder(), below[300];
    char *scenario = oracle_write(folder, "s.yaml", "workload: {jobs: 3}\n");
    struct process process;
    snprintf(below, sizeof below, "%s/out", scenario); /* below a plain file, which binds everybody */
    process_run(&process, (const char *const[]){"run", scenario, "-o", below, NULL});
    CU_ASSERT_EQUAL(process.code, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.err, below));
    process_end(&process);
    free(scenario);
    oracle_remove(folder);
    free(folder);
}

static void test_full_disk(void)
{
    char *folder = oracle_folder(), results[300];
    char *scenario = oracle_write(folder, "s.yaml", "workload: {jobs: 3000}\nworkload.interarrival: 100s\n");
    struct process process;
    snprintf(results, sizeof results, "%s/out", folder);
    process_run_small(&process, (const char *const[]){"run", scenario, "-o", results, NULL}, 50000);
    CU_ASSERT_EQUAL(process.code, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "jobs.csv"));
    CU_ASSERT(!process_is_file(results, "runs.csv"));
    process_end(&process);
    process_run(&process, (const char *const[]){"run", scenario, "-o", results, NULL}); /* with room it is all there */
    CU_ASSERT_EQUAL(process.code, 0);
    CU_ASSERT(process_is_file(results, "runs.csv"));
    process_end(&process);
    if (access("/dev/full", W_OK) == 0) {
        process_run_into(&process, (const char *const[]){"list", "models", NULL}, "/dev/full");
        CU_ASSERT_EQUAL(process.code, 4);
        CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "standard output"));
        process_end(&process);
    }
    free(scenario);
    oracle_remove(folder);
    free(folder);
}

/* ---- step ---- */

static cJSON *run_step(const char *model, const char *degree, const char *more)
{
    struct process process;
    process_run(&process, (const char *const[]){"step", "--model", model, "--degree", degree, "--topology",
                                                "topologies/ramp-32.yaml", more, NULL});
    CU_ASSERT_EQUAL(process.code, 0);
    cJSON *json = cJSON_Parse(process.out);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    process_end(&process);
    return json;
}

static double number(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(json, name);
    CU_ASSERT(cJSON_IsNumber(item));
    return item ? item->valuedouble : NAN;
}

static void test_step(void)
{
    static const char *const numbers[] = {"degree",  "degree_used", "ops",    "deps",         "flows",
                                          "devices", "step_s",      "jct_s",  "comm_s",       "comp_s",
                                          "wait_s",  "speedup",     "events", "sequential_s", "reconfig_s"};
    cJSON *json = run_step("gnmt", "8", NULL), *again = run_step("gnmt", "8", "--ops");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CU_ASSERT(isfinite(number(json, numbers[i])));
    CU_ASSERT_STRING_EQUAL(cJSON_GetObjectItem(json, "model")->valuestring, "gnmt");
    CU_ASSERT_EQUAL(number(json, "degree"), 8);
    CU_ASSERT_EQUAL(number(json, "devices"), 10);
    CU_ASSERT_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(json, "device_list")), 10);
    CU_ASSERT(oracle_is_near(number(json, "speedup"), number(json, "sequential_s") / number(json, "jct_s"), 1e-12));
    CU_ASSERT(oracle_is_near(number(json, "jct_s"), 50 * number(json, "step_s"), 1e-12));
    const char *hash = cJSON_GetObjectItem(json, "trace_hash")->valuestring;
    CU_ASSERT_EQUAL(strlen(hash), 16);
    CU_ASSERT_STRING_EQUAL(hash, cJSON_GetObjectItem(again, "trace_hash")->valuestring);
    CU_ASSERT_PTR_NULL(cJSON_GetObjectItem(json, "op_times"));
    CU_ASSERT_EQUAL(cJSON_GetArraySize(cJSON_GetObjectItem(again, "op_times")), (int)number(again, "ops"));
    cJSON_Delete(json);
    cJSON_Delete(again);
}

static void check_wrong(const char *const *arguments, const char *said)
{
    struct process process;
    process_run(&process, arguments);
    bool is_refused = process.code == 2 && strstr(process.err, said) && !process.out[0];
    if (!is_refused)
        printf("\n  exit %d, said: %.300s\n  expected exit 2 and '%s'\n", process.code, process.err, said);
    CU_ASSERT(is_refused);
    process_end(&process);
}

static void test_wrong_steps(void)
{
    static const char ramp[] = "topologies/ramp-32.yaml";
    check_wrong((const char *const[]){"step", NULL}, "--model M --degree D");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "3", "--topology", ramp, NULL}, "even");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "0", "--topology", ramp, NULL}, "'0'");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "x", "--topology", ramp, NULL}, "'x'");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "14", "--topology", ramp, NULL},
                "have no block shape");
    check_wrong((const char *const[]){"step", "--model", "nope", "--degree", "2", "--topology", ramp, NULL}, "nope");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "2", "--topology", "no.yaml", NULL},
                "no.yaml");
    check_wrong((const char *const[]){"step", "--model", "alexnet", "--degree", "2", "--topology", ramp, "a.b=1", NULL},
                "a.b");
}

/* ---- the others ---- */

static void check_says(const char *const *arguments, const char *said)
{
    struct process process;
    process_run(&process, arguments);
    CU_ASSERT_EQUAL(process.code, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.out, said));
    CU_ASSERT_STRING_EQUAL(process.err, "");
    process_end(&process);
}

static void test_commands(void)
{
    check_says((const char *const[]){"--help", NULL}, "ocsim run");
    check_says((const char *const[]){"--version", NULL}, "ocsim ");
    check_says((const char *const[]){"run", "--help", NULL}, "SCENARIO");
    check_says((const char *const[]){"list", "models", NULL}, "alexnet\n");
    check_says((const char *const[]){"list", "topologies", NULL}, "ramp-32\n");
    check_says((const char *const[]){"list", "partitioners", NULL}, "min_sufficient ");
    check_says((const char *const[]){"list", "placers", NULL}, "ramp_first_fit ");
    check_says((const char *const[]){"list", "schedulers", NULL}, "srpt ");
    check_says((const char *const[]){"list", "distributions", NULL}, "uniform ");
    check_says((const char *const[]){"list", "fabrics", NULL}, "\n");
    check_says((const char *const[]){"explain", "run.seed", NULL}, "master seed");
    check_says((const char *const[]){"explain", "run", NULL}, "run.horizon");
    check_says((const char *const[]){"explain", NULL}, "workload.beta");
    check_says((const char *const[]){"explain", "--markdown", NULL}, "|");
    check_says((const char *const[]){"check", "scenarios/pac-ml/replay.yaml", NULL}, "fine");
    check_wrong((const char *const[]){"rnu", NULL}, "did you mean ocsim run?");
    check_wrong((const char *const[]){"dance", NULL}, "ocsim --help");
    check_wrong((const char *const[]){"list", "colours", NULL}, "colours");
    check_wrong((const char *const[]){"list", NULL}, "one kind");
    check_wrong((const char *const[]){"explain", "run.sead", NULL}, "run.seed");
    check_wrong((const char *const[]){"explain", "run.seed=1", NULL}, "without a value");
    check_wrong((const char *const[]){"check", NULL}, "one scenario file");
    check_wrong((const char *const[]){"run", NULL}, "one scenario file");
    check_wrong((const char *const[]){"run", "a.yaml", "-j", "0", NULL}, "-j");
    check_wrong((const char *const[]){"run", "a.yaml", "--quick", NULL}, "--quick");
}

/* check looks at every run of a sweep and at every file they name. */
static void test_check(void)
{
    char *folder = oracle_folder();
    free(oracle_write(folder, "good.csv", "model,arrival_s,beta\nalexnet,0,1\n"));
    free(oracle_write(folder, "bad.csv", "model,arrival_s,beta\nalexnet,0,2\n"));
    char *path = oracle_write(folder, "s.yaml",
                              "sweep:\n  strategy: {key: partition.strategy, values: [max, random]}\n"
                              "  memo: {key: step.memo, values: [placement, model_degree]}\n"
                              "  models: {key: workload.models, values: [alexnet, vgg16]}\n");
    check_says((const char *const[]){"check", path, NULL}, "fine, 8 runs");
    free(path);
    path = oracle_write(folder, "s.yaml", "sweep: {jobs: {key: workload.trace, values: [good.csv, bad.csv]}}\n");
    check_wrong((const char *const[]){"check", path, NULL}, "bad.csv:2");
    free(path);
    path = oracle_write(folder, "s.yaml", "sweep: {d: {key: partition.max_degree, values: [2, many]}}\n");
    check_wrong((const char *const[]){"check", path, NULL}, "many");
    free(path);
    oracle_remove(folder);
    free(folder);
}

static void test_compare(void)
{
    char *folder = oracle_folder();
    free(oracle_write(folder, "runs.csv", "run,blocking_rate\n0000,0.5\n"));
    char *table =
        oracle_write(folder, "t.csv", "table,where,metric,published,tolerance,note\nt,,blocking_rate,0.5,0,\n");
    struct process process;
    check_says((const char *const[]){"compare", folder, table, NULL}, "ok");
    check_wrong((const char *const[]){"compare", folder, NULL}, "a results folder and a table");
    check_wrong((const char *const[]){"compare", "no-such-folder", table, NULL}, "no-such-folder");
    free(table);
    table = oracle_write(folder, "t.csv", "table,where,metric,published,tolerance,note\nt,,blocking_rate,0.4,0,\n");
    process_run(&process, (const char *const[]){"compare", folder, table, NULL});
    CU_ASSERT_EQUAL(process.code, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(process.err, "1 figures are out of tolerance"));
    process_end(&process);
    free(table);
    oracle_remove(folder);
    free(folder);
}

void suite_cli(void)
{
    CU_pSuite suite = CU_add_suite("cli", NULL, NULL);
    CU_ADD_TEST(suite, test_bad_scenarios);
    CU_ADD_TEST(suite, test_hostile_scenarios);
    CU_ADD_TEST(suite, test_bad_models);
    CU_ADD_TEST(suite, test_bad_traces);
    CU_ADD_TEST(suite, test_unwritable);
    CU_ADD_TEST(suite, test_full_disk);
    CU_ADD_TEST(suite, test_step);
    CU_ADD_TEST(suite, test_wrong_steps);
    CU_ADD_TEST(suite, test_commands);
    CU_ADD_TEST(suite, test_check);
    CU_ADD_TEST(suite, test_compare);
}
