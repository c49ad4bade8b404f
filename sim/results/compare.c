#include "results/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/statistics.h"
#include "input/csv.h"
#include "input/units.h"

enum { PATH_BYTES = 4096, CONDITION_LIMIT = 16 };

/* runs.csv in memory: names, then rows of fields. */
struct runs_table {
    struct arena arena;
    const char **names;
    size_t column_count;
    const char ***rows;
    size_t row_count, row_capacity;
};

struct condition {
    size_t column;
    const char *value;
};

struct expectation {
    const char *table, *where, *metric, *note;
    double published;
    double tolerance; /* absolute; NaN = for information only */
};

static const char *keep(struct arena *arena, const char *text)
{
    return arena_text(arena, text, strlen(text));
}

static enum status read_runs(const char *directory, struct runs_table *runs, struct error *error)
{
    char path[PATH_BYTES];
    struct csv *csv;
    bool has_row = true;
    snprintf(path, sizeof path, "%s/runs.csv", directory);
    TRY(csv_open(path, &csv, error));
    enum status status;
    runs->column_count = csv_column_count(csv);
    runs->names = arena_alloc(&runs->arena, runs->column_count, sizeof *runs->names);
    for (size_t i = 0; i < runs->column_count; i++)
        runs->names[i] = keep(&runs->arena, csv_column_name(csv, i));
    while ((status = csv_next(csv, &has_row, error)) == STATUS_OK && has_row) {
        const char **row = arena_alloc(&runs->arena, runs->column_count, sizeof *row);
        for (size_t i = 0; i < runs->column_count; i++)
            row[i] = keep(&runs->arena, csv_field(csv, i));
        runs->rows = memory_grow(runs->rows, &runs->row_capacity, runs->row_count + 1, sizeof *runs->rows);
        runs->rows[runs->row_count++] = row;
    }
    csv_close(csv);
    return status;
}

static int find_column(const struct runs_table *runs, const char *name, size_t length)
{
    for (size_t i = 0; i < runs->column_count; i++)
        if (strlen(runs->names[i]) == length && strncmp(runs->names[i], name, length) == 0)
            return (int)i;
    return -1;
}

/* "a=b c=d" -> conditions; values may hold spaces when quoted: policy='fixed 4'. */
static bool read_where(const struct runs_table *runs, const char *where, struct arena *arena,
                       struct condition *conditions, size_t *count)
{
    *count = 0;
    for (const char *at = where + strspn(where, " "); *at; at += strspn(at, " ")) {
        size_t name = strcspn(at, "=");
        int column = find_column(runs, at, name);
        if (!at[name] || column < 0 || *count == CONDITION_LIMIT)
            return false;
        at += name + 1;
        bool is_quoted = *at == '\'';
        at += is_quoted;
        size_t length = strcspn(at, is_quoted ? "'" : " ");
        conditions[(*count)++] = (struct condition){(size_t)column, arena_text(arena, at, length)};
        at += length;
        at += is_quoted && *at == '\'';
    }
    return true;
}

static bool row_matches(const char **row, const struct condition *conditions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(row[conditions[i].column], conditions[i].value) != 0)
            return false;
    return true;
}

/* The share of a model's jobs that did not complete, from jobs.csv. */
static enum status model_blocking(const char *directory, const char *run, const char *model, double *rate,
                                  struct error *error)
{
    char path[PATH_BYTES];
    struct csv *csv;
    size_t model_column, outcome_column;
    bool has_row;
    double jobs = 0, blocked = 0;
    snprintf(path, sizeof path, "%s/runs/%s/jobs.csv", directory, run);
    TRY(csv_open(path, &csv, error));
    enum status status = csv_need_column(csv, "model", &model_column, error);
    if (status == STATUS_OK)
        status = csv_need_column(csv, "outcome", &outcome_column, error);
    while (status == STATUS_OK && (status = csv_next(csv, &has_row, error)) == STATUS_OK && has_row)
        if (strcmp(csv_field(csv, model_column), model) == 0) {
            jobs++;
            blocked += strcmp(csv_field(csv, outcome_column), "completed") != 0;
        }
    csv_close(csv);
    *rate = jobs > 0 ? blocked / jobs : NAN;
    return status;
}

/* The value of the metric in one run. */
static enum status run_value(const struct compare_options *options, const struct runs_table *runs, const char **row,
                             const char *metric, double *value, struct error *error)
{
    static const char by_model[] = "blocking_rate:";
    if (strncmp(metric, by_model, sizeof by_model - 1) == 0)
        return model_blocking(options->directory, row[0], metric + sizeof by_model - 1, value, error);
    int column = find_column(runs, metric, strlen(metric));
    if (column < 0)
        return error_at(error, options->table, 0, 0, "metric '%.60s' is no column of runs.csv", metric);
    *value = NAN;
    if (*row[column])
        return units_number(row[column], value, error);
    return STATUS_OK;
}

static enum status measure_metric(const struct compare_options *options, const struct runs_table *runs,
                                  const struct expectation *want, struct statistics_sample *sample, struct error *error)
{
    struct condition conditions[CONDITION_LIMIT];
    struct arena arena = {0};
    size_t count;
    enum status status = STATUS_OK;
    if (!read_where(runs, want->where, &arena, conditions, &count))
        status = error_at(error, options->table, 0, 0, "where '%.100s': expected column=value with columns of runs.csv",
                          want->where);
    for (size_t i = 0; i < runs->row_count && status == STATUS_OK; i++) {
        double value;
        if (!row_matches(runs->rows[i], conditions, count))
            continue;
        status = run_value(options, runs, runs->rows[i], want->metric, &value, error);
        if (status == STATUS_OK && isfinite(value))
            statistics_sample_add(sample, value);
    }
    arena_free(&arena);
    return status;
}

