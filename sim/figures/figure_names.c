/* Texts and their numbers: see figure_names.h. Open addressing, at most half full. */
#include "figures/figure_names.h"

#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"

static void rehash(struct figure_names *names)
{
    free(names->slots);
    names->slot_count = names->slot_count ? names->slot_count * 2 : 64;
    names->slots = memory_alloc(names->slot_count, sizeof *names->slots);
    for (size_t i = 0; i < names->count; i++) {
        size_t slot = hash_bytes(names->texts[i], strlen(names->texts[i])) & (names->slot_count - 1);
        while (names->slots[slot])
            slot = (slot + 1) & (names->slot_count - 1);
        names->slots[slot] = i + 1;
    }
}

size_t figure_names_number(struct figure_names *names, const char *text, struct arena *arena)
{
    if (names->count * 2 >= names->slot_count)
        rehash(names);
    size_t length = strlen(text), slot = hash_bytes(text, length) & (names->slot_count - 1);
    for (; names->slots[slot]; slot = (slot + 1) & (names->slot_count - 1))
        if (strcmp(names->texts[names->slots[slot] - 1], text) == 0)
            return names->slots[slot] - 1;
    names->texts = memory_grow(names->texts, &names->capacity, names->count + 1, sizeof *names->texts);
    names->texts[names->count] = arena_text(arena, text, length);
    names->slots[slot] = ++names->count;
    return names->count - 1;
}

void figure_names_free(struct figure_names *names)
{
    free(names->slots);
    free(names->texts);
}
