#include "cluster/memo.h"

#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"

/* Renumbering of one coordinate; a value counts as known while its stamp is that of the present key. */
struct renumbering {
    uint32_t *stamp, *number;
    uint32_t used;
};

struct entry {
    uint64_t hash;
    uint32_t *key; /* key[0] = its length */
    struct step_result result;
};

struct memo {
    const struct topology *topology;
    bool renames;
    struct renumbering groups, racks, places;
    uint32_t stamp;
    uint32_t *key;
    uint32_t key_length;
    size_t key_capacity;
    uint64_t key_hash;
    struct entry *entries;
    uint32_t entry_count;
    size_t entry_capacity;
    uint32_t *slots; /* open addressing: entry number + 1, 0 = empty; a power of two, at most half full */
    uint32_t slot_count;
    struct arena arena;
};

static void renumbering_init(struct renumbering *renumbering, int64_t count)
{
    renumbering->stamp = memory_alloc((size_t)count, sizeof *renumbering->stamp);
    renumbering->number = memory_alloc((size_t)count, sizeof *renumbering->number);
}

struct memo *memo_create(const struct topology *topology, bool renames)
{
    struct memo *memo = memory_alloc(1, sizeof *memo);
    memo->topology = topology;
    memo->renames = renames;
    renumbering_init(&memo->groups, topology->groups);
    renumbering_init(&memo->racks, topology->racks_per_group);
    renumbering_init(&memo->places, topology->servers_per_rack);
    memo->slot_count = 1024;
    memo->slots = memory_alloc(memo->slot_count, sizeof *memo->slots);
    return memo;
}

void memo_free(struct memo *memo)
{
    if (!memo)
        return;
    struct renumbering *all[] = {&memo->groups, &memo->racks, &memo->places};
    for (int i = 0; i < 3; i++) {
        free(all[i]->stamp);
        free(all[i]->number);
    }
    free(memo->key);
    free(memo->entries);
    free(memo->slots);
    arena_free(&memo->arena);
    free(memo);
}

static uint32_t renumber(struct renumbering *renumbering, uint32_t stamp, uint32_t value)
{
    if (renumbering->stamp[value] != stamp) {
        renumbering->stamp[value] = stamp;
        renumbering->number[value] = renumbering->used++;
    }
    return renumbering->number[value];
}

/* Group, rack and place need at most 32 bits together: their product is the number of servers. */
static uint32_t server_code(struct memo *memo, uint32_t server)
{
    const struct topology *t = memo->topology;
    if (!memo->renames)
        return server;
    uint32_t group = renumber(&memo->groups, memo->stamp, topology_group(t, server));
    uint32_t rack = renumber(&memo->racks, memo->stamp, topology_rack(t, server));
    uint32_t place = renumber(&memo->places, memo->stamp, topology_place(t, server));
    return (group * (uint32_t)t->racks_per_group + rack) * (uint32_t)t->servers_per_rack + place;
}

static void build_key(struct memo *memo, uint32_t model, uint32_t degree, const struct deployment *deployment)
{
    size_t most = 4 + (size_t)deployment->op_count + deployment->list_count + deployment->entry_count;
    memo->key = memory_grow(memo->key, &memo->key_capacity, most, sizeof *memo->key);
    memo->stamp++;
    memo->groups.used = memo->racks.used = memo->places.used = 0;
    uint32_t length = 1;
    memo->key[length++] = model;
    memo->key[length++] = degree;
    memcpy(memo->key + length, deployment->list_of_op, deployment->op_count * sizeof *memo->key);
    length += deployment->op_count;
    for (uint32_t list = 0; list < deployment->list_count; list++) {
        struct device_list at = deployment->lists[list];
        memo->key[length++] = at.count;
        for (uint32_t i = 0; i < at.count; i++)
            memo->key[length++] = server_code(memo, deployment->devices[at.start + i]);
    }
    memo->key[0] = memo->key_length = length;
    uint64_t hash = length;
    for (uint32_t i = 1; i < length; i++)
        hash = (hash ^ memo->key[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    memo->key_hash = hash_mix(hash);
}

void memo_rename(struct memo *memo, const struct deployment *deployment, struct deployment *out)
{
    deployment_copy(deployment, out);
    for (uint32_t i = 0; i < out->entry_count; i++)
        out->devices[i] = server_code(memo, out->devices[i]);
    for (uint32_t i = 0; i < out->used_count; i++)
        out->used[i] = server_code(memo, out->used[i]);
}

static uint32_t *find_slot(const struct memo *memo, uint64_t hash, const uint32_t *key)
{
    uint32_t mask = memo->slot_count - 1;
    for (uint32_t slot = (uint32_t)hash & mask;; slot = (slot + 1) & mask) {
        if (!memo->slots[slot])
            return &memo->slots[slot];
        const struct entry *entry = &memo->entries[memo->slots[slot] - 1];
        if (entry->hash == hash && entry->key[0] == key[0] && memcmp(entry->key, key, key[0] * sizeof *key) == 0)
            return &memo->slots[slot];
    }
}

const struct step_result *memo_find(struct memo *memo, uint32_t model, uint32_t degree,
                                    const struct deployment *deployment)
{
    build_key(memo, model, degree, deployment);
    uint32_t slot = *find_slot(memo, memo->key_hash, memo->key);
    return slot ? &memo->entries[slot - 1].result : NULL;
}

static void double_slots(struct memo *memo)
{
    free(memo->slots);
    memo->slot_count *= 2;
    memo->slots = memory_alloc(memo->slot_count, sizeof *memo->slots);
    for (uint32_t i = 0; i < memo->entry_count; i++)
        *find_slot(memo, memo->entries[i].hash, memo->entries[i].key) = i + 1;
}

void memo_add(struct memo *memo, const struct step_result *result)
{
    uint32_t *key = arena_alloc(&memo->arena, memo->key_length, sizeof *key);
    memcpy(key, memo->key, memo->key_length * sizeof *key);
    memo->entries = memory_grow(memo->entries, &memo->entry_capacity, memo->entry_count + 1, sizeof *memo->entries);
    memo->entries[memo->entry_count] = (struct entry){memo->key_hash, key, *result};
    *find_slot(memo, memo->key_hash, key) = ++memo->entry_count;
    if (memo->entry_count > memo->slot_count / 2)
        double_slots(memo);
}
