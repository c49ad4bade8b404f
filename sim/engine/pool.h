/* The pool of pending events: fixed-size nodes, named by handles that never lie.
 *
 * A handle is a node's index and the generation of its use, so a handle to an
 * event that has run or was cancelled is recognised even after its node serves
 * another event. Nodes are 32 bytes, two a cache line, in chunks of 2 MiB that
 * never move; free nodes are reused last in, first out, while they are warm.
 * Allocation, release and lookup are O(1).
 */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/status.h"

/* What happens, when, to whom. Ties in time go by priority (lower first), then by the order of scheduling. */
struct event {
    sim_time time;
    uint64_t data;
    uint32_t entity;
    uint16_t kind;
    uint8_t priority;
};

/* 0 = none. Low 28 bits: node index + 1. High 36 bits: generation. */
typedef uint64_t event_handle;

enum { POOL_INDEX_BITS = 28, POOL_CHUNK_BITS = 16 };

enum pool_state { POOL_FREE, POOL_LIVE, POOL_DEAD };

struct pool_node {
    uint64_t data;
    uint64_t generation; /* goes up at every release */
    uint32_t entity;
    uint32_t next_free; /* index of the next free node, while free */
    uint16_t kind;
    uint8_t priority;
    uint8_t state; /* enum pool_state; dead = cancelled, but a key still names it */
};

struct pool {
    struct pool_node **chunks;
    size_t chunk_count, chunk_capacity;
    uint32_t first_free; /* POOL_NONE when no node is free */
    uint32_t used;       /* nodes ever handed out */
};

#define POOL_NONE UINT32_MAX

void pool_init(struct pool *pool);
void pool_fini(struct pool *pool);

/* The returned pointer lives until pool_fini. */
static inline struct pool_node *pool_node(const struct pool *pool, uint32_t index)
{
    return &pool->chunks[index >> POOL_CHUNK_BITS][index & ((1U << POOL_CHUNK_BITS) - 1)];
}

/* A node never used before; grows the pool where it has to. */
uint32_t pool_take_fresh(struct pool *pool);

/* A live node's index; its contents are the caller's to fill. */
static inline uint32_t pool_take(struct pool *pool)
{
    uint32_t index = pool->first_free;
    if (index == POOL_NONE)
        return pool_take_fresh(pool);
    struct pool_node *node = pool_node(pool, index);
    pool->first_free = node->next_free;
    node->state = POOL_LIVE;
    return index;
}

/* Makes the node free; its handles stop being valid. */
static inline void pool_release(struct pool *pool, uint32_t index)
{
    struct pool_node *node = pool_node(pool, index);
    require(node->state != POOL_FREE);
    node->state = POOL_FREE;
    node->generation++;
    node->next_free = pool->first_free;
    pool->first_free = index;
}

static inline event_handle pool_handle(const struct pool *pool, uint32_t index)
{
    return (pool_node(pool, index)->generation << POOL_INDEX_BITS) | (index + 1);
}

/* The index of the live node a handle names, or POOL_NONE if it is none, has run or was cancelled. */
uint32_t pool_find(const struct pool *pool, event_handle handle);

#endif
