/* Draws a run: see timeline_jobs.h. Steps are simulated once more to be drawn, because the run itself remembers most of
 * them instead of simulating them. */
#include "timeline/timeline_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/timeline_circuits.h"

/* Numbers of processes. A topology has at most 65,536 sites, and no memory holds a billion jobs, so the ranges do not
 * meet; all fit into 32 bits, which is what viewers have for them. */
enum { PROCESS_CLUSTER = 1, PROCESS_SITES = 1000, PROCESS_JOBS = 1000 * 1000, PROCESS_CIRCUITS = 1000 * 1000 * 1000 };
enum { THREAD_BLOCKED = 1, THREAD_QUEUE = 2 };
enum { THREAD_JOB = 1, THREAD_NETWORK = 2 };
enum { NAME_BYTES = 160 };
/* On circuits all steps up to those in the window are simulated, so a window far inside a long job shows no ops. */
enum { CIRCUIT_STEPS_LIMIT = 1000 };

/* What a device has run last: joined with what follows where the op just goes on. */
struct stretch {
    uint32_t task, part;
    double start_s, end_s;
    bool is_open;
};

struct drawing {
    const struct cluster_config *config;
    const struct timeline_jobs_options *options;
    struct timeline *timeline;
    sim_time window_start, window_end;
    uint32_t busy; /* devices */
    bool is_job_met;
    bool *is_device_named, *is_site_named;
    struct timeline_lanes queue;
    struct stretch *stretches; /* per device */
    struct {
        uint32_t number;
        struct deployment deployment; /* ranked */
        sim_time start, end;
        double origin_s; /* of the step, from the start of the job */
        struct timeline_lanes network;
    } job; /* the one whose steps are drawn */
    enum status status;
    struct error *error;
};

#define ARGS(list) ((struct timeline_args){(list), sizeof(list) / sizeof *(list)})

static bool is_drawn(const struct drawing *drawing, uint32_t number)
{
    return drawing->options->job == TIMELINE_ALL_JOBS || drawing->options->job == (int64_t)number;
}

static uint64_t process_of(uint32_t job)
{
    return (uint64_t)PROCESS_JOBS + job;
}

static const char *model_of(const struct drawing *drawing, const struct job_record *job)
{
    return drawing->config->models->graphs[job->model]->name;
}

/* Rounding must not let a step stand out of its job. */
static sim_time time_in_job(const struct drawing *drawing, double time_s)
{
    sim_time offset, time;
    if (clock_from_seconds(&drawing->config->clock, drawing->job.origin_s + time_s, &offset, NULL) != STATUS_OK ||
        !clock_add(drawing->job.start, offset, &time))
        return drawing->job.end;
    return time < drawing->job.end ? time : drawing->job.end;
}

/* ---- tracks ---- */

static struct timeline_track device_track(struct drawing *drawing, uint32_t device)
{
    const struct topology *topology = drawing->config->topology;
    uint32_t site = topology->devices[device].site; /* the group, in a grid */
    struct timeline_track track = {(uint64_t)PROCESS_SITES + site, (uint64_t)device + 1};
    char name[NAME_BYTES];
    if (!drawing->is_site_named[site]) {
        snprintf(name, sizeof name, "%s %" PRIu32, topology->has_grid ? "group" : "site", site);
        timeline_name_process(drawing->timeline, track.process, name);
        drawing->is_site_named[site] = true;
    }
    if (!drawing->is_device_named[device]) {
        snprintf(name, sizeof name, "device ");
        topology_device_name(topology, device, name + strlen(name));
        timeline_name_thread(drawing->timeline, track, name);
        drawing->is_device_named[device] = true;
    }
    return track;
}

/* A track for a bar that may overlap others: the first one or one behind it, named with its first bar. */
static struct timeline_track lane_track(struct drawing *drawing, struct timeline_lanes *lanes,
                                        struct timeline_track first, const char *name, sim_time start, sim_time end)
{
    bool is_new;
    uint32_t lane = timeline_lane(lanes, start, end, &is_new);
    struct timeline_track track = {first.process, first.thread + lane};
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s %" PRIu32, name, lane);
    if (is_new)
        timeline_name_thread(drawing->timeline, track, text);
    return track;
}

