/* Properties held here: a scenario is the published set-up plus what was written, or an error that says where, what was
 * found, what is allowed and an example.
 *   - every default of the table reads, every key explains itself;
 *   - each kind of mistake is refused at its place, nothing is accepted silently;
 *   - later layers win: parents, file, command line, point of a sweep;
 *   - a key without effect is refused unless a later layer took its effect;
 *   - the resolved list reads back to the same settings. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "scenario/scenario.h"
#include "input/file.h"
#include "input/text.h"
#include "partition/partition.h"
#include "place/place.h"
#include "schedule/schedule.h"
#include "suites.h"

static const struct scenario_overrides none = {0};

static bool is_said(const struct error *error, const char *text)
{
    bool answer = strstr(error->message, text) != NULL;
    if (!answer)
        printf("\n  said: %s\n  expected: %s\n", error->message, text);
    return answer;
}

/* Parses a scenario with up to one override. */
static enum status parse(const char *text, const char *override, struct scenario **scenario, struct error *error)
{
    struct scenario_overrides overrides = {&override, override ? 1 : 0};
    return scenario_parse(text, strlen(text), "s.yaml", overrides, scenario, error);
}

static void test_defaults(void)
{
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse("title: hello\n", NULL, &scenario, &error), STATUS_OK);
    const struct settings *settings = &scenario->settings;
    CU_ASSERT_STRING_EQUAL(settings->title, "hello");
    CU_ASSERT_STRING_EQUAL(settings->topology, "topologies/ramp-32.yaml");
    CU_ASSERT_PTR_NULL(settings->workload.trace);
    CU_ASSERT_EQUAL(settings->workload.time_unit, TIME_UNIT_S);
    CU_ASSERT_EQUAL_FATAL(settings->workload.models.count, 5);
    CU_ASSERT_STRING_EQUAL(settings->workload.models.items[3], "squeezenet1_0");
    CU_ASSERT_EQUAL(settings->workload.weights.count, 0);
    CU_ASSERT_EQUAL(settings->workload.interarrival_s, 1000);
    CU_ASSERT_STRING_EQUAL(settings->workload.beta.strategy->name, "A");
    CU_ASSERT_EQUAL(settings->workload.steps, 50);
    CU_ASSERT_STRING_EQUAL(settings->partition.strategy.strategy->name, "max");
    CU_ASSERT_EQUAL(settings->partition.max_degree, 16);
    CU_ASSERT_EQUAL(settings->partition.quantum_ps, 10000000);
    CU_ASSERT_EQUAL(settings->step.memo, MEMO_PLACEMENT);
    CU_ASSERT_EQUAL(settings->run.horizon_s, 0);
    CU_ASSERT_EQUAL(settings_horizon_s(settings), 1e6);
    CU_ASSERT_EQUAL(settings->run.tick_ps, 1);
    CU_ASSERT(settings->run.writes_jobs);
    CU_ASSERT_PTR_NULL(settings->sweep);
    scenario_free(scenario);
}

