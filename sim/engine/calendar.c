/* Push, pop and cancel of the calendar queue; see calendar_tiers.h for the tiers. */
#include "engine/calendar.h"

#include <stdlib.h>

#include "engine/calendar_tiers.h"
#include "engine/memory.h"
#include "engine/status.h"

enum { PRIORITY_SHIFT = 56 };

struct calendar *calendar_create_with(const struct calendar_limits *limits)
{
    require(limits->small >= 1 && limits->overfull >= 1);
    struct calendar *calendar = memory_alloc(1, sizeof *calendar);
    pool_init(&calendar->pool);
    calendar->limits = *limits;
    calendar->run_refill = SIZE_MAX;
    key_vector_reserve(&calendar->run, 1); /* pointers into the run are formed even while it is empty */
    calendar->late_max = limits->small;
    calendar->today_end = UINT64_MAX;
    calendar->future_min = UINT64_MAX;
    return calendar;
}

struct calendar *calendar_create(void)
{
    return calendar_create_with(&(struct calendar_limits){.small = 64, .overfull = 64, .dead = 64});
}

void calendar_destroy(struct calendar *calendar)
{
    if (!calendar)
        return;
    key_vector_free(&calendar->run);
    key_vector_free(&calendar->late);
    key_vector_free(&calendar->future);
    key_vector_free(&calendar->batch);
    key_vector_free(&calendar->scratch);
    for (unsigned i = 0; i < CALENDAR_TIERS; i++)
        days_free(&calendar->tiers[i]);
    free(calendar->spill.chunks);
    pool_fini(&calendar->pool);
    free(calendar);
}

static void today_put(struct calendar *calendar, const struct key *key)
{
    struct key_vector *run = &calendar->run;
    /* Constant delays and zero delays come in order: those go behind the run and never need the heap. */
    if (calendar->run_head < run->count && key_less(&run->keys[run->count - 1], key)) {
        if (run->count == run->capacity && calendar->run_head > run->count / 2)
            calendar_run_shift(calendar);
        key_vector_append(run, key);
        return;
    }
    keys_heap_push(&calendar->late, key);
    if (calendar->late.count > calendar->late_max)
        calendar_overflow(calendar);
}

/* Leaves a key for the days or the future waiting (see calendar_settle), and asks for the block of its day. */
static void wait_put(struct calendar *calendar, uint64_t time, uint64_t order, uint32_t node)
{
    if (calendar->waiting_count == CALENDAR_WAITING)
        calendar_settle(calendar);
    const struct days *days = &calendar->tiers[0];
    if (time < days->end) {
        const char *block = (const char *)days_block(days, time >> days->shift);
        __builtin_prefetch(block, 1);
        __builtin_prefetch(block + 64, 1);
    }
    /* Field by field: a whole key, put together a moment ago, would be loaded back wider than it was stored, and the
     * processor would wait until the stores have reached the cache. */
    struct key *key = &calendar->waiting[calendar->waiting_count++];
    key->time = time;
    key->order = order;
    key->node = node;
}

event_handle calendar_push(struct calendar *calendar, const struct event *event)
{
    require(event->time >= 0);
    uint32_t index = pool_take(&calendar->pool);
    struct pool_node *node = pool_node(&calendar->pool, index);
    node->data = event->data;
    node->entity = event->entity;
    node->kind = event->kind;
    node->priority = event->priority;
    uint64_t time = (uint64_t)event->time;
    uint64_t order = ((uint64_t)event->priority << PRIORITY_SHIFT) | calendar->sequence++;
    calendar->live++;
    event_handle handle = pool_handle(&calendar->pool, index);
    if (time >= calendar->today_end)
        wait_put(calendar, time, order, index);
    else
        today_put(calendar, &(struct key){.time = time, .order = order, .node = index});
    return handle;
}

/* The first key of today, alive or not; NULL when today is over. */
static const struct key *today_first(const struct calendar *calendar)
{
    const struct key *run = calendar->run.keys + calendar->run_head;
    if (calendar->late.count == 0)
        return calendar->run_head < calendar->run.count ? run : NULL;
    if (calendar->run_head == calendar->run.count || key_less(calendar->late.keys, run))
        return calendar->late.keys;
    return run;
}

