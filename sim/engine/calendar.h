/* The calendar queue: pending events in order of (time, priority, sequence).
 *
 * A lazy, tiered calendar. Far events lie unsorted in one flat vector, nearer
 * ones unsorted in days, and only the day being served (today) is sorted. Push,
 * pop and cancel are O(1) amortised whatever the distribution of times; the
 * worst single day costs what a merge sort costs. Sequence numbers count pushes,
 * so equal times and priorities leave first in, first out. calendar.c tells how.
 * A calendar owns its events; the order of pops depends on nothing but the calls.
 */
#ifndef ENGINE_CALENDAR_H
#define ENGINE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/pool.h"

struct calendar;

/* Returns owned, to be freed with calendar_destroy. */
struct calendar *calendar_create(void);

/* The sizes at which the calendar changes its ways. The defaults are fast; small ones make a short test go everywhere.
 */
struct calendar_limits {
    size_t small;    /* up to this many events a plain heap serves */
    size_t overfull; /* a day with more is split, and today with more that came late */
    size_t dead;     /* cancelled events that are always tolerated */
};

struct calendar *calendar_create_with(const struct calendar_limits *limits);

/* Takes calendar, with the events still in it; NULL is fine. */
void calendar_destroy(struct calendar *calendar);

/* Borrows event, whose time is required to be 0 or more. The handle lives until the event is popped or cancelled. */
event_handle calendar_push(struct calendar *calendar, const struct event *event);

/* Takes out the first event; false when there is none. */
bool calendar_pop(struct calendar *calendar, struct event *event);

/* The same, but only if its time is at most until. */
bool calendar_pop_until(struct calendar *calendar, sim_time until, struct event *event);

/* The time of the first event, SIM_TIME_MAX when there is none. Not const: it may have to sort the next day. */
sim_time calendar_peek_time(struct calendar *calendar);

/* False if the event was popped or cancelled already, or handle is 0. */
bool calendar_cancel(struct calendar *calendar, event_handle handle);

/* Cancels and pushes again at another time, with a fresh sequence number. Returns the new handle, 0 where cancel would
 * have said false. */
event_handle calendar_reschedule(struct calendar *calendar, event_handle handle, sim_time time);

/* Events pending, cancelled ones not counted. */
size_t calendar_size(const struct calendar *calendar);

/* What went on inside, so that a pathology shows. */
struct calendar_stats {
    uint64_t pushes, pops, cancels;
    uint64_t rebuilds;     /* of the days, with a new width or number */
    uint64_t slides;       /* of the window of days into the future */
    uint64_t sweeps;       /* of cancelled events */
    uint64_t children;     /* overfull days split into days of their own */
    uint64_t days_opened;  /* and sorted */
    uint64_t day_load_sum; /* events in those days; over days_opened: the mean load */
    uint64_t day_load_max;
    uint64_t spilled;   /* pushes into a day that was full already */
    size_t dead;        /* cancelled events not dropped yet */
    unsigned depth_max; /* of days within days */
    size_t bytes;       /* held */
};

struct calendar_stats calendar_stats(const struct calendar *calendar);

#endif
