/* Byte strings numbered 0, 1, 2, ... in order of first appearance, never by hash.
 *
 * A hash table by linear probing, at most half full: O(size of the string) per
 * call, expected. The table keeps copies of the strings.
 */
#ifndef ENGINE_INTERN_H
#define ENGINE_INTERN_H

#include <stddef.h>

#include "engine/memory.h"

/* Zero-initialise; release with intern_free. */
struct intern {
    struct intern_entry *entries; /* by number */
    size_t count, capacity;
    size_t *slots; /* number + 1; 0 = free */
    size_t slot_count;
    struct arena arena;
};

/* The number of the string: a new one, the count until then, where it was not met before. Borrows the bytes. */
size_t intern_number(struct intern *intern, const void *bytes, size_t size);
void intern_free(struct intern *intern);

#endif
