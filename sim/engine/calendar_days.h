/* Days: one tier of the calendar, equal stretches of time with unsorted keys.
 *
 * A power-of-two number of days, each 2^shift ticks wide, found by a shift and a
 * mask: day d = time >> shift lives in slot d mod size. A day is one block of
 * 128 bytes with room for five keys; more spill, in order of arrival, into
 * chunks. A bitmap tells which days hold anything, so empty ones cost next to
 * nothing. Slots never hold keys of two different days: callers keep the days in
 * use within size of each other. Put is O(1), take O(keys of the day).
 * Used by calendar.c alone. Days own their blocks; the spill is shared by tiers.
 */
#ifndef ENGINE_CALENDAR_DAYS_H
#define ENGINE_CALENDAR_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/calendar_keys.h"
#include "engine/status.h"

enum { DAY_KEYS = 5, DAYS_MIN = 64, DAYS_MAX = 1 << 22, DAYS_WORD = 64 };

struct day {
    uint32_t count; /* also of spilled keys; 0 in every unused block */
    uint32_t spill; /* newest chunk, while count > DAY_KEYS; its next is the oldest: a ring */
    struct key keys[DAY_KEYS];
};

struct spill_chunk {
    uint32_t next;
    uint32_t unused;
    struct key keys[DAY_KEYS];
};

struct spill {
    struct spill_chunk *chunks;
    size_t used, capacity;
    uint32_t first_free; /* counted from 1, 0 = none, so that zeroed means empty */
    uint64_t total;      /* keys ever spilled */
};

struct days {
    struct day *blocks;
    uint64_t *bitmap;
    size_t capacity; /* of blocks, in days */
    size_t size;     /* a power of two */
    size_t count;    /* keys in all days */
    unsigned shift;
    uint64_t next; /* first day not yet taken */
    uint64_t last; /* later times go to this day too */
    uint64_t end;  /* times below it belong here */
};

/* Gets an empty tier ready; the caller then sets next, last and end. */
void days_setup(struct days *days, size_t size, unsigned shift);
void days_free(struct days *days);

/* The slow half of days_put: a key for a day whose block is full. */
void spill_put(struct spill *spill, struct day *day, const struct key *key);

/* Puts the key of a time that is not before day next and is below end. In the header since most pushes end here. */
static inline void days_put(struct days *days, struct spill *spill, const struct key *key)
{
    uint64_t index = key->time >> days->shift;
    index = index > days->last ? days->last : index;
    require(index >= days->next);
    size_t slot = index & (days->size - 1);
    struct day *day = &days->blocks[slot];
    /* Set whether or not it is set already: to ask the block first would be to wait for it. */
    days->bitmap[slot / DAYS_WORD] |= UINT64_C(1) << (slot % DAYS_WORD);
    days->count++;
    uint32_t count = day->count++;
    if (count < DAY_KEYS)
        day->keys[count] = *key;
    else
        spill_put(spill, day, key);
}

/* The first day with keys; at least one key is required to be there. */
uint64_t days_first(const struct days *days);

/* Appends the keys of a day to a vector, in order of arrival, and empties it. */
void days_take(struct days *days, struct spill *spill, uint64_t day, struct key_vector *keys);

/* The first time behind a day. */
static inline uint64_t days_end(const struct days *days, uint64_t day)
{
    return day == days->last ? days->end : (day + 1) << days->shift;
}

static inline struct day *days_block(const struct days *days, uint64_t day)
{
    return &days->blocks[day & (days->size - 1)];
}

#endif
