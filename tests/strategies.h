/* Strategies by their variables, for tests that hold one of them to its promises; the program finds them by name. */
#ifndef TESTS_STRATEGIES_H
#define TESTS_STRATEGIES_H

#include "cluster/deployer.h"
#include "partition/partition.h"
#include "place/place.h"
#include "schedule/schedule.h"

extern const struct partitioner partition_exact_min, partition_fixed, partition_max, partition_min_sufficient,
    partition_random, partition_trace;
extern const struct placer place_ramp_first_fit, place_ramp_compact;
extern const struct scheduler schedule_srpt, schedule_fifo, schedule_first_ready;

/* Ranks as a run with this scheduler would. */
static inline void rank_by(const struct scheduler *scheduler, const struct topology *topology, double unit,
                           struct deployment *deployment)
{
    schedule_fill(&(struct choice){&scheduler->strategy, NULL}, NULL, topology, unit, deployment);
}

#endif
