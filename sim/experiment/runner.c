#include "experiment/runner.h"

#include "experiment/results.h"
#include "experiment/world.h"
#include "input/file.h"

static enum status do_run(const struct plan *plan, size_t run, const char *directory, struct error *error)
{
    struct scenario *settings;
    struct world world;
    struct cluster_result result;
    enum status status = plan_settings(plan, run, &settings, error);
    if (status != STATUS_OK)
        return status;
    status = world_build(&world, &settings->settings, error);
    if (status == STATUS_OK)
        status = cluster_run(&world.cluster, &result, error);
    if (status == STATUS_OK) {
        status = results_write_run(directory, plan, run, &settings->settings, &world.cluster, &result, error);
        cluster_result_free(&result);
    }
    world_free(&world);
    scenario_free(settings);
    return status;
}

enum status runner_run(const struct plan *plan, const struct runner_options *options, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t run = 0; run < plan->run_count && status == STATUS_OK; run++)
        if (options->is_fresh || !results_is_done(options->directory, plan, run))
            status = do_run(plan, run, options->directory, error);
    return status == STATUS_OK ? results_collect(options->directory, plan, error) : status;
}
