#include "experiment/plan.h"

#include <stdio.h>
#include <stdlib.h>

enum status plan_create(const struct scenario *scenario, struct plan **plan, struct error *error)
{
    struct plan *made = memory_alloc(1, sizeof *made);
    (void)error;
    made->scenario = scenario;
    made->run_count = made->point_count = 1;
    made->repeat = 1;
    made->runs = arena_alloc(&made->arena, 1, sizeof *made->runs);
    made->runs[0].seed = scenario->settings.run.seed;
    *plan = made;
    return STATUS_OK;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    arena_free(&plan->arena);
    free(plan);
}

enum status plan_settings(const struct plan *plan, size_t run, struct scenario **settings, struct error *error)
{
    require(run < plan->run_count);
    return scenario_variant(plan->scenario, plan->runs[run].values, plan->runs[run].value_count, settings, error);
}

void plan_name(const struct plan *plan, size_t run, char name[PLAN_NAME_BYTES])
{
    require(run < plan->run_count);
    snprintf(name, PLAN_NAME_BYTES, "%04zu", run);
}
