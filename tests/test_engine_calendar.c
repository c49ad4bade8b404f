/* The calendar pops in the same order as a plain binary heap, whatever the times and whatever is cancelled.
 *
 * Properties: the same (time, priority, event) at every pop and the same first time at every peek, over more than 10^7
 * operations in total: seven distributions of increments, growing, steady and draining queues, cancels and
 * reschedules, everything at one instant, one event far away, fill then drain, changing density, times going down.
 * Each with the usual limits and with tiny ones, which send a short test through every tier. Handles to events that
 * are gone are told from live ones. */
#include "suites.h"

#include <stdlib.h>

#include <CUnit/CUnit.h>

#include "engine/calendar.h"
#include "engine/memory.h"
#include "increments.h"
#include "reference_heap.h"

enum { MIX_OPERATIONS = 800000, LONG_FACTOR = 10, DRAIN_EVENTS = 100000, CHANGE_EVENTS = 20000 };

static const struct calendar_limits usual = {.small = 64, .overfull = 64, .dead = 64};
static const struct calendar_limits tiny = {.small = 3, .overfull = 5, .dead = 4};

struct pushed {
    event_handle handle;
    uint64_t data;
    uint8_t priority;
    bool is_pending;
};

/* A calendar and a heap that are told the same; events are numbered by their push. */
struct twins {
    struct calendar *calendar;
    struct reference_heap heap;
    struct increments increments;
    struct pushed *events;
    size_t pushes, capacity;
    size_t live;
    int64_t now;
    size_t operations;
    size_t differences;
};

static struct twins *twins_open(const struct calendar_limits *limits, enum increment_kind kind)
{
    struct twins *twins = memory_alloc(1, sizeof *twins);
    twins->calendar = calendar_create_with(limits);
    increments_fill(&twins->increments, kind, 7);
    return twins;
}

static void remember(struct twins *twins, struct pushed pushed, int64_t time)
{
    twins->events = memory_grow(twins->events, &twins->capacity, twins->pushes + 1, sizeof *twins->events);
    twins->events[twins->pushes] = pushed;
    uint64_t order = ((uint64_t)pushed.priority << 56) | twins->pushes;
    reference_heap_push(&twins->heap, (struct reference_key){time, order, (uint32_t)twins->pushes});
    twins->pushes++;
    twins->live++;
    twins->operations++;
}

static void push(struct twins *twins, int64_t time, uint8_t priority)
{
    struct event event = {.time = time, .priority = priority, .data = twins->pushes, .entity = 5, .kind = 3};
    event_handle handle = calendar_push(twins->calendar, &event);
    remember(twins, (struct pushed){handle, event.data, priority, true}, time);
}

static bool pop(struct twins *twins)
{
    struct reference_key key;
    bool has_key;
    do
        has_key = reference_heap_pop(&twins->heap, &key);
    while (has_key && !twins->events[key.payload].is_pending);
    struct event event;
    bool has_event = calendar_pop(twins->calendar, &event);
    twins->operations++;
    if (has_key != has_event) {
        twins->differences++;
        return false;
    }
    if (!has_key)
        return false;
    twins->events[key.payload].is_pending = false;
    twins->live--;
    twins->now = key.time;
    const struct pushed *expected = &twins->events[key.payload];
    if (event.time != key.time || event.data != expected->data || event.priority != expected->priority)
        twins->differences++;
    if (event.kind != 3 || event.entity != 5)
        twins->differences++;
    return true;
}

static void peek(struct twins *twins)
{
    struct reference_key key;
    while (twins->heap.count && !twins->events[twins->heap.keys[0].payload].is_pending)
        (void)reference_heap_pop(&twins->heap, &key);
    int64_t time = twins->heap.count ? twins->heap.keys[0].time : SIM_TIME_MAX;
    twins->differences += calendar_peek_time(twins->calendar) != time;
    twins->operations++;
}

static size_t any_event(struct twins *twins)
{
    return (size_t)(increments_bits(&twins->increments) >> 11) % twins->pushes;
}

