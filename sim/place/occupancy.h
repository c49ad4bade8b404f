/* Which devices are free: one bit per device; in a grid one word per rack, so that a block of racks is tested by
 * AND-ing words. A device carries at most one job (RAMP's rule). */
#ifndef PLACE_OCCUPANCY_H
#define PLACE_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/topology.h"

struct occupancy {
    const struct topology *topology; /* borrowed */
    uint32_t word_bits;              /* devices of a word: those of a rack in a grid, else 64 */
    uint64_t *free_words;            /* bit p of word w: device w * word_bits + p is free */
    uint32_t free_count;
};

void occupancy_init(struct occupancy *occupancy, const struct topology *topology);
void occupancy_fini(struct occupancy *occupancy);
bool occupancy_is_free(const struct occupancy *occupancy, uint32_t device);

/* Each device must be free (take) or taken (release). O(count). */
void occupancy_take(struct occupancy *occupancy, const uint32_t *devices, uint32_t count);
void occupancy_release(struct occupancy *occupancy, const uint32_t *devices, uint32_t count);

/* The first `count` free devices, ascending; false where there are fewer. */
bool occupancy_first_free(const struct occupancy *occupancy, uint32_t count, uint32_t *devices);

#endif
