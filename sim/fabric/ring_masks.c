#include "fabric/ring_masks.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/status.h"

struct ring_masks ring_masks_create(uint32_t segments, uint32_t wavelengths)
{
    require(segments > 0 && segments <= UINT32_MAX / 4 && wavelengths > 0);
    struct ring_masks masks = {
        .n = segments, .leaves = 1, .wavelengths = wavelengths, .words = (wavelengths + 63) / 64};
    while (masks.leaves < segments)
        masks.leaves *= 2;
    masks.nodes = memory_alloc((size_t)4 * masks.leaves * masks.words, sizeof *masks.nodes);
    return masks;
}

void ring_masks_free(struct ring_masks *masks)
{
    free(masks->nodes);
    *masks = (struct ring_masks){0};
}

static uint64_t *cover_of(const struct ring_masks *masks, uint32_t node)
{
    return &masks->nodes[(size_t)2 * node * masks->words];
}

static uint64_t *some_of(const struct ring_masks *masks, uint32_t node)
{
    return cover_of(masks, node) + masks->words;
}

static bool has(const uint64_t *mask, uint32_t wavelength)
{
    return mask[wavelength / 64] >> (wavelength % 64) & 1;
}

static void change_node(struct ring_masks *masks, uint32_t node, uint32_t wavelength, bool is_taken)
{
    uint64_t bit = UINT64_C(1) << (wavelength % 64);
    uint64_t *cover = &cover_of(masks, node)[wavelength / 64], *some = &some_of(masks, node)[wavelength / 64];
    require(is_taken ? !(*some & bit) : (*cover & bit) != 0);
    *cover ^= bit;
    *some ^= bit;
}

/* What is taken somewhere, from the leaf's parent up. */
static void climb(struct ring_masks *masks, uint32_t leaf, uint32_t wavelength)
{
    uint32_t word = wavelength / 64;
    for (uint32_t node = (leaf + masks->leaves) / 2; node > 0; node /= 2)
        some_of(masks, node)[word] =
            cover_of(masks, node)[word] | some_of(masks, 2 * node)[word] | some_of(masks, 2 * node + 1)[word];
}

/* first < end <= n: no way round. */
static void set_between(struct ring_masks *masks, uint32_t wavelength, uint32_t first, uint32_t end, bool is_taken)
{
    uint32_t left = first + masks->leaves, right = end + masks->leaves;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2)
            change_node(masks, left++, wavelength, is_taken);
        if (right % 2)
            change_node(masks, --right, wavelength, is_taken);
    }
    climb(masks, first, wavelength);
    climb(masks, end - 1, wavelength);
}

void ring_masks_set(struct ring_masks *masks, uint32_t wavelength, uint32_t first, uint32_t length, bool is_taken)
{
    require(first < masks->n && length > 0 && length <= masks->n && wavelength < masks->wavelengths);
    uint32_t end = first + length, n = masks->n;
    set_between(masks, wavelength, first, end < n ? end : n, is_taken);
    if (end > n)
        set_between(masks, wavelength, 0, end - n, is_taken);
}

static void add_words(const uint64_t *from, uint32_t words, uint64_t *mask)
{
    for (uint32_t i = 0; i < words; i++)
        mask[i] |= from[i];
}

/* What covers a range that an end of the arc is in covers that end. */
static void add_above(const struct ring_masks *masks, uint32_t leaf, uint64_t *mask)
{
    for (uint32_t node = leaf + masks->leaves; node > 0; node /= 2)
        add_words(cover_of(masks, node), masks->words, mask);
}

static void add_between(const struct ring_masks *masks, uint32_t first, uint32_t end, uint64_t *mask)
{
    uint32_t left = first + masks->leaves, right = end + masks->leaves;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2)
            add_words(some_of(masks, left++), masks->words, mask);
        if (right % 2)
            add_words(some_of(masks, --right), masks->words, mask);
    }
    add_above(masks, first, mask);
    add_above(masks, end - 1, mask);
}

void ring_masks_add(const struct ring_masks *masks, uint32_t first, uint32_t length, uint64_t *mask)
{
    require(first < masks->n && length > 0 && length <= masks->n);
    uint32_t end = first + length, n = masks->n;
    add_between(masks, first, end < n ? end : n, mask);
    if (end > n)
        add_between(masks, 0, end - n, mask);
}

uint32_t ring_masks_taken(const struct ring_masks *masks, uint32_t wavelength, uint32_t at)
{
    uint32_t size = 1;
    for (uint32_t node = at + masks->leaves; node > 0; node /= 2, size *= 2)
        if (has(cover_of(masks, node), wavelength))
            return size - at % size;
    return 0;
}

/* The taken segment nearest to `at`, which is free, on one side of it without going round; n where there is none. */
static uint32_t nearest(const struct ring_masks *masks, uint32_t wavelength, uint32_t at, uint32_t side)
{
    uint32_t node = at + masks->leaves;
    while (node > 1 && (node % 2 == side || !has(some_of(masks, node ^ 1), wavelength)))
        node /= 2;
    if (node <= 1)
        return masks->n;
    bool is_covered = false;
    for (node ^= 1; node < masks->leaves;) {
        uint32_t near = 2 * node + 1 - side;
        is_covered |= has(cover_of(masks, node), wavelength);
        node = is_covered || has(some_of(masks, near), wavelength) ? near : near ^ 1;
    }
    return node - masks->leaves;
}

void ring_masks_gap(const struct ring_masks *masks, uint32_t wavelength, uint32_t at, uint32_t *from, uint32_t *before)
{
    uint32_t n = masks->n, right = nearest(masks, wavelength, at, 1), left = nearest(masks, wavelength, at, 0);
    *from = *before = n;
    if (!has(some_of(masks, 1), wavelength))
        return;
    if (right == n)
        right = n + (ring_masks_taken(masks, wavelength, 0) ? 0 : nearest(masks, wavelength, 0, 1));
    *from = right - at;
    if (left < n)
        *before = at - left - 1;
    else
        *before =
            at + n - 1 - (ring_masks_taken(masks, wavelength, n - 1) ? n - 1 : nearest(masks, wavelength, n - 1, 0));
}
