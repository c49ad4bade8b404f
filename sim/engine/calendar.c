/* The tiers of the calendar queue and how keys move between them.
 *
 *   today   a sorted run and a small heap for what arrives late: times below today_end
 *   days    tiers[0], a window of days that slides into the future; an overfull day is spread over
 *           days of its own, tiers[1] and so on: times below tiers[i].end
 *   future  a flat vector: all other times
 *
 * Invariants: every key in today is before every key in the days, the days of an
 * inner tier before the rest of the outer one, and all of them before the future.
 * Keys only ever move towards today, except when everything is put back into the
 * future to choose new days (rebuild), which is paid for by the events served
 * since the last time. Up to limits.small events there is only today.
 *
 * The idea is the lazy queue (Roenngren, Riboe and Ayani 1991) with the rungs of
 * the ladder queue (Tang, Goh and Thng 2005) where a day is overfull; sorted days
 * as in Brown (1988) fail on ties, widths sampled once fail on skewed times.
 * Cancelled keys stay until they come up, or until a sweep finds them to be many.
 */
#include "engine/calendar.h"

#include <stdlib.h>

#include "engine/calendar_days.h"
#include "engine/calendar_keys.h"
#include "engine/memory.h"
#include "engine/status.h"

enum {
    TIERS_MAX = 8,
    SAMPLE_MAX = 256,
    SAMPLE_CHILD = 64,
    PRIORITY_SHIFT = 56,
    LOAD_SQUARE_MAX = 16, /* mean over events of their day's load: above it days are too wide */
    REBUILD_OPS_MIN = 1024,
    LENGTHEN_MAX = 2,
    WIDEN_MAX = 4,
    SHIFT_MAX = 62,
    WINDOW_LONG_MAX = 1 << 14, /* up to so many events the window has two days for each, then one */
    WAITING_KEYS = 16,
    NODES_AHEAD = 4, /* days whose events are asked for early, and days whose blocks are */
    BLOCKS_AHEAD = 10,
    TODAY_KEYS = 12, /* a refill opens days until it has as many */
};

struct calendar {
    struct key_vector run; /* sorted; keys before run_head are gone */
    size_t run_head;
    struct key_vector late; /* heap */
    uint64_t today_end;
    size_t late_max; /* spread today over days when late grows past it */
    unsigned depth;  /* tiers in use */
    struct days tiers[TIERS_MAX];
    struct spill spill;
    struct key_vector future;
    uint64_t future_min;
    struct key waiting[WAITING_KEYS]; /* pushed since, at today_end or later, for the days or the future */
    size_t waiting_count;
    struct key_vector batch;   /* keys on their way from one tier to the next */
    struct key_vector scratch; /* of the sort */
    struct pool pool;
    size_t live, dead;
    uint64_t sequence;

    /* Since the last judgement whether the days suit the times. */
    uint64_t pops_then, days_then;
    uint64_t load_square;
    uint64_t patience; /* pops to wait for before judging again */
    int widen;         /* the same for their width; negative = halvings */
    unsigned lengthen; /* doublings of the window that experience asked for */
    uint64_t scanned;  /* keys of the future that slides looked at */
    struct calendar_limits limits;
    struct calendar_stats stats;
};

struct calendar *calendar_create_with(const struct calendar_limits *limits)
{
    require(limits->small >= 1 && limits->overfull >= 1);
    struct calendar *calendar = memory_alloc(1, sizeof *calendar);
    pool_init(&calendar->pool);
    calendar->limits = *limits;
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
    for (unsigned i = 0; i < TIERS_MAX; i++)
        days_free(&calendar->tiers[i]);
    free(calendar->spill.chunks);
    pool_fini(&calendar->pool);
    free(calendar);
}

static void future_append(struct calendar *calendar, const struct key *key)
{
    key_vector_append(&calendar->future, key);
    if (key->time < calendar->future_min)
        calendar->future_min = key->time;
}

/* Puts the waiting keys where they belong. A push only asks for the cache line of its day and leaves the key waiting:
 * by the time today is over the lines are there, and a push never stands still for memory. */
static void settle(struct calendar *calendar)
{
    for (size_t i = 0; i < calendar->waiting_count; i++) {
        const struct key *key = &calendar->waiting[i];
        unsigned tier = calendar->depth;
        while (tier > 0 && key->time >= calendar->tiers[tier - 1].end)
            tier--;
        if (tier > 0)
            days_put(&calendar->tiers[tier - 1], &calendar->spill, key);
        else
            future_append(calendar, key);
    }
    calendar->waiting_count = 0;
}

