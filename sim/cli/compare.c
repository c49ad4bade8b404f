/* ocsim compare DIR TABLE.csv [--markdown]: results beside published figures; exit 1 if one is out of tolerance. */
#include <stdio.h>

#include "cli/cli.h"
#include "results/compare.h"

int cli_compare(const struct cli_arguments *arguments, struct error *error)
{
    struct compare_options options = {.is_markdown = cli_is_given(arguments, "--markdown")};
    unsigned outside = 0;
    if (arguments->name_count != 2)
        return error_set(error, STATUS_USER, "compare: expected a results folder and a table of published figures");
    options.directory = arguments->names[0];
    options.table = arguments->names[1];
    enum status status = compare_print(&options, stdout, &outside, error);
    if (status != STATUS_OK)
        return status;
    if (outside)
        fprintf(stderr, "ocsim: compare: %u figures are out of tolerance\n", outside);
    return outside ? 1 : STATUS_OK;
}
