/* Numbered byte strings: see intern.h. */
#include "engine/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "engine/status.h"

struct intern_entry {
    uint64_t hash;
    const char *bytes;
    size_t size;
};

/* Eight bytes at a time: keys of a thousand words are looked up once per job. */
static uint64_t hash_string(const char *bytes, size_t size)
{
    uint64_t hash = size, word = 0;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return hash_mix((hash ^ word) * UINT64_C(0x9e3779b97f4a7c15));
}

/* The slot of the string, or the free one where it belongs. */
static size_t *find_slot(const struct intern *intern, const struct intern_entry *wanted)
{
    size_t mask = intern->slot_count - 1, slot = (size_t)wanted->hash & mask;
    for (; intern->slots[slot]; slot = (slot + 1) & mask) {
        const struct intern_entry *entry = &intern->entries[intern->slots[slot] - 1];
        if (entry->hash == wanted->hash && entry->size == wanted->size &&
            memcmp(entry->bytes, wanted->bytes, wanted->size) == 0)
            break;
    }
    return &intern->slots[slot];
}

static void grow_slots(struct intern *intern)
{
    free(intern->slots);
    intern->slot_count = intern->slot_count ? intern->slot_count * 2 : 64;
    intern->slots = memory_alloc(intern->slot_count, sizeof *intern->slots);
    for (size_t i = 0; i < intern->count; i++)
        *find_slot(intern, &intern->entries[i]) = i + 1;
}

size_t intern_number(struct intern *intern, const void *bytes, size_t size)
{
    require(intern && bytes);
    struct intern_entry entry = {hash_string(bytes, size), bytes, size};
    if (2 * (intern->count + 1) > intern->slot_count)
        grow_slots(intern);
    size_t *slot = find_slot(intern, &entry);
    if (*slot)
        return *slot - 1;
    entry.bytes = arena_text(&intern->arena, bytes, size);
    intern->entries = memory_grow(intern->entries, &intern->capacity, intern->count + 1, sizeof *intern->entries);
    intern->entries[intern->count] = entry;
    *slot = ++intern->count;
    return intern->count - 1;
}

void intern_free(struct intern *intern)
{
    free(intern->entries);
    free(intern->slots);
    arena_free(&intern->arena);
    *intern = (struct intern){0};
}
