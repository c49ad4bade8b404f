/* The columns a figure can name: swept keys, numbers of runs.csv, columns of jobs.csv.
 *
 * As a group (x of bars, series, where) a name is looked for among the swept
 * keys, then among the columns of jobs.csv. As a number it is looked for among
 * the numbers of a run, then those of a job, then the swept keys, whose values
 * count in their base unit: seconds, bytes, bytes per second. Lookups are
 * O(columns), a few dozen.
 */
#ifndef FIGURES_FIGURE_COLUMNS_H
#define FIGURES_FIGURE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/columns.h"
#include "engine/memory.h"

enum figure_source { FIGURE_FROM_AXIS, FIGURE_FROM_RUN, FIGURE_FROM_JOB };

struct figure_column {
    enum figure_source source;
    size_t index; /* of the axis, of the run's number, of the job column */
};

/* The columns of runs.csv that were swept; borrowed. */
struct figure_axes {
    const char *const *names;
    size_t count;
};

/* As a number, or as a group; false where there is none of that name. */
bool figure_columns_find(struct figure_axes axes, const char *name, bool is_number, struct figure_column *column);

/* The known name nearest to a mistyped one; NULL where nothing is near. Lives as long as the axes. */
const char *figure_columns_nearest(struct figure_axes axes, const char *name, bool is_number);

/* "a, b, c": the names that would do, as many as fit. */
void figure_columns_list(struct figure_axes axes, bool is_number, char *text, size_t size);

/* "mean completion time [s]" for a number that is known; else the last part of the name, underscores as spaces. In the
 * arena. */
const char *figure_columns_label(const char *name, struct arena *arena);

/* The value of an axis as a number: plain, or a quantity in its base unit. *unit is "", "s", "B/s" or "B". */
bool figure_columns_quantity(const char *text, double *value, const char **unit);

#endif
