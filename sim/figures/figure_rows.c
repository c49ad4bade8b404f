/* Rows of a figure: see figure_rows.h. Filters on axes are asked once a run, before its jobs are opened. */
#include "figures/figure_rows.h"

#include <math.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

static bool is_listed(const struct figure_filter *filter, const char *text)
{
    for (size_t i = 0; i < filter->value_count; i++)
        if (strcmp(filter->values[i], text) == 0)
            return true;
    return false;
}

/* Do the filters on axes let these values through, or, with rows, those on jobs the current one? */
static bool passes_filters(const struct figure_spec *spec, const char *const *axis_texts,
                           const struct figure_rows *rows)
{
    enum figure_source source = rows ? FIGURE_FROM_JOB : FIGURE_FROM_AXIS;
    for (size_t i = 0; i < spec->filter_count; i++) {
        struct figure_column column = spec->filters[i].column;
        if (column.source == source &&
            !is_listed(&spec->filters[i], rows ? figure_rows_text(rows, column) : axis_texts[column.index]))
            return false;
    }
    return true;
}

bool figure_rows_keeps(const struct figure_spec *spec, const char *const *axis_texts)
{
    return passes_filters(spec, axis_texts, NULL);
}

/* jobs.csv of the run, with the places of its columns; the two that are worked out have none. */
static enum status open_jobs(struct figure_rows *rows, struct error *error)
{
    TRY(result_reader_open_jobs(rows->folder, &rows->folder->runs[rows->run], &rows->jobs, error));
    for (int i = 0; i < JOB_FILE_COLUMNS; i++)
        if (job_columns[i].kind <= COLUMN_LAST_TEXT)
            TRY(csv_need_column(rows->jobs, job_columns[i].column.name, &rows->columns[i], error));
    return STATUS_OK;
}

static enum status next_job(struct figure_rows *rows, bool *has_row, struct error *error)
{
    do
        TRY(csv_next(rows->jobs, has_row, error));
    while (*has_row && !passes_filters(rows->spec, NULL, rows));
    return STATUS_OK;
}

enum status figure_rows_next(struct figure_rows *rows, bool *has_row, struct error *error)
{
    *has_row = false;
    if (rows->jobs)
        TRY(next_job(rows, has_row, error));
    while (!*has_row) {
        figure_rows_close(rows);
        while (rows->next_run < rows->folder->run_count &&
               !figure_rows_keeps(rows->spec, rows->folder->runs[rows->next_run].texts))
            rows->next_run++;
        if (rows->next_run == rows->folder->run_count)
            return STATUS_OK;
        rows->run = rows->next_run++;
        *has_row = !rows->spec->uses_jobs;
        if (rows->spec->uses_jobs) {
            TRY(open_jobs(rows, error));
            TRY(next_job(rows, has_row, error));
        }
    }
    return STATUS_OK;
}

void figure_rows_close(struct figure_rows *rows)
{
    if (rows->jobs)
        csv_close(rows->jobs);
    rows->jobs = NULL;
}

static const char *job_field(const struct figure_rows *rows, enum job_column column)
{
    require(rows->jobs && column < JOB_FILE_COLUMNS);
    return csv_field(rows->jobs, rows->columns[column]);
}

static bool is_completed(const struct figure_rows *rows)
{
    return strcmp(job_field(rows, JOB_OUTCOME), "completed") == 0;
}

const char *figure_rows_text(const struct figure_rows *rows, struct figure_column column)
{
    if (column.source == FIGURE_FROM_AXIS)
        return rows->folder->runs[rows->run].texts[column.index];
    require(column.source == FIGURE_FROM_JOB);
    if (column.index == JOB_BLOCKED)
        return is_completed(rows) ? "0" : "1";
    return column.index == JOB_SPEEDUP ? "" : job_field(rows, (enum job_column)column.index);
}

static enum status field_number(const struct figure_rows *rows, enum job_column column, double *number,
                                struct error *error)
{
    struct error inner = {0};
    const char *field = job_field(rows, column);
    *number = NAN;
    if (!*field || (job_columns[column].given != GIVEN_ALWAYS && !is_completed(rows)))
        return STATUS_OK;
    if (units_number(field, number, &inner) != STATUS_OK)
        return csv_error(rows->jobs, (int)rows->columns[column], error, "%s", inner.message);
    return STATUS_OK;
}

static enum status column_number(const struct figure_rows *rows, struct figure_column column, double *number,
                                 struct error *error)
{
    const struct result_run *run = &rows->folder->runs[rows->run];
    const char *unit;
    *number = NAN;
    if (column.source == FIGURE_FROM_RUN) {
        *number = run->numbers[column.index];
    } else if (column.source == FIGURE_FROM_AXIS) {
        char shown[TEXT_SHOW_BYTES];
        if (*run->texts[column.index] && !figure_columns_quantity(run->texts[column.index], number, &unit))
            return error_set(error, STATUS_USER, "figures: %s: '%s' of %s is no number", rows->spec->name,
                             text_show(run->texts[column.index], shown), rows->folder->axes[column.index]);
    } else if (column.index == JOB_BLOCKED) {
        *number = !is_completed(rows);
    } else if (column.index == JOB_SPEEDUP) {
        double sequential_s = NAN, jct_s = NAN;
        TRY(field_number(rows, JOB_SEQUENTIAL, &sequential_s, error));
        TRY(field_number(rows, JOB_JCT, &jct_s, error));
        *number = sequential_s / jct_s;
    } else {
        return field_number(rows, (enum job_column)column.index, number, error);
    }
    return STATUS_OK;
}

enum status figure_rows_value(const struct figure_rows *rows, const struct figure_value *value, double *number,
                              struct error *error)
{
    double product = 1;
    for (size_t i = 0; i < value->factor_count; i++) {
        const struct figure_factor *factor = &value->factors[i];
        double each = factor->constant;
        if (!factor->is_constant)
            TRY(column_number(rows, factor->column, &each, error));
        product = factor->is_divisor ? product / each : product * each;
    }
    *number = isfinite(product) ? product : NAN; /* nothing can be said of 1/0 */
    return STATUS_OK;
}
