/* Properties held here: a sweep becomes the list of runs that its text asks for, or an error with its place.
 *   - order: the first axis outermost, repetitions innermost; numbers, points and names follow from it;
 *   - seeds depend on the master seed and the repetition alone;
 *   - a value without effect is not applied, and alike combinations stand once;
 *   - ranges hit both ends exactly; `where` means what it says;
 *   - every kind of mistake is refused where it stands. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/plan.h"
#include "suites.h"

struct made {
    struct scenario *scenario;
    struct plan *plan;
    struct error error;
    enum status status;
};

static struct made make(const char *text)
{
    struct made made = {0};
    struct scenario_overrides none = {0};
    made.status = scenario_parse(text, strlen(text), "s.yaml", none, &made.scenario, &made.error);
    if (made.status == STATUS_OK)
        made.status = plan_create(made.scenario, &made.plan, &made.error);
    return made;
}

static struct made make_good(const char *text)
{
    struct made made = make(text);
    if (made.status != STATUS_OK)
        printf("\n  %d:%d: %s\n", made.error.line, made.error.column, made.error.message);
    CU_ASSERT_EQUAL_FATAL(made.status, STATUS_OK);
    return made;
}

static void drop(struct made *made)
{
    plan_free(made->plan);
    scenario_free(made->scenario);
}

/* The texts of the axes of the first repetition of each point: "max/2 max/4". */
static const char *points_of(const struct plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < plan->run_count; i++) {
        for (size_t j = 0; j < plan->axis_count && !plan->runs[i].repetition && used < size; j++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", j ? "/" : i ? " " : "", plan->runs[i].texts[j]);
    }
    return text;
}

static void check_points(const char *text, const char *expected)
{
    char points[4096];
    struct made made = make_good(text);
    points_of(made.plan, points, sizeof points);
    if (strcmp(points, expected) != 0)
        printf("\n  found:    %s\n  expected: %s\n", points, expected);
    CU_ASSERT_STRING_EQUAL(points, expected);
    drop(&made);
}

static void test_one_run(void)
{
    char name[PLAN_NAME_BYTES];
    struct made made = make_good("run.seed: 7\n");
    CU_ASSERT_EQUAL(made.plan->run_count, 1);
    CU_ASSERT_EQUAL(made.plan->point_count, 1);
    CU_ASSERT_EQUAL(made.plan->axis_count, 0);
    CU_ASSERT_EQUAL(made.plan->runs[0].seed, 7);
    plan_name(made.plan, 0, name);
    CU_ASSERT_STRING_EQUAL(name, "0000");
    drop(&made);
}

static void test_order(void)
{
    struct made made = make_good("sweep:\n"
                                 "  strategy: {key: partition.strategy, values: [max, random], label: how split}\n"
                                 "  most: {key: partition.max_degree, values: [2, 4, 8]}\n"
                                 "  repeat: 2\n");
    const struct plan *plan = made.plan;
    char points[200];
    CU_ASSERT_EQUAL_FATAL(plan->run_count, 12);
    CU_ASSERT_EQUAL(plan->point_count, 6);
    CU_ASSERT_EQUAL(plan->stop.least, 2);
    CU_ASSERT_FALSE(plan->stop.is_adaptive);
    CU_ASSERT_EQUAL_FATAL(plan->axis_count, 2);
    CU_ASSERT_STRING_EQUAL(plan->axes[0].key, "partition.strategy");
    CU_ASSERT_STRING_EQUAL(plan->axes[0].label, "how split");
    CU_ASSERT_STRING_EQUAL(plan->axes[1].key, "partition.max_degree");
    CU_ASSERT_STRING_EQUAL(plan->axes[1].label, "most");
    CU_ASSERT_STRING_EQUAL(points_of(plan, points, sizeof points), "max/2 max/4 max/8 random/2 random/4 random/8");
    for (size_t i = 0; i < plan->run_count; i++) {
        CU_ASSERT_EQUAL(plan->runs[i].number, i);
        CU_ASSERT_EQUAL(plan->runs[i].point, i / 2);
        CU_ASSERT_EQUAL(plan->runs[i].repetition, i % 2);
    }
    drop(&made);
}

/* What plan_settings gives is what the list says. */
static void check_value(const struct scenario *run, const char *key, const char *expected)
{
    struct arena arena = {0};
    CU_ASSERT_STRING_EQUAL(keys_value_text(&run->keys, keys_named(&run->keys, key), &arena), expected);
    arena_free(&arena);
}

