#include "cluster/memo.h"

#include <stdlib.h>
#include <string.h>

#include "engine/intern.h"

/* Renumbering of one coordinate; a value counts as known while its stamp is that of the present key. */
struct renumbering {
    uint32_t *stamp, *number;
    uint32_t used;
};

struct memo {
    const struct topology *topology;
    bool renames;
    struct renumbering groups, racks, places;
    uint32_t stamp;
    uint32_t *key; /* of the last look-up */
    size_t key_capacity;
    struct intern keys;
    struct step_result *results; /* by the number of their key; the last key may have none yet */
    size_t result_count, result_capacity;
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
    free(memo->results);
    intern_free(&memo->keys);
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

/* Returns the length of the key. */
static size_t build_key(struct memo *memo, uint32_t model, uint32_t variant, const struct deployment *deployment,
                        sim_time phase)
{
    size_t length = 0, most = 2;
    if (deployment)
        most += 2 + (size_t)deployment->op_count + deployment->list_count + deployment->entry_count;
    memo->key = memory_grow(memo->key, &memo->key_capacity, most, sizeof *memo->key);
    memo->key[length++] = model;
    memo->key[length++] = variant;
    if (!deployment)
        return length;
    memo->key[length++] = (uint32_t)((uint64_t)phase >> 32);
    memo->key[length++] = (uint32_t)phase;
    memo->stamp++;
    memo->groups.used = memo->racks.used = memo->places.used = 0;
    memcpy(memo->key + length, deployment->list_of_op, deployment->op_count * sizeof *memo->key);
    length += deployment->op_count;
    for (uint32_t list = 0; list < deployment->list_count; list++) {
        struct device_list at = deployment->lists[list];
        memo->key[length++] = at.count;
        for (uint32_t i = 0; i < at.count; i++)
            memo->key[length++] = server_code(memo, deployment->devices[at.start + i]);
    }
    require(length == most);
    return length;
}

void memo_rename(struct memo *memo, const struct deployment *deployment, struct deployment *out)
{
    deployment_copy(deployment, out);
    for (uint32_t i = 0; i < out->entry_count; i++)
        out->devices[i] = server_code(memo, out->devices[i]);
    for (uint32_t i = 0; i < out->used_count; i++)
        out->used[i] = server_code(memo, out->used[i]);
}

const struct step_result *memo_find(struct memo *memo, uint32_t model, uint32_t variant,
                                    const struct deployment *deployment, sim_time phase)
{
    require(memo->keys.count == memo->result_count); /* what was not found before was added */
    size_t length = build_key(memo, model, variant, deployment, phase);
    size_t number = intern_number(&memo->keys, memo->key, length * sizeof *memo->key);
    return number < memo->result_count ? &memo->results[number] : NULL;
}

void memo_add(struct memo *memo, const struct step_result *result)
{
    require(memo->keys.count == memo->result_count + 1);
    memo->results = memory_grow(memo->results, &memo->result_capacity, memo->result_count + 1, sizeof *memo->results);
    memo->results[memo->result_count++] = *result;
}
