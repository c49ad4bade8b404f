/* Hardware by number: an array for what always exists, a hash map for what is made when used.
 *
 * The order of slots is the order of first use, never that of the hash, so that
 * reports do not depend on it. Linear probing, at most half full; nothing is ever
 * taken out. The map has places only, the numbers stand there: with millions of
 * wavelengths it is what fits in the cache that counts. All O(1) amortised.
 */
#include <stdlib.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "network/circuits.h"

enum { MAP_MIN = 64 };

static size_t map_place(const struct network *network, uint64_t id)
{
    size_t mask = network->map_size - 1, place = (size_t)hash_mix(id) & mask;
    while (network->map[place] != 0 && network->sparse_ids[network->map[place] - 1] != id)
        place = (place + 1) & mask;
    return place;
}

static void map_grow(struct network *network)
{
    free(network->map);
    network->map_size = network->map_size ? network->map_size * 2 : MAP_MIN;
    network->map = memory_alloc(network->map_size, sizeof *network->map);
    for (size_t i = 0; i < network->sparse_count; i++)
        network->map[map_place(network, network->sparse_ids[i])] = (uint32_t)i + 1;
}

uint32_t hardware_find(const struct network *network, uint64_t id)
{
    if (id < network->fabric.dense)
        return (uint32_t)id;
    uint32_t index = network->map_size > 0 ? network->map[map_place(network, id)] : 0;
    return index == 0 ? FABRIC_NONE : (uint32_t)(network->fabric.dense + index - 1);
}

uint32_t hardware_slot(struct network *network, uint64_t id)
{
    uint32_t slot = hardware_find(network, id);
    if (slot != FABRIC_NONE)
        return slot;
    size_t index = network->sparse_count;
    require(network->fabric.dense + index < FABRIC_NONE);
    if (network->map_size < 2 * (index + 1))
        map_grow(network);
    network->sparse = memory_grow(network->sparse, &network->sparse_capacity, index + 1, sizeof *network->sparse);
    network->sparse_ids =
        memory_grow(network->sparse_ids, &network->sparse_id_capacity, index + 1, sizeof *network->sparse_ids);
    network->sparse[index] = (struct hardware){0};
    network->sparse_ids[index] = id;
    network->map[map_place(network, id)] = (uint32_t)index + 1;
    network->sparse_count++;
    return (uint32_t)(network->fabric.dense + index);
}

uint64_t hardware_id(const struct network *network, uint32_t slot)
{
    return slot < network->fabric.dense ? slot : network->sparse_ids[slot - network->fabric.dense];
}

bool network_hardware_is_free(const struct network *network, uint64_t hardware)
{
    uint32_t slot = hardware_find(network, hardware);
    return slot == FABRIC_NONE || hardware_is_open(network, slot);
}

bool network_hardware_is_dark(const struct network *network, uint64_t hardware)
{
    uint32_t slot = hardware_find(network, hardware);
    return slot == FABRIC_NONE || hardware_at(network, slot)->circuit == 0;
}

bool network_hardware_is_broken(const struct network *network, uint64_t hardware)
{
    return network->options.broken_count > 0 && hardware < network->fabric.dense &&
           network->dense[hardware].circuit == HARDWARE_BROKEN;
}

int network_hardware_loss(const struct network *network, uint64_t hardware)
{
    enum { ONE_OF_SEVERAL = 1, LAST_OF_PAIR = 4 };
    uint32_t slot = hardware_find(network, hardware),
             index = slot == FABRIC_NONE ? 0 : hardware_at(network, slot)->circuit;
    if (index == 0 || index == HARDWARE_BROKEN)
        return 0;
    return network->pairs[network->circuits[index].pair].circuit_count > 1 ? ONE_OF_SEVERAL : LAST_OF_PAIR;
}

/* A circuit that still carries has not closed the books of its hardware: what it spent so far is its switching but for
 * what is still to come of it (lit_from), and busy for the rest. */
static struct hardware_use use_now(const struct network *network, uint32_t slot, sim_time now)
{
    const struct hardware *hardware = hardware_at(network, slot);
    struct hardware_use use = {hardware_id(network, slot), hardware->busy, hardware->switching, hardware->idle};
    sim_time open = now - hardware->since;
    bool is_held = hardware->circuit != 0 && hardware->circuit != HARDWARE_BROKEN;
    const struct circuit *circuit = is_held ? &network->circuits[hardware->circuit] : NULL;
    if (!circuit || circuit->transfer == 0) {
        use.idle += open;
        return use;
    }
    sim_time switching = circuit->dark;
    if (circuit->lit_from > now)
        switching -= circuit->lit_from - now;
    switching = switching < open ? switching : open;
    use.switching += switching;
    use.busy += open - switching;
    return use;
}

void network_visit_hardware(const struct network *network, hardware_visitor *visit, void *context)
{
    sim_time now = engine_now(network->engine);
    if (network->fabric.carrier)
        network->fabric.carrier->visit(network, visit, context);
    for (uint64_t slot = 0; slot < network->fabric.dense + network->sparse_count; slot++) {
        struct hardware_use use = use_now(network, (uint32_t)slot, now);
        visit(context, &use);
    }
}
