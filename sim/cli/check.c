/* ocsim check SCENARIO [key=value ...]: everything that can be wrong before a run starts. */
#include <stdio.h>

#include "cli/cli.h"

static enum status check(const struct cli_arguments *arguments, struct error *error)
{
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "check: expected one scenario file, e.g. ocsim check scenarios/hello.yaml");
    const char *path = arguments->names[0];
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    struct scenario *scenario = NULL;
    enum status status = scenario_load(path, overrides, &scenario, error);
    if (status != STATUS_OK)
        return status;
    printf("%s: fine, %s\n", path, scenario->settings.sweep ? "a sweep" : "1 run");
    scenario_free(scenario);
    return STATUS_OK;
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
