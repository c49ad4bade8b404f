#include "fabric/ring_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/status.h"

struct ring_stretch {
    struct arc arc;
    uint32_t wavelength;
};

struct ring_queue ring_queue_create(const struct ring_masks *closed)
{
    return (struct ring_queue){.closed = closed};
}

void ring_queue_free(struct ring_queue *queue)
{
    for (int i = 0; i < DIRECTIONS; i++)
        ring_waiting_free(&queue->waiting[i]);
    free(queue->opened);
    waitlist_free(&queue->offers);
    reuse_free(&queue->places, queue->stretches);
}

static struct ring_waiter waiter_on(const struct arc *arc, uint64_t stamp)
{
    return (struct ring_waiter){.first = arc->first, .end = arc->first + arc->length, .stamp = stamp};
}

void ring_queue_add(struct ring_queue *queue, const struct arc *arcs, uint32_t count, struct turn turn, uint32_t what)
{
    queue->stamp++;
    for (uint32_t i = 0; i < count; i++) {
        struct ring_waiter waiter = waiter_on(&arcs[i], queue->stamp);
        waiter.turn = turn;
        waiter.what = what;
        waiter.has_other = count > 1;
        ring_waiting_add(&queue->waiting[arcs[i].direction], &waiter);
    }
}

static void look_at(struct ring_queue *queue, const struct ring_stretch *stretch)
{
    queue->opened = memory_grow(queue->opened, &queue->opened_capacity, queue->opened_count + 1, sizeof *queue->opened);
    queue->opened[queue->opened_count++] = *stretch;
}

void ring_queue_open(struct ring_queue *queue, const struct arc *arc, uint32_t wavelength)
{
    if (queue->waiting[arc->direction].root != 0 || queue->offers.count > 0)
        look_at(queue, &(struct ring_stretch){*arc, wavelength});
}

/* The first in turn within segments first .. end - 1; a gap that goes round has two kinds of arcs. */
static uint32_t first_within(const struct ring_queue *queue, uint32_t direction, uint32_t first, uint32_t end)
{
    const struct ring_waiting *waiting = &queue->waiting[direction];
    uint32_t n = queue->closed[direction].n;
    uint32_t best = ring_waiting_find(waiting, first, end);
    uint32_t round = end > n ? ring_waiting_find(waiting, 0, end - n) : 0;
    if (best == 0 || round == 0)
        return best + round;
    return turn_is_before(&waiting->nodes[round].first.turn, &waiting->nodes[best].first.turn) ? round : best;
}

static void offer(struct ring_queue *queue, uint32_t direction, uint32_t node, const struct ring_stretch *stretch)
{
    uint32_t place, n = queue->closed->n;
    struct ring_waiter waiter = ring_waiting_take(&queue->waiting[direction], node);
    if (waiter.has_other) {
        struct arc other = {1 - direction, waiter.end % n, n - (waiter.end - waiter.first)};
        struct ring_waiter same = waiter_on(&other, waiter.stamp);
        ring_waiting_remove(&queue->waiting[other.direction], &same);
    }
    queue->stretches = reuse_take(&queue->places, queue->stretches, sizeof *queue->stretches, &place);
    queue->stretches[place] = *stretch;
    waitlist_add(&queue->offers, (struct waitlist_item){waiter.turn, place, waiter.what});
}

/* Offers to the first in turn of each gap of the stretch: there are several where a part was taken again. */
static void look_through(struct ring_queue *queue, const struct ring_stretch *stretch)
{
    uint32_t direction = stretch->arc.direction, n = queue->closed->n, step;
    const struct ring_masks *closed = &queue->closed[direction];
    for (uint32_t passed = 0; passed < stretch->arc.length; passed += step) {
        uint32_t at = (stretch->arc.first + passed) % n, before;
        step = ring_masks_taken(closed, stretch->wavelength, at);
        if (step > 0)
            continue;
        ring_masks_gap(closed, stretch->wavelength, at, &step, &before);
        uint32_t first = step == n ? 0 : (at + n - before) % n, end = step == n ? 2 * n : first + before + step;
        uint32_t found = first_within(queue, direction, first, end);
        if (found == 0)
            continue;
        uint32_t left = stretch->arc.length - passed, length = step < left ? step : left;
        offer(queue, direction, found, &(struct ring_stretch){{direction, at, length}, stretch->wavelength});
    }
}

uint32_t ring_queue_next(struct ring_queue *queue)
{
    while (queue->opened_count > 0) {
        struct ring_stretch stretch = queue->opened[--queue->opened_count];
        look_through(queue, &stretch);
    }
    if (queue->offers.count == 0)
        return 0;
    uint32_t place = (uint32_t)queue->offers.items[0].place;
    look_at(queue, &queue->stretches[place]);
    reuse_give(&queue->places, place);
    return waitlist_take(&queue->offers);
}
