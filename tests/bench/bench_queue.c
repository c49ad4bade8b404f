/* Hold model: N events pending; an operation takes the first and schedules one anew. The calendar and the plain binary
 * heap go through the same times. Both carry a 32-byte payload that is read at a pop and written at a push; the heap's
 * stays in its place, which favours the heap. Goals: from 1000 pending on nowhere slower than the heap, and at most
 * half its time at 1e5 and 1e6 in all but log-uniform times and ties. At 100 pending both live in the first-level cache
 * and take some 30 ns; there the calendar pays for its handles, which the plain heap has not, and camel takes 1.04
 * to 1.07 of the heap's time: 1.15 is allowed. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../increments.h"
#include "../reference_heap.h"
#include "engine/calendar.h"
#include "engine/memory.h"

enum { ROUNDS_FEW = 5, ROUNDS_MANY = 20, FEW_FROM = 100000, HOLDS_MIN = 200000, HUGE_BYTES = 2 << 20 };

struct payload {
    uint64_t data, spare[2];
    uint32_t entity;
    uint16_t kind;
    uint8_t priority;
};

struct rivals {
    struct calendar *calendar;
    struct reference_heap heap;
    struct payload *payloads;
    uint64_t order;
    uint64_t sum; /* of what was read, so that reading is not optimised away */
    struct increments calendar_increments, heap_increments;
};

static void hold_calendar(struct rivals *rivals, size_t holds)
{
    struct event event;
    for (size_t i = 0; i < holds && calendar_pop(rivals->calendar, &event); i++) {
        rivals->sum += event.data;
        event.time += increments_next(&rivals->calendar_increments);
        event.data++;
        (void)calendar_push(rivals->calendar, &event);
    }
}

static void hold_heap(struct rivals *rivals, size_t holds)
{
    struct reference_key key;
    for (size_t i = 0; i < holds && reference_heap_pop(&rivals->heap, &key); i++) {
        struct payload *payload = &rivals->payloads[key.payload];
        rivals->sum -= payload->data;
        key.time += increments_next(&rivals->heap_increments);
        key.order = rivals->order++;
        payload->data++;
        reference_heap_push(&rivals->heap, key);
    }
}

static void fill(struct rivals *rivals, size_t pending)
{
    for (size_t i = 0; i < pending; i++) {
        struct event event = {.time = increments_next(&rivals->calendar_increments), .data = i};
        (void)calendar_push(rivals->calendar, &event);
        int64_t time = increments_next(&rivals->heap_increments);
        rivals->payloads[i].data = i;
        reference_heap_push(&rivals->heap, (struct reference_key){time, rivals->order++, (uint32_t)i});
    }
}

/* The calendar asks for huge pages where it is large, so the heap and its payloads get them as well. */
static void *alloc_huge(size_t count, size_t size)
{
    size_t bytes = (count * size + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    void *block = aligned_alloc(HUGE_BYTES, bytes);
    if (!block)
        memory_exhausted(count, size);
    (void)madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

static double time_holds(struct rivals *rivals, void (*hold)(struct rivals *, size_t), size_t holds)
{
    double start = bench_now_ns();
    hold(rivals, holds);
    return (bench_now_ns() - start) / (double)holds;
}

static int report(enum increment_kind kind, size_t pending, double calendar_ns, double heap_ns,
                  const struct calendar_stats *stats)
{
    bool half = pending >= 100000 && kind != INCREMENT_LOGU && kind != INCREMENT_TIES;
    double ratio = calendar_ns / heap_ns;
    bool met = ratio <= (half ? 0.5 : pending <= 100 ? 1.15 : 1.0);
    printf("%-8s %8zu %8.1f %8.1f %6.2f  %-6s", increment_names[kind], pending, calendar_ns, heap_ns, ratio,
           met ? "ok" : "MISSED");
    printf("  load %.1f max %llu, rebuilds %llu, slides %llu, split days %llu, depth %u, %.0f B/event\n",
           (double)stats->day_load_sum / (double)(stats->days_opened ? stats->days_opened : 1),
           (unsigned long long)stats->day_load_max, (unsigned long long)stats->rebuilds,
           (unsigned long long)stats->slides, (unsigned long long)stats->children, stats->depth_max,
           (double)stats->bytes / (double)pending);
    return !met;
}

static int compare(struct rivals *rivals, enum increment_kind kind, size_t pending)
{
    increments_fill(&rivals->calendar_increments, kind, 1);
    rivals->heap_increments = rivals->calendar_increments;
    rivals->calendar = calendar_create();
    rivals->payloads = alloc_huge(pending, sizeof *rivals->payloads);
    rivals->heap.keys = alloc_huge(pending, sizeof *rivals->heap.keys);
    rivals->heap.capacity = pending;
    fill(rivals, pending);
    size_t holds = pending > HOLDS_MIN ? pending : HOLDS_MIN;
    hold_calendar(rivals, holds);
    hold_heap(rivals, holds);
    double calendar_ns = 1e300, heap_ns = 1e300;
    int rounds = pending < FEW_FROM ? ROUNDS_MANY : ROUNDS_FEW;
    for (int round = 0; round < rounds; round++) {
        double ns = time_holds(rivals, hold_calendar, holds / 2);
        calendar_ns = ns < calendar_ns ? ns : calendar_ns;
        ns = time_holds(rivals, hold_heap, holds / 2);
        heap_ns = ns < heap_ns ? ns : heap_ns;
    }
    struct calendar_stats stats = calendar_stats(rivals->calendar);
    int missed = report(kind, pending, calendar_ns, heap_ns, &stats);
    if (rivals->sum != 0) {
        printf("the two disagree on the order of events\n");
        missed++;
    }
    calendar_destroy(rivals->calendar);
    reference_heap_free(&rivals->heap);
    free(rivals->payloads);
    return missed;
}

int bench_queue(void)
{
    int missed = 0;
    printf("%-8s %8s %8s %8s %6s  %s\n", "times", "pending", "calendar", "heap", "ratio", "goal (ns per hold)");
    for (int kind = 0; kind < INCREMENT_KINDS; kind++)
        for (size_t pending = 100; pending <= 1000000; pending *= 10) {
            struct rivals *rivals = memory_alloc(1, sizeof *rivals);
            missed += compare(rivals, (enum increment_kind)kind, pending);
            fflush(stdout);
            free(rivals);
        }
    return missed;
}