static void test_settings(void)
{
    struct made made = make_good("partition.strategy: random\nrun.seed: 5\n"
                                 "sweep: {s: {key: partition.strategy, values: [fixed, max]},\n"
                                 "  d: {key: partition.degree, values: [2, 4]}, repeat: 2}\n");
    static const char *const degrees[] = {"2", "2", "4", "4", "", ""};
    CU_ASSERT_EQUAL_FATAL(made.plan->run_count, 6);
    for (size_t i = 0; i < 6; i++) {
        struct scenario *run = NULL;
        CU_ASSERT_EQUAL_FATAL(plan_settings(made.plan, i, &run, &made.error), STATUS_OK);
        check_value(run, "partition.strategy", i < 4 ? "fixed" : "max");
        check_value(run, "partition.degree", degrees[i]);
        CU_ASSERT_EQUAL(run->settings.run.seed, made.plan->runs[i].seed);
        CU_ASSERT_PTR_NULL(run->settings.sweep);
        scenario_free(run);
    }
    drop(&made);
}

static void test_seeds(void)
{
    struct made one = make_good("run.seed: 1799\nsweep: {repeat: 50}\n");
    struct made two = make_good("run.seed: 1799\nsweep: {s: {key: partition.strategy, values: [max, random]},\n"
                                "  b: {key: workload.beta, values: [A, B, C]}, repeat: 20}\n");
    struct made other = make_good("run.seed: 1800\nsweep: {repeat: 50}\n");
    CU_ASSERT_EQUAL_FATAL(one.plan->run_count, 50);
    CU_ASSERT_EQUAL_FATAL(two.plan->run_count, 120);
    CU_ASSERT_EQUAL(one.plan->runs[0].seed, 1799);
    for (size_t i = 0; i < two.plan->run_count; i++)
        CU_ASSERT_EQUAL(two.plan->runs[i].seed, one.plan->runs[i % 20].seed);
    for (size_t i = 1; i < 50; i++) {
        int64_t seed = one.plan->runs[i].seed;
        CU_ASSERT(seed > 0 && seed <= INT32_MAX);
        CU_ASSERT_NOT_EQUAL(seed, other.plan->runs[i].seed);
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(seed, one.plan->runs[j].seed);
    }
    drop(&one);
    drop(&two);
    drop(&other);
}

