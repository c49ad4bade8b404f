/* First placed, first served: the order of placement is the order of service, whatever the cost. */
#include "schedule/schedule.h"

static void rank(const double *cost, uint32_t count, uint32_t *ranks)
{
    (void)cost;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = count - 1 - i;
}

const struct scheduler schedule_fifo = {
    .strategy = {.name = "fifo", .doc = "in the order of placement"},
    .rank = rank,
};