/* --- Choosing days ------------------------------------------------------ */

/* Shell sort: a sample is small, and this needs neither memory nor luck. */
static void sort_sample(uint64_t *times, size_t count)
{
    static const size_t gaps[] = {57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < count; i++) {
            uint64_t time = times[i];
            size_t j = i;
            for (; j >= gaps[g] && times[j - gaps[g]] > time; j -= gaps[g])
                times[j] = times[j - gaps[g]];
            times[j] = time;
        }
}

/* The width of days, as a shift, that gives about three events a day in the nearest quarter of the keys. The nearest
 * are served next, and outliers far away must not widen their days. */
static unsigned choose_shift(const struct key_vector *keys, uint64_t min, size_t sample_max)
{
    uint64_t times[SAMPLE_MAX];
    size_t sampled = keys->count < sample_max ? keys->count : sample_max;
    for (size_t i = 0; i < sampled; i++)
        times[i] = keys->keys[i * keys->count / sampled].time;
    sort_sample(times, sampled);
    size_t rank = sampled / 4;
    while (rank + 1 < sampled && times[rank] == min)
        rank++;
    double share = (double)(rank + 1) / (double)sampled * (double)keys->count;
    double width = 3.0 * (double)(times[rank] - min) / share;
    unsigned shift = 0;
    while (shift < SHIFT_MAX && width >= 2.0) {
        width /= 2.0;
        shift++;
    }
    return shift;
}

static size_t choose_size(size_t count, unsigned lengthen)
{
    size_t size = DAYS_MIN;
    size_t wanted = count <= WINDOW_LONG_MAX ? 2 * count : count;
    while (size < wanted && size < DAYS_MAX)
        size *= 2;
    size <<= lengthen;
    return size < DAYS_MAX ? size : DAYS_MAX;
}

/* --- Putting everything back --------------------------------------------- */

/* Appends keys to the future; cancelled ones are dropped for good. */
static void recall(struct calendar *calendar, const struct key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (calendar->dead && pool_node(&calendar->pool, keys[i].node)->state == POOL_DEAD) {
            pool_release(&calendar->pool, keys[i].node);
            calendar->dead--;
        } else {
            future_append(calendar, &keys[i]);
        }
    }
}

static void recall_days(struct calendar *calendar, struct days *days)
{
    while (days->count) {
        days->next = days_first(days);
        calendar->batch.count = 0;
        days_take(days, &calendar->spill, days->next, &calendar->batch);
        recall(calendar, calendar->batch.keys, calendar->batch.count);
    }
}

static void recall_today(struct calendar *calendar)
{
    recall(calendar, calendar->run.keys + calendar->run_head, calendar->run.count - calendar->run_head);
    recall(calendar, calendar->late.keys, calendar->late.count);
    calendar->run.count = calendar->run_head = calendar->late.count = 0;
}

/* Moves every key into the future; the next look at the first event chooses new days. With many cancelled events it is
 * also the sweep: future keys are then filtered in place. */
static void recall_all(struct calendar *calendar)
{
    settle(calendar);
    size_t far = calendar->future.count;
    if (calendar->dead) {
        calendar->future.count = 0;
        calendar->future_min = UINT64_MAX;
        recall(calendar, calendar->future.keys, far);
    }
    recall_today(calendar);
    for (unsigned i = calendar->depth; i-- > 0;)
        recall_days(calendar, &calendar->tiers[i]);
    calendar->depth = 0;
    calendar->today_end = calendar->future.count ? calendar->future_min : UINT64_MAX;
    calendar->late_max = calendar->limits.small;
}

/* --- From the future into days ------------------------------------------- */

/* Lets the window begin at day next, and fetches what now lies in it. Keys keep their order, so that events at one
 * instant need no sort when their day comes. */
static void window_set(struct calendar *calendar, uint64_t next)
{
    struct days *days = &calendar->tiers[0];
    days->next = next;
    days->last = UINT64_MAX;
    uint64_t horizon = next + days->size;
    days->end = horizon > UINT64_MAX >> days->shift ? UINT64_MAX : horizon << days->shift;
    if (calendar->future_min >= days->end)
        return;
    calendar->scanned += calendar->future.count;
    size_t kept = 0;
    uint64_t min = UINT64_MAX;
    struct key *keys = calendar->future.keys;
    for (size_t i = 0; i < calendar->future.count; i++) {
        if (keys[i].time < days->end) {
            days_put(days, &calendar->spill, &keys[i]);
            continue;
        }
        min = keys[i].time < min ? keys[i].time : min;
        keys[kept++] = keys[i];
    }
    calendar->future.count = kept;
    calendar->future_min = min;
}

