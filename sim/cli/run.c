/* ocsim run SCENARIO [key=value ...] -o DIR [-j N] [--fresh]: one run, or every run of the scenario's sweep. */
#include <stdio.h>

#include "cli/cli.h"
#include "experiment/runner.h"
#include "input/units.h"

static enum status read_jobs(const char *text, int64_t *jobs, struct error *error)
{
    if (units_integer(text, jobs, error) != STATUS_OK || *jobs < 1 || *jobs > 1024)
        return error_set(error, STATUS_USER, "run: -j '%.40s': expected a number of processes from 1 to 1024", text);
    return STATUS_OK;
}

static enum status run(const struct cli_arguments *arguments, const struct runner_options *options,
                       struct error *error)
{
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    struct scenario *scenario;
    struct plan *plan;
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "run: expected one scenario file, e.g. ocsim run scenarios/hello.yaml -o results");
    enum status status = scenario_load(arguments->names[0], overrides, &scenario, error);
    if (status != STATUS_OK)
        return status;
    status = plan_create(scenario, &plan, error);
    if (status == STATUS_OK) {
        status = runner_run(plan, options, error);
        plan_free(plan);
    }
    scenario_free(scenario);
    return status;
}

int cli_run(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    const char *jobs = "1";
    struct runner_options options = {.directory = "results"};
    const struct cli_option known[] = {{.name = "-o", .value = &options.directory},
                                       {.name = "-j", .value = &jobs},
                                       {.name = "--fresh", .is_given = &options.is_fresh}};
    enum status status = cli_parse(argc, argv, known, sizeof known / sizeof *known, &arguments, &error);
    if (status == STATUS_OK)
        status = read_jobs(jobs, &options.jobs, &error);
    if (status == STATUS_OK)
        status = run(&arguments, &options, &error);
    cli_arguments_free(&arguments);
    return status == STATUS_OK ? STATUS_OK : cli_fail(&error);
}