/* ---- one step ---- */

static void draw_stretch(struct drawing *drawing, uint32_t device, const struct stretch *stretch)
{
    const struct task_graph *tasks = drawing->job.deployment.tasks;
    const struct graph_op *op = &tasks->graph->ops[tasks->tasks[stretch->task].op];
    const char *pass = task_pass_name(tasks, stretch->task);
    sim_time start = time_in_job(drawing, stretch->start_s), end = time_in_job(drawing, stretch->end_s);
    if (start >= drawing->job.end)
        return; /* cut off by the end of the run */
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s %" PRIu32 " %s", (int)strcspn(op->kind, "("), op->kind, op->id, pass);
    const struct timeline_arg args[] = {{.name = "part", .number = stretch->part}};
    timeline_bar(drawing->timeline, device_track(drawing, device), name, start, end, ARGS(args));
}

static void on_ran(void *context, uint32_t task, uint32_t part, uint32_t device, double start_s, double end_s)
{
    struct drawing *drawing = context;
    struct stretch *last = &drawing->stretches[device];
    if (last->is_open && last->task == task && last->part == part && last->end_s == start_s) {
        last->end_s = end_s;
        return;
    }
    if (last->is_open)
        draw_stretch(drawing, device, last);
    *last = (struct stretch){task, part, start_s, end_s, true};
}

/* In words: which pass a link belongs to. */
static const char *link_name(const struct task_graph *tasks, const struct task_link *link)
{
    bool is_joining = tasks->tasks[link->source].is_backward != tasks->tasks[link->target].is_backward;
    return link->pattern == LINK_SYNC ? "sync" : is_joining ? "join" : task_pass_name(tasks, link->source);
}

static void on_flew(void *context, uint32_t number, double start_s, double end_s)
{
    struct drawing *drawing = context;
    const struct task_graph *tasks = drawing->job.deployment.tasks;
    const struct task_link *link = &tasks->links[number];
    uint32_t source = tasks->graph->ops[tasks->tasks[link->source].op].id;
    uint32_t target = tasks->graph->ops[tasks->tasks[link->target].op].id;
    sim_time start = time_in_job(drawing, start_s), end = time_in_job(drawing, end_s);
    if (start >= drawing->job.end ||
        (!timeline_wants(drawing->timeline, start, end) && !timeline_is_full(drawing->timeline)))
        return;
    char name[NAME_BYTES];
    struct timeline_track first = {process_of(drawing->job.number), THREAD_NETWORK};
    snprintf(name, sizeof name, "%s %" PRIu32 " to %" PRIu32, link_name(tasks, link), source, target);
    const struct timeline_arg args[] = {
        {.name = link->pattern == LINK_SHARES ? "bytes" : "bytes a dependency", .number = link->bytes}};
    timeline_bar(drawing->timeline, lane_track(drawing, &drawing->job.network, first, "network", start, end), name,
                 start, end, ARGS(args));
}

/* So many steps in a row, with the light on every piece of hardware. */
static enum status draw_circuits(struct drawing *drawing, const struct step_input *input, int64_t steps)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "circuits of job %" PRIu32, drawing->job.number);
    struct timeline_circuits circuits = {.timeline = drawing->timeline,
                                         .topology = drawing->config->topology,
                                         .process = (uint64_t)PROCESS_CIRCUITS + drawing->job.number,
                                         .name = name,
                                         .start = drawing->job.start,
                                         .end = drawing->job.end};
    const struct network_observer observer = {timeline_circuits_stayed, &circuits};
    struct circuit_options options = *drawing->config->circuit;
    struct step_result result;
    require(options.clock.tick_ps == drawing->config->clock.tick_ps);
    options.steps = steps;
    options.steady_tolerance = -1; /* simulate them all */
    options.network.observer = &observer;
    options.network.epoch = drawing->job.start;
    enum status status = step_run(input, 1, &options, &result, drawing->error);
    timeline_circuits_fini(&circuits);
    return status;
}

