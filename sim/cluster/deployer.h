/* Placer and scheduler of a run, with what they keep: they turn a task graph into a deployment, in turn. */
#ifndef CLUSTER_DEPLOYER_H
#define CLUSTER_DEPLOYER_H

#include "place/place.h"
#include "schedule/schedule.h"

struct deployer {
    const struct topology *topology;
    struct choice placer, scheduler;
    void *placer_state, *scheduler_state;
    double unit_s; /* what a profile's millisecond is taken for */
    struct place_scratch scratch;
};

/* Borrows the topology until deployer_close, which must follow, also after failure. STATUS_USER where the placer cannot
 * work on it. */
STATUS_MUST_USE enum status deployer_open(struct deployer *deployer, const struct topology *topology,
                                          struct choice placer, struct choice scheduler, double unit_s,
                                          struct error *error);
void deployer_close(struct deployer *deployer);

static inline const struct placer *deployer_placer(const struct deployer *deployer)
{
    return (const struct placer *)deployer->placer.strategy;
}

/* Lays the tasks out on free devices; false where they find none. */
bool deployer_place(struct deployer *deployer, const struct task_graph *tasks, const struct occupancy *occupancy,
                    struct deployment *deployment);

/* Ranks what was placed, and checks the whole. */
void deployer_rank(const struct deployer *deployer, struct deployment *deployment);
STATUS_MUST_USE enum status deployer_check(const struct deployer *deployer, const struct deployment *deployment,
                                           struct error *error);

#endif
