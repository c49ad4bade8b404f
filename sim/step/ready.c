#include "step/ready.h"

#include "engine/memory.h"
#include "engine/status.h"

void ready_push(struct ready_heap *heap, const uint32_t *rank, uint32_t task)
{
    heap->tasks = memory_grow(heap->tasks, &heap->capacity, heap->count + 1, sizeof *heap->tasks);
    uint32_t hole = heap->count++;
    for (; hole > 0 && rank[heap->tasks[(hole - 1) / 2]] < rank[task]; hole = (hole - 1) / 2)
        heap->tasks[hole] = heap->tasks[(hole - 1) / 2];
    heap->tasks[hole] = task;
}

void ready_pop(struct ready_heap *heap, const uint32_t *rank)
{
    require(heap->count > 0);
    uint32_t task = heap->tasks[--heap->count], hole = 0;
    for (;;) {
        uint32_t child = 2 * hole + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && rank[heap->tasks[child + 1]] > rank[heap->tasks[child]])
            child++;
        if (rank[heap->tasks[child]] < rank[task])
            break;
        heap->tasks[hole] = heap->tasks[child];
        hole = child;
    }
    heap->tasks[hole] = task;
}
