/* What lies between the ops of a step: transfers, collectives and buckets of gradients. */
#include "step/stepper_state.h"

/* Sizes and times from doubles must stay exact integers. */
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

static void tell_flew(const struct stepper_job *job, uint32_t link)
{
    const struct step_observer *observer = job->observer;
    const struct sim_clock *clock = &job->stepper->options.clock;
    sim_time sent = job->links[link].sent, now = engine_now(job->stepper->engine);
    if (observer && observer->flew && now > sent)
        observer->flew(observer->context, link, clock_to_seconds(clock, sent), clock_to_seconds(clock, now));
}

/* All of a link is there. */
static void link_done(struct stepper_job *job, uint32_t link)
{
    tell_flew(job, link);
    stepper_note_end(job, task_graph_parts(job->tasks) + link);
    require(job->undone > 0);
    job->undone--;
    stepper_end_if_done(job);
}

/* One dependency, or a collective's share of a link, is there; path leads to this instant. */
static void part_arrived(struct stepper_job *job, uint32_t task, uint32_t part, const struct step_path *path)
{
    uint32_t *need = &job->need[part_index(job, task, part)];
    require(*need > 0);
    if (--*need == 0)
        stepper_make_ready(job, task, part, path);
}

static void add_network(struct step_path *path, const struct collective_parts *parts)
{
    path->ticks[PATH_WAIT_NETWORK] += parts->wait;
    path->ticks[PATH_WAIT_DEVICE] += parts->device_wait;
    path->ticks[PATH_RECONFIGURATION] += parts->reconfiguration;
    path->ticks[PATH_LATENCY] += parts->latency;
    path->ticks[PATH_PAYLOAD] += parts->payload;
    path->ticks[PATH_COMPUTE] += parts->reduction;
}

/* The path leads from the end of the part that sent over the network. */
static void on_transfer(void *context, const struct transfer_report *report)
{
    struct link_run *run = context;
    struct stepper_job *job = run->job;
    const struct task_link *at = &job->tasks->links[run->link];
    uint32_t source_part = (uint32_t)(report->tag >> 32), target_part = (uint32_t)report->tag;
    struct step_path path = job->path[part_index(job, at->source, source_part)];
    require(run->left > 0);
    add_network(&path, &(struct collective_parts){.wait = report->wait,
                                                  .reconfiguration = report->reconfiguration,
                                                  .latency = report->latency,
                                                  .payload = report->payload});
    job->last_path = path;
    part_arrived(job, at->target, target_part, &path);
    if (--run->left == 0)
        link_done(job, run->link);
}

static void on_all_to_all(void *context, const struct collective_report *report)
{
    struct link_run *run = context;
    struct stepper_job *job = run->job;
    uint32_t task = job->tasks->links[run->link].target, parts = deployment_list(job->deployment, task).count;
    add_network(&run->path, &report->path);
    job->last_path = run->path;
    for (uint32_t part = 0; part < parts; part++)
        part_arrived(job, task, part, &run->path);
    link_done(job, run->link);
}

/* Of a bucket, told by the link that was sent for all of them. */
static void on_all_reduce(void *context, const struct collective_report *report)
{
    struct link_run *run = context;
    struct stepper_job *job = run->job;
    struct bucket bucket = job->buckets.buckets[job->buckets.of_link[run->link]]; /* the last of it may end the job */
    add_network(&run->path, &report->path);
    job->last_path = run->path;
    for (uint32_t i = 0; i < bucket.count; i++)
        link_done(job, job->buckets.links[bucket.first + i]);
}

/* How the parts of an op synchronise. */
static enum collective_algorithm all_reduce_of(const struct stepper_job *job, uint32_t task)
{
    static const enum collective_algorithm algorithms[] = {[SYNC_RAMP] = COLLECTIVE_RAMP,
                                                           [SYNC_RING] = COLLECTIVE_RING,
                                                           [SYNC_HALVING_DOUBLING] = COLLECTIVE_HALVING_DOUBLING,
                                                           [SYNC_PARAMETER_SERVER] = COLLECTIVE_PARAMETER_SERVER};
    enum gradient_sync sync = deployment_sync(job->deployment, job->tasks->tasks[task].op);
    require(sync != SYNC_NONE);
    return sync == SYNC_STANDARD ? job->stepper->options.all_reduce : algorithms[sync];
}

static void take_all_reduce(struct stepper_job *job, uint32_t task, struct collective_request *request)
{
    const struct stepper *stepper = job->stepper;
    struct chooser *chooser = stepper->own_chooser ? stepper->own_chooser : stepper->options.chooser;
    request->algorithm = all_reduce_of(job, task);
    if (request->algorithm == COLLECTIVE_AUTO)
        request->algorithm = chooser_pick(chooser, request, job->deployment->used, job->deployment->used_count);
    job->all_reduces[request->algorithm]++;
}

static struct bucket *bucket_of(const struct stepper_job *job, uint32_t link)
{
    require(job->tasks->links[link].pattern == LINK_SYNC);
    return &job->buckets.buckets[job->buckets.of_link[link]];
}

