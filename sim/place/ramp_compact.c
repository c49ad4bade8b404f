/* RAMP compact: every op of a job inside the job's own block of degree-many servers, found once in the published
 * order of shapes and origins. An op takes the first servers of the block that have memory for its parts. So a job
 * never holds more servers than its degree. */
#include <stdlib.h>

#include "place/block.h"
#include "place/place.h"

static bool place_in_block(const struct place_request *request, struct deployment *deployment)
{
    uint32_t degree = request->tasks->degree;
    uint32_t *block = memory_alloc(degree, sizeof *block);
    bool is_placed = block_search(request->occupancy, request->scratch->free_bytes, 0, degree, block) &&
                     place_inside(request, block, degree, deployment);
    free(block);
    return is_placed;
}

const struct placer place_ramp_compact = {
    .strategy = {.name = "ramp_compact", .doc = "every op inside the job's own block of degree-many servers"},
    .is_legal = block_is_legal,
    .place = place_in_block,
};
