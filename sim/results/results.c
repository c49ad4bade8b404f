/* Result files: see results.h.
 *
 * run.csv is one header and one row, each as in runs.csv with one column more:
 * row_hash, over the header and the row before it. So a file that is cut short,
 * changed or of another plan is told apart from a whole one without trusting
 * its size or its age.
 */
#include "results/results.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/hash.h"
#include "results/jobs_file.h"
#include "results/csv_line.h"
#include "results/summary.h"
#include "input/file.h"
#include "input/units.h"

enum { ROW_FILE_LIMIT_BYTES = 1 << 20, FIELD_BYTES = 64 };

static const char hash_column[] = ",row_hash\n";

enum status results_path(const char *directory, const struct plan *plan, size_t run, const char *file,
                         char path[RESULTS_PATH_BYTES], struct error *error)
{
    char name[PLAN_NAME_BYTES];
    plan_name(plan, run, name);
    int length = snprintf(path, RESULTS_PATH_BYTES, "%s/runs/%s%s%s", directory, name, *file ? "/" : "", file);
    if (length < 0 || length >= RESULTS_PATH_BYTES - (int)sizeof ".tmp")
        return error_set(error, STATUS_IO, "the path of the results is too long: %.200s...", directory);
    return STATUS_OK;
}

/* ---- texts ---- */

static void put_header(struct line *line, const struct plan *plan)
{
    const struct column *column;
    for (size_t i = 0; (column = column_of_runs(i)); i++) {
        bool is_swept = strcmp(column->name, COLUMN_SWEPT) == 0;
        for (size_t axis = 0; axis < (is_swept ? plan->axis_count : 1); axis++) {
            line_comma(line);
            line_text(line, is_swept ? plan->axes[axis].key : column->name);
        }
    }
}

/* The part of a row that the plan alone decides. */
static void put_settings(struct line *line, const struct plan *plan, size_t run)
{
    char name[PLAN_NAME_BYTES];
    plan_name(plan, run, name);
    line_text(line, name);
    for (size_t axis = 0; axis < plan->axis_count; axis++) {
        line_comma(line);
        line_text(line, plan->runs[run].texts[axis]);
    }
    line_printf(line, ",%" PRId64 ",ok", plan->runs[run].seed);
}

static void put_values(struct line *line, const double values[METRIC_COUNT], const struct cluster_result *result)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        char text[UNITS_TEXT_BYTES];
        if (metric == METRIC_FIRST_EXTRA)
            line_printf(line, ",%" PRIu64 ",%016" PRIx64, result->events, result->trace_hash);
        line_comma(line);
        if (isnan(values[metric]))
            continue;
        units_format_number(values[metric], text);
        line_text(line, text);
    }
}

/* ---- one run ---- */

static enum status write_row(const char *path, const struct plan *plan, size_t run, const double values[METRIC_COUNT],
                             const struct cluster_result *result, struct error *error)
{
    struct file_writer *writer;
    TRY(file_create(path, &writer, error));
    struct line header = {0}, row = {0};
    put_header(&header, plan);
    put_settings(&row, plan, run);
    put_values(&row, values, result);
    uint64_t hash = hash_pair(hash_bytes(header.bytes, header.used), hash_bytes(row.bytes, row.used));
    file_append(writer, header.bytes, header.used);
    file_append(writer, hash_column, strlen(hash_column));
    file_append(writer, row.bytes, row.used);
    file_printf(writer, ",%016" PRIx64 "\n", hash);
    free(header.bytes);
    free(row.bytes);
    return file_finish(writer, error);
}

enum status results_write_run(const char *directory, const struct plan *plan, size_t run,
                              const struct settings *settings, const struct cluster_config *config,
                              const struct cluster_result *result, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    double values[METRIC_COUNT];
    TRY(results_path(directory, plan, run, "", path, error));
    TRY(file_make_directory(path, error));
    if (settings->run.writes_jobs) {
        TRY(results_path(directory, plan, run, "jobs.csv", path, error));
        TRY(jobs_file_write(path, config, result, error));
    }
    TRY(results_path(directory, plan, run, "run.csv", path, error));
    metrics_compute(config, result, values);
    return write_row(path, plan, run, values, result, error);
}