static enum status send_collective(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct task_link *at = &job->tasks->links[link];
    struct device_list members = deployment_list(job->deployment, at->source);
    bool is_sync = at->pattern == LINK_SYNC;
    struct collective_request request = {
        .algorithm = COLLECTIVE_ALL_TO_ALL,
        .members = job->deployment->devices + members.start,
        .member_count = members.count,
        .bytes = is_sync ? bucket_of(job, link)->bytes : task_link_bytes(job->tasks, at, 0, 0) * members.count,
        .has_barrier = job->stepper->options.has_barriers,
        .is_complete = true,
        .lanes = job->stepper->options.lanes,
        .job = job->number,
        .priority = -(int64_t)job->deployment->rank[at->target],
        .done = is_sync ? on_all_reduce : on_all_to_all,
        .context = &job->links[link],
    };
    if (is_sync)
        take_all_reduce(job, at->source, &request);
    return collective_start(job->stepper->collectives, &request, error);
}

/* One transfer for each dependency on a part that has ended, those within a device included. */
static enum status send_transfers(struct stepper_job *job, uint32_t link, uint32_t part, struct error *error)
{
    const struct task_link *at = &job->tasks->links[link];
    const struct deployment *deployment = job->deployment;
    struct device_list from = deployment_list(deployment, at->source), to = deployment_list(deployment, at->target);
    struct part_range targets = task_link_targets(job->tasks, at, part);
    struct transfer_request request = {
        .source = deployment->devices[from.start + part],
        .job = job->number,
        .lanes = job->stepper->options.lanes,
        .priority = -(int64_t)deployment->rank[at->target],
        .done = on_transfer,
        .context = &job->links[link],
    };
    for (uint32_t target = targets.first; target <= targets.last; target++) {
        request.target = deployment->devices[to.start + target];
        request.bytes = task_link_bytes(job->tasks, at, part, target);
        request.tag = (uint64_t)part << 32 | target;
        TRY(network_send(job->stepper->network, &request, NULL, error));
    }
    return STATUS_OK;
}

/* All parts of the tasks of a bucket have ended. */
static enum status send_bucket(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct bucket *bucket = bucket_of(job, link);
    const uint32_t *links = job->buckets.links + bucket->first;
    uint32_t op = job->tasks->tasks[job->tasks->links[link].source].op;
    for (uint32_t i = 0; i < bucket->count; i++)
        job->links[links[i]].sent = engine_now(job->stepper->engine);
    if (deployment_sync(job->deployment, op) != SYNC_NONE)
        return send_collective(job, link, error);
    for (uint32_t i = 0; i < bucket->count; i++)
        link_done(job, links[i]);
    return STATUS_OK;
}

/* Does a link go as a whole? */
static bool is_all_to_all(const struct stepper_job *job, const struct task_link *at)
{
    const struct deployment *deployment = job->deployment;
    uint32_t from = deployment->list_of_op[job->tasks->tasks[at->source].op];
    uint32_t to = deployment->list_of_op[job->tasks->tasks[at->target].op];
    return at->pattern == LINK_ALL_TO_ALL && from == to && deployment->lists[from].count > 1;
}

/* A part of the link's source has ended; was it the last? */
static void send_link(struct stepper_job *job, uint32_t link, uint32_t part, bool is_last)
{
    const struct task_link *at = &job->tasks->links[link];
    struct link_run *run = &job->links[link];
    struct error error;
    enum status status = STATUS_OK;
    bool is_sync = at->pattern == LINK_SYNC, is_whole = is_sync || is_all_to_all(job, at);
    if (is_whole && !is_last)
        return;
    if (run->sent < 0)
        run->sent = engine_now(job->stepper->engine);
    run->path = job->path[part_index(job, at->source, part)];
    if (!is_whole)
        status = send_transfers(job, link, part, &error);
    else if (!is_sync)
        status = send_collective(job, link, &error);
    else if (--bucket_of(job, link)->left == 0)
        status = send_bucket(job, link, &error);
    if (status != STATUS_OK)
        stepper_keep_error(job->stepper, &error);
}

void stepper_send_links(struct stepper_job *job, uint32_t task, uint32_t part, bool is_last)
{
    for (uint32_t i = 0; i < job->tasks->out_count[task]; i++)
        send_link(job, job->tasks->out_start[task] + i, part, is_last);
}

/* ---- before a step ---- */

/* What enters each part of the link's target. */
static void count_in(struct stepper_job *job, const struct task_link *at)
{
    uint32_t parts = deployment_list(job->deployment, at->target).count;
    bool is_whole = is_all_to_all(job, at);
    for (uint32_t part = 0; part < parts; part++) {
        struct part_range sources = task_link_sources(job->tasks, at, part);
        job->in_count[part_index(job, at->target, part)] += is_whole ? 1 : sources.last - sources.first + 1;
    }
}

enum status stepper_fill_links(struct stepper_job *job, struct error *error)
{
    for (uint32_t link = 0; link < job->tasks->link_count; link++) {
        const struct task_link *at = &job->tasks->links[link];
        double total = at->bytes * job->tasks->parts[job->tasks->tasks[at->source].op];
        if (!(total < most_bytes))
            return error_set(error, STATUS_USER, "model %s: a dependency of %.3g bytes is more than 2^60",
                             job->tasks->graph->name, total);
        job->links[link] = (struct link_run){.job = job, .link = link};
        if (at->pattern != LINK_SYNC)
            count_in(job, at);
    }
    buckets_fill(&job->buckets, job->deployment, job->stepper->options.bucket_bytes, &job->arena);
    return STATUS_OK;
}

void stepper_reset_links(struct stepper_job *job)
{
    for (uint32_t link = 0; link < job->tasks->link_count; link++) {
        job->links[link].left = task_link_deps(job->tasks, &job->tasks->links[link]);
        job->links[link].sent = -1;
    }
    for (uint32_t i = 0; i < job->buckets.count; i++)
        job->buckets.buckets[i].left = job->buckets.buckets[i].count;
}