static int compare_seeds_total(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Of 200,000 plain draws out of 31 bits some nine pairs would be alike. */
static void test_seeds_are_distinct(void)
{
    enum { COUNT = 200 * 1000 };
    struct made made = make_good("sweep: {repeat: 200000}\n");
    int64_t *seeds = memory_alloc(COUNT, sizeof *seeds);
    CU_ASSERT_EQUAL_FATAL(made.plan->run_count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        seeds[i] = made.plan->runs[i].seed;
    qsort(seeds, COUNT, sizeof *seeds, compare_seeds_total);
    size_t alike = 0;
    for (size_t i = 1; i < COUNT; i++)
        alike += seeds[i] == seeds[i - 1];
    CU_ASSERT_EQUAL(alike, 0);
    char name[PLAN_NAME_BYTES];
    plan_name(made.plan, 9, name);
    CU_ASSERT_STRING_EQUAL(name, "0009");
    plan_name(made.plan, 123456, name);
    CU_ASSERT_STRING_EQUAL(name, "123456");
    free(seeds);
    drop(&made);
}

/* Where run.seed itself is swept, each value is a master seed. */
static void test_swept_seed(void)
{
    struct made made = make_good("sweep: {seed: {key: run.seed, values: [3, 4]}, repeat: 2}\n");
    struct made alone = make_good("run.seed: 4\nsweep: {repeat: 2}\n");
    CU_ASSERT_EQUAL_FATAL(made.plan->run_count, 4);
    CU_ASSERT_EQUAL(made.plan->runs[0].seed, 3);
    CU_ASSERT_EQUAL(made.plan->runs[2].seed, 4);
    CU_ASSERT_EQUAL(made.plan->runs[3].seed, alone.plan->runs[1].seed);
    drop(&made);
    drop(&alone);
}

static void test_effects(void)
{
    check_points("sweep: {s: {key: partition.strategy, values: [fixed, max, random]},\n"
                 "  d: {key: partition.degree, values: [2, 4]}}\n",
                 "fixed/2 fixed/4 max/ random/");
    check_points("sweep: {d: {key: partition.degree, values: [2, 4]},\n"
                 "  s: {key: partition.strategy, values: [max, fixed]}}\n",
                 "/max 2/fixed 4/fixed");
    /* The combination that `where` leaves is the one that stays, whichever of the alike it is. */
    check_points("sweep: {s: {key: partition.strategy, values: [fixed, max]},\n"
                 "  d: {key: partition.degree, values: [2, 4]}, where: d > 2}\n",
                 "fixed/4 max/");
    /* The file's own degree is overruled with the strategy that needs it. */
    check_points("partition.degree: 8\nsweep: {s: {key: partition.strategy, values: [fixed, max]}}\n", "fixed max");
}

static void test_compounds(void)
{
    static const char text[] = "sweep:\n"
                               "  policy:\n"
                               "    label: the policy\n"
                               "    values:\n"
                               "    - {label: fixed 4, partition.strategy: fixed, partition.degree: 4}\n"
                               "    - {label: max, partition.strategy: max}\n"
                               "    - {label: fixed 2, partition.strategy: fixed, partition.degree: 2}\n"
                               "  steps: {key: workload.steps, values: [1, 2]}\n";
    check_points(text, "fixed 4/1 fixed 4/2 max/1 max/2 fixed 2/1 fixed 2/2");
    struct made made = make_good(text);
    struct scenario *run = NULL;
    CU_ASSERT_STRING_EQUAL(made.plan->axes[0].key, "policy");
    CU_ASSERT_STRING_EQUAL(made.plan->axes[0].label, "the policy");
    CU_ASSERT_EQUAL_FATAL(plan_settings(made.plan, 5, &run, &made.error), STATUS_OK);
    check_value(run, "partition.degree", "2");
    CU_ASSERT_EQUAL(run->settings.workload.steps, 2);
    scenario_free(run);
    drop(&made);
    /* null takes back what the file says: drawn jobs beside replayed ones. */
    check_points("workload.trace: jobs.csv\nsweep: {jobs: {values: [{label: replayed, workload.steps: 50},\n"
                 "  {label: drawn, workload.trace: null, workload.beta: B}]}}\n",
                 "replayed drawn");
    /* What one value sets is gone with the next. */
    check_points("workload.trace: jobs.csv\nsweep: {jobs: {values: [{label: drawn, workload.trace: null},\n"
                 "  {label: replayed, workload.steps: 50}]}, beta: {key: workload.beta, values: [A, B]}}\n",
                 "drawn/A drawn/B replayed/");
    /* A value that `where` leaves out is no value without effect; nor is a null. */
    check_points("sweep: {p: {values: [{label: a, partition.strategy: fixed, partition.degree: 4},\n"
                 "  {label: b, partition.strategy: max, partition.degree: null}]}, where: p != a}\n",
                 "b");
}

static void test_ranges(void)
{
    check_points("sweep: {a: {key: workload.interarrival, range: [500s, 2000s, 500s]}}\n", "500s 1000s 1500s 2000s");
    check_points("workload.beta: fixed\nsweep: {a: {key: workload.beta_value, range: [0.1, 0.9, 0.1]}}\n",
                 "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9");
    check_points("sweep: {a: {key: workload.steps, range: [3e1, 10, -10]}}\n", "30 20 10");
    check_points("sweep: {a: {key: workload.steps, range: [7, 7, 1]}}\n", "7");
    check_points("workload.beta: skew_normal\nsweep: {a: {key: workload.beta_skew, range: [-0.5, 0.5, 0.25]}}\n",
                 "-0.5 -0.25 0 0.25 0.5");
    check_points("sweep: {a: {key: run.tick, log_range: [1ns, 100ms, 9]}}\n",
                 "1ns 10ns 100ns 1us 10us 100us 1ms 10ms 100ms");
    check_points("sweep: {a: {key: workload.steps, log_range: [1, 1000, 7]}}\n", "1 3 10 32 100 316 1000");
    check_points("sweep: {a: {key: workload.interarrival, log_range: [1000s, 10s, 3]}}\n", "1000s 100s 10s");
    check_points("workload.beta: fixed\nsweep: {a: {key: workload.beta_value, log_range: [0.125, 1, 3]}}\n",
                 "0.125 0.354 1");
}

static void test_zip(void)
{
    check_points("sweep: {a: {key: workload.steps, values: [1, 2]}, b: {key: workload.beta, values: [A, B]},\n"
                 "  c: {key: partition.max_degree, values: [4, 8]}, zip: [[a, c]]}\n",
                 "1/A/4 1/B/4 2/A/8 2/B/8");
    check_points("sweep: {a: {key: workload.steps, values: [1, 2]}, b: {key: workload.beta, values: [A, B]},\n"
                 "  c: {key: partition.max_degree, values: [4, 8]}, d: {key: run.tick, values: [1ps, 1ns]},\n"
                 "  zip: [[d, b], [a, c]]}\n",
                 "1/A/4/1ps 1/B/4/1ns 2/A/8/1ps 2/B/8/1ns");
}

#define LOADS                                                                                                          \
    "sweep: {load: {key: workload.interarrival, values: [500s, 0.5h, 1000000ms]},\n"                                   \
    "  s: {key: partition.strategy, values: [max, random]}, steps: {key: workload.steps, values: [500]}, where: "

static void test_where(void)
{
    check_points(LOADS "load <= 1000}\n", "500s/max/500 500s/random/500 1000000ms/max/500 1000000ms/random/500");
    check_points(LOADS "load == 30min and s != random}\n", "0.5h/max/500");
    check_points(LOADS "not load > 500 or s == max and load >= 1800s}\n", "500s/max/500 500s/random/500 0.5h/max/500");
    check_points(LOADS "(not load > 500 or s == max) and load >= 1800s}\n", "0.5h/max/500");
    check_points(LOADS "not not (load < 1e3)}\n", "500s/max/500 500s/random/500");
    check_points(LOADS "'\"max\" == s and 1000 != load'}\n", "500s/max/500 0.5h/max/500");
    /* Axis against axis; a bare number and a time compare in seconds. */
    check_points(LOADS "s == 'max' and load != 0.5h and load > 499.5}\n", "500s/max/500 1000000ms/max/500");
}

struct mistake {
    const char *text;
    int line, column;
    const char *said;
};

static void check_mistake(const struct mistake *mistake)
{
    struct made made = make(mistake->text);
    bool is_right = made.status == STATUS_USER && made.error.line == mistake->line &&
                    made.error.column == mistake->column && strstr(made.error.message, mistake->said);
    if (!is_right)
        printf("\n  of:       %s  found:    %d:%d: %s\n  expected: %d:%d: %s\n", mistake->text, made.error.line,
               made.error.column, made.error.message, mistake->line, mistake->column, mistake->said);
    CU_ASSERT(is_right);
    CU_ASSERT_PTR_NULL(made.plan);
    drop(&made);
}

#define CHECK_ALL(mistakes)                                                                                            \
    for (size_t i = 0; i < sizeof(mistakes) / sizeof *(mistakes); i++)                                                 \
    check_mistake(&(mistakes)[i])

static void test_mistakes_of_axes(void)
{
    static const struct mistake mistakes[] = {
        {"sweep: {}\n", 1, 8, "expected axes"},
        {"sweep: [1]\n", 1, 8, "expected axes"},
        {"sweep: {a: {kee: run.seed, values: [1]}}\n", 1, 13, "did you mean key?"},
        {"sweep: {a: {colour: red, values: [1]}}\n", 1, 13, "there are key, values, range, log_range, label"},
        {"sweep: {a: {key: workload.beat, values: [A]}}\n", 1, 18, "did you mean workload.beta?"},
        {"sweep: {a: {key: sweep, values: [A]}}\n", 1, 18, "cannot be swept"},
        {"sweep: {a: {key: extends, values: [A]}}\n", 1, 18, "cannot be swept"},
        {"sweep: {a: {key: title, values: [A]}}\n", 1, 18, "cannot be swept"},
        {"sweep: {a: {key: run.seed, values: []}}\n", 1, 36, "empty"},
        {"sweep: {a: {key: run.seed, values: 3}}\n", 1, 36, "expected a list"},
        {"sweep: {a: {key: run.seed}}\n", 1, 12, "needs one of"},
        {"sweep: {a: {key: run.seed, values: [1], range: [1, 2, 1]}}\n", 1, 12, "needs one of"},
        {"sweep: {a: {key: run.seed, values: [1, -1]}}\n", 1, 40, "out of range"},
        {"sweep: {a: {key: run.seed, values: [1, null]}}\n", 1, 40, "null"},
        {"sweep: {a: {key: run.seed, values: [1, 2, 1]}}\n", 1, 43, "twice"},
        {"sweep: {a: {key: run.tick, values: [1ns, 1000ps]}}\n", 1, 42, "first as '1ns'"},
        {"sweep: {a: {key: run.seed, values: [1]},\n b: {key: run.seed, values: [2]}}\n", 2, 11, "swept twice"},
        {"sweep: {a: {key: run.seed, values: [1], label: ''}}\n", 1, 48, "no value"},
        {"sweep: {2a: {key: run.seed, values: [1]}}\n", 1, 9, "no name"},
        {"sweep: {not: {key: run.seed, values: [1]}}\n", 1, 9, "no name"},
        {"sweep: {wher: a > 1}\n", 1, 15, "did you mean where?"},
        {"sweep: {a: {values: [4]}}\n", 1, 22, "has no key"},
        {"sweep: {a: {values: [{run.seed: 4}]}}\n", 1, 22, "needs a label"},
        {"sweep: {a: {values: [{label: x}]}}\n", 1, 22, "sets no key"},
        {"sweep: {a: {values: [{label: x, run.sed: 4}]}}\n", 1, 33, "did you mean run.seed?"},
        {"sweep: {a: {values: [{label: x, run.seed: 1}, {label: x, run.seed: 2}]}}\n", 1, 47, "twice"},
        {"sweep: {seed: {values: [{label: x, run.seed: 1}]}}\n", 1, 9, "column"},
        {"sweep: {blocking_rate: {values: [{label: x, run.seed: 1}]}}\n", 1, 9, "column"},
        {"sweep: {topology: {values: [{label: x, run.seed: 1}]}, t: {key: topology, values: [x]}}\n", 1, 9, "column"},
        /* What does nothing. */
        {"sweep: {a: {key: partition.degree, values: [1, 2]}}\n", 1, 9, "no effect in any run"},
        {"workload.trace: x.csv\nsweep: {a: {key: workload.beta, values: [A, B]}}\n", 2, 9, "no effect in any run"},
        {"sweep: {a: {key: workload.beta_value, values: [1]}}\n", 1, 9,
         "workload.trace not set and workload.beta: fixed"},
        {"sweep: {a: {values: [{label: x, partition.strategy: max, partition.degree: 4}]}}\n", 1, 76,
         "partition.degree of x has no effect"},
        /* A combination that cannot be run. */
        {"sweep: {a: {key: partition.strategy, values: [max, fixed]}}\n", 1, 52, "partition.strategy=fixed"},
        {"partition.degree: 8\nsweep: {a: {key: run.seed, values: [1]}}\n", 1, 19, "has no effect with"},
    };
    CHECK_ALL(mistakes);
}

static void test_mistakes_of_ranges(void)
{
    static const struct mistake mistakes[] = {
        {"sweep: {a: {key: run.seed, range: [1, 2]}}\n", 1, 35, "three values"},
        {"sweep: {a: {key: run.seed, range: [1, [], 2]}}\n", 1, 39, "expected a number"},
        {"sweep: {a: {key: run.seed, range: [1, 9, 0]}}\n", 1, 42, "do not lead"},
        {"sweep: {a: {key: run.seed, range: [1, 9, -1]}}\n", 1, 42, "do not lead"},
        {"sweep: {a: {key: run.seed, range: [1, 9, 3]}}\n", 1, 42, "do not lead"},
        {"sweep: {a: {key: run.seed, range: [0, 1e15, 1]}}\n", 1, 35, "more than 1000000 values"},
        {"sweep: {a: {key: run.seed, range: [0, 1e300, 1]}}\n", 1, 39, "15 digits"},
        {"sweep: {a: {key: run.seed, range: [0, 1, 0.5]}}\n", 1, 35, "0.5"},
        {"sweep: {a: {key: run.tick, range: [1ns, 1us, 1ns]}}\n", 1, 41, "same unit"},
        {"sweep: {a: {key: run.tick, range: [1, 10, 1]}}\n", 1, 36, "run.tick"},
        {"sweep: {a: {key: workload.beta, range: [1, 10, 1]}}\n", 1, 40, "is no number"},
        {"sweep: {a: {range: [1, 10, 1]}}\n", 1, 20, "needs a key"},
        {"sweep: {a: {key: run.seed, log_range: [0, 10, 2]}}\n", 1, 40, "above zero"},
        {"sweep: {a: {key: run.seed, log_range: [1, 10, 1]}}\n", 1, 47, "expected 2 to"},
        {"sweep: {a: {key: run.seed, log_range: [1, 10, 1s]}}\n", 1, 47, "expected 2 to"},
        {"sweep: {a: {key: run.seed, log_range: [1, 10, 30]}}\n", 1, 39, "twice"},
        {"sweep: {a: {key: run.tick, log_range: [1, 10ns, 3]}}\n", 1, 40, "run.tick"},
    };
    CHECK_ALL(mistakes);
}

#define TWO "sweep: {a: {key: run.seed, values: [1, 2]}, b: {key: workload.steps, values: [1, 2, 3]},\n "

static void test_mistakes_of_the_rest(void)
{
    static const struct mistake mistakes[] = {
        {TWO "zip: [[a, b]]}\n", 2, 12, "a has 2 values, b has 3"},
        {TWO "zip: [[a, c]]}\n", 2, 12, "no axis 'c'"},
        {TWO "zip: [[a, a]]}\n", 2, 12, "twice"},
        {TWO "zip: [a, b]}\n", 2, 8, "at least two axes"},
        {TWO "zip: a}\n", 2, 7, "list of lists"},
        {TWO "repeat: 0}\n", 2, 10, "from 1 to"},
        {TWO "repeat: 2.5}\n", 2, 10, "from 1 to"},
        {TWO "repeat: [1]}\n", 2, 10, "expected one value"},
        {TWO "repeat: 1000000}\n", 1, 8, "more than 1000000 runs"},
        {TWO "stop_when: 3}\n", 2, 13, "expected {metric"},
        {TWO "stop_when: {metric: blocking_rate}}\n", 2, 13, "needs metric"},
        {TWO "stop_when: {metric: blocking_rat, relative_half_width: 0.1, max_repeat: 9}}\n", 2, 22,
         "did you mean blocking_rate?"},
        {TWO "stop_when: {metric: blocking_rate, relative_half_width: 1.5, max_repeat: 9}}\n", 2, 58,
         "between 0 and 1"},
        {TWO "repeat: 10, stop_when: {metric: blocking_rate, relative_half_width: 0.1, max_repeat: 9}}\n", 2, 87,
         "from 10 to"},
        {TWO "stop_when: {metrik: blocking_rate}}\n", 2, 14, "did you mean metric?"},
        {"sweep: {a: {key: run.seed, range: [1, 10000, 1]}, b: {key: workload.steps, range: [1, 10000, 1]}}\n", 1, 8,
         "more than 10000000 combinations"},
        {TWO "where: [1]}\n", 2, 9, "expected one value"},
        {TWO "where: a > 5}\n", 2, 9, "no combination is left"},
        {TWO "where: a >}\n", 2, 12, "character 4: ends"},
        {TWO "where: c > 1}\n", 2, 9, "'c' is neither an axis"},
        {TWO "where: a > 1 and}\n", 2, 18, "character 10: ends"},
        {TWO "where: a > 1 b}\n", 2, 15, "found 'b'"},
        {TWO "where: 'a = 1'}\n", 2, 12, "cannot read '= 1'"},
        {TWO "where: (a > 1}\n", 2, 15, "')'"},
        {TWO "where: a > 1)}\n", 2, 14, "found ')'"},
        {TWO "where: a > 1s}\n", 2, 11, "compares a number with a time"},
        {TWO "where: a > 'x}\n", 2, 13, "not closed"},
        {TWO "where: a == \"1\"}\n", 2, 11, "compares a number with a text"},
        {TWO "where: a}\n", 2, 10, "one of =="},
        {TWO "where: '''x'' < ''y'''}\n", 2, 14, "no order"},
        {TWO "where: and > 1}\n", 2, 9, "found 'and'"},
    };
    CHECK_ALL(mistakes);
}

/* A stop lists the most repetitions; repeat is the least, two where nothing is said. */
static void test_stop(void)
{
    struct made made = make_good("sweep: {a: {key: workload.steps, values: [1, 2]}, repeat: 3,\n"
                                 "  stop_when: {metric: jct_mean_s, relative_half_width: 0.05, max_repeat: 7}}\n");
    CU_ASSERT_EQUAL(made.plan->run_count, 14);
    CU_ASSERT_EQUAL(made.plan->stop.least, 3);
    CU_ASSERT_EQUAL(made.plan->stop.metric, METRIC_JCT_MEAN);
    CU_ASSERT_EQUAL(made.plan->stop.relative_half_width, 0.05);
    CU_ASSERT_EQUAL(made.plan->stop.most, 7);
    drop(&made);
    made = make_good("sweep: {stop_when: {metric: jct_mean_s, relative_half_width: 0.05, max_repeat: 7}}\n");
    CU_ASSERT_EQUAL(made.plan->stop.least, 2);
    CU_ASSERT_EQUAL(made.plan->run_count, 7);
    drop(&made);
}

/* Nesting stops at a limit of its own, long chains do not nest. */
static void test_deep_where(void)
{
    char text[9000];
    size_t used = (size_t)snprintf(text, sizeof text, "%swhere: \"", TWO);
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "(");
    snprintf(text + used, sizeof text - used, "\"}\n");
    check_mistake(&(struct mistake){text, 2, 74, "more than 64 levels"});
    used = (size_t)snprintf(text, sizeof text, "%swhere: \"a == 1", TWO);
    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " or a == 9");
    snprintf(text + used, sizeof text - used, "\"}\n");
    check_points(text, "1/1 1/2 1/3");
}

