/* How one job is laid out: for each op its parts, their devices, how its gradient is synchronised, and who goes first.
 *
 * Partitioner, placer and scheduler fill a deployment in turn, a search may fill
 * it at once; deployment_check holds for whoever did, and one function runs a
 * step of it (step/step.h).
 *
 * Devices come in *lists*: part j of an op sits on the j-th device of its list. Ops
 * that sit on the same devices in the same order share one list, so a deployment
 * is small whatever the parts. Devices of one list are distinct.
 */
#ifndef DEPLOY_DEPLOYMENT_H
#define DEPLOY_DEPLOYMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/task_graph.h"
#include "topology/topology.h"

struct device_list {
    uint32_t start, count; /* in devices */
};

/* How the parts of an op come to the same gradient. */
enum gradient_sync {
    SYNC_STANDARD, /* as the network does by default (network.all_reduce) */
    SYNC_RAMP,
    SYNC_RING,
    SYNC_HALVING_DOUBLING,
    SYNC_PARAMETER_SERVER,
    SYNC_NONE
};

struct deployment {
    const struct task_graph *tasks; /* borrowed: the parts of each op */
    /* devices: filled by the placer */
    uint32_t op_count;
    uint32_t *list_of_op;
    uint32_t list_count;
    struct device_list *lists;
    uint32_t entry_count; /* of devices: lists one after the other */
    uint32_t *devices;
    uint32_t used_count; /* distinct devices, in the order of first use */
    uint32_t *used;
    /* synchronisation: NULL = SYNC_STANDARD for every op; borrowed, per op */
    const enum gradient_sync *sync;
    /* priority: filled by the scheduler, one of the two */
    uint32_t *rank; /* per task, distinct: of those ready on a device the highest runs, and pre-empts */
    /* Or: which of the tasks ready on a device, in the order in which they became ready, runs next, to its end; answers
     * its position. Overrules rank on devices; transfers still go by it. */
    uint32_t (*pick)(void *state, const struct deployment *deployment, uint32_t device, const uint32_t *ready,
                     uint32_t count);
    void *pick_state;
    size_t op_capacity, list_capacity, entry_capacity, used_capacity, rank_capacity;
};

/* Zero-initialise before use; frees what it owns. */
void deployment_free(struct deployment *deployment);

/* Starts anew for a task graph: nothing is placed, nothing ranked. */
void deployment_start(struct deployment *deployment, const struct task_graph *tasks);

/* Makes *to, which may hold an older one, a copy. */
void deployment_copy(const struct deployment *from, struct deployment *to);

/* The devices of a task's parts. */
static inline struct device_list deployment_list(const struct deployment *deployment, uint32_t task)
{
    return deployment->lists[deployment->list_of_op[deployment->tasks->tasks[task].op]];
}

static inline enum gradient_sync deployment_sync(const struct deployment *deployment, uint32_t op)
{
    return deployment->sync ? deployment->sync[op] : SYNC_STANDARD;
}

/* Room for the ranks of all tasks, in deployment->rank. */
void deployment_make_ranks(struct deployment *deployment);

/* Refuses a deployment that cannot be: an op without a list, or with another number of devices than parts; a device
 * that does not exist, twice in a list, or without the memory for what sits on it (unless the placer counts it
 * otherwise); a link from one part to its like between ops with other numbers of parts; ranks that are no order.
 * STATUS_USER with the op or device named. O(parts + links + devices). */
STATUS_MUST_USE enum status deployment_check(const struct deployment *deployment, const struct topology *topology,
                                             bool counts_memory, struct error *error);

#endif
