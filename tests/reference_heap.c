/* A textbook binary heap; see the header. */
#include "reference_heap.h"

#include <stdlib.h>

#include "engine/memory.h"

static inline bool is_before(const struct reference_key *left, const struct reference_key *right)
{
    if (left->time != right->time)
        return left->time < right->time;
    return left->order < right->order;
}

void reference_heap_push(struct reference_heap *heap, struct reference_key key)
{
    if (heap->count == heap->capacity)
        heap->keys = memory_grow(heap->keys, &heap->capacity, heap->count + 1, sizeof key);
    struct reference_key *keys = heap->keys;
    size_t i = heap->count++;
    while (i > 0 && is_before(&key, &keys[(i - 1) / 2])) {
        keys[i] = keys[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    keys[i] = key;
}

bool reference_heap_pop(struct reference_heap *heap, struct reference_key *key)
{
    if (heap->count == 0)
        return false;
    struct reference_key *keys = heap->keys;
    *key = keys[0];
    size_t count = --heap->count;
    struct reference_key last = keys[count];
    size_t i = 0;
    for (size_t child = 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && is_before(&keys[child + 1], &keys[child]))
            child++;
        if (!is_before(&keys[child], &last))
            break;
        keys[i] = keys[child];
        i = child;
    }
    keys[i] = last;
    return true;
}

void reference_heap_free(struct reference_heap *heap)
{
    free(heap->keys);
    *heap = (struct reference_heap){0};
}
