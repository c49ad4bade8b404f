/* A timeline in the Chrome Trace Event format (a JSON array), for ui.perfetto.dev and chrome://tracing.
 *
 * Bars sit on tracks; a track is a thread of a process, both are only names
 * here. Bars of one track must nest or follow each other, or viewers drop them:
 * what overlaps freely goes through timeline_lane, which spreads it over
 * tracks. A bar that holds others is written before them.
 *
 * Times are ticks, written as microseconds with every digit they have. Events
 * go straight to the file, which gets its name only in timeline_finish;
 * memory does not grow with their number. Behind the limit events are counted
 * and not written. All O(1) but timeline_lane, O(log lanes).
 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/status.h"

struct timeline;

struct timeline_options {
    struct sim_clock clock;
    sim_time window_start, window_end; /* events that do not touch it are left out; 0, SIM_TIME_MAX = everything */
    uint64_t limit;                    /* events written at most */
};

struct timeline_track {
    uint64_t process, thread;
};

/* Something to read when a bar is clicked: a text, or a number where text is NULL. Borrowed during the call. */
struct timeline_arg {
    const char *name;
    const char *text;
    double number;
};

struct timeline_args {
    const struct timeline_arg *items;
    size_t count;
};

struct timeline_totals {
    uint64_t written, left_out; /* left_out: behind the limit */
    sim_time full_at;           /* where the first one that was left out starts */
};

/* Opens the file. Returned owned: until timeline_finish or timeline_abandon takes it. */
STATUS_MUST_USE enum status timeline_create(const char *path, const struct timeline_options *options,
                                            struct timeline **timeline, struct error *error);

/* Names for what viewers show; they count as events. */
void timeline_name_process(struct timeline *timeline, uint64_t process, const char *name);
void timeline_name_thread(struct timeline *timeline, struct timeline_track track, const char *name);

/* Something that took from start to end. */
void timeline_bar(struct timeline *timeline, struct timeline_track track, const char *name, sim_time start,
                  sim_time end, struct timeline_args args);

/* Something that happened at once. */
void timeline_mark(struct timeline *timeline, struct timeline_track track, const char *name, sim_time time,
                   struct timeline_args args);

/* A number that changed, drawn as a curve in the process. */
void timeline_count(struct timeline *timeline, uint64_t process, const char *name, sim_time time, double value);

/* Would an event at this time be written? To save the work of making it; full timelines say no. */
bool timeline_wants(const struct timeline *timeline, sim_time start, sim_time end);
bool timeline_is_full(const struct timeline *timeline);

/* Details that come in great numbers are written only while half of the limit is left, so that they do not push out
 * what follows; instead of drawing one behind that, its writer calls timeline_leave_out, which counts it. */
bool timeline_has_room(const struct timeline *timeline);
void timeline_leave_out(struct timeline *timeline, sim_time start, sim_time end);

/* Takes the timeline whatever it answers; on failure there is no file. */
STATUS_MUST_USE enum status timeline_finish(struct timeline *timeline, struct timeline_totals *totals,
                                            struct error *error);
void timeline_abandon(struct timeline *timeline);

/* Lanes for bars that overlap. Zero-initialise; release with timeline_lanes_fini. */
struct timeline_lanes {
    struct timeline_lane_end *heap; /* the lane that is free first on top */
    uint32_t count;
    size_t capacity;
};

/* A lane on which nothing lies behind start, for bars given in the order of their ends. *is_new tells the first use. */
uint32_t timeline_lane(struct timeline_lanes *lanes, sim_time start, sim_time end, bool *is_new);
void timeline_lanes_fini(struct timeline_lanes *lanes);

#endif
