/* ocsim check SCENARIO [key=value ...]: everything that can be wrong before a run starts, for every run of the sweep.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "figures/figures.h"
#include "scenario/plan.h"
#include "scenario/simulation.h"

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Do two runs read the same files? Then loading them once more could find nothing new. */
static bool has_same_inputs(const struct scenario *a, const struct scenario *b)
{
    const struct key_list *models = &a->settings.workload.models, *others = &b->settings.workload.models;
    bool is_same = models->count == others->count;
    for (size_t i = 0; i < a->keys.table->count && is_same; i++)
        if (a->keys.table->rows[i].type == KEY_FILE)
            is_same = is_same_text(keys_path(&a->keys, i), keys_path(&b->keys, i));
    for (size_t i = 0; i < models->count && is_same; i++)
        is_same = is_same_text(models->items[i], others->items[i]);
    return is_same;
}

static enum status check_inputs(const struct settings *settings, struct error *error)
{
    struct simulation simulation;
    enum status status = simulation_open(&simulation, settings, error);
    simulation_close(&simulation);
    return status;
}

static enum status check_runs(const struct plan *plan, struct error *error)
{
    struct scenario *previous = NULL;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < plan->run_count && status == STATUS_OK; i++) {
        struct scenario *run = NULL;
        status = plan_settings(plan, i, &run, error);
        if (status == STATUS_OK && (!previous || !has_same_inputs(previous, run)))
            status = check_inputs(&run->settings, error);
        scenario_free(previous);
        previous = run;
    }
    scenario_free(previous);
    return status;
}

int cli_check(const struct cli_arguments *arguments, struct error *error)
{
    struct cli_scenario loaded = {0};
    enum status status = cli_scenario_load(arguments, &loaded, error);
    if (status == STATUS_OK)
        status = figures_check(loaded.plan, error);
    if (status == STATUS_OK)
        status = check_runs(loaded.plan, error);
    if (status == STATUS_OK)
        printf("%s: fine, %zu run%s\n", arguments->names[0], loaded.plan->run_count,
               loaded.plan->run_count == 1 ? "" : "s");
    cli_scenario_free(&loaded);
    return status;
}