static void today_remove(struct calendar *calendar, const struct key *first)
{
    if (first == calendar->late.keys)
        keys_heap_pop(&calendar->late);
    else if (++calendar->run_head == calendar->run_refill)
        calendar_lengthen(calendar);
}

bool calendar_pop_until(struct calendar *calendar, sim_time until, struct event *event)
{
    for (;;) {
        const struct key *first = today_first(calendar);
        if (!first) {
            if (!calendar_refill(calendar))
                return false;
            continue;
        }
        if ((sim_time)first->time > until)
            return false;
        uint32_t index = first->node;
        const struct pool_node *node = pool_node(&calendar->pool, index);
        bool is_live = node->state == POOL_LIVE;
        if (is_live)
            *event = (struct event){.time = (sim_time)first->time,
                                    .data = node->data,
                                    .entity = node->entity,
                                    .kind = node->kind,
                                    .priority = node->priority};
        today_remove(calendar, first);
        pool_release(&calendar->pool, index);
        calendar->stats.pops += is_live;
        calendar->live -= is_live;
        calendar->dead -= !is_live;
        if (is_live)
            return true;
    }
}

bool calendar_pop(struct calendar *calendar, struct event *event)
{
    return calendar_pop_until(calendar, SIM_TIME_MAX, event);
}

sim_time calendar_peek_time(struct calendar *calendar)
{
    for (;;) {
        const struct key *first = today_first(calendar);
        if (!first) {
            if (!calendar_refill(calendar))
                return SIM_TIME_MAX;
            continue;
        }
        if (!calendar->dead || pool_node(&calendar->pool, first->node)->state == POOL_LIVE)
            return (sim_time)first->time;
        uint32_t index = first->node;
        today_remove(calendar, first);
        pool_release(&calendar->pool, index);
        calendar->dead--;
    }
}

bool calendar_cancel(struct calendar *calendar, event_handle handle)
{
    uint32_t index = pool_find(&calendar->pool, handle);
    if (index == POOL_NONE)
        return false;
    pool_node(&calendar->pool, index)->state = POOL_DEAD;
    calendar->live--;
    calendar->dead++;
    calendar->stats.cancels++;
    if (calendar->dead > calendar->limits.dead && calendar->dead > calendar->live / 2) {
        calendar->stats.sweeps++;
        calendar_recall_all(calendar);
    }
    return true;
}

event_handle calendar_reschedule(struct calendar *calendar, event_handle handle, sim_time time)
{
    uint32_t index = pool_find(&calendar->pool, handle);
    if (index == POOL_NONE)
        return 0;
    const struct pool_node *node = pool_node(&calendar->pool, index);
    struct event event = {
        .time = time, .data = node->data, .entity = node->entity, .kind = node->kind, .priority = node->priority};
    bool cancelled = calendar_cancel(calendar, handle);
    require(cancelled);
    return calendar_push(calendar, &event);
}

size_t calendar_size(const struct calendar *calendar)
{
    return calendar->live;
}

struct calendar_stats calendar_stats(const struct calendar *calendar)
{
    struct calendar_stats stats = calendar->stats;
    stats.pushes = calendar->sequence;
    stats.spilled = calendar->spill.total;
    stats.dead = calendar->dead;
    stats.bytes = sizeof *calendar + calendar->spill.capacity * sizeof *calendar->spill.chunks;
    stats.bytes += calendar->pool.chunk_count * (sizeof(struct pool_node) << POOL_CHUNK_BITS);
    for (unsigned i = 0; i < CALENDAR_TIERS; i++)
        stats.bytes += calendar->tiers[i].capacity * sizeof(struct day) + calendar->tiers[i].capacity / 8;
    stats.bytes += (calendar->run.capacity + calendar->late.capacity + calendar->future.capacity +
                    calendar->batch.capacity + calendar->scratch.capacity) *
                   sizeof(struct key);
    return stats;
}
