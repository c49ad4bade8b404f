/* The columns a figure can name: see figure_columns.h. */
#include "figures/figure_columns.h"

#include <stdio.h>
#include <string.h>

#include "results/result_reader.h"
#include "input/text.h"
#include "input/units.h"

static const char *const job_names[JOB_COLUMN_COUNT] = {
    "arrival_s", "beta",      "sequential_s", "limit_s", "degree",  "jct_s",   "comm_s", "comp_s",  "reconfig_s",
    "wait_s",    "payload_s", "latency_s",    "devices", "speedup", "blocked", "model",  "outcome", "cause",
};

const char *figure_job_name(enum figure_job column)
{
    require(column < JOB_COLUMN_COUNT);
    return job_names[column];
}

static bool find_axis(struct figure_axes axes, const char *name, struct figure_column *column)
{
    for (size_t i = 0; i < axes.count; i++) {
        if (strcmp(axes.names[i], name) == 0) {
            *column = (struct figure_column){FIGURE_FROM_AXIS, i};
            return true;
        }
    }
    return false;
}

static bool find_job(const char *name, size_t end, struct figure_column *column)
{
    for (size_t i = 0; i < end; i++) {
        if (strcmp(job_names[i], name) == 0) {
            *column = (struct figure_column){FIGURE_FROM_JOB, i};
            return true;
        }
    }
    return false;
}

static bool find_run(const char *name, struct figure_column *column)
{
    for (size_t i = 0; i < RESULT_NUMBER_COUNT; i++) {
        if (strcmp(result_number_name(i), name) == 0) {
            *column = (struct figure_column){FIGURE_FROM_RUN, i};
            return true;
        }
    }
    return false;
}

bool figure_columns_find_group(struct figure_axes axes, const char *name, struct figure_column *column)
{
    return find_axis(axes, name, column) || find_job(name, JOB_COLUMN_COUNT, column);
}

bool figure_columns_find_number(struct figure_axes axes, const char *name, struct figure_column *column)
{
    return find_run(name, column) || find_job(name, JOB_MODEL, column) || find_axis(axes, name, column);
}

/* The names there are, one after the other; NULL behind the last one. */
static const char *name_at(struct figure_axes axes, bool is_number, size_t i)
{
    size_t jobs = is_number ? JOB_MODEL : JOB_COLUMN_COUNT, runs = is_number ? RESULT_NUMBER_COUNT : 0;
    if (i < axes.count)
        return axes.names[i];
    i -= axes.count;
    if (i < runs)
        return result_number_name(i);
    i -= runs;
    return i < jobs ? job_names[i] : NULL;
}

const char *figure_columns_nearest(struct figure_axes axes, const char *name, bool is_number)
{
    const char *nearest = NULL, *known;
    int least = 4;
    for (size_t i = 0; (known = name_at(axes, is_number, i)); i++) {
        int far = text_distance(name, known);
        if (far < least) {
            least = far;
            nearest = known;
        }
    }
    return nearest;
}

void figure_columns_list(struct figure_axes axes, bool is_number, char *text, size_t size)
{
    size_t used = 0;
    const char *name;
    require(size > 0);
    text[0] = '\0';
    for (size_t i = 0; (name = name_at(axes, is_number, i)); i++) {
        char shown[TEXT_SHOW_BYTES];
        int length = snprintf(text + used, size - used, "%s%s", i ? ", " : "", text_show(name, shown));
        if (length < 0 || (size_t)length >= size - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* Axis titles are "quantity [unit]". */
static const struct {
    const char *name, *label;
} labels[] = {
    {"jobs_arrived", "jobs arrived"},
    {"jobs_blocked", "jobs blocked"},
    {"jobs_completed", "jobs completed"},
    {"blocking_rate", "blocking rate"},
    {"jct_mean_s", "mean completion time [s]"},
    {"jct_p50_s", "median completion time [s]"},
    {"jct_p95_s", "completion time, 95th percentile [s]"},
    {"jct_p99_s", "completion time, 99th percentile [s]"},
    {"speedup_mean", "mean speed-up"},
    {"throughput_bytes_per_s", "throughput [B/s]"},
    {"device_utilisation", "device utilisation"},
    {"degree_mean", "mean degree of partitioning"},
    {"devices_per_job_mean", "mean devices per job"},
    {"comm_fraction_mean", "mean share of communication"},
    {"comm_share", "share of time in communication"},
    {"arrival_s", "arrival [s]"},
    {"beta", "\xce\xb2"},
    {"workload.beta", "distribution of \xce\xb2"},
    {"sequential_s", "time on one device [s]"},
    {"limit_s", "longest time asked for [s]"},
    {"degree", "degree of partitioning"},
    {"jct_s", "completion time [s]"},
    {"comm_s", "communication [s]"},
    {"comp_s", "computation [s]"},
    {"reconfig_s", "reconfiguration [s]"},
    {"wait_s", "waiting [s]"},
    {"payload_s", "payload [s]"},
    {"latency_s", "latency [s]"},
    {"speedup", "speed-up"},
    {"blocked", "blocking rate"},
    {"1/beta", "speed-up asked for"},
    {"workload.interarrival", "time between arrivals"},
};

const char *figure_columns_label(const char *name, struct arena *arena)
{
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i].name, name) == 0)
            return labels[i].label;
    const char *dot = strpbrk(name, "*/") ? NULL : strrchr(name, '.');
    const char *last = dot && dot[1] ? dot + 1 : name;
    char *text = arena_text(arena, last, strlen(last));
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

bool figure_columns_quantity(const char *text, double *value, const char **unit)
{
    static const struct {
        enum status (*read)(const char *, double *, struct error *);
        const char *unit;
    } kinds[] = {{units_number, ""}, {units_time_s, "s"}, {units_rate, "B/s"}, {units_size, "B"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].read(text, value, NULL) == STATUS_OK) {
            *unit = kinds[i].unit;
            return true;
        }
    }
    return false;
}