void results_remove_temporaries(const char *directory, const struct plan *plan, size_t run)
{
    static const char *const names[] = {"jobs.csv.tmp", "run.csv.tmp"};
    char path[RESULTS_PATH_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (results_path(directory, plan, run, names[i], path, NULL) == STATUS_OK)
            unlink(path);
    /* A folder that never got a file says nothing; rmdir leaves one that did. */
    if (results_path(directory, plan, run, "", path, NULL) == STATUS_OK)
        rmdir(path);
}

/* ---- reading back ---- */

/* The field at *at, copied, and *at moved behind its comma. False behind the last one, or where it is too long. */
static bool next_field(const char **at, char field[FIELD_BYTES])
{
    if (**at != ',')
        return false;
    size_t length = strcspn(++*at, ",");
    if (length >= FIELD_BYTES)
        return false;
    memcpy(field, *at, length);
    field[length] = '\0';
    *at += length;
    return true;
}

static bool parse_hex(const char *text, uint64_t *value)
{
    char *end;
    if (strlen(text) != 16)
        return false;
    *value = strtoull(text, &end, 16);
    return *end == '\0';
}

static bool parse_metrics(const char **at, int first, int end, struct results_row *row)
{
    char field[FIELD_BYTES];
    for (int metric = first; metric < end; metric++) {
        row->values[metric] = NAN;
        if (!next_field(at, field))
            return false;
        if (*field && units_number(field, &row->values[metric], NULL) != STATUS_OK)
            return false;
    }
    return true;
}

static bool parse_values(const char *at, struct results_row *row)
{
    char field[FIELD_BYTES];
    int64_t events;
    if (!parse_metrics(&at, 0, METRIC_FIRST_EXTRA, row))
        return false;
    if (!next_field(&at, field) || units_integer(field, &events, NULL) != STATUS_OK || events < 0)
        return false;
    row->events = (uint64_t)events;
    return next_field(&at, field) && parse_hex(field, &row->trace_hash) &&
           parse_metrics(&at, METRIC_FIRST_EXTRA, METRIC_COUNT, row) && *at == '\0';
}

/* Cuts the hash off the row that ends the text and checks it against header and row. */
static bool check_hash(const char *header, size_t header_size, char *row)
{
    uint64_t hash;
    size_t length = strlen(row);
    char *comma = strrchr(row, ',');
    if (!comma || length == 0 || row[length - 1] != '\n')
        return false;
    row[length - 1] = '\0';
    *comma = '\0';
    if (!parse_hex(comma + 1, &hash))
        return false;
    return hash == hash_pair(hash_bytes(header, header_size), hash_bytes(row, strlen(row)));
}

/* text is changed. */
static bool parse_row(const struct plan *plan, size_t run, char *text, struct results_row *row)
{
    struct line header = {0}, settings = {0};
    put_header(&header, plan);
    put_settings(&settings, plan, run);
    size_t skip = strlen(hash_column);
    bool is_good = strncmp(text, header.bytes, header.used) == 0 && strncmp(text + header.used, hash_column, skip) == 0;
    if (is_good) {
        char *line = text + header.used + skip;
        is_good = check_hash(header.bytes, header.used, line) && strncmp(line, settings.bytes, settings.used) == 0 &&
                  parse_values(line + settings.used, row);
        if (is_good)
            row->line = memory_text(line, strlen(line));
    }
    free(header.bytes);
    free(settings.bytes);
    return is_good;
}

bool results_read_row(const char *directory, const struct plan *plan, size_t run, struct results_row *row)
{
    char path[RESULTS_PATH_BYTES], *text;
    size_t size;
    struct results_row read = {.is_there = true};
    if (results_path(directory, plan, run, "run.csv", path, NULL) != STATUS_OK ||
        file_read(path, ROW_FILE_LIMIT_BYTES, &text, &size, NULL) != STATUS_OK)
        return false;
    bool is_good = strlen(text) == size && parse_row(plan, run, text, &read);
    if (is_good)
        *row = read;
    free(text);
    return is_good;
}

void results_row_free(struct results_row *row)
{
    free(row->line);
    *row = (struct results_row){0};
}

/* ---- the experiment ---- */

static enum status write_runs(const char *directory, const struct plan *plan, const struct results_row *rows,
                              struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    struct file_writer *writer;
    snprintf(path, sizeof path, "%s/runs.csv", directory);
    TRY(file_create(path, &writer, error));
    struct line header = {0};
    put_header(&header, plan);
    line_put(&header, "\n", 1);
    file_append(writer, header.bytes, header.used);
    free(header.bytes);
    for (size_t run = 0; run < plan->run_count; run++)
        if (rows[run].is_there)
            file_printf(writer, "%s\n", rows[run].line);
    return file_finish(writer, error);
}

/* Drops the rows behind the repetition at which their point stopped. */
static void drop_surplus(const struct plan *plan, struct results_row *rows)
{
    const struct stop_rule *rule = &plan->stop;
    bool *is_done = memory_alloc(rule->most, sizeof *is_done), is_settled;
    double *values = memory_alloc(rule->most, sizeof *values);
    for (size_t first = 0; rule->is_adaptive && first < plan->run_count; first += rule->most) {
        for (size_t i = 0; i < rule->most; i++) {
            is_done[i] = rows[first + i].is_there;
            values[i] = rows[first + i].values[rule->metric];
        }
        for (size_t i = stop_rule_count(rule, rule->most, is_done, values, &is_settled); i < rule->most; i++)
            results_row_free(&rows[first + i]);
    }
    free(is_done);
    free(values);
}

static enum status remove_one(const char *directory, const char *name, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (unlink(path) != 0 && errno != ENOENT)
        return error_set(error, STATUS_IO, "cannot remove %s: %s", path, strerror(errno));
    return STATUS_OK;
}

static enum status write_collected(const char *directory, const struct plan *plan, const struct results_row *rows,
                                   size_t count, struct error *error)
{
    if (count == 0) {
        TRY(remove_one(directory, "runs.csv", error));
        return remove_one(directory, "summary.json", error);
    }
    TRY(write_runs(directory, plan, rows, error));
    return summary_write(directory, plan, rows, error);
}

enum status results_collect(const char *directory, const struct plan *plan, struct results_totals *totals,
                            struct error *error)
{
    struct results_row *rows = memory_alloc(plan->run_count, sizeof *rows);
    struct results_totals sums = {0};
    for (size_t run = 0; run < plan->run_count; run++)
        rows[run].is_there = results_read_row(directory, plan, run, &rows[run]);
    drop_surplus(plan, rows);
    for (size_t run = 0; run < plan->run_count; run++) {
        sums.runs += rows[run].is_there;
        sums.events += rows[run].events;
    }
    enum status status = write_collected(directory, plan, rows, sums.runs, error);
    for (size_t run = 0; run < plan->run_count; run++)
        results_row_free(&rows[run]);
    free(rows);
    if (status == STATUS_OK)
        *totals = sums;
    return status;
}
