/* Which wavelengths are taken where on a ring of segments: a segment tree of masks.
 *
 * A node stands for a range of segments. It has the wavelengths that an arc took on
 * the whole range (cover) and those taken somewhere in it (some). The arcs on one
 * wavelength are disjoint and are given back as they were taken, so nothing is ever
 * pushed down. With n segments and W wavelengths, taking an arc is O(log n), asking
 * for all wavelengths of an arc O(log n * W / 64). Memory n * W / 2 bytes.
 *
 * An arc is `length` segments from `first` on, modulo n, 1 <= length <= n.
 * Private to sim/fabric.
 */
#ifndef FABRIC_RING_MASKS_H
#define FABRIC_RING_MASKS_H

#include <stdbool.h>
#include <stdint.h>

struct ring_masks {
    uint64_t *nodes;    /* owned: cover and some of each, `words` each; the root is 1 */
    uint32_t n, leaves; /* segments; the next power of two */
    uint32_t wavelengths;
    uint32_t words; /* of a mask */
};

struct ring_masks ring_masks_create(uint32_t segments, uint32_t wavelengths);
void ring_masks_free(struct ring_masks *masks);

/* Takes an arc on a wavelength that is nowhere taken on it, which is required, or gives it back. */
void ring_masks_set(struct ring_masks *masks, uint32_t wavelength, uint32_t first, uint32_t length, bool is_taken);

/* Adds the wavelengths taken somewhere on the arc to a mask of `words`. */
void ring_masks_add(const struct ring_masks *masks, uint32_t first, uint32_t length, uint64_t *mask);

/* The segments in a row from `at` on where the wavelength is taken: some of them at least, 0 where it is free at `at`.
 * Never round the end of the ring. */
uint32_t ring_masks_taken(const struct ring_masks *masks, uint32_t wavelength, uint32_t at);

/* The free segments in a row around `at`, which is free: from `at` on, and right before it. Both n where nothing is
 * taken at all. */
void ring_masks_gap(const struct ring_masks *masks, uint32_t wavelength, uint32_t at, uint32_t *from, uint32_t *before);

#endif
