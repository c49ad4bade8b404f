/* Which servers are free: one bit a server, one word a rack, so that a block of
 * racks is tested by AND-ing words. A server carries at most one job (RAMP's rule). */
#ifndef PLACE_OCCUPANCY_H
#define PLACE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/topology.h"

struct occupancy {
    const struct topology *topology; /* borrowed */
    uint64_t *free_words;            /* groups * racks: bit p = place p of that rack is free */
    uint32_t free_count;
};

void occupancy_init(struct occupancy *occupancy, const struct topology *topology);
void occupancy_fini(struct occupancy *occupancy);
bool occupancy_is_free(const struct occupancy *occupancy, uint32_t server);

/* Each server must be free (take) or taken (release). O(count). */
void occupancy_take(struct occupancy *occupancy, const uint32_t *servers, uint32_t count);
void occupancy_release(struct occupancy *occupancy, const uint32_t *servers, uint32_t count);

#endif
