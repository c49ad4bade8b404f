/* A folder of results, read back: see result_reader.h. Two passes over runs.csv's rows are saved by growing the
 * array of runs; texts of axes are copied once per row. */
#include "results/result_reader.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/file.h"
#include "input/text.h"
#include "input/units.h"

enum { PATH_BYTES = 4096 };
static const size_t summary_limit_bytes = (size_t)1 << 30;

const char *result_number_name(size_t number)
{
    require(number < RESULT_NUMBER_COUNT);
    return number == RESULT_EVENTS ? "events" : metric_name((enum metric)number);
}

const char *result_reader_file(struct result_reader *folder, const char *name)
{
    size_t size = strlen(folder->path) + 1 + strlen(name) + 1;
    char *path = arena_alloc(&folder->arena, size, 1);
    snprintf(path, size, "%s/%s", folder->path, name);
    return path;
}

static const char *keep(struct result_reader *folder, const char *text)
{
    return arena_text(&folder->arena, text, strlen(text));
}

/* ---- runs.csv ---- */

struct columns {
    size_t seed, status;
    size_t numbers[RESULT_NUMBER_COUNT];
};

/* The swept keys stand between `run` and `seed`. */
static enum status read_header(struct result_reader *folder, const struct csv *csv, struct columns *columns,
                               struct error *error)
{
    TRY(csv_need_column(csv, "seed", &columns->seed, error));
    TRY(csv_need_column(csv, "status", &columns->status, error));
    for (size_t i = 0; i < RESULT_NUMBER_COUNT; i++)
        TRY(csv_need_column(csv, result_number_name(i), &columns->numbers[i], error));
    if ((columns->seed < 1 || strcmp(csv_column_name(csv, 0), "run") != 0))
        return error_at(error, result_reader_file(folder, "runs.csv"), 1, 0,
                        "expected the columns run, <swept keys>, seed, ...; `ocsim run` writes such a file");
    folder->axis_count = columns->seed - 1;
    folder->axes = arena_alloc(&folder->arena, folder->axis_count, sizeof *folder->axes);
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        folder->axes[axis] = keep(folder, csv_column_name(csv, axis + 1));
    return STATUS_OK;
}

/* A run's name becomes part of a path, so it must not be able to lead anywhere else. */
static bool is_run_name(const char *name)
{
    return *name && strlen(name) < 24 && strspn(name, "0123456789") == strlen(name);
}

static enum status read_run(struct result_reader *folder, const struct csv *csv, const struct columns *columns,
                            struct result_run *run, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    if (!is_run_name(csv_field(csv, 0)))
        return csv_error(csv, 0, error, "'%s' is no number of a run", text_show(csv_field(csv, 0), shown));
    run->name = keep(folder, csv_field(csv, 0));
    run->texts = arena_alloc(&folder->arena, folder->axis_count, sizeof *run->texts);
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        run->texts[axis] = keep(folder, csv_field(csv, axis + 1));
    struct error inner = {0};
    if (units_integer(csv_field(csv, columns->seed), &run->seed, &inner) != STATUS_OK)
        return csv_error(csv, (int)columns->seed, error, "%s", inner.message);
    for (size_t i = 0; i < RESULT_NUMBER_COUNT; i++) {
        const char *field = csv_field(csv, columns->numbers[i]);
        run->numbers[i] = NAN;
        if (*field && units_number(field, &run->numbers[i], &inner) != STATUS_OK)
            return csv_error(csv, (int)columns->numbers[i], error, "%s", inner.message);
    }
    return STATUS_OK;
}

static enum status read_rows(struct result_reader *folder, struct csv *csv, struct error *error)
{
    struct columns columns;
    size_t capacity = 0;
    bool has_row;
    TRY(read_header(folder, csv, &columns, error));
    for (;;) {
        TRY(csv_next(csv, &has_row, error));
        if (!has_row)
            return STATUS_OK;
        if (strcmp(csv_field(csv, columns.status), "ok") != 0)
            continue;
        folder->runs = memory_grow(folder->runs, &capacity, folder->run_count + 1, sizeof *folder->runs);
        TRY(read_run(folder, csv, &columns, &folder->runs[folder->run_count++], error));
    }
}

