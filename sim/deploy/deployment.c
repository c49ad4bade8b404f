#include "deploy/deployment.h"

#include <stdlib.h>
#include <string.h>

void deployment_free(struct deployment *deployment)
{
    free(deployment->list_of_op);
    free(deployment->lists);
    free(deployment->devices);
    free(deployment->used);
    free(deployment->rank);
    *deployment = (struct deployment){0};
}

void deployment_start(struct deployment *deployment, const struct task_graph *tasks)
{
    require(tasks);
    deployment->tasks = tasks;
    deployment->op_count = tasks->graph->op_count;
    deployment->list_of_op = memory_grow(deployment->list_of_op, &deployment->op_capacity, deployment->op_count,
                                         sizeof *deployment->list_of_op);
    deployment->list_count = deployment->entry_count = deployment->used_count = 0;
    deployment->sync = NULL;
    free(deployment->rank); /* of other tasks, and perhaps fewer */
    deployment->rank = NULL;
    deployment->rank_capacity = 0;
    deployment->pick = NULL;
}

void deployment_copy(const struct deployment *from, struct deployment *to)
{
    require(from != to && from->tasks);
    deployment_start(to, from->tasks);
    memcpy(to->list_of_op, from->list_of_op, from->op_count * sizeof *to->list_of_op);
    to->lists = memory_grow(to->lists, &to->list_capacity, from->list_count, sizeof *to->lists);
    memcpy(to->lists, from->lists, from->list_count * sizeof *to->lists);
    to->devices = memory_grow(to->devices, &to->entry_capacity, from->entry_count, sizeof *to->devices);
    memcpy(to->devices, from->devices, from->entry_count * sizeof *to->devices);
    to->used = memory_grow(to->used, &to->used_capacity, from->used_count, sizeof *to->used);
    memcpy(to->used, from->used, from->used_count * sizeof *to->used);
    to->list_count = from->list_count;
    to->entry_count = from->entry_count;
    to->used_count = from->used_count;
    to->sync = from->sync;
    to->pick = from->pick;
    to->pick_state = from->pick_state;
    if (from->rank) {
        deployment_make_ranks(to);
        memcpy(to->rank, from->rank, from->tasks->task_count * sizeof *to->rank);
    }
}

void deployment_make_ranks(struct deployment *deployment)
{
    deployment->rank = memory_grow(deployment->rank, &deployment->rank_capacity, deployment->tasks->task_count,
                                   sizeof *deployment->rank);
}

/* ---- the checker ---- */

static enum status check_devices(const struct deployment *deployment, const struct topology *topology, uint32_t *seen,
                                 struct error *error)
{
    const struct graph *graph = deployment->tasks->graph;
    for (uint32_t op = 0; op < deployment->op_count; op++) {
        uint32_t list = deployment->list_of_op[op], parts = deployment->tasks->parts[op];
        if (list >= deployment->list_count || deployment->lists[list].count != parts)
            return error_set(error, STATUS_USER, "op %u of model %.100s has %u parts and %u devices", graph->ops[op].id,
                             graph->name, parts, list < deployment->list_count ? deployment->lists[list].count : 0);
    }
    for (uint32_t list = 0; list < deployment->list_count; list++)
        for (uint32_t i = 0; i < deployment->lists[list].count; i++) {
            uint32_t device = deployment->devices[deployment->lists[list].start + i];
            if (device >= topology->device_count)
                return error_set(error, STATUS_USER, "device %u does not exist; the cluster has %u", device,
                                 topology->device_count);
            if (seen[device] == list + 1)
                return error_set(error, STATUS_USER, "device %u has two parts of one op", device);
            seen[device] = list + 1;
        }
    return STATUS_OK;
}

static enum status check_memory(const struct deployment *deployment, const struct topology *topology, double *held,
                                struct error *error)
{
    for (uint32_t op = 0; op < deployment->op_count; op++) {
        struct device_list at = deployment->lists[deployment->list_of_op[op]];
        double part_bytes = task_graph_op_bytes(deployment->tasks, op) / at.count;
        for (uint32_t i = 0; i < at.count; i++) {
            uint32_t device = deployment->devices[at.start + i];
            double has_bytes = topology_class(topology, device)->memory_bytes;
            char name[TOPOLOGY_NAME_BYTES];
            held[device] += part_bytes;
            if (held[device] <= has_bytes * (1 + 1e-12)) /* sums of parts may miss the whole by their last bits */
                continue;
            topology_device_name(topology, device, name);
            return error_set(error, STATUS_USER, "device %s has %.4g GB, what sits on it needs %.4g GB and more", name,
                             has_bytes / 1e9, held[device] / 1e9);
        }
    }
    return STATUS_OK;
}

/* Links fit the parts, and ranks are a permutation: everybody can be first once. */
static enum status check_order(const struct deployment *deployment, bool *is_taken, struct error *error)
{
    const struct task_graph *tasks = deployment->tasks;
    for (uint32_t link = 0; link < tasks->link_count; link++) {
        const struct task_link *at = &tasks->links[link];
        if (at->pattern == LINK_ONE_TO_ONE &&
            deployment_list(deployment, at->source).count != deployment_list(deployment, at->target).count)
            return error_set(error, STATUS_USER, "a link from part to like part between %u and %u parts",
                             deployment_list(deployment, at->source).count,
                             deployment_list(deployment, at->target).count);
    }
    for (uint32_t task = 0; deployment->rank && task < tasks->task_count; task++) {
        uint32_t rank = deployment->rank[task];
        if (rank >= tasks->task_count || is_taken[rank])
            return error_set(error, STATUS_USER, "rank %u of task %u is another's too, or none", rank, task);
        is_taken[rank] = true;
    }
    return STATUS_OK;
}

enum status deployment_check(const struct deployment *deployment, const struct topology *topology, bool counts_memory,
                             struct error *error)
{
    require(deployment->tasks && deployment->op_count == deployment->tasks->graph->op_count);
    uint32_t *seen = memory_alloc(topology->device_count, sizeof *seen);
    double *held = memory_alloc(topology->device_count, sizeof *held);
    bool *is_taken = memory_alloc(deployment->tasks->task_count, sizeof *is_taken);
    enum status status = check_devices(deployment, topology, seen, error);
    if (status == STATUS_OK && counts_memory)
        status = check_memory(deployment, topology, held, error);
    if (status == STATUS_OK)
        status = check_order(deployment, is_taken, error);
    free(seen);
    free(held);
    free(is_taken);
    return status;
}
