/* What the runner tells people: see messages.h. */
#include "run/messages.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "run/progress.h"
#include "input/units.h"

void messages_print_planned(FILE *out, const struct plan *plan, size_t run, const char *state)
{
    char name[PLAN_NAME_BYTES];
    plan_name(plan, run, name);
    fprintf(out, "%s", name);
    for (size_t axis = 0; axis < plan->axis_count; axis++) {
        const char *text = plan->runs[run].texts[axis];
        fprintf(out, "  %s=%s", plan->axes[axis].key, *text ? text : "-");
    }
    fprintf(out, "  seed=%" PRId64 "  %s\n", plan->runs[run].seed, state);
}

static const char *format_time(double time_s, char text[UNITS_TEXT_BYTES])
{
    if (isnan(time_s))
        snprintf(text, UNITS_TEXT_BYTES, "-");
    else
        snprintf(text, UNITS_TEXT_BYTES, "%.6g s", time_s);
    return text;
}

static void print_blocking(FILE *out, const double values[METRIC_COUNT])
{
    fprintf(out, "  jobs          %.0f arrived, %.0f completed, %.0f blocked\n", values[METRIC_JOBS_ARRIVED],
            values[METRIC_JOBS_COMPLETED], values[METRIC_JOBS_BLOCKED]);
    if (isnan(values[METRIC_BLOCKING_RATE]))
        return;
    fprintf(out, "  blocking rate %.4f (refused %.0f, no block %.0f, late %.0f, horizon %.0f)\n",
            values[METRIC_BLOCKING_RATE], values[METRIC_BLOCKED_REFUSED], values[METRIC_BLOCKED_NO_BLOCK],
            values[METRIC_BLOCKED_LATE], values[METRIC_BLOCKED_HORIZON]);
}

static void print_value(FILE *out, const char *label, double value, const char *unit)
{
    if (!isnan(value))
        fprintf(out, "  %-13s %.4g%s\n", label, value, unit);
}

void messages_print_run(FILE *out, const struct results_row *row, double wall_s)
{
    const double *values = row->values;
    char mean[UNITS_TEXT_BYTES], p95[UNITS_TEXT_BYTES], wall[PROGRESS_TIME_BYTES];
    print_blocking(out, values);
    fprintf(out, "  completion    mean %s, p95 %s\n", format_time(values[METRIC_JCT_MEAN], mean),
            format_time(values[METRIC_JCT_P95], p95));
    print_value(out, "speed-up", values[METRIC_SPEEDUP_MEAN], "");
    print_value(out, "utilisation", values[METRIC_DEVICE_UTILISATION], "");
    fprintf(out, "  events        %" PRIu64, row->events);
    if (wall_s > 0)
        fprintf(out, " in %s, %.3g a second", progress_duration(wall_s, wall), (double)row->events / wall_s);
    fprintf(out, "\n  trace hash    %016" PRIx64 "\n", row->trace_hash);
}

void messages_print_totals(FILE *out, const struct manifest *manifest)
{
    const struct plan *plan = manifest->plan;
    char wall[PROGRESS_TIME_BYTES], planned[32] = "";
    if (!plan->stop.is_adaptive)
        snprintf(planned, sizeof planned, " of %zu", plan->run_count);
    fprintf(out, "%zu run%s done in %s", manifest->done_now, manifest->done_now == 1 ? "" : "s",
            progress_duration(manifest->wall_s, wall));
    if (manifest->done_before)
        fprintf(out, ", %zu done before", manifest->done_before);
    fprintf(out, "; %zu%s rows in %s/runs.csv, means in %s/summary.json\n", manifest->totals.runs, planned,
            manifest->directory, manifest->directory);
}