/* All keys are few: today takes them all. */
static void build_small(struct calendar *calendar)
{
    struct key_vector empty = calendar->run;
    calendar->run = calendar->future;
    calendar->run_head = 0;
    calendar->future = empty;
    calendar->future.count = 0;
    calendar->future_min = UINT64_MAX;
    key_vector_sort(calendar->run.keys, calendar->run.count, &calendar->scratch);
    calendar->depth = 0;
    calendar->today_end = UINT64_MAX;
    calendar->late_max = calendar->limits.small;
}

static void judge_from_now(struct calendar *calendar)
{
    calendar->pops_then = calendar->stats.pops;
    calendar->days_then = calendar->stats.days_opened;
    calendar->load_square = calendar->scanned = 0;
}

/* Chooses days for the keys of the future, which are all there are. */
static void build(struct calendar *calendar)
{
    require(calendar->depth == 0 && calendar->late.count == 0 && calendar->run_head == calendar->run.count);
    if (calendar->future.count <= calendar->limits.small) {
        build_small(calendar);
        return;
    }
    struct days *days = &calendar->tiers[0];
    int corrected = (int)choose_shift(&calendar->future, calendar->future_min, SAMPLE_MAX) + calendar->widen;
    unsigned shift = corrected < 0 ? 0 : corrected > SHIFT_MAX ? SHIFT_MAX : (unsigned)corrected;
    size_t size = choose_size(calendar->future.count, calendar->lengthen);
    uint64_t patience = calendar->future.count / 2;
    patience = patience < REBUILD_OPS_MIN ? REBUILD_OPS_MIN : patience;
    if (calendar->patience < patience)
        calendar->patience = patience;
    judge_from_now(calendar);
    calendar->stats.rebuilds++;
    days_setup(days, size, shift);
    calendar->depth = 1;
    window_set(calendar, calendar->future_min >> shift);
    calendar->today_end = days->next << shift;
}

/* Whether the days in use suit the times, by experience since the last judgement. Where they do not, it says in which
 * direction to correct what a sample would choose. */
static bool days_suit(struct calendar *calendar, size_t total)
{
    const struct days *days = &calendar->tiers[0];
    uint64_t pops = calendar->stats.pops - calendar->pops_then;
    /* Every slide looks through the whole future, which has to be paid for by events served. */
    if (calendar->scanned > 8 * pops + 4 * total) {
        calendar->lengthen += calendar->lengthen < LENGTHEN_MAX;
        return false;
    }
    if (pops < calendar->patience)
        return true;
    bool too_wide = calendar->load_square > LOAD_SQUARE_MAX * pops;
    bool too_narrow = !too_wide && 2 * pops < 3 * (calendar->stats.days_opened - calendar->days_then);
    if (!too_wide && !too_narrow && days->size <= 16 * total && days->size >= total / 16) {
        calendar->patience /= 2;
        judge_from_now(calendar);
        return true;
    }
    calendar->widen -= too_wide && calendar->widen > -WIDEN_MAX;
    calendar->widen += too_narrow && calendar->widen < WIDEN_MAX;
    /* Times may be such that no width is right: ask less and less often. */
    calendar->patience *= 2;
    return false;
}

/* The outer days have been served to the end, or half the window has: lets it slide on. False when the days have to be
 * chosen anew. */
static bool slide(struct calendar *calendar)
{
    struct days *days = &calendar->tiers[0];
    size_t total = days->count + calendar->future.count;
    if ((days->count == 0 && total <= calendar->limits.small) || !days_suit(calendar, total))
        return false;
    calendar->stats.slides++;
    window_set(calendar, days->count ? days->next : calendar->future_min >> days->shift);
    return true;
}

/* --- From days into today -------------------------------------------------- */

struct range {
    uint64_t min, max;
};

static struct range range_of(struct range range, const struct key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        range.min = keys[i].time < range.min ? keys[i].time : range.min;
        range.max = keys[i].time > range.max ? keys[i].time : range.max;
    }
    return range;
}

static const struct range RANGE_EMPTY = {.min = UINT64_MAX, .max = 0};

