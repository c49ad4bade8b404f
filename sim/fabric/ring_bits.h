/* Bit sets over the segments of a ring, or over its micro-rings.
 *
 * A set of n bits in 64-bit words, not owned here. A search is O(bits passed / 64).
 * Private to sim/fabric.
 */
#ifndef FABRIC_RING_BITS_H
#define FABRIC_RING_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/status.h"

static inline bool ring_bits_has(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

/* Sets or clears a bit that was not set or cleared, which is required. */
static inline void ring_bits_put(uint64_t *bits, uint32_t at, bool is_set)
{
    require(ring_bits_has(bits, at) != is_set);
    bits[at / 64] ^= UINT64_C(1) << (at % 64);
}

/* The first set bit among at .. end - 1 (no wrap), or end. */
uint32_t ring_bits_next(const uint64_t *bits, uint32_t at, uint32_t end);

/* The nearest set bit at or before `at`, going round; one is required to be set. */
uint32_t ring_bits_back(const uint64_t *bits, uint32_t n, uint32_t at);

#endif
