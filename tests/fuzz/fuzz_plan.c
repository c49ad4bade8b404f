/* Fuzz target: sweeps.
 *
 * The input is a scenario file. Whatever the bytes: a mistake is STATUS_USER
 * with a message; a plan that is made lists its runs by point and repetition,
 * each with texts for all axes, and the settings of its first and last run can
 * be had.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scenario/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_settings(const struct plan *plan, size_t run)
{
    struct scenario *settings = NULL;
    struct error error = {0};
    enum status status = plan_settings(plan, run, &settings, &error);
    if (status != STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    require(status == STATUS_OK && settings->settings.run.seed == plan->runs[run].seed);
    require(!settings->settings.sweep);
    scenario_free(settings);
}

static void check_run(const struct plan *plan, size_t number, size_t repetitions)
{
    const struct plan_run *run = &plan->runs[number];
    require(run->number == number && run->point == number / repetitions);
    require(run->repetition == number % repetitions && run->seed >= 0);
    require(run->seed == plan->runs[run->repetition].seed || plan->axis_count > 0);
    for (size_t i = 0; i < plan->axis_count; i++)
        require(run->texts[i] && run->texts == plan->runs[run->point * repetitions].texts);
}

static void check_promises(const struct plan *plan)
{
    size_t repetitions = plan->stop.most;
    require(plan->stop.least >= 1 && repetitions >= plan->stop.least);
    require(plan->run_count >= 1 && plan->run_count <= PLAN_RUN_LIMIT);
    require(plan->run_count == plan->point_count * repetitions);
    for (size_t i = 0; i < plan->axis_count; i++)
        require(plan->axes[i].key && plan->axes[i].label);
    for (size_t i = 0; i < plan->run_count; i++)
        check_run(plan, i, repetitions);
    check_settings(plan, 0);
    check_settings(plan, plan->run_count - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = NULL;
    struct plan *plan = NULL;
    struct error error = {0};
    struct scenario_overrides none = {0};
    const char *text = size ? (const char *)data : "";
    enum status status = scenario_parse(text, size, "fuzz.yaml", none, &scenario, &error);
    if (status != STATUS_OK)
        return 0;
    status = plan_create(scenario, &plan, &error);
    require((status == STATUS_OK) == (plan != NULL));
    if (status == STATUS_OK)
        check_promises(plan);
    else
        require(status == STATUS_USER && error.status == status && error.message[0] && error.line > 0);
    plan_free(plan);
    scenario_free(scenario);
    return 0;
}
