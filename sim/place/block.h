/* RAMP blocks: the shapes of k servers the published placer looks for, in its order
 * (PAC-ML simulator, section 4). Which degrees are legal on a topology follows from
 * the same list (section 11). */
#ifndef PLACE_BLOCK_H
#define PLACE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "place/occupancy.h"
#include "topology/topology.h"

struct block_shape {
    int64_t groups, racks, servers; /* servers == -1: a diagonal, one server in each of k (group, rack) pairs */
};

/* Walks the shapes for k servers. Start with a zeroed walk apart from k; false when there are no more. */
struct block_walk {
    uint32_t k;
    uint32_t divisor; /* of k, the one being tried */
    uint32_t next;    /* which shape of that divisor, or which of the two last resorts */
};
bool block_next(const struct topology *topology, struct block_walk *walk, struct block_shape *shape);

/* May an op be split this far on this topology at all (an empty cluster granted)? On a grid, 1, or even and with a
 * shape that is not one of the last resorts. O(k). */
bool block_is_legal(const struct topology *topology, uint32_t degree);

/* The first free block of k servers in the published order of shapes and origins, each with part_bytes of memory left.
 * Fills block (k servers, in the order of parts) and returns true, or returns false with block undefined.
 * O(racks of the cluster * racks of the shape) word operations for each shape. */
bool block_search(const struct occupancy *occupancy, const double *free_bytes, double part_bytes, uint32_t k,
                  uint32_t *block);

#endif