static enum status read_tolerance(const struct csv *csv, size_t column, struct expectation *want, struct error *error)
{
    const char *text = csv_field(csv, column);
    size_t length = strlen(text);
    char number[64];
    want->tolerance = NAN;
    if (!length)
        return STATUS_OK;
    bool is_percent = text[length - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)(length - is_percent), text);
    if (units_number(number, &want->tolerance, error) != STATUS_OK || want->tolerance < 0)
        return csv_error(csv, (int)column, error, "found '%.40s'; expected 0.01 or 5%%", text);
    if (is_percent)
        want->tolerance *= fabs(want->published) / 100;
    return STATUS_OK;
}

static void print_heading(const struct compare_options *options, FILE *out, const char *table)
{
    if (options->is_markdown)
        fprintf(out,
                "\n**%s**\n\n| runs | metric | published | ocsim | difference | allowed | |\n"
                "|---|---|---|---|---|---|---|\n",
                table);
    else
        fprintf(out, "\n%s\n%-52s %-26s %11s %26s %11s %9s\n", table, "runs", "metric", "published", "ocsim",
                "difference", "allowed");
}

/* Returns whether the figure is within its tolerance, or within twice that where the cause is known. */
static bool print_row(const struct compare_options *options, FILE *out, const struct expectation *want,
                      const struct statistics_sample *sample)
{
    double mean = statistics_sample_mean(sample), half = statistics_sample_half_width(sample);
    double difference = mean - want->published;
    bool is_judged = !isnan(want->tolerance), is_within = !is_judged || fabs(difference) <= want->tolerance;
    char ours[48], allowed[24] = "";
    snprintf(ours, sizeof ours, isnan(half) ? "%.5g" : "%.5g +- %.2g (%u)", mean, half, (unsigned)sample->count);
    if (is_judged)
        snprintf(allowed, sizeof allowed, "%.4g", want->tolerance);
    bool is_explained = strncmp(want->note, "cause: ", 7) == 0 && fabs(difference) <= 2 * want->tolerance;
    const char *verdict = !is_judged ? "" : is_within ? "ok" : is_explained ? "out, cause known" : "OUTSIDE";
    fprintf(out,
            options->is_markdown ? "| %s | %s | %.5g | %s | %+.4g | %s | %s%s%s |\n"
                                 : "%-52s %-26s %11.5g %26s %+11.4g %9s  %s%s%s\n",
            want->where, want->metric, want->published, ours, difference, allowed, verdict,
            *want->note && *verdict ? "; " : "", want->note);
    return is_within || is_explained;
}

struct columns {
    size_t table, where, metric, published, tolerance, note;
};

static enum status find_columns(const struct csv *csv, struct columns *at, struct error *error)
{
    static const char *const names[] = {"table", "where", "metric", "published", "tolerance", "note"};
    size_t *const targets[] = {&at->table, &at->where, &at->metric, &at->published, &at->tolerance, &at->note};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TRY(csv_need_column(csv, names[i], targets[i], error));
    return STATUS_OK;
}

static enum status compare_row(const struct compare_options *options, const struct runs_table *runs,
                               const struct csv *csv, const struct columns *at, FILE *out, unsigned *outside,
                               struct error *error)
{
    struct statistics_sample sample = {0};
    struct expectation want = {.table = csv_field(csv, at->table),
                               .where = csv_field(csv, at->where),
                               .metric = csv_field(csv, at->metric),
                               .note = csv_field(csv, at->note)};
    if (units_number(csv_field(csv, at->published), &want.published, error) != STATUS_OK)
        return csv_error(csv, (int)at->published, error, "expected a number, e.g. 0.262");
    TRY(read_tolerance(csv, at->tolerance, &want, error));
    TRY(measure_metric(options, runs, &want, &sample, error));
    if (sample.count == 0)
        return csv_error(csv, (int)at->where, error, "no finished run matches '%.100s'", want.where);
    *outside += !print_row(options, out, &want, &sample);
    return STATUS_OK;
}

enum status compare_print(const struct compare_options *options, FILE *out, unsigned *outside, struct error *error)
{
    struct runs_table runs = {0};
    struct csv *csv = NULL;
    struct columns at;
    char heading[256] = "";
    bool has_row;
    *outside = 0;
    enum status status = read_runs(options->directory, &runs, error);
    if (status == STATUS_OK)
        status = csv_open(options->table, &csv, error);
    if (status == STATUS_OK)
        status = find_columns(csv, &at, error);
    while (status == STATUS_OK && (status = csv_next(csv, &has_row, error)) == STATUS_OK && has_row) {
        const char *table = csv_field(csv, at.table);
        if (strncmp(table, heading, sizeof heading - 1) != 0) {
            snprintf(heading, sizeof heading, "%s", table);
            print_heading(options, out, heading);
        }
        status = compare_row(options, &runs, csv, &at, out, outside, error);
    }
    if (status == STATUS_OK && !heading[0])
        status = error_at(error, options->table, 1, 0, "no figures to compare with");
    if (csv)
        csv_close(csv);
    free(runs.rows);
    arena_free(&runs.arena);
    return status;
}
