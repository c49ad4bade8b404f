/* Memory: plain blocks that never come back NULL, and arenas.
 *
 * Running out of memory ends the program with exit code 3 through
 * memory_exhausted(), so no caller has a path for it. Everything that lives as
 * long as one loaded file or one run hangs off an arena and goes with it.
 */
#ifndef ENGINE_MEMORY_H
#define ENGINE_MEMORY_H

#include <stddef.h>
#include <stdnoreturn.h>

/* Tells how much was asked for and exits 3. */
noreturn void memory_exhausted(size_t count, size_t size);

/* count * size zeroed bytes, owned by the caller, to be freed with free(). Also for count 0. */
void *memory_alloc(size_t count, size_t size);

/* Grows an array of *capacity elements to hold at least need (doubling); new bytes are not zeroed.
 * Returns the moved array, owned by the caller. */
void *memory_grow(void *array, size_t *capacity, size_t need, size_t size);

/* A copy of the first length bytes with a NUL behind, owned by the caller. */
char *memory_text(const char *text, size_t length);

/* An arena: blocks handed out one after the other, freed all at once. Zero-initialise before use. */
struct arena {
    struct arena_chunk *chunks;
    size_t used;  /* of the newest chunk */
    size_t total; /* bytes held in all chunks */
};

/* Zeroed, aligned for any type; lives until arena_free. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);

#endif
