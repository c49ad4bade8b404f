#include "experiment/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/jobs_file.h"
#include "experiment/summary.h"
#include "input/csv.h"
#include "input/file.h"
#include "input/units.h"

enum { PATH_BYTES = 4096, ROW_FILE_LIMIT_BYTES = 1 << 20 };

static enum status run_path(const char *directory, const struct plan *plan, size_t run, const char *file,
                            char path[PATH_BYTES], struct error *error)
{
    char name[PLAN_NAME_BYTES];
    plan_name(plan, run, name);
    int length = snprintf(path, PATH_BYTES, "%s/runs/%s%s%s", directory, name, *file ? "/" : "", file);
    if (length < 0 || length >= PATH_BYTES)
        return error_set(error, STATUS_IO, "the path of the results is too long: %.200s...", directory);
    return STATUS_OK;
}

/* ---- one run ---- */

static void write_header(struct file_writer *writer, const struct plan *plan)
{
    file_printf(writer, "run");
    for (size_t axis = 0; axis < plan->axis_count; axis++)
        file_printf(writer, ",%s", plan->axes[axis].key);
    file_printf(writer, ",seed,status");
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        file_printf(writer, ",%s", metric_name((enum metric)metric));
    file_printf(writer, ",events,trace_hash\n");
}

static void write_row(struct file_writer *writer, const struct plan *plan, size_t run,
                      const double values[METRIC_COUNT], const struct cluster_result *result)
{
    char name[PLAN_NAME_BYTES], text[UNITS_TEXT_BYTES];
    plan_name(plan, run, name);
    file_printf(writer, "%s", name);
    for (size_t axis = 0; axis < plan->axis_count; axis++) {
        file_printf(writer, ",");
        csv_write(writer, plan->runs[run].texts[axis]);
    }
    file_printf(writer, ",%" PRId64 ",ok", plan->runs[run].seed);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        text[0] = '\0';
        if (!isnan(values[metric]))
            units_format_number(values[metric], text);
        file_printf(writer, ",%s", text);
    }
    file_printf(writer, ",%" PRIu64 ",%016" PRIx64 "\n", result->events, result->trace_hash);
}

enum status results_write_run(const char *directory, const struct plan *plan, size_t run,
                              const struct settings *settings, const struct cluster_config *config,
                              const struct cluster_result *result, struct error *error)
{
    char path[PATH_BYTES];
    double values[METRIC_COUNT];
    struct file_writer *writer;
    enum status status = run_path(directory, plan, run, "", path, error);
    if (status == STATUS_OK)
        status = file_make_directory(path, error);
    if (status == STATUS_OK && settings->run.writes_jobs) {
        status = run_path(directory, plan, run, "jobs.csv", path, error);
        if (status == STATUS_OK)
            status = jobs_file_write(path, config, result, error);
    }
    if (status == STATUS_OK)
        status = run_path(directory, plan, run, "run.csv", path, error);
    if (status == STATUS_OK)
        status = file_create(path, &writer, error);
    if (status != STATUS_OK)
        return status;
    metrics_compute(config, result, values);
    write_header(writer, plan);
    write_row(writer, plan, run, values, result);
    return file_finish(writer, error);
}

/* ---- reading back ---- */

/* The second line of run.csv, as text. NULL where the file is not two whole lines. */
static char *second_line(const char *text, size_t size)
{
    const char *first_end = memchr(text, '\n', size);
    if (!first_end || size == 0 || text[size - 1] != '\n')
        return NULL;
    const char *start = first_end + 1, *end = text + size - 1;
    return end > start ? memory_text(start, (size_t)(end - start)) : NULL;
}

static enum status parse_row(const struct plan *plan, size_t run, const char *text, size_t size, const char *path,
                             struct results_row *row, struct error *error)
{
    struct csv *csv;
    bool has_row;
    char name[PLAN_NAME_BYTES];
    enum status status = csv_parse(text, size, path, &csv, error);
    if (status != STATUS_OK)
        return status;
    plan_name(plan, run, name);
    status = csv_next(csv, &has_row, error);
    if (status == STATUS_OK && (!has_row || strcmp(csv_field(csv, 0), name) != 0))
        status = error_at(error, path, 2, 0, "expected the row of run %s; remove the folder to run it again", name);
    for (int metric = 0; metric < METRIC_COUNT && status == STATUS_OK; metric++) {
        size_t column;
        row->values[metric] = NAN;
        status = csv_need_column(csv, metric_name((enum metric)metric), &column, error);
        if (status == STATUS_OK && *csv_field(csv, column))
            status = units_number(csv_field(csv, column), &row->values[metric], error);
    }
    csv_close(csv);
    return status;
}

enum status results_read_row(const char *directory, const struct plan *plan, size_t run, struct results_row *row,
                             struct error *error)
{
    char path[PATH_BYTES], *text;
    size_t size;
    struct results_row read = {.is_there = true};
    enum status status = run_path(directory, plan, run, "run.csv", path, error);
    if (status == STATUS_OK)
        status = file_read(path, ROW_FILE_LIMIT_BYTES, &text, &size, error);
    if (status != STATUS_OK)
        return status;
    status = parse_row(plan, run, text, size, path, &read, error);
    read.line = status == STATUS_OK ? second_line(text, size) : NULL;
    if (status == STATUS_OK && !read.line)
        status = error_at(error, path, 2, 0, "the file is cut short; remove it to do the run again");
    if (status == STATUS_OK)
        *row = read;
    free(text);
    return status;
}

void results_row_free(struct results_row *row)
{
    free(row->line);
    *row = (struct results_row){0};
}

bool results_is_done(const char *directory, const struct plan *plan, size_t run)
{
    struct results_row row = {0};
    bool is_done = results_read_row(directory, plan, run, &row, NULL) == STATUS_OK;
    results_row_free(&row);
    return is_done;
}

/* ---- the experiment ---- */

static enum status write_runs(const char *directory, const struct plan *plan, const struct results_row *rows,
                              struct error *error)
{
    char path[PATH_BYTES];
    struct file_writer *writer;
    snprintf(path, sizeof path, "%s/runs.csv", directory);
    enum status status = file_create(path, &writer, error);
    if (status != STATUS_OK)
        return status;
    write_header(writer, plan);
    for (size_t run = 0; run < plan->run_count; run++)
        if (rows[run].is_there)
            file_printf(writer, "%s\n", rows[run].line);
    return file_finish(writer, error);
}

enum status results_collect(const char *directory, const struct plan *plan, struct error *error)
{
    struct results_row *rows = memory_alloc(plan->run_count, sizeof *rows);
    for (size_t run = 0; run < plan->run_count; run++)
        if (results_read_row(directory, plan, run, &rows[run], NULL) != STATUS_OK)
            rows[run].is_there = false;
    enum status status = write_runs(directory, plan, rows, error);
    if (status == STATUS_OK)
        status = summary_write(directory, plan, rows, error);
    for (size_t run = 0; run < plan->run_count; run++)
        results_row_free(&rows[run]);
    free(rows);
    return status;
}
