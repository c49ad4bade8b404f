/* The engine's loop, clock, hashes, random streams and statistics.
 *
 * Properties: events run in order of (time, priority, scheduling); a run ends where it says; times are rounded once, in
 * the direction promised, and never wrap; streams depend on their names alone; statistics agree with closed formulas.
 */
#include "suites.h"

#include <math.h>
#include <string.h>

#include <CUnit/CUnit.h>
#include <gsl/gsl_randist.h>

#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/hash.h"
#include "engine/intern.h"
#include "engine/random.h"
#include "engine/statistics.h"
#include "engine/status.h"

static const struct sim_clock ps = {.tick_ps = 1}, ns = {.tick_ps = 1000}, ms = {.tick_ps = 1000000000};

/* --- Clock ----------------------------------------------------------------- */

static void test_clock_rounding(void)
{
    CU_ASSERT_EQUAL(clock_from_ps(&ps, 1234), 1234);
    CU_ASSERT_EQUAL(clock_from_ps(&ns, 1499), 1);
    CU_ASSERT_EQUAL(clock_from_ps(&ns, 1500), 2);
    CU_ASSERT_EQUAL(clock_from_ps(&ns, -1499), -1);
    CU_ASSERT_EQUAL(clock_from_ps(&ns, -1500), -2);
    CU_ASSERT_EQUAL(clock_from_ps(&ns, INT64_MAX), INT64_MAX / 1000 + 1);
    sim_time time = 0;
    CU_ASSERT_EQUAL(clock_from_seconds(&ps, 1e-6, &time, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(time, 1000000);
    CU_ASSERT_EQUAL(clock_from_seconds(&ms, 12.0004, &time, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(time, 12000);
    CU_ASSERT_EQUAL(clock_from_seconds(&ns, -2.5e-9, &time, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(time, -2);
    CU_ASSERT_EQUAL(clock_to_seconds(&ns, 1500000000), 1.5);
    CU_ASSERT_EQUAL(clock_to_seconds(&ps, 1), 1e-12);
}

static void test_clock_limits(void)
{
    struct error error;
    sim_time time = 77;
    CU_ASSERT_EQUAL(clock_from_seconds(&ps, 1e7, &time, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1ns"));
    CU_ASSERT_EQUAL(clock_from_seconds(&ps, -1e10, &time, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1us"));
    CU_ASSERT_EQUAL(clock_from_seconds(&ns, 1e15, &time, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1ms"));
    CU_ASSERT_EQUAL(clock_from_seconds(&ns, 1e30, &time, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "any clock"));
    CU_ASSERT_EQUAL(clock_from_seconds(&ns, NAN, &time, &error), STATUS_USER);
    CU_ASSERT_EQUAL(clock_from_seconds(&ns, INFINITY, &time, &error), STATUS_USER);
    CU_ASSERT_EQUAL(time, 77);
    CU_ASSERT_TRUE(clock_add(3, 4, &time));
    CU_ASSERT_EQUAL(time, 7);
    CU_ASSERT_FALSE(clock_add(INT64_MAX - 1, 1, &time)); /* the end of time is not a time */
    CU_ASSERT_FALSE(clock_add(INT64_MAX, INT64_MAX, &time));
    CU_ASSERT_FALSE(clock_add(INT64_MIN, -1, &time));
    CU_ASSERT_EQUAL(time, 7);
    CU_ASSERT_EQUAL(clock_advance(&ps, 5, 6, &time, &error), STATUS_OK);
    CU_ASSERT_EQUAL(time, 11);
    CU_ASSERT_EQUAL(clock_advance(&ps, INT64_MAX - 5, 6, &time, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1ns"));
    CU_ASSERT_EQUAL(time, 11);
}

static void test_clock_duration(void)
{
    CU_ASSERT_EQUAL(clock_duration(&ps, 0, 1), 0);
    CU_ASSERT_EQUAL(clock_duration(&ps, 1, UINT64_C(1600000000000)), 1); /* 0.625 ps, rounded up */
    CU_ASSERT_EQUAL(clock_duration(&ps, 8, UINT64_C(1600000000000)), 5);
    CU_ASSERT_EQUAL(clock_duration(&ps, 9, UINT64_C(1600000000000)), 6);
    CU_ASSERT_EQUAL(clock_duration(&ns, 1001, 1000000000), 1001);
    CU_ASSERT_EQUAL(clock_duration(&ms, 1, 1000000000), 1);
    /* 2^53 + 1 bytes: a double would lose the last one. */
    CU_ASSERT_EQUAL(clock_duration(&ps, (UINT64_C(1) << 53) + 1, UINT64_C(1000000000000)), (INT64_C(1) << 53) + 1);
    CU_ASSERT_EQUAL(clock_duration(&ps, UINT64_MAX, 1), SIM_TIME_MAX);
    CU_ASSERT_EQUAL(clock_duration(&ps, UINT64_MAX, UINT64_MAX), INT64_C(1000000000000));
}

/* --- Hashes ---------------------------------------------------------------- */

static uint64_t trace_of(const uint64_t (*events)[3], size_t count)
{
    struct trace_hash hash;
    trace_hash_start(&hash);
    for (size_t i = 0; i < count; i++)
        trace_hash_fold(&hash, events[i][0], events[i][1], events[i][2]);
    return trace_hash_value(&hash);
}

static void test_hash(void)
{
    const uint64_t events[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {0, 0, 0}};
    const uint64_t swapped[][3] = {{1, 3, 2}, {1, 2, 3}, {2, 1, 3}, {0, 0, 0}};
    CU_ASSERT_NOT_EQUAL(trace_of(events, 4), trace_of(swapped, 4));
    CU_ASSERT_NOT_EQUAL(trace_of(events, 3), trace_of(events, 4));
    CU_ASSERT_NOT_EQUAL(trace_of(events, 0), 0);
    /* The same on every machine, for ever: results carry these numbers. */
    CU_ASSERT_EQUAL(trace_of(events, 4), UINT64_C(0x75e5affd606a99a5));
    CU_ASSERT_EQUAL(hash_bytes("ocsim", 5), UINT64_C(0xa74b1c4ad0d7c51e));
    CU_ASSERT_EQUAL(hash_bytes(NULL, 0), hash_bytes("x", 0));
    CU_ASSERT_NOT_EQUAL(hash_bytes("ab", 2), hash_bytes("ba", 2));
    CU_ASSERT_NOT_EQUAL(hash_pair(1, 2), hash_pair(2, 1));
}

/* Numbers follow the order of first appearance, whatever the hashes and however often the table grew. */
static void test_intern(void)
{
    enum { COUNT = 1000 };
    struct intern intern = {0};
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT; i++)
            CU_ASSERT_EQUAL(intern_number(&intern, &i, sizeof i), i);
    CU_ASSERT_EQUAL(intern.count, COUNT);
    CU_ASSERT_EQUAL(intern_number(&intern, "", 0), COUNT);
    CU_ASSERT_EQUAL(intern_number(&intern, "\0", 1), COUNT + 1); /* lengths count, not a NUL */
    CU_ASSERT_EQUAL(intern_number(&intern, "", 0), COUNT);
    intern_free(&intern);
    CU_ASSERT_EQUAL(intern_number(&intern, "b", 1), 0);
    intern_free(&intern);
}

/* --- Random streams -------------------------------------------------------- */

static void test_random_names(void)
{
    struct random_stream *first = random_open(1, "arrivals", 0);
    uint64_t expected[3] = {random_bits(first), random_bits(first), random_bits(first)};
    CU_ASSERT_EQUAL(expected[0], UINT64_C(0x8c2b22bc000f7b56));
    struct random_stream *other = random_open(1, "arrivals", 1);
    CU_ASSERT_NOT_EQUAL(random_bits(other), expected[0]);
    random_reseed(other, 1, "beta", 0);
    CU_ASSERT_NOT_EQUAL(random_bits(other), expected[0]);
    random_reseed(other, 2, "arrivals", 0);
    CU_ASSERT_NOT_EQUAL(random_bits(other), expected[0]);
    random_reseed(other, 1, "arrivals", 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(random_bits(other), expected[i]);
    random_close(first);
    random_close(other);
    random_close(NULL);
}

static void test_random_draws(void)
{
    enum { DRAWS = 100000 };
    struct random_stream *stream = random_open(3, "draws", 0);
    struct statistics_sample uniform = {0}, exponential = {0}, normal = {0};
    unsigned counts[6] = {0};
    for (int i = 0; i < DRAWS; i++) {
        statistics_sample_add(&uniform, random_uniform(stream));
        statistics_sample_add(&exponential, random_exponential(stream, 4.0));
        statistics_sample_add(&normal, random_normal(stream));
        counts[random_below(stream, 6)]++;
    }
    /* Five standard errors: a right generator fails this once in a million seeds, and the seed is fixed. */
    CU_ASSERT_DOUBLE_EQUAL(uniform.mean, 0.5, 5 * sqrt(1.0 / 12 / DRAWS));
    CU_ASSERT_TRUE(uniform.min >= 0 && uniform.max < 1);
    CU_ASSERT_DOUBLE_EQUAL(exponential.mean, 4.0, 5 * 4.0 / sqrt(DRAWS));
    CU_ASSERT_DOUBLE_EQUAL(normal.mean, 0.0, 5 / sqrt(DRAWS));
    CU_ASSERT_DOUBLE_EQUAL(statistics_sample_variance(&normal), 1.0, 5 * sqrt(2.0 / DRAWS));
    for (int i = 0; i < 6; i++)
        CU_ASSERT_DOUBLE_EQUAL(counts[i], DRAWS / 6.0, 5 * sqrt(DRAWS * 5 / 36.0));
    /* Three quarters of 2^64: a quarter of the draws is thrown away and drawn again. */
    uint64_t bound = UINT64_C(3) << 62;
    for (int i = 0; i < 1000; i++)
        CU_ASSERT_TRUE(random_below(stream, bound) < bound);
    gsl_rng *generator = random_generator(stream);
    CU_ASSERT_STRING_EQUAL(gsl_rng_name(generator), "xoshiro256**");
    CU_ASSERT_TRUE(gsl_ran_lognormal(generator, 0, 1) > 0);
    CU_ASSERT_TRUE(gsl_rng_uniform_int(generator, 10) < 10);
    random_close(stream);
}

/* --- Statistics ------------------------------------------------------------ */

static void test_level(void)
{
    struct statistics_level level;
    statistics_level_start(&level, 100, 4);
    CU_ASSERT_EQUAL(statistics_level_mean(&level, 100), 4.0);
    statistics_level_add(&level, 110, 6);
    statistics_level_set(&level, 130, 1);
    CU_ASSERT_TRUE(statistics_level_area(&level, 140) == 4 * 10 + 10 * 20 + 1 * 10);
    CU_ASSERT_EQUAL(statistics_level_mean(&level, 140), 6.25);
    CU_ASSERT_EQUAL(level.max, 10);
    /* Exact where doubles are not: 10^15 devices over 10^18 ticks, and one tick of one more. */
    statistics_level_start(&level, 0, INT64_C(1000000000000000));
    statistics_level_add(&level, INT64_C(1000000000000000000), 1);
    statistics_wide whole = (statistics_wide)INT64_C(1000000000000000) * INT64_C(1000000000000000001);
    CU_ASSERT_TRUE(statistics_level_area(&level, INT64_C(1000000000000000001)) == whole + 1);
}

static void test_sample(void)
{
    struct statistics_sample sample = {0};
    CU_ASSERT_TRUE(isnan(statistics_sample_mean(&sample)));
    statistics_sample_add(&sample, 1e9 + 4);
    CU_ASSERT_TRUE(isnan(statistics_sample_variance(&sample)));
    CU_ASSERT_TRUE(isnan(statistics_sample_half_width(&sample)));
    const double rest[] = {1e9 + 7, 1e9 + 13, 1e9 + 16};
    for (int i = 0; i < 3; i++)
        statistics_sample_add(&sample, rest[i]);
    CU_ASSERT_EQUAL(statistics_sample_mean(&sample), 1e9 + 10);
    CU_ASSERT_DOUBLE_EQUAL(statistics_sample_variance(&sample), 30.0,
                           1e-9); /* two passes in one, without cancellation */
    CU_ASSERT_DOUBLE_EQUAL(statistics_sample_deviation(&sample), sqrt(30.0), 1e-9);
    CU_ASSERT_EQUAL(sample.min, 1e9 + 4);
    CU_ASSERT_EQUAL(sample.max, 1e9 + 16);
    /* Student's t for 3 degrees of freedom at 97.5 % is 3.182446 in the tables. */
    CU_ASSERT_DOUBLE_EQUAL(statistics_sample_half_width(&sample), 3.182446 * sqrt(30.0) / 2, 1e-5);
}

static void test_quantiles(void)
{
    double values[] = {4, 1, 3, 2};
    statistics_sort(values, 4);
    CU_ASSERT_EQUAL(values[0], 1);
    CU_ASSERT_EQUAL(statistics_quantile(values, 4, 0), 1);
    CU_ASSERT_EQUAL(statistics_quantile(values, 4, 0.5), 2.5);
    CU_ASSERT_DOUBLE_EQUAL(statistics_quantile(values, 4, 0.95), 3.85, 1e-12);
    CU_ASSERT_EQUAL(statistics_quantile(values, 4, 1), 4);
    CU_ASSERT_EQUAL(statistics_quantile(values, 1, 0.99), 1);
    CU_ASSERT_TRUE(isnan(statistics_quantile(NULL, 0, 0.5)));
    const double left[] = {10, 20, 30}, right[] = {9, 18, 27};
    struct statistics_sample paired = statistics_paired(left, right, 3);
    CU_ASSERT_EQUAL(paired.count, 3);
    CU_ASSERT_EQUAL(statistics_sample_mean(&paired), 2);
    CU_ASSERT_EQUAL(statistics_sample_variance(&paired), 1);
}

/* --- The loop -------------------------------------------------------------- */

enum { KIND_NOTE, KIND_CHAIN, KIND_STOP };

struct log {
    uint64_t data[64];
    sim_time time[64];
    size_t count;
};

static void note(struct engine *engine, const struct event *event, void *world)
{
    struct log *log = world;
    CU_ASSERT_EQUAL(engine_now(engine), event->time);
    log->time[log->count] = event->time;
    log->data[log->count++] = event->data;
}

/* Schedules its successor at the same instant until data runs out. */
static void chain(struct engine *engine, const struct event *event, void *world)
{
    note(engine, event, world);
    if (event->data)
        (void)engine_schedule(engine, event->time, event->priority, KIND_CHAIN, event->entity, event->data - 1);
}

static void stop(struct engine *engine, const struct event *event, void *world)
{
    note(engine, event, world);
    engine_stop(engine);
}

static struct engine *engine_with(struct log *log)
{
    *log = (struct log){0};
    struct engine *engine = engine_create();
    engine_on(engine, KIND_NOTE, note, log);
    engine_on(engine, KIND_CHAIN, chain, log);
    engine_on(engine, KIND_STOP, stop, log);
    return engine;
}

static void test_order(void)
{
    struct log log;
    struct engine *engine = engine_with(&log);
    CU_ASSERT_FALSE(engine_step(engine));
    CU_ASSERT_EQUAL(engine_peek(engine), SIM_TIME_MAX);
    (void)engine_schedule(engine, 20, 0, KIND_NOTE, 0, 5);
    (void)engine_schedule(engine, 10, 1, KIND_CHAIN, 0, 2);
    (void)engine_schedule(engine, 10, 1, KIND_NOTE, 0, 3);
    (void)engine_schedule(engine, 10, 0, KIND_NOTE, 0, 4);
    CU_ASSERT_EQUAL(engine_peek(engine), 10);
    CU_ASSERT_EQUAL(engine_pending(engine), 4);
    while (engine_step(engine)) {
    }
    const uint64_t expected[] = {4, 2, 3, 1, 0, 5};
    CU_ASSERT_EQUAL(log.count, 6);
    CU_ASSERT_EQUAL(memcmp(log.data, expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(engine_events(engine), 6);
    CU_ASSERT_EQUAL(engine_now(engine), 20);
    CU_ASSERT_EQUAL(engine_calendar_stats(engine).pops, 6);
    engine_destroy(engine);
    engine_destroy(NULL);
}

static void test_run(void)
{
    struct log log;
    struct engine *engine = engine_with(&log);
    for (sim_time time = 10; time <= 50; time += 10)
        (void)engine_schedule(engine, time, 0, time == 30 ? KIND_STOP : KIND_NOTE, 0, (uint64_t)time);
    engine_run(engine, 20);
    CU_ASSERT_EQUAL(log.count, 2);
    CU_ASSERT_EQUAL(engine_now(engine), 20);
    engine_run(engine, 25);
    CU_ASSERT_EQUAL(engine_now(engine), 25);
    engine_run(engine, 100);
    CU_ASSERT_EQUAL(engine_now(engine), 30);
    CU_ASSERT_EQUAL(engine_pending(engine), 2);
    engine_run(engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(engine_now(engine), 50);
    engine_run(engine, 60);
    CU_ASSERT_EQUAL(engine_now(engine), 60);
    CU_ASSERT_EQUAL(log.count, 5);
    engine_destroy(engine);
}

static void test_cancel(void)
{
    struct log log;
    struct engine *engine = engine_with(&log);
    event_handle first = engine_schedule(engine, 10, 0, KIND_NOTE, 0, 1);
    event_handle second = engine_schedule(engine, 20, 0, KIND_NOTE, 0, 2);
    (void)engine_schedule(engine, 30, 0, KIND_NOTE, 0, 3);
    second = engine_reschedule(engine, second, 30); /* behind what is there already */
    CU_ASSERT_NOT_EQUAL(second, 0);
    CU_ASSERT_TRUE(engine_cancel(engine, first));
    CU_ASSERT_EQUAL(engine_pending(engine), 2);
    engine_run(engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(log.count, 2);
    CU_ASSERT_EQUAL(log.data[0], 3);
    CU_ASSERT_EQUAL(log.data[1], 2);
    CU_ASSERT_FALSE(engine_cancel(engine, second));
    CU_ASSERT_EQUAL(engine_reschedule(engine, second, 40), 0);
    engine_destroy(engine);
}

static uint64_t trace_of_run(uint32_t entity)
{
    struct log log;
    struct engine *engine = engine_with(&log);
    for (uint32_t i = 0; i < 40; i++)
        (void)engine_schedule(engine, (sim_time)(i * 7919 % 101), 0, KIND_NOTE, i == 39 ? entity : i, i);
    engine_run(engine, SIM_TIME_MAX);
    uint64_t hash = engine_trace_hash(engine);
    engine_destroy(engine);
    return hash;
}

static void test_trace(void)
{
    CU_ASSERT_EQUAL(trace_of_run(39), trace_of_run(39));
    CU_ASSERT_NOT_EQUAL(trace_of_run(39), trace_of_run(40));
    CU_ASSERT_EQUAL(trace_of_run(39), UINT64_C(0x44da86f6a8a519b8));
}

void suite_engine(void)
{
    CU_pSuite suite = CU_add_suite("engine", NULL, NULL);
    CU_add_test(suite, "clock: rounding", test_clock_rounding);
    CU_add_test(suite, "clock: limits", test_clock_limits);
    CU_add_test(suite, "clock: durations", test_clock_duration);
    CU_add_test(suite, "hashes", test_hash);
    CU_add_test(suite, "interned strings", test_intern);
    CU_add_test(suite, "random: names", test_random_names);
    CU_add_test(suite, "random: draws", test_random_draws);
    CU_add_test(suite, "statistics: levels", test_level);
    CU_add_test(suite, "statistics: samples", test_sample);
    CU_add_test(suite, "statistics: quantiles", test_quantiles);
    CU_add_test(suite, "loop: order", test_order);
    CU_add_test(suite, "loop: run until and stop", test_run);
    CU_add_test(suite, "loop: cancel and reschedule", test_cancel);
    CU_add_test(suite, "loop: trace", test_trace);
}