static void cancel(struct twins *twins, size_t which)
{
    struct pushed *event = &twins->events[which];
    twins->differences += calendar_cancel(twins->calendar, event->handle) != event->is_pending;
    twins->live -= event->is_pending;
    event->is_pending = false;
    twins->operations++;
}

/* The event lives on under the number of another push, with its old data and priority. */
static void reschedule(struct twins *twins, size_t which, int64_t time)
{
    struct pushed *event = &twins->events[which];
    event_handle handle = calendar_reschedule(twins->calendar, event->handle, time);
    twins->differences += (handle != 0) != event->is_pending;
    twins->operations++;
    if (!event->is_pending)
        return;
    event->is_pending = false;
    twins->live--;
    remember(twins, (struct pushed){handle, event->data, event->priority, true}, time);
}

static void drain(struct twins *twins)
{
    while (pop(twins)) {
    }
    CU_ASSERT_EQUAL(twins->live, 0);
    CU_ASSERT_EQUAL(calendar_size(twins->calendar), 0);
    CU_ASSERT_EQUAL(calendar_peek_time(twins->calendar), SIM_TIME_MAX);
}

/* Drains, compares, frees; returns how many operations were compared. */
static size_t twins_close(struct twins *twins)
{
    CU_ASSERT_EQUAL(calendar_size(twins->calendar), twins->live);
    drain(twins);
    CU_ASSERT_EQUAL(twins->differences, 0);
    size_t operations = twins->operations;
    calendar_destroy(twins->calendar);
    reference_heap_free(&twins->heap);
    free(twins->events);
    free(twins);
    return operations;
}

/* push_percent decides whether the queue grows or drains; the rest are pops but for a few peeks, cancels, moves. */
static void mix(struct twins *twins, size_t operations, unsigned push_percent)
{
    if (getenv("OCSIM_LONG"))
        operations *= LONG_FACTOR;
    for (size_t i = 0; i < operations; i++) {
        uint64_t bits = increments_bits(&twins->increments) >> 20;
        unsigned choice = (unsigned)(bits % 100);
        int64_t time = twins->now + increments_next(&twins->increments);
        if (choice < push_percent || twins->pushes == 0)
            push(twins, (bits >> 20) % 64 ? time : twins->now, (bits >> 30) % 8 ? 0 : (uint8_t)(bits >> 33));
        else if (choice < 92)
            (void)pop(twins);
        else if (choice < 94)
            peek(twins);
        else if (choice < 97)
            cancel(twins, any_event(twins));
        else
            reschedule(twins, any_event(twins), time);
    }
}

static size_t mixes(const struct calendar_limits *limits)
{
    size_t operations = 0;
    for (int kind = 0; kind < INCREMENT_KINDS; kind++) {
        struct twins *twins = twins_open(limits, (enum increment_kind)kind);
        mix(twins, MIX_OPERATIONS / 8, 50);
        mix(twins, MIX_OPERATIONS / 8, 70);
        mix(twins, MIX_OPERATIONS / 2, 46);
        mix(twins, MIX_OPERATIONS / 8, 20);
        mix(twins, MIX_OPERATIONS / 8, 49);
        operations += twins_close(twins);
    }
    return operations;
}

static void test_mixes(void)
{
    size_t operations = mixes(&usual) + mixes(&tiny);
    CU_ASSERT_TRUE(operations > 10000000);
}

static void fill_drain(const struct calendar_limits *limits)
{
    for (int kind = 0; kind < INCREMENT_KINDS; kind++) {
        struct twins *twins = twins_open(limits, (enum increment_kind)kind);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < DRAIN_EVENTS; i++)
                push(twins, twins->now + increments_next(&twins->increments), (uint8_t)(i % 3));
            drain(twins);
        }
        (void)twins_close(twins);
    }
}

static void test_fill_drain(void)
{
    fill_drain(&usual);
    fill_drain(&tiny);
}

