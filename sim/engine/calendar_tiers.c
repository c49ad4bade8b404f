/* How keys move from the future into days and from days into today; see calendar_tiers.h for the tiers. */
#include "engine/calendar_tiers.h"

#include <string.h>

#include "engine/status.h"

enum {
    SAMPLE_MAX = 256,
    SAMPLE_CHILD = 64,
    LOAD_SQUARE_MAX = 16, /* mean over events of their day's load: above it days are too wide */
    REBUILD_OPS_MIN = 1024,
    LENGTHEN_MAX = 2,
    WIDEN_MAX = 4,
    SHIFT_MAX = 62,
    WINDOW_LONG_MAX = 1 << 14, /* up to so many events the window has two days for each, then one */
    BLOCKS_AHEAD = 10,         /* days whose blocks are asked for early */
    DAYS_IN_CACHE = 1024,      /* with no more, events are in cache anyway, and looking ahead only makes pushes late */
    RUN_AHEAD = 8,             /* the run is lengthened when it is down to as many */
    TODAY_KEYS = 12,           /* a refill opens days until it has as many */
};

static void run_clear(struct calendar *calendar)
{
    calendar->run.count = calendar->run_head = 0;
    calendar->run_refill = SIZE_MAX;
}

static void future_append(struct calendar *calendar, const struct key *key)
{
    key_vector_append(&calendar->future, key);
    if (key->time < calendar->future_min)
        calendar->future_min = key->time;
}

/* Puts the waiting keys where they belong. A push only asks for the cache line of its day and leaves the key waiting:
 * by the time today is over the lines are there, and a push never stands still for memory. */
void calendar_settle(struct calendar *calendar)
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
    calendar->late.count = 0;
    run_clear(calendar);
}

/* Moves every key into the future; the next look at the first event chooses new days. With many cancelled events it is
 * also the sweep: future keys are then filtered in place. */
void calendar_recall_all(struct calendar *calendar)
{
    calendar_settle(calendar);
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
    run_clear(calendar);
    calendar->run = calendar->future;
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
    key_vector_trim(&calendar->future);
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
    require(calendar->depth >= 1 && calendar->depth < CALENDAR_TIERS && range.min < range.max);
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

/* What is needed soon lies anywhere in memory: asks for it now (spec of event queues, section 3). */
static void prefetch(const struct calendar *calendar, const struct days *days, size_t run_from)
{
    for (size_t i = run_from; i < calendar->run.count; i++)
        __builtin_prefetch(pool_node(&calendar->pool, calendar->run.keys[i].node), 1);
    const char *later = (const char *)days_block(days, days->next + BLOCKS_AHEAD);
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

/* Makes the next few days part of today: several at once, since what is paid once a refill is shared by more events.
 * An overfull day waits until the run is empty. */
static void open_days(struct calendar *calendar, struct days *days)
{
    struct key_vector *run = &calendar->run;
    size_t wanted = run->count + TODAY_KEYS;
    while (run->count < wanted && days->count) {
        uint64_t day = days_first(days);
        size_t load = days_block(days, day)->count;
        if (load > calendar->limits.overfull && calendar->depth < CALENDAR_TIERS) {
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
        prefetch(calendar, days, before);
    }
    if (run->count >= wanted && days->size > DAYS_IN_CACHE)
        calendar->run_refill = run->count - RUN_AHEAD;
}

static bool is_half_served(const struct days *days)
{
    return days->end != UINT64_MAX && (days->end >> days->shift) - days->next < days->size / 2;
}

/* Today is over: gets the next days with keys. False when there are none. */
bool calendar_refill(struct calendar *calendar)
{
    require(calendar->late.count == 0);
    calendar_settle(calendar);
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
        if (calendar->depth == 1 && (days->count == 0 || is_half_served(days)) && !slide(calendar)) {
            calendar_recall_all(calendar);
            continue;
        }
        run_clear(calendar);
        calendar->late_max = calendar->limits.overfull;
        open_days(calendar, days);
    }
    return true;
}

/* Makes room at the end of the run by forgetting the keys that are gone. */
void calendar_run_shift(struct calendar *calendar)
{
    struct key_vector *run = &calendar->run;
    size_t left = run->count - calendar->run_head;
    memmove(run->keys, run->keys + calendar->run_head, left * sizeof *run->keys);
    run_clear(calendar);
    run->count = left;
}

/* Lengthens the run before it ends, so that the events behind its new keys are in cache when their turn comes. */
void calendar_lengthen(struct calendar *calendar)
{
    calendar_run_shift(calendar);
    calendar_settle(calendar);
    struct days *days = &calendar->tiers[calendar->depth - 1];
    if (calendar->depth > 1 || !is_half_served(days))
        open_days(calendar, days);
}

/* Too many keys came late for today: spreads today over days, or starts again where today is most of what there is. */
void calendar_overflow(struct calendar *calendar)
{
    calendar_settle(calendar);
    size_t late = calendar->late.count;
    if (calendar->depth == 0 || 2 * late > calendar->live + calendar->dead - late) {
        calendar_recall_all(calendar);
        return;
    }
    const struct key *run = calendar->run.keys + calendar->run_head;
    size_t run_count = calendar->run.count - calendar->run_head;
    struct range range = range_of(range_of(RANGE_EMPTY, calendar->late.keys, late), run, run_count);
    if (calendar->depth == CALENDAR_TIERS || range.min == range.max) {
        calendar->late_max *= 2;
        return;
    }
    calendar->batch.count = 0;
    for (size_t i = 0; i < run_count; i++)
        key_vector_append(&calendar->batch, &run[i]);
    for (size_t i = 0; i < late; i++)
        key_vector_append(&calendar->batch, &calendar->late.keys[i]);
    calendar->late.count = 0;
    run_clear(calendar);
    spread(calendar, range, calendar->today_end);
}
