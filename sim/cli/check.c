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

static enum status check(const struct cli_arguments *arguments, struct error *error)
{
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "check: expected one scenario file, e.g. ocsim check scenarios/tutorial/1-hello.yaml");
    const char *path = arguments->names[0];
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    struct scenario *scenario = NULL;
    struct plan *plan = NULL;
    enum status status = scenario_load(path, overrides, &scenario, error);
    if (status == STATUS_OK)
        status = plan_create(scenario, &plan, error);
    if (status == STATUS_OK)
        status = figures_check(plan, error);
    if (status == STATUS_OK)
        status = check_runs(plan, error);
    if (status == STATUS_OK)
        printf("%s: fine, %zu run%s\n", path, plan->run_count, plan->run_count == 1 ? "" : "s");
    plan_free(plan);
    scenario_free(scenario);
    return status;
}

int cli_check(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    if (cli_parse(argc, argv, NULL, 0, &arguments, &error) != STATUS_OK)
        return cli_fail(&error);
    enum status status = check(&arguments, &error);
    cli_arguments_free(&arguments);
    return status == STATUS_OK ? STATUS_OK : cli_fail(&error);
}
