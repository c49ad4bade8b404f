/* ocsim plot DIR [--figure NAME] [--width column|page]: the figures of a folder of results, and its report. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "figures/figures.h"

static enum status plot(const struct cli_arguments *arguments, const char *width, struct figures_options *options,
                        struct error *error)
{
    if (arguments->name_count != 1 || arguments->override_count)
        return error_set(error, STATUS_USER, "plot: expected one folder of results, e.g. ocsim plot results");
    if (strcmp(width, "column") != 0 && strcmp(width, "page") != 0)
        return error_set(error, STATUS_USER, "plot: --width '%.40s': expected column (8.4 cm) or page (17.4 cm)",
                         width);
    options->is_page_wide = strcmp(width, "page") == 0;
    enum status status = figures_plot(arguments->names[0], options, error);
    if (status == STATUS_OK)
        fprintf(stderr, "%s/figures: %s as PDF, PNG and CSV%s\n", arguments->names[0],
                options->only ? options->only : "every figure", options->only ? "" : "; report.html has them all");
    return status;
}

int cli_plot(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    struct figures_options options = {0};
    const char *width = "column";
    const struct cli_option known[] = {{.name = "--figure", .value = &options.only},
                                       {.name = "--width", .value = &width}};
    enum status status = cli_parse(argc, argv, known, sizeof known / sizeof *known, &arguments, &error);
    if (status == STATUS_OK)
        status = plot(&arguments, width, &options, &error);
    cli_arguments_free(&arguments);
    return status == STATUS_OK ? STATUS_OK : cli_fail(&error);
}