/* A step of the published kind, or so many in a row on circuits, where the first ones differ. */
static enum status draw_step(struct drawing *drawing, int64_t circuit_steps)
{
    const struct cluster_config *config = drawing->config;
    const struct deployment *deployment = &drawing->job.deployment;
    const struct step_observer observer = {.ran = on_ran, .flew = on_flew, .context = drawing};
    const struct step_input input = {
        .deployment = deployment, .topology = config->topology, .unit_s = config->unit_s, .observer = &observer};
    struct step_result result;
    enum status status = config->circuit ? draw_circuits(drawing, &input, circuit_steps)
                                         : step_run(&input, 1, NULL, &result, drawing->error);
    for (uint32_t i = 0; i < deployment->used_count; i++) {
        struct stretch *last = &drawing->stretches[deployment->used[i]];
        if (last->is_open)
            draw_stretch(drawing, deployment->used[i], last);
        last->is_open = false;
    }
    return status;
}

/* The first steps of the job that touch the window. */
static void draw_steps(struct drawing *drawing, const struct job_record *job)
{
    const struct cluster_config *config = drawing->config;
    double step_s = (job->time.total_s - job->queue_s) / (double)config->steps, ahead_s = 0;
    if (drawing->window_start > drawing->job.start)
        ahead_s = clock_to_seconds(&config->clock, drawing->window_start - drawing->job.start);
    int64_t first = step_s > 0 ? (int64_t)fmin(ahead_s / step_s, (double)config->steps) : 0;
    int64_t wanted = drawing->options->steps, last = wanted < config->steps - first ? first + wanted : config->steps;
    if (config->circuit) {
        drawing->job.origin_s = 0;
        if (last > 0 && last <= CIRCUIT_STEPS_LIMIT && drawing->status == STATUS_OK)
            drawing->status = draw_step(drawing, last);
        return;
    }
    for (int64_t i = first; i < last; i++) {
        drawing->job.origin_s = (double)i * step_s;
        sim_time start = time_in_job(drawing, 0);
        if (drawing->status != STATUS_OK || start > drawing->window_end || timeline_is_full(drawing->timeline))
            break;
        drawing->status = draw_step(drawing, 1);
    }
}

/* ---- jobs ---- */

static void count_busy(struct drawing *drawing, sim_time now)
{
    if (drawing->options->job == TIMELINE_ALL_JOBS)
        timeline_count(drawing->timeline, PROCESS_CLUSTER, "busy devices", now, drawing->busy);
}

/* When something of the run happened, the limit at most. */
static sim_time time_in_run(const struct drawing *drawing, double time_s, sim_time limit)
{
    sim_time time;
    bool is_known = clock_from_seconds(&drawing->config->clock, time_s, &time, NULL) == STATUS_OK;
    return is_known && time < limit ? time : limit;
}

/* A job's own bar, once its outcome is known. */
static void draw_job(struct drawing *drawing, uint32_t number, const struct job_record *job, sim_time end)
{
    sim_time start = time_in_run(drawing, job->arrival_s + job->queue_s, end);
    if (!timeline_wants(drawing->timeline, start, end) && !timeline_is_full(drawing->timeline))
        return;
    char name[NAME_BYTES];
    struct timeline_track track = {process_of(number), THREAD_JOB};
    snprintf(name, sizeof name, "job %" PRIu32 " %.100s, degree %" PRIu32, number, model_of(drawing, job), job->degree);
    const struct timeline_arg args[] = {{.name = "job", .number = number},
                                        {.name = "model", .text = model_of(drawing, job)},
                                        {.name = "degree", .number = job->degree},
                                        {.name = "devices", .number = job->device_count},
                                        {.name = "outcome", .text = outcome_name(job->outcome)},
                                        {.name = "cause", .text = cause_name(job->cause)},
                                        {.name = "beta", .number = job->beta},
                                        {.name = "limit_s", .number = job->limit_s},
                                        {.name = "jct_s", .number = job->time.total_s},
                                        {.name = "wait_s", .number = job->time.part_s[TIME_WAIT]},
                                        {.name = "reconfig_s", .number = job->time.part_s[TIME_RECONFIG]},
                                        {.name = "comm_s", .number = job->time.part_s[TIME_COMM]},
                                        {.name = "comp_s", .number = job->time.part_s[TIME_COMP]}};
    timeline_name_process(drawing->timeline, track.process, name);
    timeline_name_thread(drawing->timeline, track, "job");
    timeline_bar(drawing->timeline, track, name, start, end, ARGS(args));
}

