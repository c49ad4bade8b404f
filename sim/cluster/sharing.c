#include "cluster/sharing.h"

#include <math.h>
#include <stdlib.h>

#include "cluster/state.h"

struct running {
    struct cluster *cluster;
    uint32_t number;
    struct deployment deployment;
    struct step_result step; /* at the present pace */
    double start_up_left_s;  /* what the first steps take beyond steady ones; negative where they take less */
    double steps_left;
    sim_time since; /* both are of this instant */
    event_handle end;
    sim_time end_time; /* of that */
    struct stepper_job *live;
};

struct sharing {
    struct running **jobs; /* in the order of starting */
    uint32_t count;
    size_t capacity;
    struct step_input *inputs; /* scratch for all of them and one more */
    struct step_result *steps;
    double *head_start_s;
    size_t input_capacity, step_capacity, head_capacity;
    /* Only where every step is simulated: then steps run on the cluster's own engine. */
    struct stepper *stepper;
};

static bool is_live(const struct cluster_config *config)
{
    return config->circuit->steady_tolerance < 0;
}

enum status sharing_create(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    struct sharing *sharing = memory_alloc(1, sizeof *sharing);
    cluster->sharing = sharing;
    if (!is_live(config))
        return STATUS_OK;
    return stepper_create(cluster->engine, config->topology, EVENT_SHARING, config->circuit, &sharing->stepper,
                          &cluster->error);
}

static void free_job(struct running *job)
{
    if (job->live)
        stepper_remove(job->live);
    deployment_free(&job->deployment);
    free(job);
}

void sharing_free(struct sharing *sharing)
{
    if (!sharing)
        return;
    for (uint32_t i = 0; i < sharing->count; i++)
        free_job(sharing->jobs[i]);
    stepper_destroy(sharing->stepper);
    free(sharing->jobs);
    free(sharing->inputs);
    free(sharing->steps);
    free(sharing->head_start_s);
    free(sharing);
}

/* How long the step of a running job has been under way. Steps are counted down to whole numbers. */
static double head_start_s(const struct running *job)
{
    return job->start_up_left_s > 0 ? 0 : (ceil(job->steps_left) - job->steps_left) * job->step.step.total_s;
}

/* Simulates all running jobs side by side; they must have been advanced to this instant. */
static enum status simulate_jobs(struct cluster *cluster)
{
    struct sharing *sharing = cluster->sharing;
    uint32_t count = sharing->count;
    if (count == 0)
        return STATUS_OK;
    sharing->inputs = memory_grow(sharing->inputs, &sharing->input_capacity, count, sizeof *sharing->inputs);
    sharing->steps = memory_grow(sharing->steps, &sharing->step_capacity, count, sizeof *sharing->steps);
    sharing->head_start_s =
        memory_grow(sharing->head_start_s, &sharing->head_capacity, count, sizeof *sharing->head_start_s);
    for (uint32_t i = 0; i < sharing->count; i++) {
        const struct running *job = sharing->jobs[i];
        sharing->inputs[i] = attempt_input(cluster, &job->deployment);
        sharing->head_start_s[i] = head_start_s(job);
    }
    struct circuit_options options = cluster->look_ahead;
    options.head_start_s = sharing->head_start_s;
    options.network.epoch = engine_now(cluster->engine);
    TRY(step_run(sharing->inputs, count, &options, sharing->steps, &cluster->error));
    cluster->result.steps_simulated += count;
    cluster->result.events += sharing->steps[0].events;
    trace_hash_fold(&cluster->steps_hash, sharing->steps[0].trace_hash, count, sharing->steps[0].events);
    return STATUS_OK;
}

/* Books the parts of a time. The total stays what the job was admitted with, until its end is known. */
static void book_time(struct job_record *record, const struct time_parts *time, double factor)
{
    double total_s = record->time.total_s;
    time_parts_add(&record->time, time, factor);
    record->time.total_s = total_s;
}

/* Takes the start-up that is left from a stretch of time, or adds it where it is negative; returns what goes into
 * steps. */
static double pay_start_up(struct running *job, double passed_s)
{
    double paid_s = fmin(job->start_up_left_s, passed_s);
    job->start_up_left_s -= paid_s;
    return passed_s - paid_s;
}

/* Books what each job did since the last change. */
static void advance_jobs(struct cluster *cluster)
{
    struct sharing *sharing = cluster->sharing;
    sim_time now = engine_now(cluster->engine);
    for (uint32_t i = 0; i < sharing->count; i++) {
        struct running *job = sharing->jobs[i];
        require(now >= job->since && job->steps_left >= 0);
        double passed_s = pay_start_up(job, clock_to_seconds(&cluster->config->clock, now - job->since));
        double done = fmin(passed_s / job->step.step.total_s, job->steps_left);
        book_time(&cluster->result.jobs[job->number], &job->step.step, done);
        job->steps_left -= done;
        job->since = now;
    }
}

