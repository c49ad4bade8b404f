/* What the columns of the result files mean: the one glossary, for `ocsim man results` and the documentation.
 *
 * A test runs a scenario and compares the names with the headers it wrote.
 */
#ifndef RESULTS_COLUMNS_H
#define RESULTS_COLUMNS_H

#include <stddef.h>

struct column {
    const char *name; /* COLUMN_SWEPT stands for one column a swept key */
    const char *unit; /* "" = none */
    const char *meaning;
};

#define COLUMN_SWEPT "<swept keys>"

/* In the order of the files. */
extern const struct column columns_of_runs[], columns_of_jobs[];
extern const size_t columns_of_runs_count, columns_of_jobs_count;

#endif
