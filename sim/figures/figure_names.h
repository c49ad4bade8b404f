/* Texts numbered in order of first appearance, never by hash. O(1) a lookup. Private to sim/figures. */
#ifndef FIGURES_FIGURE_NAMES_H
#define FIGURES_FIGURE_NAMES_H

#include <stddef.h>

#include "engine/memory.h"

/* Zero-initialise. */
struct figure_names {
    size_t *slots; /* number + 1; 0 = empty */
    size_t slot_count;
    const char **texts;
    size_t count, capacity;
};

/* The number of the text, a new one where it was not met before; its copy then lives in the arena. */
size_t figure_names_number(struct figure_names *names, const char *text, struct arena *arena);
void figure_names_free(struct figure_names *names);

#endif
