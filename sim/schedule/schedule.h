/* In which order: the interface of schedulers.
 *
 * A scheduler gives every candidate (an op, a transfer) a rank; of those that
 * are ready on the same resource the one with the highest rank goes first, and
 * a newcomer with a higher rank pre-empts. Ranks are distinct and fixed.
 *
 * To add a scheduler: one file with one struct scheduler, one line in schedule.c.
 */
#ifndef SCHEDULE_SCHEDULE_H
#define SCHEDULE_SCHEDULE_H

#include <stdint.h>

#include "input/keys.h"

struct scheduler {
    struct strategy strategy;
    /* rank[i] for candidate i with this cost; candidates come in the order in which they were placed. */
    void (*rank)(const double *cost, uint32_t count, uint32_t *rank);
};

extern const struct registry schedulers;

#endif
