/* RAMP first fit, as published (PAC-ML simulator, section 4): ops in topological order; an op goes where a parent
 * with as many parts sits, else into the first free block of the whole cluster, shapes and origins in a fixed order.
 *
 * Quirk kept: the job's own servers are not marked while it is placed, and an op without such a parent takes the
 * first free block anywhere. So a job may use more servers than its degree, and jobs fragment the cluster.
 * Quirk kept: memory is checked for the forward parts only, though the backward twin lives there too.
 */
#include "place/place.h"

#include <stdlib.h>

/* The list of the first parent with as many parts and, on all its servers together, enough free memory. */
static bool parent_list(const struct split *split, const struct placement *placement, const double *free_bytes,
                        uint32_t op, uint32_t *list)
{
    const struct graph *graph = split->graph;
    double need = split_memory(&graph->ops[op]);
    for (uint32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        uint32_t parent = graph->edges[graph->in_edge[i]].source;
        if (split->parts[parent] != split->parts[op])
            continue;
        struct placement_list at = placement->lists[placement->list_of_op[parent]];
        double free_sum = 0;
        for (uint32_t part = 0; part < at.count; part++)
            free_sum += free_bytes[placement->servers[at.start + part]];
        if (free_sum >= need) {
            *list = placement->list_of_op[parent];
            return true;
        }
    }
    return false;
}

static bool place_op(const struct split *split, const struct occupancy *occupancy, struct place_scratch *scratch,
                     struct placement *placement, uint32_t *block, uint32_t op)
{
    uint32_t parts = split->parts[op], list;
    double part_bytes = split_memory(&split->graph->ops[op]) / parts;
    if (!parent_list(split, placement, scratch->free_bytes, op, &list)) {
        if (!block_search(occupancy, scratch->free_bytes, part_bytes, parts, block))
            return false;
        list = placement_add_list(placement, scratch, block, parts);
    }
    placement_assign(placement, scratch, op, list, part_bytes);
    return true;
}

static bool place(const struct split *split, const struct occupancy *occupancy, struct place_scratch *scratch,
                  struct placement *placement)
{
    const struct graph *graph = split->graph;
    uint32_t *block = memory_alloc(split->degree, sizeof *block);
    bool is_placed = true;
    placement_reset(placement, graph->op_count);
    for (uint32_t i = 0; i < graph->op_count && is_placed; i++)
        is_placed = place_op(split, occupancy, scratch, placement, block, graph->order[i]);
    placement_done(placement, scratch);
    free(block);
    return is_placed;
}

const struct placer place_ramp_first_fit = {
    .strategy = {.name = "ramp_first_fit",
                 .doc = "published: beside a parent with as many parts, else the first free block of the cluster"},
    .place = place,
};
