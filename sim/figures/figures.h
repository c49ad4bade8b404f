/* The figures of an experiment and its report.
 *
 * `figures` in a scenario lists them (members in plots/README.md, read by
 * figure_spec.c); without it one is made by default. A folder of results gets
 * figures/<name>.csv with exactly the plotted points, .pdf and .png of the same
 * name, and report.html.
 */
#ifndef FIGURES_FIGURES_H
#define FIGURES_FIGURES_H

#include <stdbool.h>

#include "scenario/plan.h"

/* Is what the scenario of this plan says under `figures` fine? Without the key it is. Errors carry their place. */
STATUS_MUST_USE enum status figures_check(const struct plan *plan, struct error *error);

struct figures_options {
    const char *only; /* the name of one figure, and then no report; NULL = all */
    bool is_page_wide;
};

/* Draws the figures of a folder of results and writes its report. Points and report are written even where gnuplot is
 * missing; that is told at the end, as STATUS_IO. */
STATUS_MUST_USE enum status figures_plot(const char *directory, const struct figures_options *options,
                                         struct error *error);

#endif
