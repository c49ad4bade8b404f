#include "engine/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/status.h"

enum { CHUNK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* usable bytes behind this header */
};

#define HEADER_BYTES ((sizeof(struct arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

noreturn void memory_exhausted(size_t count, size_t size)
{
    fprintf(stderr, "ocsim: out of memory: %zu x %zu bytes were asked for\n", count, size);
    exit(STATUS_MEMORY);
}

void *memory_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        memory_exhausted(count, size);
    return block;
}

void *memory_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    require(size > 0);
    if (need <= *capacity)
        return array;
    size_t wanted = *capacity < 16 ? 16 : *capacity * 2;
    if (wanted < need)
        wanted = need;
    if (wanted > SIZE_MAX / size)
        memory_exhausted(wanted, size);
    void *moved = realloc(array, wanted * size);
    if (!moved)
        memory_exhausted(wanted, size);
    *capacity = wanted;
    return moved;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_alloc(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2 - ALIGNMENT) / size)
        memory_exhausted(count, size);
    size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->chunks || arena->chunks->size - arena->used < bytes) {
        size_t chunk_size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct arena_chunk *chunk = memory_alloc(1, HEADER_BYTES + chunk_size);
        chunk->next = arena->chunks;
        chunk->size = chunk_size;
        arena->chunks = chunk;
        arena->used = 0;
        arena->total += HEADER_BYTES + chunk_size;
    }
    void *block = (char *)arena->chunks + HEADER_BYTES + arena->used;
    arena->used += bytes;
    return block;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct arena){0};
}
