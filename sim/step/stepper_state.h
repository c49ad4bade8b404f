/* What the files of the stepper share: jobs, links and devices of the step under way. Private to sim/step.
 *
 * stepper.c runs ops on devices; stepper_links.c carries what lies between them: parts that end send, parts whose
 * dependencies have all arrived become ready.
 */
#ifndef STEP_STEPPER_STATE_H
#define STEP_STEPPER_STATE_H

#include "engine/hash.h"
#include "step/buckets.h"
#include "step/stepper.h"

struct device_run; /* stepper.c */

/* One link of the step under way. */
struct link_run {
    struct stepper_job *job;
    uint32_t link;
    uint64_t left;         /* transfers still to arrive */
    sim_time sent;         /* the first of them; negative = none yet */
    struct step_path path; /* of a collective: to the instant at which it was sent */
};

struct stepper_job {
    struct stepper *stepper;
    const struct task_graph *tasks;
    const struct deployment *deployment;
    const struct step_observer *observer; /* NULL = nobody looks */
    uint32_t number, task_count;
    stepper_done *done;
    void *context;
    struct arena arena;
    /* fixed */
    sim_time *cost;     /* per task and class of devices: of one part */
    uint32_t *in_count; /* per part of each task: dependencies that enter it; a collective counts as one */
    struct link_run *links;
    struct buckets buckets;
    uint32_t *part_of; /* per (list, local number of a device) */
    /* of the step under way */
    sim_time start;
    uint32_t *parts_left; /* per task */
    /* per part of each task: */
    uint32_t *need; /* dependencies still to come */
    sim_time *left;
    sim_time *ready_at;
    struct step_path *path; /* to the instant at which it was ready, then to its end */
    uint64_t undone;        /* tasks and links */
    struct step_path last_path;
    uint32_t all_reduces[COLLECTIVE_ALGORITHMS];
    uint64_t schedule; /* sum over what has ended: the order within an instant does not matter */
    bool is_running;
};

struct stepper {
    struct engine *engine;
    struct network *network;
    struct collectives *collectives;
    const struct topology *topology;
    struct circuit_options options;
    struct chooser *own_chooser; /* NULL = the options' */
    uint16_t kind;               /* of the event that an op ends */
    sim_time cycle;              /* of a fabric that turns by the clock, else 0 */
    struct device_run *devices;  /* per device */
    struct error error;          /* the first trouble */
};

static inline size_t part_index(const struct stepper_job *job, uint32_t task, uint32_t part)
{
    return (size_t)job->tasks->part_start[task] + part;
}

/* A part, or a link, numbered behind them, ends now. */
static inline void stepper_note_end(struct stepper_job *job, uint64_t what)
{
    job->schedule += hash_pair(what, (uint64_t)(engine_now(job->stepper->engine) - job->start));
}

/* Keeps the first trouble and stops the engine. */
void stepper_keep_error(struct stepper *stepper, const struct error *error);

/* All that a part needs is there now; path leads to this instant. */
void stepper_make_ready(struct stepper_job *job, uint32_t task, uint32_t part, const struct step_path *path);

/* Tells of the end of the step where nothing is left to do: the job may be gone behind it. */
void stepper_end_if_done(struct stepper_job *job);

/* Counts what enters each part, and fills the buckets. STATUS_USER for sizes that are no exact integers. */
STATUS_MUST_USE enum status stepper_fill_links(struct stepper_job *job, struct error *error);

/* Before each step. */
void stepper_reset_links(struct stepper_job *job);

/* A part of a task has ended, the last one of all or not: sends what can go. */
void stepper_send_links(struct stepper_job *job, uint32_t task, uint32_t part, bool is_last);

#endif
