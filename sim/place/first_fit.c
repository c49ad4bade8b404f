/* First fit: a job takes the first free devices of the table, as many as its degree, and every op sits on the first of
 * these that have memory for its parts. Works on any topology; in a grid it knows nothing of blocks. */
#include <stdlib.h>

#include "place/place.h"

static bool is_legal(const struct topology *topology, uint32_t degree)
{
    return degree == 1 || (degree % 2 == 0 && degree <= topology->device_count);
}

static bool place_on_first_free(const struct place_request *request, struct deployment *deployment)
{
    uint32_t degree = request->tasks->degree;
    uint32_t *devices = memory_alloc(degree, sizeof *devices);
    bool is_placed =
        occupancy_first_free(request->occupancy, degree, devices) && place_inside(request, devices, degree, deployment);
    free(devices);
    return is_placed;
}

const struct placer place_first_fit = {
    .strategy = {.name = "first_fit", .doc = "the first free devices, as many as the degree, on any topology"},
    .is_legal = is_legal,
    .place = place_on_first_free,
};
