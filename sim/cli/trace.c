/* ocsim trace SCENARIO [key=value ...] -o FILE: the scenario's first run as a timeline for ui.perfetto.dev. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "scenario/plan.h"
#include "timeline/timeline_jobs.h"
#include "scenario/simulation.h"
#include "input/units.h"

/* Leaves *value as it is where the option is not given. */
static enum status read_count(const struct cli_arguments *arguments, const char *option, int64_t least, int64_t *value,
                              struct error *error)
{
    const char *text = cli_value(arguments, option, NULL);
    if (!text)
        return STATUS_OK;
    if (units_integer(text, value, NULL) != STATUS_OK || *value < least)
        return error_set(error, STATUS_USER, "trace: %s '%.40s': expected a whole number from %" PRId64 " up", option,
                         text, least);
    return STATUS_OK;
}

static enum status read_window(const char *text, struct timeline_jobs_options *options, struct error *error)
{
    char start[64];
    const char *comma = text ? strchr(text, ',') : NULL;
    if (!text)
        return STATUS_OK;
    bool is_good = comma && (size_t)(comma - text) < sizeof start;
    if (is_good) {
        snprintf(start, sizeof start, "%.*s", (int)(comma - text), text);
        is_good = units_time_s(start, &options->window_start_s, NULL) == STATUS_OK &&
                  units_time_s(comma + 1, &options->window_end_s, NULL) == STATUS_OK && options->window_start_s >= 0 &&
                  options->window_start_s <= options->window_end_s;
    }
    if (!is_good)
        return error_set(error, STATUS_USER,
                         "trace: --window '%.80s': expected two times with their units, the earlier first, e.g. "
                         "--window 1000s,1200s",
                         text);
    return STATUS_OK;
}

static enum status read_options(const struct cli_arguments *arguments, struct timeline_jobs_options *options,
                                struct error *error)
{
    int64_t limit = 2000 * 1000; /* Perfetto slows down above some millions of events in JSON */
    enum status status = read_window(cli_value(arguments, "--window", NULL), options, error);
    if (status == STATUS_OK)
        status = read_count(arguments, "--job", 0, &options->job, error);
    if (status == STATUS_OK)
        status = read_count(arguments, "--steps", 0, &options->steps, error);
    if (status == STATUS_OK)
        status = read_count(arguments, "--limit", 1, &limit, error);
    options->limit = (uint64_t)limit;
    return status;
}

static void tell(const char *path, const struct settings *settings, const struct timeline_totals *totals, bool is_full)
{
    fprintf(stderr, "ocsim: %s: %" PRIu64 " events; open it at https://ui.perfetto.dev\n", path, totals->written);
    if (!totals->left_out)
        return;
    char text[UNITS_TEXT_BYTES];
    struct sim_clock clock = {settings->run.tick_ps};
    units_format_time_s(clock_to_seconds(&clock, totals->full_at), text);
    fprintf(stderr,
            "ocsim: warning: %s after %s are left out; narrow it with --window FROM,TO, --job N or --steps 0, or raise "
            "--limit\n",
            is_full ? "the timeline is full and most events" : "half of the timeline is full and circuits", text);
}

static enum status trace_run(const struct plan *plan, const struct timeline_jobs_options *options, const char *path,
                             struct error *error)
{
    struct scenario *run;
    struct simulation simulation;
    struct timeline_totals totals;
    enum status status = plan_settings(plan, 0, &run, error);
    if (status != STATUS_OK)
        return status;
    if (plan->run_count > 1)
        fprintf(stderr, "ocsim: the scenario has %zu runs, this is the first; key=value chooses others\n",
                plan->run_count);
    status = simulation_open(&simulation, &run->settings, error);
    if (status == STATUS_OK)
        status = timeline_jobs_run(&simulation.cluster, options, path, &totals, error);
    if (status == STATUS_OK)
        tell(path, &run->settings, &totals, totals.written >= options->limit);
    simulation_close(&simulation);
    scenario_free(run);
    return status;
}

int cli_trace(const struct cli_arguments *arguments, struct error *error)
{
    struct timeline_jobs_options options = {.window_end_s = INFINITY, .job = TIMELINE_ALL_JOBS, .steps = 1};
    struct cli_scenario loaded = {0};
    enum status status = read_options(arguments, &options, error);
    if (status == STATUS_OK)
        status = cli_scenario_load(arguments, &loaded, error);
    if (status == STATUS_OK)
        status = trace_run(loaded.plan, &options, cli_value(arguments, "-o", "trace.json"), error);
    cli_scenario_free(&loaded);
    return status;
}
