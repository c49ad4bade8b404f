/* The ready tasks of one device, and which of them runs: the one of the highest rank (a binary heap), or the one that
 * the deployment picks, which then stays until it is done. Private to sim/step. */
#ifndef STEP_READY_H
#define STEP_READY_H

#include <stddef.h>

#include "deploy/deployment.h"

#define READY_NONE UINT32_MAX

/* Zero-initialise; the owner frees tasks. */
struct ready_set {
    uint32_t *tasks; /* [0] runs next: the top of the heap, or what was picked */
    uint32_t count;
    size_t capacity;
    bool is_picked; /* tasks[0] was; the others stand in the order in which they became ready */
};

void ready_push(struct ready_set *set, const struct deployment *deployment, uint32_t task);

/* Takes out the one that runs. */
void ready_pop(struct ready_set *set, const struct deployment *deployment);

/* Picks among several, where the deployment does. */
void ready_pick(struct ready_set *set, const struct deployment *deployment, uint32_t device);

/* The one that runs; READY_NONE where there is none. */
static inline uint32_t ready_top(struct ready_set *set, const struct deployment *deployment, uint32_t device)
{
    if (set->count == 0)
        return READY_NONE;
    if (deployment->pick && !set->is_picked)
        ready_pick(set, deployment, device);
    return set->tasks[0];
}

#endif