/* Neighbours that a double cannot tell apart are two values. */
static void test_large_integers(void)
{
    check_points("sweep: {a: {key: run.seed, values: [9007199254740992, 9007199254740993]}}\n",
                 "9007199254740992 9007199254740993");
}

/* A command line that every run would overrule is refused, one that takes the sweep away is not. */
static void test_command_line(void)
{
    static const char text[] = "sweep: {s: {key: partition.strategy, values: [max, random]}}\n";
    const char *assignments[] = {"partition.strategy=max", "sweep=null"};
    struct made made = {0};
    struct scenario_overrides overrides = {assignments, 1};
    CU_ASSERT_EQUAL_FATAL(scenario_parse(text, strlen(text), "s.yaml", overrides, &made.scenario, &made.error),
                          STATUS_OK);
    CU_ASSERT_EQUAL(plan_create(made.scenario, &made.plan, &made.error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(made.error.message, "because the sweep sets it (s.yaml:1)"));
    scenario_free(made.scenario);
    overrides.count = 2;
    CU_ASSERT_EQUAL_FATAL(scenario_parse(text, strlen(text), "s.yaml", overrides, &made.scenario, &made.error),
                          STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(plan_create(made.scenario, &made.plan, &made.error), STATUS_OK);
    CU_ASSERT_EQUAL(made.plan->run_count, 1);
    drop(&made);
}

void suite_plan(void)
{
    CU_pSuite suite = CU_add_suite("plan", NULL, NULL);
    CU_add_test(suite, "a scenario without sweep is one run", test_one_run);
    CU_add_test(suite, "order, numbers, points and columns", test_order);
    CU_add_test(suite, "settings of each run", test_settings);
    CU_add_test(suite, "seeds depend on the repetition alone", test_seeds);
    CU_add_test(suite, "200,000 seeds are distinct", test_seeds_are_distinct);
    CU_add_test(suite, "run.seed swept", test_swept_seed);
    CU_add_test(suite, "values without effect", test_effects);
    CU_add_test(suite, "values that set several keys", test_compounds);
    CU_add_test(suite, "ranges", test_ranges);
    CU_add_test(suite, "zip", test_zip);
    CU_add_test(suite, "where", test_where);
    CU_add_test(suite, "mistakes of axes", test_mistakes_of_axes);
    CU_add_test(suite, "mistakes of ranges", test_mistakes_of_ranges);
    CU_add_test(suite, "mistakes of the rest", test_mistakes_of_the_rest);
    CU_add_test(suite, "stop_when", test_stop);
    CU_add_test(suite, "deep and long conditions", test_deep_where);
    CU_add_test(suite, "large whole numbers", test_large_integers);
    CU_add_test(suite, "keys of the command line", test_command_line);
}