/* Takes over the paces found by simulate_jobs() and moves the completions. */
static void set_pace(struct cluster *cluster)
{
    struct sharing *sharing = cluster->sharing;
    for (uint32_t i = 0; i < sharing->count; i++) {
        struct running *job = sharing->jobs[i];
        sim_time end;
        job->step = sharing->steps[i];
        double left_s = fmax(job->start_up_left_s + job->steps_left * job->step.step.total_s, 0);
        if (!cluster_find_instant(cluster, job->since, left_s, &end))
            return;
        engine_cancel(cluster->engine, job->end);
        job->end = engine_schedule(cluster->engine, end, PRIORITY_COMPLETION, EVENT_COMPLETION, job->number, 0);
        job->end_time = end;
        if (job->number < cluster->result.job_count) /* the one that starts has its record elsewhere */
            cluster->result.jobs[job->number].end = end;
    }
}

/* ---- every step simulated ---- */

static void on_step(void *context, struct stepper_job *live, const struct stepper_report *report)
{
    struct running *job = context;
    struct cluster *cluster = job->cluster;
    struct time_parts time = time_parts_of(&cluster->config->clock, &report->path);
    book_time(&cluster->result.jobs[job->number], &time, 1);
    job->steps_left--;
    if (job->steps_left > 0)
        stepper_start(live);
    else
        engine_schedule(cluster->engine, report->end, PRIORITY_COMPLETION, EVENT_COMPLETION, job->number, 0);
}

static void start_live(struct cluster *cluster, struct running *job)
{
    struct step_input input = attempt_input(cluster, &job->deployment);
    cluster->status =
        stepper_add(cluster->sharing->stepper, &input, job->number, on_step, job, &job->live, &cluster->error);
    if (cluster->status == STATUS_OK)
        stepper_start(job->live);
}

enum status sharing_status(struct cluster *cluster)
{
    const struct sharing *sharing = cluster->sharing;
    if (!sharing || !sharing->stepper)
        return STATUS_OK;
    TRY(stepper_status(sharing->stepper, &cluster->error));
    bool is_stuck =
        engine_peek(cluster->engine) == SIM_TIME_MAX && network_unfinished(stepper_network(sharing->stepper));
    return is_stuck ? stepper_explain(sharing->jobs[0]->live, &cluster->error) : STATUS_OK;
}

/* ---- starting and ending ---- */

void sharing_start(struct cluster *cluster, uint32_t number, struct job_record *record)
{
    struct sharing *sharing = cluster->sharing;
    require(sharing->count + 1 == cluster->running_count);
    struct running *job = memory_alloc(1, sizeof *job);
    *job = (struct running){.cluster = cluster,
                            .number = number,
                            .steps_left = (double)cluster->config->steps,
                            .since = engine_now(cluster->engine)};
    deployment_copy(&cluster->deployment, &job->deployment);
    deployer_rank(&cluster->deployer, &job->deployment);
    sharing->jobs = memory_grow(sharing->jobs, &sharing->capacity, sharing->count + 1, sizeof(struct running *));
    /* From here on the job's time is booked as it passes. */
    record->time = (struct time_parts){.total_s = record->time.total_s, .part_s[TIME_WAIT] = record->queue_s};
    if (sharing->stepper) {
        sharing->jobs[sharing->count++] = job;
        start_live(cluster, job);
        return;
    }
    advance_jobs(cluster);
    sharing->jobs[sharing->count++] = job;
    cluster->status = simulate_jobs(cluster);
    if (cluster->status != STATUS_OK)
        return;
    const struct time_parts *start_up = &sharing->steps[sharing->count - 1].start_up;
    job->start_up_left_s = start_up->total_s;
    book_time(record, start_up, 1); /* whole: it is paid first */
    set_pace(cluster);
    record->end = job->end_time;
}

void sharing_end(struct cluster *cluster, uint32_t number)
{
    struct sharing *sharing = cluster->sharing;
    struct job_record *record = &cluster->result.jobs[number];
    sim_time now = engine_now(cluster->engine);
    uint32_t at = 0;
    require(sharing->count == cluster->running_count + 1);
    if (!sharing->stepper)
        advance_jobs(cluster);
    while (sharing->jobs[at]->number != number)
        require(++at < sharing->count);
    free_job(sharing->jobs[at]);
    for (uint32_t i = at; i + 1 < sharing->count; i++)
        sharing->jobs[i] = sharing->jobs[i + 1];
    sharing->count--;
    record->end = now;
    record->time.total_s = clock_to_seconds(&cluster->config->clock, now) - record->arrival_s;
    record->cause = record->time.total_s > record->limit_s ? CAUSE_LATE : CAUSE_NONE;
    if (sharing->stepper)
        return;
    cluster->status = simulate_jobs(cluster);
    if (cluster->status == STATUS_OK)
        set_pace(cluster);
}
