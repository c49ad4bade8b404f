#include "cluster/sharing.h"

#include <math.h>
#include <stdlib.h>

#include "cluster/contention.h"
#include "cluster/state.h"
#include "network/reuse.h"

struct running {
    struct cluster *cluster;
    uint32_t number;
    uint32_t contender; /* its number among those that may contend; not where every step is simulated */
    struct deployment deployment;
    struct step_result alone; /* its step with nobody to meet */
    struct step_result step;  /* at the present pace */
    double start_up_left_s;   /* what the first steps take beyond steady ones; negative where they take less */
    double steps_left;
    sim_time since; /* both are of this instant */
    event_handle end;
    sim_time end_time; /* of that */
    struct stepper_job *live;
};

/* Jobs that can meet. */
struct group {
    struct running **jobs; /* owned, in the order of starting */
    uint32_t count;
    size_t capacity;
};

struct sharing {
    struct running **jobs; /* by place */
    struct reuse places;
    struct reuse_map map; /* from the number of a job to its place */
    struct contention *contention;
    struct group group, former; /* those at hand: of a job, and before one left */
    struct step_input *inputs;  /* scratch for a group */
    struct step_result *steps;
    double *head_start_s;
    int64_t *steps_left;
    size_t input_capacity, step_capacity, head_capacity, left_capacity;
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
    /* In one queue for all of the fabric everybody waits for everybody. */
    sharing->contention = contention_create(config->topology, config->circuit->network.is_strict);
    if (!is_live(config))
        return STATUS_OK;
    struct circuit_options options = *config->circuit;
    options.chooser = cluster->chooser;
    return stepper_create(cluster->engine, config->topology, EVENT_SHARING, &options, &sharing->stepper,
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
    for (size_t i = 0; i < sharing->places.count; i++)
        if (sharing->jobs[i])
            free_job(sharing->jobs[i]);
    stepper_destroy(sharing->stepper);
    contention_free(sharing->contention);
    reuse_free(&sharing->places, sharing->jobs);
    reuse_map_free(&sharing->map);
    free(sharing->group.jobs);
    free(sharing->former.jobs);
    free(sharing->inputs);
    free(sharing->steps);
    free(sharing->head_start_s);
    free(sharing->steps_left);
    free(sharing);
}

/* ---- places ---- */

static void keep_job(struct sharing *sharing, struct running *job)
{
    uint32_t place;
    sharing->jobs = reuse_take(&sharing->places, sharing->jobs, sizeof(struct running *), &place);
    sharing->jobs[place] = job;
    reuse_map_add(&sharing->map, job->number, place);
}

static struct running *find_job(const struct sharing *sharing, uint32_t number)
{
    uint32_t place = reuse_map_find(&sharing->map, number);
    require(place != REUSE_NONE);
    return sharing->jobs[place];
}

static void drop_job(struct sharing *sharing, struct running *job)
{
    uint32_t place = reuse_map_find(&sharing->map, job->number);
    reuse_map_remove(&sharing->map, job->number);
    reuse_give(&sharing->places, place);
    sharing->jobs[place] = NULL;
    free_job(job);
}

/* ---- groups ---- */

static void find_group(struct sharing *sharing, const struct running *job, struct group *group)
{
    void *const *jobs = contention_group(sharing->contention, job->contender, &group->count);
    group->jobs = memory_grow(group->jobs, &group->capacity, (size_t)group->count + 1, sizeof(struct running *));
    for (uint32_t i = 0; i < group->count; i++)
        group->jobs[i] = jobs[i];
}

/* How long the step of a running job has been under way. Steps are counted down to whole numbers. */
static double head_start_s(const struct running *job)
{
    return job->start_up_left_s > 0 ? 0 : (ceil(job->steps_left) - job->steps_left) * job->step.step.total_s;
}

/* The steps of the group, side by side; its jobs must have been advanced to this instant. */
static enum status simulate_jobs(struct cluster *cluster, const struct group *group)
{
    struct sharing *sharing = cluster->sharing;
    uint32_t count = group->count;
    sharing->inputs = memory_grow(sharing->inputs, &sharing->input_capacity, count, sizeof *sharing->inputs);
    sharing->head_start_s =
        memory_grow(sharing->head_start_s, &sharing->head_capacity, count, sizeof *sharing->head_start_s);
    sharing->steps_left = memory_grow(sharing->steps_left, &sharing->left_capacity, count, sizeof *sharing->steps_left);
    for (uint32_t i = 0; i < count; i++) {
        sharing->inputs[i] = attempt_input(cluster, &group->jobs[i]->deployment);
        sharing->head_start_s[i] = head_start_s(group->jobs[i]);
        /* The one under way counts as begun. */
        sharing->steps_left[i] = (int64_t)fmax(ceil(group->jobs[i]->steps_left), 1);
    }
    struct circuit_options options = cluster->look_ahead;
    options.head_start_s = sharing->head_start_s;
    options.network.epoch = engine_now(cluster->engine);
    options.steps_left = sharing->steps_left;
    TRY(step_run(sharing->inputs, count, &options, sharing->steps, &cluster->error));
    cluster->result.steps_simulated += count;
    cluster->result.events += sharing->steps[0].events;
    trace_hash_fold(&cluster->steps_hash, sharing->steps[0].trace_hash, count, sharing->steps[0].events);
    return STATUS_OK;
}

/* Fills sharing->steps for the group. */
static enum status find_steps(struct cluster *cluster, const struct group *group)
{
    struct sharing *sharing = cluster->sharing;
    sharing->steps = memory_grow(sharing->steps, &sharing->step_capacity, group->count, sizeof *sharing->steps);
    if (group->count > 1)
        return simulate_jobs(cluster, group);
    sharing->steps[0] = group->jobs[0]->alone;
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

/* Books what each job of the group did since its last change. */
static void advance_jobs(struct cluster *cluster, const struct group *group)
{
    sim_time now = engine_now(cluster->engine);
    for (uint32_t i = 0; i < group->count; i++) {
        struct running *job = group->jobs[i];
        require(now >= job->since && job->steps_left >= 0);
        double passed_s = pay_start_up(job, clock_to_seconds(&cluster->config->clock, now - job->since));
        double done = fmin(passed_s / job->step.step.total_s, job->steps_left);
        if (done > 0) /* the one that starts has its record elsewhere */
            book_time(&cluster->result.jobs[job->number], &job->step.step, done);
        job->steps_left -= done;
        job->since = now;
    }
}

/* Takes over the paces found by find_steps() and moves the completions. */
static void set_pace(struct cluster *cluster, const struct group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct running *job = group->jobs[i];
        sim_time end;
        job->step = cluster->sharing->steps[i];
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
    return is_stuck ? stepper_explain(find_job(sharing, cluster->running[0])->live, &cluster->error) : STATUS_OK;
}

/* ---- starting and ending ---- */

static struct running *create_job(struct cluster *cluster, uint32_t number)
{
    struct running *job = memory_alloc(1, sizeof *job);
    *job = (struct running){.cluster = cluster,
                            .number = number,
                            .alone = cluster->step,
                            .step = cluster->step,
                            .steps_left = (double)cluster->config->steps,
                            .since = engine_now(cluster->engine)};
    deployment_copy(&cluster->deployment, &job->deployment);
    deployer_rank(&cluster->deployer, &job->deployment);
    return job;
}

void sharing_start(struct cluster *cluster, uint32_t number, struct job_record *record)
{
    struct sharing *sharing = cluster->sharing;
    struct running *job = create_job(cluster, number);
    keep_job(sharing, job);
    /* From here on the job's time is booked as it passes. */
    double expected_s = record->time.total_s;
    record->time = (struct time_parts){0};
    time_parts_queue(&record->time, record->queue_s);
    record->time.total_s = expected_s;
    if (sharing->stepper) {
        start_live(cluster, job);
        return;
    }
    const struct deployment *deployment = &job->deployment;
    job->contender = contention_add(sharing->contention, job, deployment->used, deployment->used_count);
    contention_start(sharing->contention);
    find_group(sharing, job, &sharing->group);
    require(sharing->group.jobs[sharing->group.count - 1] == job);
    advance_jobs(cluster, &sharing->group);
    cluster->status = find_steps(cluster, &sharing->group);
    if (cluster->status != STATUS_OK)
        return;
    const struct time_parts *start_up = &sharing->steps[sharing->group.count - 1].start_up;
    job->start_up_left_s = start_up->total_s;
    book_time(record, start_up, 1); /* whole: it is paid first */
    set_pace(cluster, &sharing->group);
    record->end = job->end_time;
}

/* Those that could meet the one that left go on, in one group or several. */
static void leave_group(struct cluster *cluster, struct running *job)
{
    struct sharing *sharing = cluster->sharing;
    contention_start(sharing->contention);
    find_group(sharing, job, &sharing->former);
    advance_jobs(cluster, &sharing->former);
    contention_remove(sharing->contention, job->contender);
    contention_start(sharing->contention);
    for (uint32_t i = 0; i < sharing->former.count && cluster->status == STATUS_OK; i++) {
        if (sharing->former.jobs[i] == job)
            continue;
        find_group(sharing, sharing->former.jobs[i], &sharing->group);
        if (sharing->group.count == 0)
            continue; /* met already */
        cluster->status = find_steps(cluster, &sharing->group);
        if (cluster->status == STATUS_OK)
            set_pace(cluster, &sharing->group);
    }
}

void sharing_end(struct cluster *cluster, uint32_t number)
{
    struct sharing *sharing = cluster->sharing;
    struct running *job = find_job(sharing, number);
    struct job_record *record = &cluster->result.jobs[number];
    sim_time now = engine_now(cluster->engine);
    if (!sharing->stepper)
        leave_group(cluster, job);
    drop_job(sharing, job);
    record->end = now;
    record->time.total_s = clock_to_seconds(&cluster->config->clock, now) - record->arrival_s;
    record->cause = record->time.total_s > record->limit_s ? CAUSE_LATE : CAUSE_NONE;
}