static void draw_wait(struct drawing *drawing, uint32_t number, const struct job_record *job, sim_time end)
{
    sim_time start = time_in_run(drawing, job->arrival_s, end);
    if (start >= end || !timeline_wants(drawing->timeline, start, end))
        return;
    char name[NAME_BYTES];
    struct timeline_track first = {PROCESS_CLUSTER, THREAD_QUEUE};
    snprintf(name, sizeof name, "job %" PRIu32 " %.100s waits", number, model_of(drawing, job));
    const struct timeline_arg args[] = {{.name = "job", .number = number},
                                        {.name = "model", .text = model_of(drawing, job)}};
    timeline_bar(drawing->timeline, lane_track(drawing, &drawing->queue, first, "queue", start, end), name, start, end,
                 ARGS(args));
}

struct servers {
    const uint32_t *items;
    uint32_t count;
};

static void draw_devices(struct drawing *drawing, uint32_t number, const struct job_record *job, struct servers servers,
                         sim_time start, sim_time end)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "job %" PRIu32 " %.100s", number, model_of(drawing, job));
    const struct timeline_arg args[] = {{.name = "job", .number = number}, {.name = "degree", .number = job->degree}};
    for (uint32_t i = 0; i < servers.count; i++)
        timeline_bar(drawing->timeline, device_track(drawing, servers.items[i]), name, start, end, ARGS(args));
}

/* Jobs that contend with each other, or may be hit by failures: they have no steps of their own to draw, and their end
 * is not known at their start. */
static bool ends_move(const struct cluster_config *config)
{
    return config->is_shared || failures_asked(&config->failures);
}

/* The devices are marked as held before ops are drawn inside, up to the end of the run at most, where that is known. */
static void on_started(void *context, uint32_t number, const struct job_record *job,
                       const struct deployment *deployment, sim_time start)
{
    struct drawing *drawing = context;
    const struct cluster_config *config = drawing->config;
    sim_time end = job->end < config->horizon ? job->end : config->horizon;
    drawing->busy += deployment->used_count;
    drawing->is_job_met |= drawing->options->job == (int64_t)number;
    if (!is_drawn(drawing, number))
        return;
    count_busy(drawing, start);
    draw_wait(drawing, number, job, start);
    if (ends_move(config) || !timeline_wants(drawing->timeline, start, end))
        return;
    draw_devices(drawing, number, job, (struct servers){deployment->used, deployment->used_count}, start, end);
    if (drawing->options->steps == 0 || drawing->status != STATUS_OK)
        return;
    drawing->job.number = number;
    drawing->job.start = start;
    drawing->job.end = end;
    deployment_copy(deployment, &drawing->job.deployment);
    draw_steps(drawing, job);
    timeline_lanes_fini(&drawing->job.network);
}

static void on_ended(void *context, uint32_t number, const struct job_record *job, sim_time now)
{
    struct drawing *drawing = context;
    drawing->is_job_met |= drawing->options->job == (int64_t)number;
    if (job->outcome == OUTCOME_COMPLETED)
        drawing->busy -= job->device_count;
    if (!is_drawn(drawing, number))
        return;
    if (job->outcome == OUTCOME_COMPLETED) {
        count_busy(drawing, now);
        draw_job(drawing, number, job, now);
        return;
    }
    draw_wait(drawing, number, job, now);
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "job %" PRIu32 " %.100s blocked: %s", number, model_of(drawing, job),
             cause_name(job->cause));
    const struct timeline_arg args[] = {{.name = "job", .number = number},
                                        {.name = "model", .text = model_of(drawing, job)},
                                        {.name = "degree", .number = job->degree},
                                        {.name = "beta", .number = job->beta},
                                        {.name = "limit_s", .number = job->limit_s}};
    struct timeline_track track = {PROCESS_CLUSTER, THREAD_BLOCKED};
    timeline_mark(drawing->timeline, track, name, now, ARGS(args));
}

/* What is known only at the end: jobs that still ran or waited, and the devices of jobs that contended with each other.
 */
