#include "place/place.h"

#include <stdlib.h>
#include <string.h>

/* One line per placer. */
#define PLACERS(_, type)                                                                                               \
    _(type, place_ramp_first_fit)                                                                                      \
    _(type, place_ramp_compact)
REGISTRY(placers, struct placer, PLACERS, place_ramp_first_fit)

void place_scratch_init(struct place_scratch *scratch, const struct topology *topology)
{
    scratch->topology = topology;
    scratch->free_bytes = memory_alloc(topology->server_count, sizeof *scratch->free_bytes);
    scratch->is_used = memory_alloc(topology->server_count, sizeof *scratch->is_used);
    for (uint32_t server = 0; server < topology->server_count; server++)
        scratch->free_bytes[server] = topology->device_memory_bytes;
}

void place_scratch_fini(struct place_scratch *scratch)
{
    free(scratch->free_bytes);
    free(scratch->is_used);
}

void placement_fini(struct placement *placement)
{
    free(placement->list_of_op);
    free(placement->lists);
    free(placement->servers);
    free(placement->used);
    *placement = (struct placement){0};
}

void placement_copy(const struct placement *from, struct placement *to)
{
    placement_reset(to, from->op_count);
    memcpy(to->list_of_op, from->list_of_op, from->op_count * sizeof *to->list_of_op);
    to->lists = memory_grow(to->lists, &to->list_capacity, from->list_count, sizeof *to->lists);
    memcpy(to->lists, from->lists, from->list_count * sizeof *to->lists);
    to->servers = memory_grow(to->servers, &to->server_capacity, from->server_count, sizeof *to->servers);
    memcpy(to->servers, from->servers, from->server_count * sizeof *to->servers);
    to->used = memory_grow(to->used, &to->used_capacity, from->used_count, sizeof *to->used);
    memcpy(to->used, from->used, from->used_count * sizeof *to->used);
    to->list_count = from->list_count;
    to->server_count = from->server_count;
    to->used_count = from->used_count;
}

void placement_reset(struct placement *placement, uint32_t op_count)
{
    size_t capacity = placement->op_capacity;
    placement->list_of_op = memory_grow(placement->list_of_op, &capacity, op_count, sizeof *placement->list_of_op);
    placement->op_capacity = (uint32_t)capacity;
    placement->op_count = op_count;
    placement->list_count = placement->server_count = placement->used_count = 0;
}

static void use_server(struct placement *placement, struct place_scratch *scratch, uint32_t server)
{
    if (scratch->is_used[server])
        return;
    scratch->is_used[server] = true;
    placement->used =
        memory_grow(placement->used, &placement->used_capacity, placement->used_count + 1, sizeof *placement->used);
    placement->used[placement->used_count++] = server;
}

uint32_t placement_add_list(struct placement *placement, struct place_scratch *scratch, const uint32_t *servers,
                            uint32_t count)
{
    for (uint32_t list = 0; list < placement->list_count; list++)
        if (placement->lists[list].count == count &&
            memcmp(placement->servers + placement->lists[list].start, servers, count * sizeof *servers) == 0)
            return list;
    placement->lists =
        memory_grow(placement->lists, &placement->list_capacity, placement->list_count + 1, sizeof *placement->lists);
    placement->servers = memory_grow(placement->servers, &placement->server_capacity,
                                     (size_t)placement->server_count + count, sizeof *placement->servers);
    placement->lists[placement->list_count] = (struct placement_list){placement->server_count, count};
    memcpy(placement->servers + placement->server_count, servers, count * sizeof *servers);
    placement->server_count += count;
    for (uint32_t i = 0; i < count; i++)
        use_server(placement, scratch, servers[i]);
    return placement->list_count++;
}

void placement_assign(struct placement *placement, struct place_scratch *scratch, uint32_t op, uint32_t list,
                      double bytes)
{
    struct placement_list at = placement->lists[list];
    placement->list_of_op[op] = list;
    for (uint32_t i = 0; i < at.count; i++)
        scratch->free_bytes[placement->servers[at.start + i]] -= bytes;
}

void placement_done(const struct placement *placement, struct place_scratch *scratch)
{
    for (uint32_t i = 0; i < placement->used_count; i++) {
        scratch->free_bytes[placement->used[i]] = scratch->topology->device_memory_bytes;
        scratch->is_used[placement->used[i]] = false;
    }
}