/* A stream with an end of its own needs no horizon. */
static void test_horizon(void)
{
    static const struct {
        const char *text;
        double horizon_s;
    } cases[] = {{"title: x\n", 1e6},
                 {"workload.jobs: 5\n", 0},
                 {"workload.trace: t.csv\n", 0},
                 {"workload.jobs: 5\nrun.horizon: 7s\n", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *scenario = NULL;
        struct error error = {0};
        CU_ASSERT_EQUAL_FATAL(parse(cases[i].text, NULL, &scenario, &error), STATUS_OK);
        CU_ASSERT_EQUAL(settings_horizon_s(&scenario->settings), cases[i].horizon_s);
        scenario_free(scenario);
    }
}

static void test_values(void)
{
    static const char text[] = "workload: {beta: fixed, beta_value: 0.5, models: [a, b], weights: [1, 2.5]}\n"
                               "workload.arrivals: poisson\n"
                               "partition:\n  strategy: fixed\n  degree: 8\n  quantum: 1.5ms\n"
                               "run: {horizon: 1e9s, tick: 1ns, seed: 7, jobs_file: false}\n"
                               "sweep: {x: [1, 2]}\n";
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse(text, "workload.models=vgg16, alexnet", &scenario, &error), STATUS_OK);
    const struct settings *settings = &scenario->settings;
    CU_ASSERT_EQUAL(*(const double *)settings->workload.beta.settings, 0.5);
    CU_ASSERT_EQUAL_FATAL(settings->workload.models.count, 2);
    CU_ASSERT_STRING_EQUAL(settings->workload.models.items[1], "alexnet");
    CU_ASSERT_STRING_EQUAL(settings->workload.weights.items[1], "2.5");
    CU_ASSERT_EQUAL(settings->workload.arrivals, ARRIVALS_POISSON);
    CU_ASSERT_EQUAL(*(const int64_t *)settings->partition.strategy.settings, 8);
    CU_ASSERT_EQUAL(settings->partition.quantum_ps, 1500000000);
    CU_ASSERT_EQUAL(settings->run.horizon_s, 1e9);
    CU_ASSERT_EQUAL(settings->run.tick_ps, 1000);
    CU_ASSERT(!settings->run.writes_jobs);
    CU_ASSERT_EQUAL_FATAL(settings->sweep->kind, YAML_MAPPING);
    struct key_place place = keys_place(&scenario->keys, keys_named(&scenario->keys, "partition.degree"));
    CU_ASSERT_EQUAL(place.line, 5);
    CU_ASSERT_EQUAL(place.column, 11);
    CU_ASSERT_EQUAL(place.layer, 1);
    scenario_free(scenario);
}

struct mistake {
    const char *text, *said;
    int line, column;
};

static const struct mistake mistakes[] = {
    {"titel: a\n", "unknown key 'titel'; did you mean title?", 1, 1},
    {"workload: {beat: A}\n", "unknown key 'workload.beat'; did you mean workload.beta?", 1, 12},
    {"horizon: 1s\n", "did you mean run.horizon?", 1, 1},
    {"partition.strat: max\n", "did you mean partition.strategy?", 1, 1},
    {"xyzzy: 1\n", "unknown key 'xyzzy'; `ocsim explain` lists", 1, 1},
    {"a.b.c: 1\n", "unknown key 'a.b.c'", 1, 1},
    {"'': 1\n", "unknown key ''", 1, 1},
    {"run: {seed: 1}\nrun.seed: 2\n", "duplicate key run.seed; its first place is line 1", 2, 1},
    {"workload: 5\n", "workload is a group of keys, found text", 1, 11},
    {"run.seed: [1]\n", "run.seed: expected a whole number, found a list (e.g. run.seed: 0)", 1, 11},
    {"run.seed: {a: 1}\n", "run.seed: expected a whole number, found a mapping", 1, 11},
    {"run.seed:\n", "run.seed: has no value; write null for the default", 1, 10},
    {"run.seed: 1.5\n", "'1.5': a whole number is expected", 1, 11},
    {"run.seed: -1\n", "'-1' is out of range; allowed: at least 0", 1, 11},
    {"run.seed: 9223372036854775808\n", "too large", 1, 11},
    {"run.horizon: 5\n", "run.horizon: '5': missing unit; expected ps, ns", 1, 14},
    {"run.horizon: 0s\n", "'0s' is out of range; allowed: more than 0s", 1, 14},
    {"run.horizon: -1s\n", "allowed: more than 0s", 1, 14},
    {"run.horizon: 1e400s\n", "too large a number", 1, 14},
    {"run.horizon: 1e7s\n", "does not fit the clock with run.tick: 1ps; run.tick: 1ns would do", 1, 14},
    {"run: {horizon: 1e18s, tick: 1us}\n", "run.tick: 1s would do", 1, 16},
    {"run: {horizon: 1e19s}\n", "too long for any tick", 1, 16},
    {"run: {horizon: 1us, tick: 1ms}\n", "shorter than one tick", 1, 16},
    {"run.tick: 0ps\n", "allowed: at least 1ps", 1, 11},
    {"run.tick: 0.1ps\n", "finer than a picosecond", 1, 11},
    {"run.jobs_file: yes\n", "'yes' is not allowed; expected true or false", 1, 16},
    {"partition.quantum: 107d\n", "too long a time", 1, 20},
    {"partition.strategy: best\n", "expected fixed, max, min_sufficient, random, trace or exact_min", 1, 21},
    {"partition.strategy: fixed\n", "partition.strategy: needs partition.degree too, e.g. partition.degree: 8", 1, 21},
    {"partition.degree: 4\n", "has no effect with partition.strategy: max (the default); it counts only with", 1, 19},
    {"workload: {beta: fixed}\n", "needs workload.beta_value too", 1, 18},
    {"workload: {beta: fixed, beta_value: 0}\n", "allowed: more than 0 and at most 1", 1, 37},
    {"workload: {beta: fixed, beta_value: 1.01}\n", "allowed: more than 0 and at most 1", 1, 37},
    {"workload: {beta: fixed, beta_value: .nan}\n", "not a number", 1, 37},
    {"workload: {beta: B, beta_skew: 1}\n", "it counts only with workload.beta: skew_normal", 1, 32},
    {"workload: {trace: t.csv, beta: B}\n", "workload.beta: has no effect, because workload.trace is set", 1, 32},
    {"workload: {trace: t.csv, jobs: 9}\n", "workload.jobs: has no effect", 1, 32},
    {"workload.models: []\n", "the list is empty", 1, 18},
    {"workload.models: [a, [b]]\n", "a list of plain texts", 1, 22},
    {"workload.models: {a: b}\n", "expected a list, found a mapping", 1, 18},
    {"workload.models: 'a,,b'\n", "an empty item", 1, 18},
    {"workload.weights: [1]\n", "1 weights for 5 models", 1, 19},
    {"workload: {models: [a, b], weights: [1, 0]}\n", "'0' is no weight", 1, 37},
    {"workload: {models: [a, b], weights: [1, x]}\n", "'x' is no weight", 1, 37},
    {"extends: base.yaml\n", "has no parents", 1, 10},
    {"title: \n", "title: has no value", 1, 7},
};

