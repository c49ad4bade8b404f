#include "network/reuse.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_MIN = 64 };

void *reuse_extend(struct reuse *reuse, void *items, size_t size, uint32_t *place)
{
    require(reuse->count < REUSE_NONE);
    if (reuse->count == reuse->capacity)
        items = memory_grow(items, &reuse->capacity, reuse->count + 1, size);
    memset((char *)items + reuse->count * size, 0, size);
    *place = (uint32_t)reuse->count++;
    return items;
}

void reuse_free(struct reuse *reuse, void *items)
{
    free(reuse->free);
    free(items);
}

static void map_grow(struct reuse_map *map)
{
    struct reuse_map old = *map;
    map->size = old.size > 0 ? 2 * old.size : MAP_MIN;
    map->entries = memory_alloc(map->size, sizeof *map->entries);
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].key != 0)
            map->entries[reuse_map_at(map, old.entries[i].key - 1)] = old.entries[i];
    free(old.entries);
}

void reuse_map_add(struct reuse_map *map, uint64_t key, uint32_t place)
{
    require(key < UINT64_MAX);
    if (2 * (map->count + 1) > map->size)
        map_grow(map);
    struct reuse_map_entry *entry = &map->entries[reuse_map_at(map, key)];
    require(entry->key == 0);
    *entry = (struct reuse_map_entry){key + 1, place};
    map->count++;
}

/* Moves back what linear probing had pushed on, so that no mark is left behind. */
void reuse_map_remove(struct reuse_map *map, uint64_t key)
{
    size_t mask = map->size - 1, hole = reuse_map_at(map, key);
    require(map->entries[hole].key == key + 1);
    for (size_t at = (hole + 1) & mask; map->entries[at].key != 0; at = (at + 1) & mask) {
        size_t home = (size_t)hash_mix(map->entries[at].key - 1) & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->entries[hole] = map->entries[at];
        hole = at;
    }
    map->entries[hole].key = 0;
    map->count--;
}

void reuse_map_free(struct reuse_map *map)
{
    free(map->entries);
}