static enum status read_runs(struct result_reader *folder, struct error *error)
{
    const char *path = result_reader_file(folder, "runs.csv");
    struct csv *csv;
    if (access(path, F_OK) != 0)
        return error_at(error, path, 0, 0, "no such file: %s holds no results; `ocsim run SCENARIO -o %s` makes them",
                        folder->path, folder->path);
    TRY(csv_open(path, &csv, error));
    enum status status = read_rows(folder, csv, error);
    csv_close(csv);
    if (status == STATUS_OK && !folder->run_count)
        status = error_at(error, path, 0, 0, "no run is done yet; `ocsim run` does what is missing");
    return status;
}

/* ---- summary.json ---- */

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is_count(double value)
{
    return value >= 0 && value <= 1e9 && value == floor(value);
}

static void read_metrics(const cJSON *metrics, struct result_point *point)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const cJSON *metric = cJSON_GetObjectItemCaseSensitive(metrics, metric_name((enum metric)i));
        point->metrics[i].mean = number_of(metric, "mean");
        point->metrics[i].half_width = number_of(metric, "half_width_95");
    }
}

static bool read_point(struct result_reader *folder, const cJSON *json, struct result_point *point)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(json, "settings");
    double done = number_of(json, "runs_done"), planned = number_of(json, "runs_planned");
    if (!is_count(done) || !is_count(planned) || done > planned)
        return false;
    point->runs_done = (size_t)done;
    point->runs_planned = (size_t)planned;
    point->texts = arena_alloc(&folder->arena, folder->axis_count, sizeof *point->texts);
    for (size_t axis = 0; axis < folder->axis_count; axis++) {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(settings, folder->axes[axis]);
        if (!cJSON_IsString(text))
            return false;
        point->texts[axis] = keep(folder, text->valuestring);
    }
    read_metrics(cJSON_GetObjectItemCaseSensitive(json, "metrics"), point);
    return true;
}

static bool read_points(struct result_reader *folder, const cJSON *root)
{
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(root, "title"), *item;
    const cJSON *points = cJSON_GetObjectItemCaseSensitive(root, "points");
    folder->title = keep(folder, cJSON_IsString(title) ? title->valuestring : "");
    if (!cJSON_IsArray(points))
        return false;
    folder->points = arena_alloc(&folder->arena, (size_t)cJSON_GetArraySize(points), sizeof *folder->points);
    cJSON_ArrayForEach(item, points)
    {
        if (!read_point(folder, item, &folder->points[folder->point_count]))
            return false;
        folder->point_count++;
    }
    return true;
}

static enum status read_summary(struct result_reader *folder, struct error *error)
{
    const char *path = result_reader_file(folder, "summary.json");
    char *text;
    size_t size;
    TRY(file_read(path, summary_limit_bytes, &text, &size, error));
    enum status status = STATUS_OK;
    cJSON *root = cJSON_ParseWithLength(text, size);
    if (!root || !read_points(folder, root))
        status =
            error_at(error, path, 0, 0,
                     "damaged or not of these runs; `ocsim run` with the same scenario and folder writes it again");
    cJSON_Delete(root);
    free(text);
    return status;
}

/* ---- the folder ---- */

enum status result_reader_open(const char *path, struct result_reader **folder, struct error *error)
{
    require(path && *path && folder);
    struct result_reader *made = memory_alloc(1, sizeof *made);
    made->path = arena_text(&made->arena, path, strlen(path));
    enum status status = read_runs(made, error);
    if (status == STATUS_OK)
        status = read_summary(made, error);
    if (status != STATUS_OK) {
        result_reader_free(made);
        return status;
    }
    *folder = made;
    return STATUS_OK;
}

void result_reader_free(struct result_reader *folder)
{
    if (!folder)
        return;
    free(folder->runs);
    arena_free(&folder->arena);
    free(folder);
}

enum status result_reader_open_jobs(const struct result_reader *folder, const struct result_run *run, struct csv **jobs,
                                    struct error *error)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/runs/%s/jobs.csv", folder->path, run->name);
    if (length < 0 || length >= PATH_BYTES)
        return error_set(error, STATUS_IO, "the path of the results is too long: %.200s...", folder->path);
    if (access(path, F_OK) != 0)
        return error_at(error, path, 0, 0,
                        "no such file; this figure is made from jobs, which need run.jobs_file: true");
    return csv_open(path, jobs, error);
}
