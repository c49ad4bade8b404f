/* The pool's slow paths; the hot ones stand in pool.h, where callers can inline them. */
#include "engine/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/memory.h"

enum { CHUNK_NODES = 1 << POOL_CHUNK_BITS, FIRST_ALIGNMENT = 64 };

_Static_assert(sizeof(struct pool_node) == 32, "two nodes a cache line");

void pool_init(struct pool *pool)
{
    *pool = (struct pool){.first_free = POOL_NONE};
}

void pool_fini(struct pool *pool)
{
    for (size_t i = 0; i < pool->chunk_count; i++)
        free(pool->chunks[i]);
    free(pool->chunks);
    pool_init(pool);
}

static void add_chunk(struct pool *pool)
{
    size_t bytes = CHUNK_NODES * sizeof(struct pool_node);
    /* A first chunk of small runs is touched only as far as it is used; later ones are worth a huge page. */
    bool huge = pool->chunk_count > 0;
    struct pool_node *nodes = aligned_alloc(huge ? bytes : FIRST_ALIGNMENT, bytes);
    if (!nodes)
        memory_exhausted(CHUNK_NODES, sizeof *nodes);
    if (huge)
        (void)madvise(nodes, bytes, MADV_HUGEPAGE);
    pool->chunks = memory_grow(pool->chunks, &pool->chunk_capacity, pool->chunk_count + 1, sizeof(struct pool_node *));
    pool->chunks[pool->chunk_count++] = nodes;
}

uint32_t pool_take_fresh(struct pool *pool)
{
    require(pool->used < (1U << POOL_INDEX_BITS) - 1);
    if (pool->used >> POOL_CHUNK_BITS == pool->chunk_count)
        add_chunk(pool);
    uint32_t index = pool->used++;
    *pool_node(pool, index) = (struct pool_node){.state = POOL_LIVE};
    return index;
}

uint32_t pool_find(const struct pool *pool, event_handle handle)
{
    uint32_t number = (uint32_t)(handle & ((1U << POOL_INDEX_BITS) - 1));
    if (number == 0 || number > pool->used)
        return POOL_NONE;
    const struct pool_node *node = pool_node(pool, number - 1);
    if (node->state != POOL_LIVE || pool_handle(pool, number - 1) != handle)
        return POOL_NONE;
    return number - 1;
}
