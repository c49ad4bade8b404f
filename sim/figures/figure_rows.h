/* The rows a figure is made from, one after the other: runs, or the jobs of runs. Private to sim/figures. */
#ifndef FIGURES_FIGURE_ROWS_H
#define FIGURES_FIGURE_ROWS_H

#include "figures/figure_spec.h"
#include "results/result_reader.h"

/* Zero-initialise; the row's texts live until the next call. */
struct figure_rows {
    const struct result_reader *folder;
    const struct figure_spec *spec;
    size_t run;       /* of the row, once figure_rows_next said there is one */
    size_t next_run;  /* to look at */
    struct csv *jobs; /* open while its run's jobs are read */
    size_t columns[JOB_FILE_COLUMNS];
};

/* The next row that the filters let through. */
STATUS_MUST_USE enum status figure_rows_next(struct figure_rows *rows, bool *has_row, struct error *error);
void figure_rows_close(struct figure_rows *rows);

/* Of the current row. An empty field gives "" or NaN; a field that should be a number and is none is an error. */
const char *figure_rows_text(const struct figure_rows *rows, struct figure_column column);
STATUS_MUST_USE enum status figure_rows_value(const struct figure_rows *rows, const struct figure_value *value,
                                              double *number, struct error *error);

/* Do the filters that look at axes let these values through? */
bool figure_rows_keeps(const struct figure_spec *spec, const char *const *axis_texts);

#endif
