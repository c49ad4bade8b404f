/* The tiers inside a calendar queue, shared by calendar.c (push, pop, cancel) and calendar_tiers.c (moving keys from
 * tier to tier). Nobody else looks in here.
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
#ifndef ENGINE_CALENDAR_TIERS_H
#define ENGINE_CALENDAR_TIERS_H

#include "engine/calendar.h"
#include "engine/calendar_days.h"
#include "engine/calendar_keys.h"

enum { CALENDAR_TIERS = 8, CALENDAR_WAITING = 16 };

struct calendar {
    struct key_vector run; /* sorted; keys before run_head are gone */
    size_t run_head;
    size_t run_refill;      /* where run_head asks for more, SIZE_MAX = nowhere */
    struct key_vector late; /* heap */
    uint64_t today_end;
    size_t late_max; /* spread today over days when late grows past it */
    unsigned depth;  /* tiers in use */
    struct days tiers[CALENDAR_TIERS];
    struct spill spill;
    struct key_vector future;
    uint64_t future_min;
    struct key waiting[CALENDAR_WAITING]; /* pushed since, at today_end or later, for the days or the future */
    size_t waiting_count;
    struct key_vector batch;   /* keys on their way from one tier to the next */
    struct key_vector scratch; /* of the sort */
    struct pool pool;
    size_t live, dead;
    uint64_t sequence;

    /* Experience since the last judgement whether the days suit the times, and what it led to. */
    uint64_t pops_then, days_then;
    uint64_t load_square;
    uint64_t patience; /* pops to wait for before judging again */
    int widen;         /* doublings of the width of days, negative = halvings, that experience asked for */
    unsigned lengthen; /* and of their number */
    uint64_t scanned;  /* keys of the future that slides looked at */
    struct calendar_limits limits;
    struct calendar_stats stats;
};

/* Puts the waiting keys where they belong. */
void calendar_settle(struct calendar *calendar);

/* Moves every key into the future; the next look at the first event chooses new days. Cancelled ones are dropped. */
void calendar_recall_all(struct calendar *calendar);

/* Today is over: gets the next days with keys. False when there are none. */
bool calendar_refill(struct calendar *calendar);

/* Lengthens the run before it ends, so that the events behind its new keys are in cache when their turn comes. */
void calendar_lengthen(struct calendar *calendar);

/* Too many keys came late for today: spreads today over days, or starts again where today is most of what there is. */
void calendar_overflow(struct calendar *calendar);

/* Makes room at the end of the run by forgetting the keys that are gone. */
void calendar_run_shift(struct calendar *calendar);

#endif