static void draw_rest(struct drawing *drawing, const struct cluster_result *result)
{
    const struct cluster_config *config = drawing->config;
    for (uint32_t i = 0; i < result->job_count; i++) {
        const struct job_record *job = &result->jobs[i];
        if (job->outcome != OUTCOME_UNFINISHED || !is_drawn(drawing, i))
            continue;
        drawing->is_job_met |= drawing->options->job == (int64_t)i;
        if (job->device_count)
            draw_job(drawing, i, job, config->horizon);
        else
            draw_wait(drawing, i, job, config->horizon);
    }
    for (uint32_t i = 0; ends_move(config) && i < result->job_count; i++) {
        const struct job_record *job = &result->jobs[i];
        if (job->outcome == OUTCOME_BLOCKED || !job->device_count || !is_drawn(drawing, i))
            continue;
        sim_time end = job->outcome == OUTCOME_UNFINISHED ? config->horizon : job->end;
        draw_devices(drawing, i, job, (struct servers){result->devices + job->device_start, job->device_count},
                     time_in_run(drawing, job->arrival_s + job->queue_s, end), end);
    }
}

/* ---- the run ---- */

static enum status read_window_times(struct drawing *drawing)
{
    const struct sim_clock *clock = &drawing->config->clock;
    double end_s = drawing->options->window_end_s;
    drawing->window_end = SIM_TIME_MAX;
    enum status status =
        clock_from_seconds(clock, drawing->options->window_start_s, &drawing->window_start, drawing->error);
    if (status == STATUS_OK && isfinite(end_s))
        status = clock_from_seconds(clock, end_s, &drawing->window_end, drawing->error);
    return status;
}

static enum status run_cluster(struct drawing *drawing)
{
    const struct cluster_observer observer = {on_started, on_ended, drawing};
    struct cluster_config config = *drawing->config;
    struct cluster_result result;
    config.observer = &observer;
    enum status status = cluster_run(&config, &result, drawing->error);
    if (status != STATUS_OK)
        return status;
    draw_rest(drawing, &result);
    size_t jobs = result.job_count;
    cluster_result_free(&result);
    if (drawing->status == STATUS_OK && drawing->options->job != TIMELINE_ALL_JOBS && !drawing->is_job_met)
        return error_set(drawing->error, STATUS_USER, "no job %" PRId64 ": the run has %zu jobs, numbered from 0",
                         drawing->options->job, jobs);
    return drawing->status;
}

static enum status draw_run(struct drawing *drawing, const char *path, struct timeline_totals *totals)
{
    struct timeline_options options = {.clock = drawing->config->clock,
                                       .window_start = drawing->window_start,
                                       .window_end = drawing->window_end,
                                       .limit = drawing->options->limit};
    enum status status = timeline_create(path, &options, &drawing->timeline, drawing->error);
    if (status != STATUS_OK)
        return status;
    timeline_name_process(drawing->timeline, PROCESS_CLUSTER, "cluster");
    timeline_name_thread(drawing->timeline, (struct timeline_track){PROCESS_CLUSTER, THREAD_BLOCKED}, "blocked jobs");
    status = run_cluster(drawing);
    if (status == STATUS_OK)
        return timeline_finish(drawing->timeline, totals, drawing->error);
    timeline_abandon(drawing->timeline);
    return status;
}

enum status timeline_jobs_run(const struct cluster_config *config, const struct timeline_jobs_options *options,
                              const char *path, struct timeline_totals *totals, struct error *error)
{
    require(options->window_start_s <= options->window_end_s && options->steps >= 0);
    const struct topology *topology = config->topology;
    struct drawing drawing = {.config = config, .options = options, .error = error};
    drawing.is_device_named = memory_alloc(topology->device_count, sizeof *drawing.is_device_named);
    drawing.is_site_named = memory_alloc(TOPOLOGY_SITES_MAX, sizeof *drawing.is_site_named);
    drawing.stretches = memory_alloc(topology->device_count, sizeof *drawing.stretches);
    enum status status = read_window_times(&drawing);
    if (status == STATUS_OK)
        status = draw_run(&drawing, path, totals);
    timeline_lanes_fini(&drawing.queue);
    deployment_free(&drawing.job.deployment);
    free(drawing.stretches);
    free(drawing.is_site_named);
    free(drawing.is_device_named);
    return status;
}
