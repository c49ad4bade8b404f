/* The registry of schedulers, and how a deployment gets its ranks. */
#include "schedule/schedule.h"

#include <stdlib.h>

/* One line per scheduler. */
#define SCHEDULERS(_, type)                                                                                            \
    _(type, schedule_srpt)                                                                                             \
    _(type, schedule_fifo)                                                                                             \
    _(type, schedule_first_ready)
REGISTRY(schedulers, struct scheduler, SCHEDULERS, schedule_srpt)

void schedule_as_placed(const struct schedule_request *request, uint32_t *rank)
{
    for (uint32_t i = 0; i < request->count; i++)
        rank[i] = request->count - 1 - i;
}

/* Of one part of a task, on the slowest of its devices. */
static double task_cost(const struct deployment *deployment, const struct topology *topology, uint32_t task)
{
    const struct task_graph *tasks = deployment->tasks;
    struct device_list at = deployment_list(deployment, task);
    double longest_ms = 0;
    if (topology->class_count == 1)
        return task_part_ms(tasks, task, 0);
    for (uint32_t part = 0; part < at.count; part++) {
        double part_ms = task_part_ms(tasks, task, topology->devices[deployment->devices[at.start + part]].class);
        longest_ms = part_ms > longest_ms ? part_ms : longest_ms;
    }
    return longest_ms;
}

void schedule_fill(const struct choice *scheduler, void *state, const struct topology *topology, double unit,
                   struct deployment *deployment)
{
    const struct scheduler *chosen = (const struct scheduler *)scheduler->strategy;
    const struct task_graph *tasks = deployment->tasks;
    uint32_t count = tasks->task_count;
    require(deployment->list_count > 0 && tasks->class_count == topology->class_count);
    double *cost = memory_alloc(count, sizeof *cost);
    uint32_t *rank = memory_alloc(count, sizeof *rank);
    for (uint32_t i = 0; i < count; i++)
        cost[i] = task_cost(deployment, topology, tasks->placing[i]) * unit;
    struct schedule_request request = {scheduler->settings, state, deployment, count, cost};
    chosen->rank(&request, rank);
    deployment_make_ranks(deployment);
    for (uint32_t i = 0; i < count; i++)
        deployment->rank[tasks->placing[i]] = rank[i];
    deployment->pick = chosen->pick;
    deployment->pick_state = state;
    free(cost);
    free(rank);
}