static void one_instant(const struct calendar_limits *limits)
{
    struct twins *twins = twins_open(limits, INCREMENT_EXP);
    for (int i = 0; i < DRAIN_EVENTS; i++)
        push(twins, 1000, (uint8_t)(increments_bits(&twins->increments) >> 40));
    for (int i = 0; i < DRAIN_EVENTS; i++) {
        (void)pop(twins);
        push(twins, 1000, (uint8_t)(increments_bits(&twins->increments) >> 40));
    }
    /* And first in, first out, while something else waits. */
    push(twins, 5000, 0);
    for (int i = 0; i < DRAIN_EVENTS; i++) {
        push(twins, 1000, 255);
        (void)pop(twins);
    }
    (void)twins_close(twins);
}

static void test_one_instant(void)
{
    one_instant(&usual);
    one_instant(&tiny);
}

static void far_away(const struct calendar_limits *limits)
{
    struct twins *twins = twins_open(limits, INCREMENT_OCS);
    push(twins, INT64_C(1000000000000000000), 0);
    push(twins, SIM_TIME_MAX, 0);
    peek(twins);
    for (int i = 0; i < DRAIN_EVENTS; i++) {
        push(twins, twins->now + increments_next(&twins->increments), 0);
        push(twins, twins->now + increments_next(&twins->increments), 0);
        (void)pop(twins);
    }
    drain(twins);
    CU_ASSERT_EQUAL(twins->now, SIM_TIME_MAX);
    (void)twins_close(twins);
}

static void test_far_away(void)
{
    far_away(&usual);
    far_away(&tiny);
}

/* Increments grow or shrink a millionfold while the queue is in use, and its size changes a hundredfold. */
static void density(const struct calendar_limits *limits, bool decreasing)
{
    struct twins *twins = twins_open(limits, INCREMENT_UNIFORM);
    for (int step = 0; step < 20; step++) {
        int64_t divisor = INT64_C(1) << (decreasing ? 20 - step : step);
        size_t target = (size_t)CHANGE_EVENTS >> (step % 7);
        for (int i = 0; i < CHANGE_EVENTS; i++) {
            while (twins->live < target)
                push(twins, twins->now + increments_next(&twins->increments) / divisor, 0);
            (void)pop(twins);
        }
        while (twins->live > target / 2)
            (void)pop(twins);
    }
    (void)twins_close(twins);
}

static void test_density(void)
{
    density(&usual, true);
    density(&usual, false);
    density(&tiny, true);
    density(&tiny, false);
}

/* A calendar need not be told times in order: each push here is before everything, as after a peek far ahead. */
static void downwards(const struct calendar_limits *limits, int64_t stride)
{
    struct twins *twins = twins_open(limits, INCREMENT_EXP);
    int64_t time = INT64_C(4000000000000000000);
    for (int i = 0; i < DRAIN_EVENTS; i++) {
        time -= i % 5 ? stride : stride * 1000 + (int64_t)(increments_bits(&twins->increments) % 1000);
        push(twins, time, 0);
        if (i % 300 == 299)
            peek(twins);
        if (i % 1000 < 2)
            (void)pop(twins);
    }
    (void)twins_close(twins);
}

/* Late arrivals that halve the distance to now again and again: days within days within days. */
static void halving(const struct calendar_limits *limits)
{
    struct twins *twins = twins_open(limits, INCREMENT_LOGU);
    for (int i = 0; i < CHANGE_EVENTS; i++)
        push(twins, (INT64_C(1) << 61) + increments_next(&twins->increments), 0);
    for (int64_t span = INT64_C(1) << 61; span > 0; span /= 2) {
        for (int i = 0; i < 150; i++)
            push(twins, (int64_t)(increments_bits(&twins->increments) >> 2) % span, 0);
        peek(twins);
    }
    (void)twins_close(twins);
}

static void test_backwards(void)
{
    downwards(&usual, 1);
    downwards(&usual, 1000000007);
    downwards(&tiny, 1);
    halving(&usual);
    halving(&tiny);
}

static void test_cancel_many(void)
{
    struct twins *twins = twins_open(&usual, INCREMENT_EXP);
    for (int i = 0; i < DRAIN_EVENTS; i++)
        push(twins, increments_next(&twins->increments), 0);
    for (int i = 0; i < 1000; i++)
        (void)pop(twins);
    for (int i = 0; i < DRAIN_EVENTS; i++)
        if (i % 50)
            cancel(twins, (size_t)i);
    struct calendar_stats stats = calendar_stats(twins->calendar);
    CU_ASSERT_TRUE(stats.sweeps > 0 && stats.sweeps < 100);
    CU_ASSERT_TRUE(stats.dead <= 64 + twins->live / 2);
    CU_ASSERT_EQUAL(stats.cancels, stats.pushes - stats.pops - twins->live);
    peek(twins);
    (void)twins_close(twins);
}

