/* RAMP first fit, as published (PAC-ML simulator, section 4): ops in topological order; an op goes where a parent
 * with as many parts sits, else into the first free block of the whole cluster, shapes and origins in a fixed order.
 *
 * Quirk kept: the job's own servers are not marked while it is placed, and an op without such a parent takes the
 * first free block anywhere. So a job may use more servers than its degree, and jobs fragment the cluster.
 * Quirk kept: memory is checked for the forward parts only, though the backward twin lives there too, and on the
 * servers of a parent for all parts together, not for each.
 */
#include <stdlib.h>

#include "place/block.h"
#include "place/place.h"

/* The list of the first parent with as many parts and, on all its servers together, enough free memory. */
static bool parent_list(const struct place_request *request, const struct deployment *deployment, uint32_t op,
                        uint32_t *list)
{
    const struct graph *graph = request->tasks->graph;
    const uint32_t *parts = request->tasks->parts;
    double need = task_graph_op_bytes(request->tasks, op);
    for (uint32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        uint32_t parent = graph->edges[graph->in_edge[i]].source;
        if (parts[parent] != parts[op])
            continue;
        struct device_list at = deployment->lists[deployment->list_of_op[parent]];
        double free_sum = 0;
        for (uint32_t part = 0; part < at.count; part++)
            free_sum += request->scratch->free_bytes[deployment->devices[at.start + part]];
        if (free_sum >= need) {
            *list = deployment->list_of_op[parent];
            return true;
        }
    }
    return false;
}

static bool place_op(const struct place_request *request, struct deployment *deployment, uint32_t *block, uint32_t op)
{
    uint32_t parts = request->tasks->parts[op], list;
    if (!parent_list(request, deployment, op, &list)) {
        double part_bytes = task_graph_op_bytes(request->tasks, op) / parts;
        if (!block_search(request->occupancy, request->scratch->free_bytes, part_bytes, parts, block))
            return false;
        list = place_add_list(request, deployment, block, parts);
    }
    place_assign(request, deployment, op, list);
    return true;
}

static bool place_by_parents(const struct place_request *request, struct deployment *deployment)
{
    const struct graph *graph = request->tasks->graph;
    uint32_t *block = memory_alloc(request->tasks->degree, sizeof *block);
    bool is_placed = true;
    deployment_start(deployment, request->tasks);
    for (uint32_t i = 0; i < graph->op_count && is_placed; i++)
        is_placed = place_op(request, deployment, block, graph->order[i]);
    place_end(request, deployment);
    free(block);
    return is_placed;
}

const struct placer place_ramp_first_fit = {
    .strategy = {.name = "ramp_first_fit",
                 .doc = "published: beside a parent with as many parts, else the first free block of the cluster"},
    .is_legal = block_is_legal,
    .place = place_by_parents,
    .counts_memory_together = true,
};