static void test_mistakes(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct scenario *scenario = NULL;
        struct error error = {0};
        CU_ASSERT_EQUAL(parse(mistakes[i].text, NULL, &scenario, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, mistakes[i].said));
        CU_ASSERT_STRING_EQUAL(error.file, "s.yaml");
        bool is_there = error.line == mistakes[i].line && error.column == mistakes[i].column;
        if (!is_there)
            printf("\n  %s  at %d:%d\n", mistakes[i].text, error.line, error.column);
        CU_ASSERT(is_there);
        CU_ASSERT_PTR_NULL(scenario);
    }
}

static void test_override_mistakes(void)
{
    static const struct mistake cases[] = {{.text = "seed", .said = "'seed': expected key=value, e.g. run.seed=7"},
                                           {.text = "=5", .said = "expected key=value"},
                                           {.text = "run.sed=5", .said = "did you mean run.seed?"},
                                           {.text = "run.seed=", .said = "run.seed: no value given"},
                                           {.text = "run.seed=[", .said = "run.seed: not valid YAML"},
                                           {.text = "run.seed=x", .said = "run.seed: 'x': not a number"},
                                           {.text = "run=5", .said = "run is a group of keys"},
                                           {.text = "extends=x.yaml", .said = "extends belongs into a scenario file"},
                                           {.text = "title=!!str x", .said = "tags"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *scenario = NULL;
        struct error error = {0};
        CU_ASSERT_EQUAL(parse("title: a\n", cases[i].text, &scenario, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, cases[i].said));
        CU_ASSERT_EQUAL(error.line, 0);
    }
    /* A name longer than any key. */
    char text[2000];
    memset(text, 'a', sizeof text);
    memcpy(text + sizeof text - 3, "=1", 3);
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL(parse("title: a\n", text, &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "unknown key 'aaaa"));
}

static void test_overrides(void)
{
    const char *assignments[] = {"run.seed=1", "run={seed: 2, tick: 1ns}", "run.seed=3", "title=null",
                                 "workload.models=[x, y]"};
    struct scenario_overrides overrides = {assignments, 5};
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(scenario_parse("title: a\nrun.seed: 9\n", 21, "s.yaml", overrides, &scenario, &error),
                          STATUS_OK);
    CU_ASSERT_EQUAL(scenario->settings.run.seed, 3);
    CU_ASSERT_EQUAL(scenario->settings.run.tick_ps, 1000);
    CU_ASSERT_PTR_NULL(scenario->settings.title);
    CU_ASSERT_EQUAL(scenario->settings.workload.models.count, 2);
    size_t seed = keys_named(&scenario->keys, "run.seed");
    CU_ASSERT_STRING_EQUAL(keys_place(&scenario->keys, seed).file, "command line");
    scenario_free(scenario);
}

/* The layers of "has no effect": refused where the key came last, fine where its condition was changed later. */
static void test_effects_by_layer(void)
{
    static const char text[] = "partition: {strategy: fixed, degree: 8}\nworkload: {beta: B}\n";
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL(parse(text, "partition.strategy=max", &scenario, &error), STATUS_OK);
    scenario_free(scenario);
    CU_ASSERT_EQUAL(parse(text, "workload.trace=t.csv", &scenario, &error), STATUS_OK);
    scenario_free(scenario);
    CU_ASSERT_EQUAL(parse("workload: {trace: t.csv}\n", "workload.beta=B", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "workload.beta: has no effect, because workload.trace is set to t.csv (s.yaml)"));
    CU_ASSERT_EQUAL(parse("workload: {trace: t.csv}\n", "workload.trace=null", &scenario, &error), STATUS_OK);
    scenario_free(scenario);
}

static char *resolved(const struct scenario *scenario)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    keys_resolved(&scenario->keys, stream);
    fclose(stream);
    return text;
}