static void test_handles(void)
{
    struct calendar *calendar = calendar_create();
    struct event event = {.time = 10, .data = 1};
    event_handle first = calendar_push(calendar, &event);
    CU_ASSERT_NOT_EQUAL(first, 0);
    CU_ASSERT_FALSE(calendar_cancel(calendar, 0));
    CU_ASSERT_FALSE(calendar_cancel(calendar, 999));
    CU_ASSERT_TRUE(calendar_cancel(calendar, first));
    CU_ASSERT_FALSE(calendar_cancel(calendar, first));
    CU_ASSERT_EQUAL(calendar_reschedule(calendar, first, 20), 0);
    CU_ASSERT_EQUAL(calendar_peek_time(calendar), SIM_TIME_MAX);
    event_handle second = calendar_push(calendar, &event); /* in the node of the first */
    CU_ASSERT_NOT_EQUAL(first, second);
    CU_ASSERT_FALSE(calendar_cancel(calendar, first));
    event_handle third = calendar_reschedule(calendar, second, 30);
    CU_ASSERT_FALSE(calendar_cancel(calendar, second));
    CU_ASSERT_EQUAL(calendar_peek_time(calendar), 30);
    CU_ASSERT_FALSE(calendar_pop_until(calendar, 29, &event));
    CU_ASSERT_TRUE(calendar_pop_until(calendar, 30, &event));
    CU_ASSERT_EQUAL(event.time, 30);
    CU_ASSERT_EQUAL(event.data, 1);
    CU_ASSERT_FALSE(calendar_cancel(calendar, third));
    CU_ASSERT_FALSE(calendar_pop(calendar, &event));
    calendar_destroy(calendar);
    calendar_destroy(NULL);
}

/* Memory and days stay in proportion to the events, also after many more have come and gone. */
static void test_stats(void)
{
    struct twins *twins = twins_open(&usual, INCREMENT_CAMEL);
    for (int i = 0; i < DRAIN_EVENTS; i++)
        push(twins, increments_next(&twins->increments), 0);
    for (int i = 0; i < 4 * DRAIN_EVENTS; i++) {
        (void)pop(twins);
        push(twins, twins->now + increments_next(&twins->increments), 0);
    }
    struct calendar_stats stats = calendar_stats(twins->calendar);
    CU_ASSERT_EQUAL(stats.pushes, 5 * DRAIN_EVENTS);
    CU_ASSERT_EQUAL(stats.pops, 4 * DRAIN_EVENTS);
    CU_ASSERT_TRUE(stats.rebuilds >= 1 && stats.rebuilds < 50);
    CU_ASSERT_TRUE(stats.slides >= 1);
    CU_ASSERT_TRUE(stats.spilled > 0);
    CU_ASSERT_TRUE(stats.day_load_max >= 3);
    CU_ASSERT_TRUE(stats.days_opened > 0 && stats.day_load_sum / stats.days_opened <= 16);
    CU_ASSERT_TRUE(stats.bytes < (size_t)DRAIN_EVENTS * 320);
    (void)twins_close(twins);
}

void suite_engine_calendar(void)
{
    CU_pSuite suite = CU_add_suite("engine: calendar", NULL, NULL);
    CU_add_test(suite, "mixed operations pop as a heap does", test_mixes);
    CU_add_test(suite, "fill then drain", test_fill_drain);
    CU_add_test(suite, "all at one instant", test_one_instant);
    CU_add_test(suite, "one event far away", test_far_away);
    CU_add_test(suite, "changing density", test_density);
    CU_add_test(suite, "times going down", test_backwards);
    CU_add_test(suite, "many cancels", test_cancel_many);
    CU_add_test(suite, "handles", test_handles);
    CU_add_test(suite, "statistics", test_stats);
}
