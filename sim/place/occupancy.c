#include "place/occupancy.h"

#include <stdlib.h>

void occupancy_init(struct occupancy *occupancy, const struct topology *topology)
{
    size_t racks = (size_t)(topology->groups * topology->racks_per_group);
    uint64_t full = topology->servers_per_rack == 64 ? UINT64_MAX : (UINT64_C(1) << topology->servers_per_rack) - 1;
    occupancy->topology = topology;
    occupancy->free_words = memory_alloc(racks, sizeof *occupancy->free_words);
    for (size_t rack = 0; rack < racks; rack++)
        occupancy->free_words[rack] = full;
    occupancy->free_count = topology->server_count;
}

void occupancy_fini(struct occupancy *occupancy)
{
    free(occupancy->free_words);
    occupancy->free_words = NULL;
}

static uint64_t server_bit(const struct occupancy *occupancy, uint32_t server, uint64_t **word)
{
    uint32_t per_rack = (uint32_t)occupancy->topology->servers_per_rack;
    require(server < occupancy->topology->server_count);
    *word = &occupancy->free_words[server / per_rack];
    return UINT64_C(1) << server % per_rack;
}

bool occupancy_is_free(const struct occupancy *occupancy, uint32_t server)
{
    uint64_t *word;
    return server_bit(occupancy, server, &word) & *word;
}

void occupancy_take(struct occupancy *occupancy, const uint32_t *servers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *word, bit = server_bit(occupancy, servers[i], &word);
        require(*word & bit);
        *word &= ~bit;
    }
    occupancy->free_count -= count;
}

void occupancy_release(struct occupancy *occupancy, const uint32_t *servers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *word, bit = server_bit(occupancy, servers[i], &word);
        require(!(*word & bit));
        *word |= bit;
    }
    occupancy->free_count += count;
}
