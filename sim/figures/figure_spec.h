/* What the scenario key `figures` asks for: read and checked, nothing drawn.
 *
 * A figure takes its numbers from the rows of runs.csv, or, where it names a
 * column of jobs.csv, from the jobs of all runs. `bars`, `lines` and `stacked`
 * take the mean of each run, then of each seed, then the mean and the 95 %
 * interval over the seeds (figure_mean.h); `cdf`, `histogram` and `scatter` pool all rows.
 *
 * The specs borrow the YAML tree and live in the arena they were read into.
 * Reading is O(nodes); names are looked up in short tables.
 */
#ifndef FIGURES_FIGURE_SPEC_H
#define FIGURES_FIGURE_SPEC_H

#include "engine/memory.h"
#include "engine/status.h"
#include "figures/figure_columns.h"
#include "input/yaml.h"

enum figure_plot {
    FIGURE_BARS,
    FIGURE_LINES,
    FIGURE_STACKED,
    FIGURE_CDF,
    FIGURE_HISTOGRAM,
    FIGURE_SCATTER,
    FIGURE_PLOT_COUNT
};
const char *figure_plot_name(enum figure_plot plot);

enum { FIGURE_FACTOR_LIMIT = 8, FIGURE_FIELD_LIMIT = 8, FIGURE_VALUE_LIMIT = 9 };

/* A product of columns and numbers: "1/beta", "100*comm_s/jct_s". */
struct figure_value {
    const char *text;
    struct figure_factor {
        bool is_divisor, is_constant;
        double constant;
        struct figure_column column;
    } factors[FIGURE_FACTOR_LIMIT];
    size_t factor_count;
};

/* Columns whose texts together name a group. */
struct figure_fields {
    struct figure_column columns[FIGURE_FIELD_LIMIT];
    const char *names[FIGURE_FIELD_LIMIT];
    size_t count;
};

/* Keeps the rows in which the column is one of the values. */
struct figure_filter {
    struct figure_column column;
    const char **values;
    size_t value_count;
};

/* Numbers published elsewhere: one height, or one for each x. */
struct figure_reference {
    const struct yaml_node *node;
    const char *label, *source;
    const char *series; /* takes the looks of this one; NULL = its own */
    bool is_level;
    double level;
    const char **xs;
    double *ys;
    size_t count;
};

struct figure_spec {
    const struct yaml_node *node; /* NULL = the default figure */
    const char *name;
    enum figure_plot plot;
    struct figure_fields x;      /* bars, lines, stacked */
    struct figure_value x_value; /* scatter */
    struct figure_value ys[FIGURE_VALUE_LIMIT];
    size_t y_count;
    struct figure_fields series; /* may be empty */
    bool uses_jobs;
    bool is_x_log, is_y_log, has_diagonal;
    bool is_shared;                /* stacked: parts as shares of their sum */
    double bin;                    /* 0 = chosen from the data */
    const char *x_label, *y_label; /* NULL = from the column */
    const char *caption;           /* NULL = none */
    double y_low, y_high;          /* NaN = automatic */
    struct figure_filter *filters;
    size_t filter_count;
    const struct yaml_node *labels; /* a mapping of texts, or NULL */
    struct figure_reference *references;
    size_t reference_count;
};

struct figure_specs {
    struct figure_spec *items;
    size_t count;
};

/* Reads the list under `figures`. Everything goes into the arena; the node must live as long. */
STATUS_MUST_USE enum status figure_specs_read(const struct yaml_node *node, struct figure_axes axes,
                                              struct arena *arena, struct figure_specs *specs, struct error *error);

/* The figure of a sweep that asks for none: blocking rate over the first axis. */
void figure_spec_default(struct figure_axes axes, bool is_x_numeric, struct figure_spec *spec);

/* The figure of a single run that asks for none: the distribution of completion times. */
void figure_spec_default_run(struct figure_spec *spec);

/* Is x a row of names rather than a number line? */
bool figure_has_categories(const struct figure_spec *spec);

/* What the figure calls this text: as `labels` says, else the text itself. */
const char *figure_label(const struct figure_spec *spec, const char *text);

#endif
