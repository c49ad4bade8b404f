/* summary.json: see summary.h. O(runs log repetitions). */
#include "results/summary.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/statistics.h"
#include "input/file.h"

static void add_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

static cJSON *describe_metric(double *values, size_t count)
{
    struct statistics_sample sample = {0};
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < count; i++)
        statistics_sample_add(&sample, values[i]);
    statistics_sort(values, count);
    cJSON_AddNumberToObject(object, "n", (double)count);
    add_number(object, "mean", statistics_sample_mean(&sample));
    add_number(object, "half_width_95", statistics_sample_half_width(&sample));
    add_number(object, "min", count ? sample.min : NAN);
    add_number(object, "p50", statistics_quantile(values, count, 0.5));
    add_number(object, "p95", statistics_quantile(values, count, 0.95));
    add_number(object, "max", count ? sample.max : NAN);
    return object;
}

/* The runs of one point stand side by side in the plan. */
static cJSON *describe_point(const struct plan *plan, const struct results_row *rows, size_t first, size_t end)
{
    cJSON *point = cJSON_CreateObject(), *settings = cJSON_AddObjectToObject(point, "settings");
    double *values = memory_alloc(end - first, sizeof *values);
    for (size_t axis = 0; axis < plan->axis_count; axis++)
        cJSON_AddStringToObject(settings, plan->axes[axis].key, plan->runs[first].texts[axis]);
    size_t done = 0;
    for (size_t run = first; run < end; run++)
        done += rows[run].is_there;
    cJSON_AddNumberToObject(point, "runs_done", (double)done);
    cJSON_AddNumberToObject(point, "runs_planned", (double)(end - first));
    cJSON *metrics = cJSON_AddObjectToObject(point, "metrics");
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        size_t count = 0;
        for (size_t run = first; run < end; run++)
            if (rows[run].is_there && !isnan(rows[run].values[metric]))
                values[count++] = rows[run].values[metric];
        cJSON_AddItemToObject(metrics, metric_name((enum metric)metric), describe_metric(values, count));
    }
    free(values);
    return point;
}

static void append_json(struct file_writer *writer, cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    if (!text)
        memory_exhausted(1, 1);
    file_append(writer, text, strlen(text));
    free(text);
    cJSON_Delete(json);
}

/* One line per point, each built and let go on its own: a sweep of a million points needs the memory of one. */
enum status summary_write(const char *directory, const struct plan *plan, const struct results_row *rows,
                          struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    const char *title = plan->scenario->settings.title;
    struct file_writer *writer;
    snprintf(path, sizeof path, "%s/summary.json", directory);
    TRY(file_create(path, &writer, error));
    file_printf(writer, "{\"title\": ");
    append_json(writer, cJSON_CreateString(title ? title : ""));
    file_printf(writer, ",\n \"points\": [");
    for (size_t first = 0; first < plan->run_count; first += plan->stop.most) {
        file_printf(writer, "%s\n  ", first ? "," : "");
        append_json(writer, describe_point(plan, rows, first, first + plan->stop.most));
    }
    file_printf(writer, "\n ]}\n");
    return file_finish(writer, error);
}
