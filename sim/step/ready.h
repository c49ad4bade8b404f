/* The ready ops of one device: a binary heap of tasks, the highest rank on top. Private to sim/step. */
#ifndef STEP_READY_H
#define STEP_READY_H

#include <stddef.h>
#include <stdint.h>

#define READY_NONE UINT32_MAX

/* Zero-initialise; the owner frees tasks. */
struct ready_heap {
    uint32_t *tasks;
    uint32_t count;
    size_t capacity;
};

/* rank is that of each task; ranks are distinct. */
void ready_push(struct ready_heap *heap, const uint32_t *rank, uint32_t task);
void ready_pop(struct ready_heap *heap, const uint32_t *rank);

/* READY_NONE where there is none. */
static inline uint32_t ready_top(const struct ready_heap *heap)
{
    return heap->count ? heap->tasks[0] : READY_NONE;
}

#endif
