#include "place/occupancy.h"

#include <stdlib.h>

static uint32_t word_count(const struct occupancy *occupancy)
{
    return (occupancy->topology->device_count + occupancy->word_bits - 1) / occupancy->word_bits;
}

void occupancy_init(struct occupancy *occupancy, const struct topology *topology)
{
    occupancy->topology = topology;
    occupancy->word_bits = topology->has_grid ? (uint32_t)topology->servers_per_rack : 64;
    require(topology->device_count > 0 && occupancy->word_bits <= 64);
    occupancy->free_words = memory_alloc(word_count(occupancy), sizeof *occupancy->free_words);
    occupancy->free_count = 0;
    for (uint32_t device = 0; device < topology->device_count; device++)
        occupancy_release(occupancy, &device, 1);
}

void occupancy_fini(struct occupancy *occupancy)
{
    free(occupancy->free_words);
    occupancy->free_words = NULL;
}

static uint64_t device_bit(const struct occupancy *occupancy, uint32_t device, uint64_t **word)
{
    require(device < occupancy->topology->device_count);
    *word = &occupancy->free_words[device / occupancy->word_bits];
    return UINT64_C(1) << device % occupancy->word_bits;
}

bool occupancy_is_free(const struct occupancy *occupancy, uint32_t device)
{
    uint64_t *word;
    return device_bit(occupancy, device, &word) & *word;
}

void occupancy_take(struct occupancy *occupancy, const uint32_t *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *word, bit = device_bit(occupancy, devices[i], &word);
        require(*word & bit);
        *word &= ~bit;
    }
    require(count <= occupancy->free_count);
    occupancy->free_count -= count;
}

void occupancy_release(struct occupancy *occupancy, const uint32_t *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *word, bit = device_bit(occupancy, devices[i], &word);
        require(!(*word & bit));
        *word |= bit;
    }
    occupancy->free_count += count;
    require(occupancy->free_count <= occupancy->topology->device_count);
}

bool occupancy_first_free(const struct occupancy *occupancy, uint32_t count, uint32_t *devices)
{
    uint32_t found = 0;
    if (count > occupancy->free_count)
        return false;
    for (uint32_t word = 0; found < count; word++)
        for (uint64_t bits = occupancy->free_words[word]; bits && found < count; bits &= bits - 1)
            devices[found++] = word * occupancy->word_bits + (uint32_t)__builtin_ctzll(bits);
    return true;
}
