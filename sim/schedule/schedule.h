/* In which order: the interface of schedulers.
 *
 * A scheduler ranks all tasks of a deployment beforehand: of those that are ready
 * on the same device the one with the highest rank runs, and a newcomer with a
 * higher rank pre-empts; links go in the order of the ranks of their targets.
 * Ranks are distinct and fixed. Or it picks, whenever a device is idle, among the
 * tasks that are ready there.
 *
 * To add a scheduler: one file with one struct scheduler, one line in schedule.c.
 */
#ifndef SCHEDULE_SCHEDULE_H
#define SCHEDULE_SCHEDULE_H

#include <stdint.h>

#include "deploy/deployment.h"
#include "input/keys.h"

struct schedule_request {
    const void *settings; /* the scheduler's own */
    void *state;          /* what its open made */
    const struct deployment *deployment;
    uint32_t count;     /* of tasks, in the order in which they were placed: tasks->placing */
    const double *cost; /* of a part of each, in any unit; the longest where its devices differ */
};

struct scheduler {
    struct strategy strategy;
    /* State that lives as long as a run, also handed to pick; *state is NULL before, and close is called where it is
     * not any more. Both may be NULL. */
    enum status (*open)(const void *settings, const struct topology *topology, void **state, struct error *error);
    void (*close)(void *state);
    /* rank[i] for the i-th task placed. */
    void (*rank)(const struct schedule_request *request, uint32_t *rank);
    /* See deployment.h; NULL = ranks decide. */
    uint32_t (*pick)(void *state, const struct deployment *deployment, uint32_t device, const uint32_t *ready,
                     uint32_t count);
};

extern const struct registry schedulers;

/* Fills the ranks of a deployment whose devices are filled, by the scheduler chosen and what its open made; unit scales
 * the profiled times, whose last bits may decide between tasks. */
void schedule_fill(const struct choice *scheduler, void *state, const struct topology *topology, double unit,
                   struct deployment *deployment);

/* For schedulers: who was placed earlier has the higher rank. */
void schedule_as_placed(const struct schedule_request *request, uint32_t *rank);

#endif
