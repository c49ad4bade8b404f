#include "step/ready.h"

#include <string.h>

#include "engine/memory.h"
#include "engine/status.h"

void ready_push(struct ready_set *set, const struct deployment *deployment, uint32_t task)
{
    set->tasks = memory_grow(set->tasks, &set->capacity, set->count + 1, sizeof *set->tasks);
    const uint32_t *rank = deployment->rank;
    uint32_t hole = set->count++;
    for (; !deployment->pick && hole > 0 && rank[set->tasks[(hole - 1) / 2]] < rank[task]; hole = (hole - 1) / 2)
        set->tasks[hole] = set->tasks[(hole - 1) / 2];
    set->tasks[hole] = task;
}

void ready_pick(struct ready_set *set, const struct deployment *deployment, uint32_t device)
{
    uint32_t at = deployment->pick(deployment->pick_state, deployment, device, set->tasks, set->count);
    require(at < set->count);
    uint32_t task = set->tasks[at];
    memmove(set->tasks + 1, set->tasks, at * sizeof *set->tasks);
    set->tasks[0] = task;
    set->is_picked = true;
}

static void pop_heap(struct ready_set *set, const uint32_t *rank)
{
    uint32_t task = set->tasks[--set->count], hole = 0;
    for (;;) {
        uint32_t child = 2 * hole + 1;
        if (child >= set->count)
            break;
        if (child + 1 < set->count && rank[set->tasks[child + 1]] > rank[set->tasks[child]])
            child++;
        if (rank[set->tasks[child]] < rank[task])
            break;
        set->tasks[hole] = set->tasks[child];
        hole = child;
    }
    set->tasks[hole] = task;
}

void ready_pop(struct ready_set *set, const struct deployment *deployment)
{
    require(set->count > 0 && (!deployment->pick || set->is_picked));
    if (!deployment->pick) {
        pop_heap(set, deployment->rank);
        return;
    }
    memmove(set->tasks, set->tasks + 1, --set->count * sizeof *set->tasks);
    set->is_picked = false;
}
