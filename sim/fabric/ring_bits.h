/* Bit sets over the segments of a ring: ranges that may wrap around.
 *
 * A set of n bits in 64-bit words, not owned here. A range is `length` segments
 * from `first` on, modulo n, length at most n. Each call is O(length / 64).
 * Private to sim/fabric.
 */
#ifndef FABRIC_RING_BITS_H
#define FABRIC_RING_BITS_H

#include <stdbool.h>
#include <stdint.h>

bool ring_bits_any(const uint64_t *bits, uint32_t n, uint32_t first, uint32_t length);
void ring_bits_set(uint64_t *bits, uint32_t n, uint32_t first, uint32_t length, bool is_set); /* or cleared */

static inline bool ring_bits_has(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

/* The first set bit among at .. end - 1 (no wrap), or end. */
uint32_t ring_bits_next(const uint64_t *bits, uint32_t at, uint32_t end);

/* The nearest set bit at or before `at`, going round; one is required to be set. */
uint32_t ring_bits_back(const uint64_t *bits, uint32_t n, uint32_t at);

#endif