/* Spreads the batch, whose times lie in range and below end, over days of their own. The last of these days takes all
 * that is left, so that a few late keys do not widen the others. */
static void spread(struct calendar *calendar, struct range range, uint64_t end)
{
    require(calendar->depth >= 1 && calendar->depth < TIERS_MAX && range.min < range.max);
    struct days *days = &calendar->tiers[calendar->depth++];
    unsigned shift = choose_shift(&calendar->batch, range.min, SAMPLE_CHILD);
    while (range.min >> shift == range.max >> shift) /* two days at least, or it would never end */
        shift--;
    days_setup(days, choose_size(calendar->batch.count, 0), shift);
    days->next = range.min >> days->shift;
    days->end = end;
    days->last = days->next + days->size - 1;
    if (days->last > (end - 1) >> days->shift)
        days->last = (end - 1) >> days->shift;
    for (size_t i = 0; i < calendar->batch.count; i++)
        days_put(days, &calendar->spill, &calendar->batch.keys[i]);
    calendar->today_end = days->next << days->shift;
    calendar->stats.children++;
    if (calendar->depth > calendar->stats.depth_max)
        calendar->stats.depth_max = calendar->depth;
}

/* The next day's events are needed soon and lie anywhere: asks for them now (spec of event queues, section 3). */
static void prefetch_after(const struct calendar *calendar, const struct days *days, uint64_t day)
{
    const struct day *block = days_block(days, day + NODES_AHEAD);
    uint32_t count = block->count < DAY_KEYS ? block->count : DAY_KEYS;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(pool_node(&calendar->pool, block->keys[i].node), 1);
    const char *later = (const char *)days_block(days, day + BLOCKS_AHEAD);
    __builtin_prefetch(later, 1);
    __builtin_prefetch(later + 64, 1);
}

/* Spreads an overfull day over days of its own; false, with the day's keys in batch, if they share one instant. */
static bool day_spread(struct calendar *calendar, struct days *days, uint64_t day)
{
    uint64_t end = days_end(days, day);
    calendar->batch.count = 0;
    days_take(days, &calendar->spill, day, &calendar->batch);
    struct range range = range_of(RANGE_EMPTY, calendar->batch.keys, calendar->batch.count);
    if (range.min == range.max)
        return false;
    calendar->load_square += calendar->batch.count * calendar->batch.count;
    /* The last day of an inner tier, taken, leaves nothing of the tier. */
    calendar->depth -= calendar->depth > 1 && day == days->last;
    spread(calendar, range, end);
    return true;
}

static void note_load(struct calendar *calendar, size_t load)
{
    calendar->stats.days_opened++;
    calendar->stats.day_load_sum += load;
    if (load > calendar->stats.day_load_max)
        calendar->stats.day_load_max = load;
}

/* Makes an overfull day today, or spreads it. */
static void open_overfull(struct calendar *calendar, struct days *days, uint64_t day)
{
    uint64_t end = days_end(days, day);
    note_load(calendar, days_block(days, day)->count);
    days->next = day + 1;
    if (day_spread(calendar, days, day))
        return;
    struct key_vector swap = calendar->run;
    calendar->run = calendar->batch;
    calendar->batch = swap;
    key_vector_sort(calendar->run.keys, calendar->run.count, &calendar->scratch);
    calendar->today_end = end;
}

/* Makes the next few days today: several at once, since what is paid once a refill is shared by more events. */
static void open_days(struct calendar *calendar, struct days *days)
{
    struct key_vector *run = &calendar->run;
    do {
        uint64_t day = days_first(days);
        size_t load = days_block(days, day)->count;
        if (load > calendar->limits.overfull && calendar->depth < TIERS_MAX) {
            if (run->count == 0)
                open_overfull(calendar, days, day);
            return;
        }
        note_load(calendar, load);
        size_t before = run->count;
        days_take(days, &calendar->spill, day, run);
        key_vector_sort(run->keys + before, load, &calendar->scratch);
        calendar->load_square += load * load;
        calendar->today_end = days_end(days, day);
        days->next = day + 1;
        prefetch_after(calendar, days, day);
    } while (run->count < TODAY_KEYS && days->count);
}