static void test_resolved(void)
{
    static const char *const texts[] = {
        "title: a\n",
        "title: \"x: 'y' # \\\"z\\\" \\t\\N\"\npartition: {strategy: fixed, degree: 6}\n",
        "workload: {trace: 'a b.csv'}\nrun: {horizon: 1.25h, tick: 3ns}\n",
        "sweep: {a: {key: run.seed, values: [1, 'x y', '', {}]}, b: []}\npartition.degree: 4\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct scenario *scenario = NULL, *again = NULL;
        struct error error = {0};
        CU_ASSERT_EQUAL_FATAL(parse(texts[i], NULL, &scenario, &error), STATUS_OK);
        char *first = resolved(scenario);
        CU_ASSERT_EQUAL_FATAL(parse(first, NULL, &again, &error), STATUS_OK);
        char *second = resolved(again);
        CU_ASSERT_STRING_EQUAL(first, second);
        if (scenario->settings.title)
            CU_ASSERT_STRING_EQUAL(scenario->settings.title, again->settings.title);
        free(first);
        free(second);
        scenario_free(scenario);
        scenario_free(again);
    }
}

/* YAML sees a key of more than 1024 characters only behind a question mark. */
static void test_long_key_reads_back(void)
{
    char text[2000] = "sweep: {? ";
    memset(text + 10, 'k', 1500);
    strcpy(text + 1510, " : 1}\n");
    struct scenario *scenario = NULL, *again = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse(text, NULL, &scenario, &error), STATUS_OK);
    char *first = resolved(scenario);
    CU_ASSERT_EQUAL_FATAL(parse(first, NULL, &again, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(scenario->settings.sweep->keys[0]->text, again->settings.sweep->keys[0]->text);
    free(first);
    scenario_free(scenario);
    scenario_free(again);
}

static void test_variants(void)
{
    static const char text[] =
        "partition.degree: 8\nsweep: {s: {key: partition.strategy, values: [fixed, max, best]}}\n";
    struct scenario *base = NULL, *variant = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse(text, NULL, &base, &error), STATUS_OK);
    const struct yaml_node *values = yaml_get(yaml_get(base->settings.sweep, "s"), "values");
    struct scenario_point point = {"partition.strategy", values->items[0]};
    CU_ASSERT_EQUAL_FATAL(scenario_variant(base, &point, 1, &variant, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(variant->settings.partition.strategy.strategy->name, "fixed");
    CU_ASSERT_EQUAL(*(const int64_t *)variant->settings.partition.strategy.settings, 8);
    CU_ASSERT_PTR_NULL(variant->settings.sweep);
    scenario_free(variant);
    point.value = values->items[1];
    CU_ASSERT_EQUAL(scenario_variant(base, &point, 1, &variant, &error), STATUS_OK);
    scenario_free(variant);
    point.value = values->items[2];
    CU_ASSERT_EQUAL(scenario_variant(base, &point, 1, &variant, &error), STATUS_USER);
    CU_ASSERT_EQUAL(error.line, 2);
    CU_ASSERT_EQUAL(scenario_variant(base, NULL, 0, &variant, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "partition.degree: has no effect"));
    scenario_free(base);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    struct file_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CU_ASSERT_EQUAL_FATAL(file_create(path, &writer, NULL), STATUS_OK);
    file_printf(writer, "%s", text);
    CU_ASSERT_EQUAL_FATAL(file_finish(writer, NULL), STATUS_OK);
}

static enum status load(const char *folder, const char *name, struct scenario **scenario, struct error *error)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return scenario_load(path, none, scenario, error);
}

static void test_extends(void)
{
    char folder[] = "build/test_scenario_XXXXXX";
    mkdir("build", 0777);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_file(folder, "net.yaml", "devices: 1\n");
    write_file(folder, "base.yaml", "topology: net\nrun: {seed: 1, horizon: 5s}\ntitle: base\n");
    write_file(folder, "mid.yaml", "extends: base.yaml\nrun.seed: 2\n");
    write_file(folder, "top.yaml", "extends: ./mid.yaml\ntitle: top\n");
    write_file(folder, "loop.yaml", "extends: pool.yaml\n");
    write_file(folder, "pool.yaml", "extends: ./loop.yaml\n");
    write_file(folder, "lost.yaml", "title: x\nextends: nowhere.yaml\n");
    write_file(folder, "list.yaml", "extends: [a, b]\n");
    write_file(folder, "nofile.yaml", "title: x\ntopology: nothing\n");
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(load(folder, "top.yaml", &scenario, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(scenario->settings.title, "top");
    CU_ASSERT_EQUAL(scenario->settings.run.seed, 2);
    CU_ASSERT_EQUAL(scenario->settings.run.horizon_s, 5);
    CU_ASSERT_PTR_NOT_NULL(strstr(scenario->settings.topology, "/net.yaml"));
    CU_ASSERT_EQUAL(scenario_file_count(scenario), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(scenario_file(scenario, 2), "base.yaml"));
    scenario_free(scenario);
    CU_ASSERT_EQUAL(load(folder, "loop.yaml", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "leads back to itself"));
    CU_ASSERT_EQUAL(load(folder, "lost.yaml", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "nowhere.yaml: no such file"));
    CU_ASSERT_EQUAL(error.line, 2);
    CU_ASSERT_EQUAL(load(folder, "list.yaml", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "expected one file name"));
    CU_ASSERT_EQUAL(load(folder, "nofile.yaml", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "topology: no such file: 'nothing'"));
    CU_ASSERT_EQUAL(error.line, 2);
    for (int i = 0; i < 10; i++) {
        char name[20], text[80];
        snprintf(name, sizeof name, "c%d.yaml", i);
        snprintf(text, sizeof text, i < 9 ? "extends: c%d.yaml\ntopology: net\n" : "title: c%d\n", i + 1);
        write_file(folder, name, text);
    }
    CU_ASSERT_EQUAL(load(folder, "c2.yaml", &scenario, &error), STATUS_OK);
    scenario_free(scenario);
    CU_ASSERT_EQUAL(load(folder, "c1.yaml", &scenario, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "a chain of more than 8 files"));
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

static void test_explain(void)
{
    struct text_builder text = {0};
    struct key_table table;
    settings_table(&table);
    keys_explain(&table.rows[key_table_find(&table, "workload.beta_value")], &text);
    keys_explain_all(&table, true, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "allowed: more than 0 and at most 1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "only where workload.trace is not set and with workload.beta: fixed"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "| `workload.interarrival` | a time with its unit | `1000s` |"));
    free(text.text);
    for (size_t i = 0; i < table.count; i++) {
        const struct key *key = &table.rows[i];
        CU_ASSERT(key->doc && strlen(key->doc) > 10 && key->doc[strlen(key->doc) - 1] == '.');
        CU_ASSERT(key->example || key->default_text);
        CU_ASSERT_EQUAL(key_table_find(&table, key->name), (int)i);
        CU_ASSERT_STRING_EQUAL(key_table_nearest(&table, key->name), key->name);
    }
    key_table_free(&table);
}

/* The example of each key must itself be accepted. */
static void test_examples(void)
{
    struct key_table table;
    settings_table(&table);
    for (size_t i = 0; i < table.count; i++) {
        const struct key *key = &table.rows[i];
        char text[300];
        struct scenario *scenario = NULL;
        struct error error = {0};
        if (strcmp(key->name, "extends") == 0)
            continue;
        bool is_swept = strcmp(key->name, "sweep") != 0; /* a sweep puts off the question of effect */
        snprintf(text, sizeof text, "%s: %s\n%s", key->name, key->example ? key->example : key->default_text,
                 is_swept ? "sweep: {}\n" : "");
        enum status status = parse(text, NULL, &scenario, &error);
        CU_ASSERT_EQUAL(status, STATUS_OK);
        if (status != STATUS_OK)
            printf("\n  %s  %s\n", text, error.message);
        scenario_free(scenario);
    }
    key_table_free(&table);
}

/* A strategy that is in its registry can be chosen; a key of one that is not chosen is refused and names its owner. */
static void test_choices_are_the_registries(void)
{
    static const struct registry *const registries[] = {&partitioners, &placers, &schedulers, &distributions};
    static const char *const keys[] = {"partition.strategy", "place.strategy", "schedule.strategy", "workload.beta"};
    struct key_table table;
    settings_table(&table);
    for (size_t i = 0; i < 4; i++) {
        const struct key *key = &table.rows[key_table_find(&table, keys[i])];
        CU_ASSERT_PTR_EQUAL(key->registry, registries[i]);
        for (size_t j = 0; j < registries[i]->count; j++) {
            const struct strategy *strategy = registries[i]->strategies[j];
            CU_ASSERT_EQUAL(text_position(strategy->name, key->choices), (int)j);
            CU_ASSERT(strategy->doc && strlen(strategy->doc) > 10);
        }
    }
    key_table_free(&table);
    struct scenario *scenario = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL(parse("partition: {strategy: random, degree: 4}\n", NULL, &scenario, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "it counts only with partition.strategy: fixed"));
}

static enum status parse_command_line(const char *const *words, struct cli_arguments *arguments, struct error *error)
{
    static const struct cli_command command = {"run", NULL, "FILE -o DIR [--fast] [--model M] [-j N]", .help = ""};
    *arguments = (struct cli_arguments){.command = &command, .argv = (char **)(uintptr_t)words};
    while (words[arguments->argc])
        arguments->argc++;
    return cli_parse(arguments, error);
}

static void test_command_line(void)
{
    static const char *const words[] = {"run",   "a.yaml", "-o", "dir", "run.seed=7", "--fast", "--model=m=1",
                                        "x/b=c", "-j2",    "--", "-z",  "a=b",        NULL};
    struct cli_arguments arguments;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(parse_command_line(words, &arguments, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(cli_value(&arguments, "-o", ""), "dir");
    CU_ASSERT_STRING_EQUAL(cli_value(&arguments, "--model", ""), "m=1");
    CU_ASSERT_STRING_EQUAL(cli_value(&arguments, "-j", ""), "2");
    CU_ASSERT(cli_is_given(&arguments, "--fast"));
    CU_ASSERT_EQUAL_FATAL(arguments.name_count, 3);
    CU_ASSERT_STRING_EQUAL(arguments.names[1], "x/b=c");
    CU_ASSERT_STRING_EQUAL(arguments.names[2], "-z");
    CU_ASSERT_EQUAL_FATAL(arguments.override_count, 2);
    CU_ASSERT_STRING_EQUAL(arguments.overrides[0], "run.seed=7");
    cli_arguments_free(&arguments);
    static const struct {
        const char *words[4], *said;
    } wrong[] = {{{"run", "a", "-o"}, "run: option -o needs a value"},
                 {{"run", "--fast=1"}, "takes no value"},
                 {{"run", "--slow"}, "unknown option '--slow'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CU_ASSERT_EQUAL(parse_command_line(wrong[i].words, &arguments, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, wrong[i].said));
        CU_ASSERT_PTR_NULL(cli_value(&arguments, "--model", NULL));
        cli_arguments_free(&arguments);
    }
}

/* Runs a command with both outputs caught. argv ends in NULL. */
static int run_quietly(char **argv, char *text, size_t size)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    fflush(stdout);
    FILE *caught = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(caught);
    int saved_out = dup(1), saved_err = dup(2);
    dup2(fileno(caught), 1);
    dup2(fileno(caught), 2);
    int code = cli_command(argc, argv);
    fflush(stdout);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    close(saved_out);
    close(saved_err);
    rewind(caught);
    text[fread(text, 1, size - 1, caught)] = '\0';
    fclose(caught);
    return code;
}

static void test_commands(void)
{
    static const struct {
        char *argv[4];
        int code;
        const char *said;
    } cases[] = {
        {{"check", NULL}, 2, "ocsim: check: expected one scenario file"},
        {{"check", "build/none.yaml", NULL}, 2, "ocsim: build/none.yaml: no such file"},
        {{"check", "tests", NULL}, 4, "ocsim: tests: cannot read it: Is a directory"},
        {{"check", "--fast", NULL}, 2, "unknown option '--fast'"},
        {{"explain", NULL}, 0, "workload.interarrival       a time with its unit   1000s"},
        {{"explain", "run.seed", NULL}, 0, "run.seed: a whole number\n"},
        {{"explain", "network", NULL}, 0, "network.model: "},
        {{"explain", "--markdown", NULL}, 0, "| Key | Value | Default | Meaning |"},
        {{"explain", "run.sede", NULL}, 2, "unknown key 'run.sede'; did you mean run.seed?"},
        {{"explain", "run.seed=1", NULL}, 2, "expected a key without a value"},
        {{"list", NULL}, 2, "expected one kind"},
        {{"list", "models", NULL}, 0, "alexnet\n"},
        {{"list", "partitioners", NULL}, 0, "min_sufficient "},
        {{"list", "distributions", NULL}, 0, "skew_normal "},
        {{"list", "trees", NULL}, 2, "'trees' is not allowed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static char text[20000];
        char *argv[4];
        memcpy(argv, cases[i].argv, sizeof argv);
        CU_ASSERT_EQUAL(run_quietly(argv, text, sizeof text), cases[i].code);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, cases[i].said));
        if (!strstr(text, cases[i].said))
            printf("\n  said: %s\n  expected: %s\n", text, cases[i].said);
    }
}

/* check looks into the files a scenario names, too. */
static void test_check_command(void)
{
    mkdir("build", 0777);
    write_file("build", "test_check.yaml", "title: x\nworkload.models: [alexnet]\n");
    char text[2000], *fine[] = {"check", "build/test_check.yaml", NULL};
    CU_ASSERT_EQUAL(run_quietly(fine, text, sizeof text), 0);
    CU_ASSERT_STRING_EQUAL(text, "build/test_check.yaml: fine, 1 run\n");
    static const char *const wrong[] = {"workload.models=[alexnet,nosuch]", "topology=tests/main.c",
                                        "workload.trace=tests/main.c", "run.seed=x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char override[60], *argv[] = {"check", "build/test_check.yaml", override, NULL};
        snprintf(override, sizeof override, "%s", wrong[i]);
        CU_ASSERT_EQUAL(run_quietly(argv, text, sizeof text), 2);
        CU_ASSERT_EQUAL(strncmp(text, "ocsim: ", 7), 0);
    }
    unlink("build/test_check.yaml");
}

void suite_scenario(void)
{
    CU_pSuite suite = CU_add_suite("scenario", NULL, NULL);
    CU_ADD_TEST(suite, test_defaults);
    CU_ADD_TEST(suite, test_horizon);
    CU_ADD_TEST(suite, test_values);
    CU_ADD_TEST(suite, test_mistakes);
    CU_ADD_TEST(suite, test_override_mistakes);
    CU_ADD_TEST(suite, test_overrides);
    CU_ADD_TEST(suite, test_effects_by_layer);
    CU_ADD_TEST(suite, test_resolved);
    CU_ADD_TEST(suite, test_long_key_reads_back);
    CU_ADD_TEST(suite, test_variants);
    CU_ADD_TEST(suite, test_extends);
    CU_ADD_TEST(suite, test_explain);
    CU_ADD_TEST(suite, test_examples);
    CU_ADD_TEST(suite, test_choices_are_the_registries);
    CU_ADD_TEST(suite, test_command_line);
    CU_ADD_TEST(suite, test_commands);
    CU_ADD_TEST(suite, test_check_command);
}
