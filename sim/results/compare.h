/* Results beside figures published elsewhere.
 *
 * The table of published figures is a CSV file with the columns
 *   table      a heading, e.g. "4a blocking rate"
 *   where      which runs: "partition.strategy=max workload.beta=A", names as in runs.csv
 *   metric     a column of runs.csv, or blocking_rate:MODEL, the share of that model's jobs that did not complete
 *   published  the figure
 *   tolerance  0.01, or 5% of the figure; empty = for information only
 *   note       its source; "cause: ..." where it is known why it is out of tolerance: shown as such, and
 *              allowed twice the tolerance
 * Each figure is compared with the mean over the runs that match.
 */
#ifndef RESULTS_COMPARE_H
#define RESULTS_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/status.h"

struct compare_options {
    const char *directory; /* of results */
    const char *table;     /* of published figures */
    bool is_markdown;
};

/* Prints the comparison; *outside counts the figures that are out of tolerance. */
STATUS_MUST_USE enum status compare_print(const struct compare_options *options, FILE *out, unsigned *outside,
                                          struct error *error);

#endif
