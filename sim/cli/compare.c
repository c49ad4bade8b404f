/* ocsim compare DIR TABLE.csv [--markdown]: results beside published figures; exit 1 if one is out of tolerance. */
#include <stdio.h>

#include "cli/cli.h"
#include "results/compare.h"

int cli_compare(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    struct compare_options options = {0};
    unsigned outside = 0;
    const struct cli_option known[] = {{.name = "--markdown", .is_given = &options.is_markdown}};
    enum status status = cli_parse(argc, argv, known, 1, &arguments, &error);
    if (status == STATUS_OK && arguments.name_count != 2)
        status = error_set(&error, STATUS_USER, "compare: expected a results folder and a table of published figures");
    if (status == STATUS_OK) {
        options.directory = arguments.names[0];
        options.table = arguments.names[1];
        status = compare_print(&options, stdout, &outside, &error);
    }
    cli_arguments_free(&arguments);
    if (status != STATUS_OK)
        return cli_fail(&error);
    if (outside)
        fprintf(stderr, "ocsim: compare: %u figures are out of tolerance\n", outside);
    return outside ? 1 : STATUS_OK;
}
