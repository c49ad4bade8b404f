/* RAMP compact: every op of a job inside the job's own block of degree-many servers, found once in the published
 * order of shapes and origins. An op takes the first servers of the block that have memory for its parts. So a job
 * never holds more servers than its degree. */
#include "place/place.h"

#include <stdlib.h>

/* The first servers of the job's block that have room for a part each; false where too few have. */
static bool choose(const struct place_scratch *scratch, const uint32_t *block, uint32_t degree, double part_bytes,
                   uint32_t parts, uint32_t *chosen)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < degree && used < parts; i++)
        if (scratch->free_bytes[block[i]] >= part_bytes)
            chosen[used++] = block[i];
    return used == parts;
}

static bool place(const struct split *split, const struct occupancy *occupancy, struct place_scratch *scratch,
                  struct placement *placement)
{
    const struct graph *graph = split->graph;
    uint32_t degree = split->degree;
    uint32_t *block = memory_alloc(2 * (size_t)degree, sizeof *block), *chosen = block + degree;
    bool is_placed = block_search(occupancy, scratch->free_bytes, 0, degree, block);
    placement_reset(placement, graph->op_count);
    for (uint32_t i = 0; i < graph->op_count && is_placed; i++) {
        uint32_t op = graph->order[i], parts = split->parts[op];
        double part_bytes = split_memory(&graph->ops[op]) / parts;
        is_placed = choose(scratch, block, degree, part_bytes, parts, chosen);
        if (is_placed)
            placement_assign(placement, scratch, op, placement_add_list(placement, scratch, chosen, parts), part_bytes);
    }
    placement_done(placement, scratch);
    free(block);
    return is_placed;
}

const struct placer place_ramp_compact = {
    .strategy = {.name = "ramp_compact", .doc = "every op inside the job's own block of degree-many servers"},
    .place = place,
};
