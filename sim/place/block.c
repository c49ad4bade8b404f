#include "place/block.h"

#include <math.h>

/* The square, flat and tall shapes of one divisor; false where that one does not exist.
 * Quirk kept: the last one asks for room in a rack, not for racks, although it spreads over racks. */
static bool divisor_shape(const struct topology *t, uint32_t k, uint32_t divisor, uint32_t which,
                          struct block_shape *shape)
{
    int64_t across = k / divisor, deep = divisor;
    if (deep > t->servers_per_rack)
        return false;
    if (which == 0) {
        int64_t root = llround(sqrt((double)across));
        *shape = (struct block_shape){root, root, deep};
        return root * root == across && root <= t->groups && root <= t->racks_per_group;
    }
    *shape = which == 1 ? (struct block_shape){across, 1, deep} : (struct block_shape){across, deep, 1};
    return across <= t->groups && across <= t->racks_per_group;
}

bool block_next(const struct topology *topology, struct block_walk *walk, struct block_shape *shape)
{
    uint32_t k = walk->k;
    if (walk->divisor == 0)
        walk->divisor = 1;
    for (; walk->divisor <= k; walk->divisor++, walk->next = 0) {
        if (k % walk->divisor)
            continue;
        while (walk->next < 3)
            if (divisor_shape(topology, k, walk->divisor, walk->next++, shape))
                return true;
    }
    if (walk->next >= 2)
        return false;
    *shape = walk->next++ == 0 ? (struct block_shape){k, k, -1} : (struct block_shape){k, 1, 1};
    return true;
}

bool block_is_legal(const struct topology *topology, uint32_t degree)
{
    if (degree <= 1 || !topology->has_grid)
        return degree == 1 && topology->has_grid;
    struct block_walk walk = {.k = degree};
    struct block_shape shape;
    return degree % 2 == 0 && block_next(topology, &walk, &shape) && walk.divisor <= degree;
}

struct search {
    const struct occupancy *occupancy;
    const double *free_bytes;
    double part_bytes;
    uint32_t *block; /* k servers, in the order of parts */
    uint32_t k;
};

static bool has_memory(const struct search *search)
{
    for (uint32_t i = 0; i < search->k; i++)
        if (search->free_bytes[search->block[i]] < search->part_bytes)
            return false;
    return true;
}

static void list_block(const struct search *search, const struct block_shape *shape, int64_t group, int64_t rack,
                       int64_t place)
{
    const struct topology *t = search->occupancy->topology;
    uint32_t used = 0;
    for (int64_t g = 0; g < shape->groups; g++)
        for (int64_t r = 0; r < shape->racks; r++)
            for (int64_t s = 0; s < shape->servers; s++)
                search->block[used++] =
                    (uint32_t)(((group + g) * t->racks_per_group + rack + r) * t->servers_per_rack + place + s);
    require(used == search->k);
}

/* Bit p of the answer: places p .. p + shape->servers - 1 are free in every rack of the block at this origin. */
static uint64_t free_origins(const struct search *search, const struct block_shape *shape, int64_t group, int64_t rack)
{
    const struct topology *t = search->occupancy->topology;
    uint64_t common = UINT64_MAX;
    for (int64_t g = 0; g < shape->groups && common; g++)
        for (int64_t r = 0; r < shape->racks && common; r++)
            common &= search->occupancy->free_words[(group + g) * t->racks_per_group + rack + r];
    uint64_t origins = common;
    for (int64_t s = 1; s < shape->servers && origins; s++)
        origins &= common >> s;
    return origins;
}

static bool find_box(const struct search *search, const struct block_shape *shape)
{
    const struct topology *t = search->occupancy->topology;
    for (int64_t group = 0; group + shape->groups <= t->groups; group++)
        for (int64_t rack = 0; rack + shape->racks <= t->racks_per_group; rack++) {
            uint64_t origins = free_origins(search, shape, group, rack);
            for (; origins; origins &= origins - 1) {
                list_block(search, shape, group, rack, __builtin_ctzll(origins));
                if (has_memory(search))
                    return true;
            }
        }
    return false;
}

/* One server in each of k racks along a diagonal. Quirk kept: the place runs over servers + 2 values, wrapped. */
static bool find_diagonal(const struct search *search)
{
    const struct topology *t = search->occupancy->topology;
    for (int64_t group = 0; group + search->k <= t->groups; group++)
        for (int64_t rack = 0; rack + search->k <= t->racks_per_group; rack++)
            for (int64_t place = 0; place < t->servers_per_rack + 2; place++) {
                bool is_free = true;
                for (uint32_t m = 0; m < search->k && is_free; m++) {
                    search->block[m] = (uint32_t)(((group + m) * t->racks_per_group + rack + m) * t->servers_per_rack +
                                                  place % t->servers_per_rack);
                    is_free = occupancy_is_free(search->occupancy, search->block[m]);
                }
                if (is_free && has_memory(search))
                    return true;
            }
    return false;
}

bool block_search(const struct occupancy *occupancy, const double *free_bytes, double part_bytes, uint32_t k,
                  uint32_t *block)
{
    require(k > 0 && part_bytes >= 0 && occupancy->topology->has_grid);
    struct search search = {occupancy, free_bytes, part_bytes, block, k};
    struct block_walk walk = {.k = k};
    struct block_shape shape;
    while (block_next(occupancy->topology, &walk, &shape)) {
        bool found = shape.servers < 0 ? find_diagonal(&search) : find_box(&search, &shape);
        if (found)
            return true;
    }
    return false;
}
