/* Places in an array that are used again, and a map from numbers to places.
 *
 * The array is the caller's, of any type; struct reuse knows which of its places
 * are free. The one given back last is taken first, so numbers stay small and
 * depend on nothing but the order of the calls. Zeroed memory is empty. All O(1),
 * amortised.
 */
#ifndef NETWORK_REUSE_H
#define NETWORK_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "engine/status.h"

/* No such place. */
#define REUSE_NONE UINT32_MAX

struct reuse {
    size_t count, capacity; /* places ever taken are below count */
    uint32_t *free;         /* owned: a stack */
    size_t free_count, free_capacity;
};

/* The slow way of reuse_take: a place never taken before, zeroed. */
void *reuse_extend(struct reuse *reuse, void *items, size_t size, uint32_t *place);

/* Takes a place of the array, whose elements have a size. Returns the array, which may have moved. A place that was
 * given back is as it was left. */
static inline void *reuse_take(struct reuse *reuse, void *items, size_t size, uint32_t *place)
{
    if (reuse->free_count == 0)
        return reuse_extend(reuse, items, size, place);
    *place = reuse->free[--reuse->free_count];
    return items;
}

static inline void reuse_give(struct reuse *reuse, uint32_t place)
{
    require(place < reuse->count && reuse->free_count < reuse->count);
    if (reuse->free_count == reuse->free_capacity)
        reuse->free = memory_grow(reuse->free, &reuse->free_capacity, reuse->free_count + 1, sizeof *reuse->free);
    reuse->free[reuse->free_count++] = place;
}

/* Frees what it owns, and the array. */
void reuse_free(struct reuse *reuse, void *items);

struct reuse_map_entry {
    uint64_t key; /* plus 1; 0 = free */
    uint32_t place;
};

/* Linear probing, at most half full; never walked, so nothing depends on the hash. */
struct reuse_map {
    struct reuse_map_entry *entries; /* owned */
    size_t count, size;
};

/* Where the key is, or would be put; size is above 0. */
static inline size_t reuse_map_at(const struct reuse_map *map, uint64_t key)
{
    size_t mask = map->size - 1, at = (size_t)hash_mix(key) & mask;
    while (map->entries[at].key != 0 && map->entries[at].key != key + 1)
        at = (at + 1) & mask;
    return at;
}

/* REUSE_NONE if it is not there. */
static inline uint32_t reuse_map_find(const struct reuse_map *map, uint64_t key)
{
    const struct reuse_map_entry *entry = map->size > 0 ? &map->entries[reuse_map_at(map, key)] : NULL;
    return entry && entry->key != 0 ? entry->place : REUSE_NONE;
}

/* A key that is not there, below UINT64_MAX; and one that is. */
void reuse_map_add(struct reuse_map *map, uint64_t key, uint32_t place);
void reuse_map_remove(struct reuse_map *map, uint64_t key);
void reuse_map_free(struct reuse_map *map);

#endif
