/* ocsim plot DIR [--figure NAME] [--width column|page]: the figures of a folder of results, and its report. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "figures/figures.h"

int cli_plot(const struct cli_arguments *arguments, struct error *error)
{
    const char *width = cli_value(arguments, "--width", "column");
    struct figures_options options = {.only = cli_value(arguments, "--figure", NULL),
                                      .is_page_wide = strcmp(width, "page") == 0};
    if (!options.is_page_wide && strcmp(width, "column") != 0)
        return error_set(error, STATUS_USER, "plot: --width '%.40s': expected column (8.4 cm) or page (17.4 cm)",
                         width);
    enum status status = figures_plot(arguments->names[0], &options, error);
    if (status == STATUS_OK)
        fprintf(stderr, "%s/figures: %s as PDF, PNG and CSV%s\n", arguments->names[0],
                options.only ? options.only : "every figure", options.only ? "" : "; report.html has them all");
    return status;
}
