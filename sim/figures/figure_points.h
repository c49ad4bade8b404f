/* The points of a figure: what is plotted, computed from a folder of results.
 *
 * One pass over the rows: O(rows) with a hash of groups, then O(points log
 * points) to put them in order. Memory is O(groups), and O(rows) for the plots
 * that pool rows (cdf, histogram, scatter).
 */
#ifndef FIGURES_FIGURE_POINTS_H
#define FIGURES_FIGURE_POINTS_H

#include <stdint.h>

#include "figures/figure_spec.h"
#include "results/result_reader.h"

/* A vector file with more marks than this is slow to open and shows nothing more. */
enum { FIGURE_CDF_LIMIT = 1000, FIGURE_SCATTER_LIMIT = 2000 };

struct figure_point {
    size_t series, category; /* category: of bars and stacked */
    double x;                /* 0 for bars and stacked */
    double y;
    double half_width; /* of the 95 % Student interval over seeds; NaN = none */
    uint64_t n;        /* seeds behind a mean; rows behind a pooled point */
};

/* A name as it stands in the files, and as it is shown. */
struct figure_name {
    const char *text, *label;
};

struct figure_points {
    struct arena arena;
    struct figure_name *series, *categories;
    size_t series_count, category_count;
    struct figure_point *points; /* by series, then by x */
    size_t count;
    const char *x_unit;        /* of lines: "", "s", "B/s" or "B" */
    double bin;                /* of histograms */
    uint64_t row_count;        /* rows used */
    const char *averaged_over; /* "workload.beta": keys not shown, averaged within each seed first; "" = none */
    size_t points_left_out;    /* means for which no seed has all combinations of these */
    size_t points_short;       /* points of the sweep with fewer runs than planned; the worst has: */
    size_t runs_done, runs_planned;
};

/* Returned owned: figure_points_free. Fails where a file of jobs is missing or damaged, where the filter leaves
 * nothing, or where lines meet an x that is no number. */
STATUS_MUST_USE enum status figure_points_compute(const struct result_reader *folder, const struct figure_spec *spec,
                                                  struct figure_points **points, struct error *error);
void figure_points_free(struct figure_points *points);

#endif
