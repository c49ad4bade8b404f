/* The reference: a plain binary heap of (time, order, payload index).
 *
 * Textbook code, kept simple so that it is evidently right: the calendar must
 * pop in the same order and must not be slower. O(log n) a push and a pop.
 * The heap owns its array; zero-initialise before use.
 */
#ifndef TESTS_REFERENCE_HEAP_H
#define TESTS_REFERENCE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference_key {
    int64_t time;
    uint64_t order;
    uint32_t payload;
};

struct reference_heap {
    struct reference_key *keys;
    size_t count, capacity;
};

void reference_heap_push(struct reference_heap *heap, struct reference_key key);

/* False when empty. */
bool reference_heap_pop(struct reference_heap *heap, struct reference_key *key);
void reference_heap_free(struct reference_heap *heap);

#endif
