/* Sorting and heaps of keys. The heap picks the smaller child without a branch: it is small and stays in cache, where a
 * mispredicted branch costs more than the loads it would have started early. */
#include "engine/calendar_keys.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/status.h"

enum { INSERTION_MAX = 24, BLOCK = 16, TRIM_MIN = 4096 };

void key_vector_reserve(struct key_vector *vector, size_t need)
{
    vector->keys = memory_grow(vector->keys, &vector->capacity, need, sizeof *vector->keys);
}

void key_vector_trim(struct key_vector *vector)
{
    if (vector->capacity < TRIM_MIN || vector->count >= vector->capacity / 4)
        return;
    size_t count = vector->count, capacity = 0;
    struct key *kept = memory_grow(NULL, &capacity, 2 * count + 1, sizeof *kept);
    memcpy(kept, vector->keys, count * sizeof *kept);
    free(vector->keys);
    *vector = (struct key_vector){.keys = kept, .count = count, .capacity = capacity};
}

void key_vector_free(struct key_vector *vector)
{
    free(vector->keys);
    *vector = (struct key_vector){0};
}

static void sort_insertion(struct key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!key_less(&keys[i], &keys[i - 1]))
            continue;
        struct key key = keys[i];
        size_t j = i;
        do {
            keys[j] = keys[j - 1];
            j--;
        } while (j > 0 && key_less(&key, &keys[j - 1]));
        keys[j] = key;
    }
}

static bool is_sorted(const struct key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (key_less(&keys[i], &keys[i - 1]))
            return false;
    return true;
}

static void merge(const struct key *from, size_t middle, size_t end, struct key *to)
{
    size_t left = 0, right = middle, i = 0;
    while (left < middle && right < end) {
        bool take_right = key_less(&from[right], &from[left]);
        to[i++] = from[take_right ? right : left];
        right += take_right;
        left += !take_right;
    }
    memcpy(&to[i], &from[left], (middle - left) * sizeof *to);
    i += middle - left;
    memcpy(&to[i], &from[right], (end - right) * sizeof *to);
}

static void sort_merge(struct key *keys, size_t count, struct key_vector *scratch)
{
    key_vector_reserve(scratch, count);
    for (size_t i = 0; i < count; i += BLOCK)
        sort_insertion(&keys[i], count - i < BLOCK ? count - i : BLOCK);
    struct key *from = keys, *to = scratch->keys;
    for (size_t width = BLOCK; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t rest = count - i;
            merge(&from[i], rest < width ? rest : width, rest < 2 * width ? rest : 2 * width, &to[i]);
        }
        struct key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}

void key_vector_sort(struct key *keys, size_t count, struct key_vector *scratch)
{
    require(keys || !count);
    if (count <= INSERTION_MAX)
        sort_insertion(keys, count);
    else if (!is_sorted(keys, count))
        sort_merge(keys, count, scratch);
}

void keys_heap_push(struct key_vector *heap, const struct key *key)
{
    struct key pushed = *key;
    key_vector_append(heap, key);
    struct key *keys = heap->keys;
    size_t i = heap->count - 1;
    while (i > 0 && key_less(&pushed, &keys[(i - 1) / 2])) {
        keys[i] = keys[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    keys[i] = pushed;
}

void keys_heap_pop(struct key_vector *heap)
{
    require(heap->count > 0);
    size_t count = --heap->count;
    struct key *keys = heap->keys;
    struct key last = keys[count];
    size_t i = 0;
    /* keys[count] still holds last, so the right child may be read even where it is just past the end. */
    for (size_t child = 1; child < count; child = 2 * i + 1) {
        child += key_less(&keys[child + 1], &keys[child]);
        if (!key_less(&keys[child], &last))
            break;
        keys[i] = keys[child];
        i = child;
    }
    keys[i] = last;
}
