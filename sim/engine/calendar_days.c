/* Blocks, bitmap and spill chunks of a tier of days. */
#include "engine/calendar_days.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/memory.h"
#include "engine/status.h"

enum { HUGE_BYTES = 2 << 20 };

_Static_assert(sizeof(struct day) == 128 && sizeof(struct spill_chunk) == 128, "a day is two cache lines");

/* Zeroed and aligned; large arrays ask for huge pages, since days are visited far apart (spec of event queues,
 * section 3: a page-table miss costs as much as the cache miss it comes with). */
static struct day *blocks_alloc(size_t size)
{
    size_t bytes = size * sizeof(struct day);
    bool huge = bytes >= HUGE_BYTES;
    struct day *blocks = aligned_alloc(huge ? HUGE_BYTES : sizeof(struct day), bytes);
    if (!blocks)
        memory_exhausted(size, sizeof *blocks);
    if (huge)
        (void)madvise(blocks, bytes, MADV_HUGEPAGE); /* a hint: refusal changes nothing but speed */
    memset(blocks, 0, bytes);
    return blocks;
}

void days_setup(struct days *days, size_t size, unsigned shift)
{
    require(days->count == 0);
    require(size >= DAYS_MIN && size <= DAYS_MAX && (size & (size - 1)) == 0);
    require(shift < 64);
    if (size > days->capacity) {
        days_free(days);
        days->blocks = blocks_alloc(size);
        days->bitmap = memory_alloc(size / DAYS_WORD, sizeof *days->bitmap);
        days->capacity = size;
    }
    days->size = size;
    days->shift = shift;
}

void days_free(struct days *days)
{
    free(days->blocks);
    free(days->bitmap);
    *days = (struct days){0};
}

static uint32_t chunk_take(struct spill *spill)
{
    if (spill->first_free) {
        uint32_t chunk = spill->first_free - 1;
        spill->first_free = spill->chunks[chunk].next;
        return chunk;
    }
    spill->chunks = memory_grow(spill->chunks, &spill->capacity, spill->used + 1, sizeof *spill->chunks);
    return (uint32_t)spill->used++;
}

void spill_put(struct spill *spill, struct day *day, const struct key *key)
{
    uint32_t spilled = day->count - 1 - DAY_KEYS; /* days_put has counted this key */
    uint32_t place = spilled % DAY_KEYS;
    if (place == 0) {
        uint32_t chunk = chunk_take(spill);
        uint32_t oldest = chunk;
        if (spilled) {
            oldest = spill->chunks[day->spill].next;
            spill->chunks[day->spill].next = chunk;
        }
        spill->chunks[chunk].next = oldest;
        day->spill = chunk;
    }
    spill->chunks[day->spill].keys[place] = *key;
    spill->total++;
}

uint64_t days_first(const struct days *days)
{
    require(days->count > 0);
    size_t start = days->next & (days->size - 1);
    size_t words = days->size / DAYS_WORD;
    size_t word = start / DAYS_WORD;
    uint64_t bits = days->bitmap[word] & (UINT64_MAX << (start % DAYS_WORD));
    while (!bits) {
        word = (word + 1) & (words - 1);
        bits = days->bitmap[word];
    }
    size_t slot = word * DAYS_WORD + (size_t)__builtin_ctzll(bits);
    return days->next + ((slot - start) & (days->size - 1));
}

static void spill_take(struct spill *spill, const struct day *day, struct key *to)
{
    uint32_t left = day->count - DAY_KEYS;
    uint32_t chunk = spill->chunks[day->spill].next;
    for (;;) {
        uint32_t count = left < DAY_KEYS ? left : DAY_KEYS;
        uint32_t next = spill->chunks[chunk].next;
        memcpy(to, spill->chunks[chunk].keys, count * sizeof *to);
        spill->chunks[chunk].next = spill->first_free;
        spill->first_free = chunk + 1;
        left -= count;
        if (!left)
            break;
        to += count;
        chunk = next;
    }
}

void days_take(struct days *days, struct spill *spill, uint64_t index, struct key_vector *keys)
{
    size_t slot = index & (days->size - 1);
    struct day *day = &days->blocks[slot];
    require(day->count > 0);
    if (keys->count + day->count + DAY_KEYS > keys->capacity)
        key_vector_reserve(keys, keys->count + day->count + DAY_KEYS);
    struct key *to = &keys->keys[keys->count];
    /* All five whatever the count: a loop that ends at random costs more than the bytes. */
    memcpy(to, day->keys, sizeof day->keys);
    if (day->count > DAY_KEYS)
        spill_take(spill, day, to + DAY_KEYS);
    keys->count += day->count;
    days->count -= day->count;
    day->count = 0;
    days->bitmap[slot / DAYS_WORD] &= ~(UINT64_C(1) << (slot % DAYS_WORD));
}
