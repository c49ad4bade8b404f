/* Keys: what the calendar sorts, apart from the events themselves.
 *
 * A key is 24 bytes: time, order (priority above sequence) and the index of the
 * event's node, so that ordering events never touches a node. Keys are totally
 * ordered, since no two share a sequence number. Used by calendar*.c alone.
 * Vectors and heaps here own their array of keys; zero-initialise before use.
 */
#ifndef ENGINE_CALENDAR_KEYS_H
#define ENGINE_CALENDAR_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key {
    uint64_t time;  /* never negative, so unsigned compares will do */
    uint64_t order; /* priority in the top 8 bits, sequence below */
    uint32_t node;
    uint32_t unused;
};

__extension__ typedef unsigned __int128 key_wide;

/* One 128-bit compare: two instructions and no branch to mispredict. */
static inline bool key_less(const struct key *left, const struct key *right)
{
    return (((key_wide)left->time << 64) | left->order) < (((key_wide)right->time << 64) | right->order);
}

struct key_vector {
    struct key *keys;
    size_t count;
    size_t capacity;
};

/* Room for at least need keys. */
void key_vector_reserve(struct key_vector *vector, size_t need);

static inline void key_vector_append(struct key_vector *vector, const struct key *key)
{
    if (vector->count == vector->capacity)
        key_vector_reserve(vector, vector->count + 1);
    vector->keys[vector->count++] = *key;
}

/* Gives back memory when three quarters are not in use. */
void key_vector_trim(struct key_vector *vector);

void key_vector_free(struct key_vector *vector);

/* Sorts ascending: insertion for a few, nothing for what is sorted already (a day of equal times, filled first in first
 * out), else merge sort, O(n log n) at worst. scratch is overwritten. */
void key_vector_sort(struct key *keys, size_t count, struct key_vector *scratch);

/* A binary heap in a vector, smallest first. */
void keys_heap_push(struct key_vector *heap, const struct key *key);
void keys_heap_pop(struct key_vector *heap);

#endif