/* Today is over: gets the next days with keys. False when there are none. */
static bool today_refill(struct calendar *calendar)
{
    require(calendar->late.count == 0);
    settle(calendar);
    while (calendar->run_head == calendar->run.count) {
        if (calendar->depth == 0) {
            if (calendar->future.count == 0)
                return false;
            build(calendar);
            continue;
        }
        struct days *days = &calendar->tiers[calendar->depth - 1];
        if (calendar->depth > 1 && days->count == 0) {
            calendar->depth--;
            continue;
        }
        if (calendar->depth == 1) {
            bool half = days->end != UINT64_MAX && (days->end >> days->shift) - days->next < days->size / 2;
            if ((days->count == 0 || half) && !slide(calendar)) {
                recall_all(calendar);
                continue;
            }
        }
        calendar->run.count = calendar->run_head = 0;
        calendar->late_max = calendar->limits.overfull;
        open_days(calendar, days);
    }
    return true;
}

/* Too many keys came late for today: spreads today over days, or starts again where today is most of what there is. */
static void today_overflow(struct calendar *calendar)
{
    settle(calendar);
    size_t late = calendar->late.count;
    if (calendar->depth == 0 || 2 * late > calendar->live + calendar->dead - late) {
        recall_all(calendar);
        return;
    }
    const struct key *run = calendar->run.keys + calendar->run_head;
    size_t run_count = calendar->run.count - calendar->run_head;
    struct range range = range_of(range_of(RANGE_EMPTY, calendar->late.keys, late), run, run_count);
    if (calendar->depth == TIERS_MAX || range.min == range.max) {
        calendar->late_max *= 2;
        return;
    }
    calendar->batch.count = 0;
    for (size_t i = 0; i < run_count; i++)
        key_vector_append(&calendar->batch, &run[i]);
    for (size_t i = 0; i < late; i++)
        key_vector_append(&calendar->batch, &calendar->late.keys[i]);
    calendar->run.count = calendar->run_head = calendar->late.count = 0;
    spread(calendar, range, calendar->today_end);
}

/* --- Push, pop, cancel ------------------------------------------------------ */

/* Makes room at the end of the run by forgetting the keys that are gone. */
static void run_make_room(struct calendar *calendar)
{
    struct key_vector *run = &calendar->run;
    if (run->count < run->capacity || calendar->run_head < run->count / 2)
        return;
    size_t left = run->count - calendar->run_head;
    for (size_t i = 0; i < left; i++)
        run->keys[i] = run->keys[calendar->run_head + i];
    run->count = left;
    calendar->run_head = 0;
}

static void today_put(struct calendar *calendar, const struct key *key)
{
    struct key_vector *run = &calendar->run;
    /* Constant delays and zero delays come in order: those go behind the run and never need the heap. */
    if (calendar->run_head < run->count && key_less(&run->keys[run->count - 1], key)) {
        run_make_room(calendar);
        key_vector_append(run, key);
        return;
    }
    keys_heap_push(&calendar->late, key);
    if (calendar->late.count > calendar->late_max)
        today_overflow(calendar);
}

static void put(struct calendar *calendar, const struct key *key)
{
    if (key->time < calendar->today_end) {
        today_put(calendar, key);
        return;
    }
    if (calendar->waiting_count == WAITING_KEYS)
        settle(calendar);
    const struct days *days = &calendar->tiers[0];
    if (key->time < days->end) {
        const char *block = (const char *)days_block(days, key->time >> days->shift);
        __builtin_prefetch(block, 1);
        __builtin_prefetch(block + 64, 1);
    }
    calendar->waiting[calendar->waiting_count++] = *key;
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
    struct key key = {.time = (uint64_t)event->time,
                      .order = ((uint64_t)event->priority << PRIORITY_SHIFT) | calendar->sequence++,
                      .node = index};
    calendar->live++;
    event_handle handle = pool_handle(&calendar->pool, index);
    put(calendar, &key);
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
    else
        calendar->run_head++;
}

bool calendar_pop_until(struct calendar *calendar, sim_time until, struct event *event)
{
    for (;;) {
        const struct key *first = today_first(calendar);
        if (!first) {
            if (!today_refill(calendar))
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
            if (!today_refill(calendar))
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
        recall_all(calendar);
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
    for (unsigned i = 0; i < TIERS_MAX; i++)
        stats.bytes += calendar->tiers[i].capacity * sizeof(struct day) + calendar->tiers[i].capacity / 8;
    stats.bytes += (calendar->run.capacity + calendar->late.capacity + calendar->future.capacity +
                    calendar->batch.capacity + calendar->scratch.capacity) *
                   sizeof(struct key);
    return stats;
}
