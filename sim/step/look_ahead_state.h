/* The state of a published look-ahead, shared by look_ahead.c (ticks) and look_ahead_setup.c. Private to sim/step. */
#ifndef STEP_LOOK_AHEAD_STATE_H
#define STEP_LOOK_AHEAD_STATE_H

#include "engine/hash.h"
#include "step/look_ahead_links.h"
#include "step/ready.h"

#define NO_LINK UINT32_MAX

struct flight {
    uint32_t link;  /* the last of its links in the order of edges; the others through next_link */
    unsigned class; /* of a sync link: the pairs this flight carries */
    uint32_t
        bundle; /* flights of one bundle left together on the same channels; they stand side by side, shortest first */
    double total_s, left_s, start_s;
    uint64_t *sources; /* bit set of local servers */
    bool is_second;    /* scratch: found not to be first on any channel */
};

/* A data link about to leave. */
struct departure {
    uint32_t link, list; /* list = the servers it goes to */
    double total_s;
};

struct look_ahead {
    const struct step_input *input;
    const struct deployment *deployment;
    const struct task_graph *tasks;
    uint32_t task_count, words;
    struct local_servers servers;
    double *link_s;                 /* per link */
    double (*sync_s)[PAIR_CLASSES]; /* per task with a sync link */
    uint32_t *need;                 /* per task: dependencies each of its parts waits for, sync edges aside */
    uint32_t *met;                  /* per part of each task: dependencies that came, sync edges included */
    double *left_s;                 /* per part of each task */
    bool *is_ready;                 /* per part of each task */
    uint32_t *parts_left;           /* per task */
    uint32_t *ended;                /* tasks with parts that ended in this tick ... */
    uint32_t ended_count;
    uint64_t **ended_servers; /* ... and per task the servers of those parts, or NULL */
    struct ready_set *ready;  /* per local server */
    uint32_t *part_of;        /* per (list, local server): which part sits there; see part_at() */
    uint64_t **list_servers;  /* per list: bit set of its servers */
    struct flight *flights;
    uint32_t flight_count;
    size_t flight_capacity;
    uint32_t *leaders; /* scratch: the first flight of each bundle; only these can be first on a channel */
    uint32_t leader_count;
    size_t leader_capacity;
    uint32_t bundles;             /* so far */
    uint32_t *next_link;          /* per link: another one of the same flight, or NO_LINK */
    struct departure *departures; /* scratch for one task */
    uint64_t tasks_left;          /* parts not yet ended */
    double now_s, comm_s, comp_s;
    struct trace_hash hash;
    struct arena arena;
};

static inline uint32_t look_ahead_list_of(const struct look_ahead *run, uint32_t task)
{
    return run->deployment->list_of_op[run->tasks->tasks[task].op];
}

static inline const uint32_t *look_ahead_list(const struct look_ahead *run, uint32_t task, uint32_t *count)
{
    struct device_list at = run->deployment->lists[look_ahead_list_of(run, task)];
    *count = at.count;
    return run->servers.of_entry + at.start;
}

static inline size_t look_ahead_part(const struct look_ahead *run, uint32_t task, uint32_t part)
{
    return (size_t)run->tasks->part_start[task] + part;
}

/* The time of one part of a task. */
static inline double look_ahead_cost_s(const struct look_ahead *run, uint32_t task)
{
    return task_part_ms(run->tasks, task, 0) * run->input->unit_s;
}

/* Allocates and times the network; nothing is ready yet. Returns the dependencies that take time. Release
 * with look_ahead_close. */
uint64_t look_ahead_open(struct look_ahead *run, const struct step_input *input);
void look_ahead_close(struct look_ahead *run);

#endif
