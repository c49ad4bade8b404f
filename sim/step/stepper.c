#include "step/stepper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "fabric/fabrics.h"
#include "step/ready.h"

/* Sizes and times from doubles must stay exact integers. */
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

/* What a device does. */
struct device_run {
    struct stepper_job *job; /* NULL = idle for good */
    uint32_t local;          /* its number in the job */
    uint32_t task;           /* running, or READY_NONE */
    sim_time since;
    event_handle end;
    struct ready_set ready;
};

/* One link of the step under way. */
struct link_run {
    struct stepper_job *job;
    uint32_t link;
    uint32_t transfers_left;
    sim_time sent;
};

struct stepper_job {
    struct stepper *stepper;
    const struct task_graph *tasks;
    const struct deployment *deployment;
    const struct step_observer *observer; /* NULL = nobody looks */
    uint32_t number, task_count;
    stepper_done *done;
    void *context;
    struct arena arena;
    /* fixed */
    sim_time *cost;     /* per task and class of devices: of one part */
    uint64_t *bytes;    /* per link: of one dependency */
    uint32_t *in_count; /* per task: data links that enter it */
    struct link_run *links;
    uint32_t *part_of; /* per (list, local number of a device) */
    /* of the step under way */
    sim_time start;
    uint32_t *need;                          /* per task: data links still to come */
    uint32_t *parts_left;                    /* per task */
    sim_time *left;                          /* per part of each task */
    sim_time *ready_at;                      /* per task */
    struct step_path *ready_path, *end_path; /* per task */
    uint64_t undone;                         /* tasks and links */
    struct step_path last_path;
    uint64_t schedule; /* sum over what has ended: the order within an instant does not matter */
    bool is_running;
};

struct stepper {
    struct engine *engine;
    struct network *network;
    struct collectives *collectives;
    const struct topology *topology;
    struct circuit_options options;
    uint16_t kind;              /* of the event that an op ends */
    sim_time cycle;             /* of a fabric that turns by the clock, else 0 */
    struct device_run *devices; /* per device */
    struct error error;         /* the first trouble */
};

static size_t part_index(const struct stepper_job *job, uint32_t task, uint32_t part)
{
    return (size_t)job->tasks->part_start[task] + part;
}

/* The time of a task's part on a device. */
static sim_time part_cost(const struct stepper_job *job, uint32_t task, uint32_t device)
{
    return job->cost[(size_t)task * job->tasks->class_count + job->stepper->topology->devices[device].class];
}

static void keep_error(struct stepper *stepper, const struct error *error)
{
    if (stepper->error.status == STATUS_OK)
        stepper->error = *error;
    engine_stop(stepper->engine);
}

/* ---- devices ---- */

/* Which part of a task sits on a device. */
static uint32_t part_on(const struct stepper_job *job, uint32_t task, uint32_t device_id)
{
    uint32_t list = job->deployment->list_of_op[job->tasks->tasks[task].op];
    return job->part_of[(size_t)list * job->deployment->used_count + job->stepper->devices[device_id].local];
}

/* The op on a device ends or is paused now. */
static void tell_ran(const struct stepper *stepper, uint32_t device_id, uint32_t task)
{
    const struct device_run *device = &stepper->devices[device_id];
    const struct step_observer *observer = device->job->observer;
    const struct sim_clock *clock = &stepper->options.clock;
    if (observer && observer->ran)
        observer->ran(observer->context, task, part_on(device->job, task, device_id), device_id,
                      clock_to_seconds(clock, device->since), clock_to_seconds(clock, engine_now(stepper->engine)));
}

static void pause_device(struct stepper *stepper, uint32_t device_id)
{
    struct device_run *device = &stepper->devices[device_id];
    struct stepper_job *job = device->job;
    uint32_t part = part_on(job, device->task, device_id);
    tell_ran(stepper, device_id, device->task);
    job->left[part_index(job, device->task, part)] -= engine_now(stepper->engine) - device->since;
    engine_cancel(stepper->engine, device->end);
    ready_push(&device->ready, job->deployment, device->task);
    device->task = READY_NONE;
}

/* Lets the device run its ready op of the highest rank, or the one that is picked. */
static void dispatch_device(struct stepper *stepper, uint32_t device_id)
{
    struct device_run *device = &stepper->devices[device_id];
    struct stepper_job *job = device->job;
    const struct deployment *deployment = job->deployment;
    if (device->task != READY_NONE && deployment->pick)
        return; /* to its end */
    uint32_t next = ready_top(&device->ready, deployment, device_id);
    if (next == READY_NONE)
        return;
    if (device->task != READY_NONE) {
        if (deployment->rank[next] < deployment->rank[device->task])
            return;
        pause_device(stepper, device_id);
    }
    ready_pop(&device->ready, deployment);
    sim_time now = engine_now(stepper->engine), end;
    if (!clock_add(now, job->left[part_index(job, next, part_on(job, next, device_id))], &end)) {
        struct error error;
        error_set(&error, STATUS_USER, "an op of model %s ends beyond the clock; use a coarser run.tick",
                  job->tasks->graph->name);
        keep_error(stepper, &error);
        return;
    }
    device->task = next;
    device->since = now;
    device->end = engine_schedule(stepper->engine, end, 0, stepper->kind, device_id, 0);
}

static void make_ready(struct stepper_job *job, uint32_t task, const struct step_path *path)
{
    struct device_list at = deployment_list(job->deployment, task);
    job->ready_at[task] = engine_now(job->stepper->engine);
    job->ready_path[task] = *path;
    for (uint32_t part = 0; part < at.count; part++) {
        uint32_t device_id = job->deployment->devices[at.start + part];
        ready_push(&job->stepper->devices[device_id].ready, job->deployment, task);
        dispatch_device(job->stepper, device_id);
    }
}

/* ---- links ---- */

/* A task, or a link, numbered behind them, ends now. */
static void note_end(struct stepper_job *job, uint32_t what)
{
    job->schedule += hash_pair(what, (uint64_t)(engine_now(job->stepper->engine) - job->start));
}

static void end_step_if_done(struct stepper_job *job)
{
    if (job->undone)
        return;
    struct stepper_report report = {job->start, engine_now(job->stepper->engine), job->last_path, job->schedule};
    require(step_path_length(&report.path) == report.end - report.start);
    job->is_running = false;
    job->done(job->context, job, &report);
}

static void tell_flew(const struct stepper_job *job, uint32_t link)
{
    const struct step_observer *observer = job->observer;
    const struct sim_clock *clock = &job->stepper->options.clock;
    sim_time sent = job->links[link].sent, now = engine_now(job->stepper->engine);
    if (observer && observer->flew && now > sent)
        observer->flew(observer->context, link, clock_to_seconds(clock, sent), clock_to_seconds(clock, now));
}

/* All of a link is there; path leads to this instant. */
static void link_done(struct stepper_job *job, uint32_t link, const struct step_path *path)
{
    const struct task_link *at = &job->tasks->links[link];
    tell_flew(job, link);
    note_end(job, job->task_count + link);
    job->undone--;
    job->last_path = *path;
    if (at->pattern != LINK_SYNC && --job->need[at->target] == 0)
        make_ready(job, at->target, path);
    end_step_if_done(job);
}

/* The path leads from the end of the link's source over the network. */
static void link_arrived(const struct link_run *run, const struct collective_parts *parts)
{
    struct step_path path = run->job->end_path[run->job->tasks->links[run->link].source];
    path.ticks[PATH_WAIT] += parts->wait;
    path.ticks[PATH_RECONFIGURATION] += parts->reconfiguration;
    path.ticks[PATH_LATENCY] += parts->latency;
    path.ticks[PATH_PAYLOAD] += parts->payload;
    path.ticks[PATH_COMPUTE] += parts->reduction;
    link_done(run->job, run->link, &path);
}

static void on_transfer(void *context, const struct transfer_report *report)
{
    struct link_run *run = context;
    require(run->transfers_left > 0 && run->job->undone > 0);
    if (--run->transfers_left == 0)
        link_arrived(run, &(struct collective_parts){.wait = report->wait,
                                                     .reconfiguration = report->reconfiguration,
                                                     .latency = report->latency,
                                                     .payload = report->payload});
}

static void on_collective(void *context, const struct collective_report *report)
{
    link_arrived(context, &report->path);
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

static enum status send_collective(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct task_link *at = &job->tasks->links[link];
    struct device_list members = deployment_list(job->deployment, at->source);
    bool is_sync = at->pattern == LINK_SYNC;
    struct collective_request request = {
        .algorithm = is_sync ? all_reduce_of(job, at->source) : COLLECTIVE_ALL_TO_ALL,
        .members = job->deployment->devices + members.start,
        .member_count = members.count,
        .bytes = is_sync ? job->bytes[link] : job->bytes[link] * members.count,
        .has_barrier = job->stepper->options.has_barriers,
        .is_complete = true,
        .lanes = job->stepper->options.lanes,
        .job = job->number,
        .priority = -(int64_t)job->deployment->rank[at->target],
        .done = on_collective,
        .context = &job->links[link],
    };
    return collective_start(job->stepper->collectives, &request, error);
}

/* One transfer for each dependency between parts on different devices. */
static enum status send_transfers(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct task_link *at = &job->tasks->links[link];
    const struct deployment *deployment = job->deployment;
    struct device_list from = deployment_list(deployment, at->source), to = deployment_list(deployment, at->target);
    bool is_one_to_one = at->pattern == LINK_ONE_TO_ONE;
    struct transfer_request request = {
        .job = job->number,
        .bytes = job->bytes[link],
        .lanes = job->stepper->options.lanes,
        .priority = -(int64_t)deployment->rank[at->target],
        .done = on_transfer,
        .context = &job->links[link],
    };
    job->links[link].transfers_left = is_one_to_one ? from.count : from.count * to.count;
    for (uint32_t i = 0; i < from.count; i++)
        for (uint32_t j = is_one_to_one ? i : 0; j < (is_one_to_one ? i + 1 : to.count); j++) {
            request.source = deployment->devices[from.start + i];
            request.target = deployment->devices[to.start + j];
            TRY(network_send(job->stepper->network, &request, NULL, error));
        }
    return STATUS_OK;
}

static void send_link(struct stepper_job *job, uint32_t link)
{
    const struct task_link *at = &job->tasks->links[link];
    uint32_t from = job->deployment->list_of_op[job->tasks->tasks[at->source].op];
    uint32_t to = job->deployment->list_of_op[job->tasks->tasks[at->target].op];
    struct error error;
    job->links[link].sent = engine_now(job->stepper->engine);
    if (at->pattern == LINK_SYNC && deployment_sync(job->deployment, job->tasks->tasks[at->source].op) == SYNC_NONE) {
        link_done(job, link, &job->end_path[at->source]);
        return;
    }
    bool is_collective = from == to && job->deployment->lists[from].count > 1 && at->pattern != LINK_ONE_TO_ONE;
    enum status status = is_collective ? send_collective(job, link, &error) : send_transfers(job, link, &error);
    if (status != STATUS_OK)
        keep_error(job->stepper, &error);
}

/* ---- ops ---- */

static void on_op_end(struct engine *engine, const struct event *event, void *world)
{
    struct stepper *stepper = world;
    struct device_run *device = &stepper->devices[event->entity];
    struct stepper_job *job = device->job;
    uint32_t task = device->task;
    sim_time now = engine_now(engine);
    require(job && task != READY_NONE && job->parts_left[task] > 0);
    tell_ran(stepper, event->entity, task);
    device->task = READY_NONE;
    dispatch_device(stepper, event->entity);
    if (--job->parts_left[task])
        return;
    struct step_path path = job->ready_path[task];
    sim_time cost = part_cost(job, task, event->entity); /* of the part that ended last */
    path.ticks[PATH_COMPUTE] += cost;
    path.ticks[PATH_WAIT] += now - job->ready_at[task] - cost;
    job->end_path[task] = path;
    job->last_path = path;
    note_end(job, task);
    for (uint32_t i = 0; i < job->tasks->out_count[task]; i++)
        send_link(job, job->tasks->out_start[task] + i);
    job->undone--; /* only now: links that are there at once must not end the step by themselves, and then again here */
    end_step_if_done(job);
}

/* ---- a job ---- */

static enum status fill_costs(struct stepper_job *job, double unit_s, struct error *error)
{
    const struct task_graph *tasks = job->tasks;
    for (uint32_t task = 0; task < job->task_count; task++)
        for (uint32_t class = 0; class < tasks->class_count; class ++)
            TRY(clock_from_seconds(&job->stepper->options.clock, task_part_ms(tasks, task, class) * unit_s,
                                   &job->cost[(size_t)task * tasks->class_count + class], error));
    return STATUS_OK;
}

static enum status fill_links(struct stepper_job *job, struct error *error)
{
    for (uint32_t link = 0; link < job->tasks->link_count; link++) {
        const struct task_link *at = &job->tasks->links[link];
        double total = at->bytes * job->tasks->parts[job->tasks->tasks[at->source].op];
        if (!(total < most_bytes))
            return error_set(error, STATUS_USER, "model %s: a dependency of %.3g bytes is more than 2^60",
                             job->tasks->graph->name, total);
        job->bytes[link] = (uint64_t)ceil(at->bytes);
        job->links[link] = (struct link_run){.job = job, .link = link};
        job->in_count[at->target] += at->pattern != LINK_SYNC;
    }
    return STATUS_OK;
}

static void allocate_job(struct stepper_job *job)
{
    uint32_t tasks = job->task_count;
    struct arena *arena = &job->arena;
    job->cost = arena_alloc(arena, (size_t)tasks * job->tasks->class_count, sizeof *job->cost);
    job->bytes = arena_alloc(arena, job->tasks->link_count, sizeof *job->bytes);
    job->in_count = arena_alloc(arena, tasks, sizeof *job->in_count);
    job->links = arena_alloc(arena, job->tasks->link_count, sizeof *job->links);
    job->need = arena_alloc(arena, tasks, sizeof *job->need);
    job->parts_left = arena_alloc(arena, tasks, sizeof *job->parts_left);
    job->left = arena_alloc(arena, (size_t)task_graph_parts(job->tasks), sizeof *job->left);
    job->ready_at = arena_alloc(arena, tasks, sizeof *job->ready_at);
    job->ready_path = arena_alloc(arena, tasks, sizeof *job->ready_path);
    job->end_path = arena_alloc(arena, tasks, sizeof *job->end_path);
}

static void map_parts(struct stepper_job *job)
{
    const struct deployment *deployment = job->deployment;
    job->part_of =
        arena_alloc(&job->arena, (size_t)deployment->list_count * deployment->used_count, sizeof *job->part_of);
    for (uint32_t list = 0; list < deployment->list_count; list++)
        for (uint32_t part = 0; part < deployment->lists[list].count; part++) {
            uint32_t device_id = deployment->devices[deployment->lists[list].start + part];
            job->part_of[(size_t)list * deployment->used_count + job->stepper->devices[device_id].local] = part;
        }
}

enum status stepper_add(struct stepper *stepper, const struct step_input *input, uint32_t number, stepper_done *done,
                        void *context, struct stepper_job **out, struct error *error)
{
    require(input->deployment->rank && input->topology == stepper->topology && done);
    struct stepper_job *job = memory_alloc(1, sizeof *job);
    job->stepper = stepper;
    job->tasks = input->deployment->tasks;
    job->deployment = input->deployment;
    job->observer = input->observer;
    job->number = number;
    job->task_count = job->tasks->task_count;
    job->done = done;
    job->context = context;
    allocate_job(job);
    enum status status = fill_costs(job, input->unit_s, error);
    if (status == STATUS_OK)
        status = fill_links(job, error);
    if (status == STATUS_OK)
        status =
            network_open_job(stepper->network, number, input->deployment->used, input->deployment->used_count, error);
    if (status != STATUS_OK) {
        arena_free(&job->arena);
        free(job);
        return status;
    }
    for (uint32_t i = 0; i < input->deployment->used_count; i++) {
        struct device_run *device = &stepper->devices[input->deployment->used[i]];
        require(!device->job);
        device->job = job;
        device->local = i;
        device->task = READY_NONE;
    }
    map_parts(job);
    *out = job;
    return STATUS_OK;
}

void stepper_start(struct stepper_job *job)
{
    require(!job->is_running && job->undone == 0);
    const struct step_path nothing = {0};
    job->is_running = true;
    sim_time cycle = job->stepper->cycle;
    job->schedule = cycle > 0 ? hash_mix((uint64_t)(engine_now(job->stepper->engine) % cycle)) : 0;
    job->start = engine_now(job->stepper->engine);
    job->undone = (uint64_t)job->task_count + job->tasks->link_count;
    for (uint32_t task = 0; task < job->task_count; task++) {
        job->need[task] = job->in_count[task];
        job->parts_left[task] = job->tasks->parts[job->tasks->tasks[task].op];
        struct device_list at = deployment_list(job->deployment, task);
        for (uint32_t part = 0; part < at.count; part++)
            job->left[part_index(job, task, part)] = part_cost(job, task, job->deployment->devices[at.start + part]);
    }
    for (uint32_t task = 0; task < job->task_count; task++)
        if (job->need[task] == 0)
            make_ready(job, task, &nothing);
}

void stepper_remove(struct stepper_job *job)
{
    for (uint32_t i = 0; i < job->deployment->used_count; i++) {
        struct device_run *device = &job->stepper->devices[job->deployment->used[i]];
        if (device->task != READY_NONE)
            engine_cancel(job->stepper->engine, device->end);
        device->job = NULL;
        device->ready.count = 0;
    }
    enum status status = network_close_job(job->stepper->network, job->number, NULL);
    require(status == STATUS_OK);
    arena_free(&job->arena);
    free(job);
}

enum status stepper_explain(const struct stepper_job *job, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        memory_exhausted(1, 1);
    network_explain_waiting(job->stepper->network, 4, out);
    fclose(out);
    enum status status = STATUS_OK;
    for (uint32_t task = 0; task < job->task_count && status == STATUS_OK; task++)
        if (job->need[task])
            status = error_set(error, STATUS_IMPOSSIBLE,
                               "deadlock: %s op %u of model %s waits for %u of %u dependencies; %.600s",
                               task_pass_name(job->tasks, task), job->tasks->graph->ops[job->tasks->tasks[task].op].id,
                               job->tasks->graph->name, job->need[task], job->in_count[task], text);
    if (status == STATUS_OK)
        status = error_set(error, STATUS_IMPOSSIBLE, "deadlock: model %s: %.800s", job->tasks->graph->name, text);
    free(text);
    return status;
}

/* ---- all of them ---- */

enum status stepper_create(struct engine *engine, const struct topology *topology, uint16_t first_kind,
                           const struct circuit_options *options, struct stepper **out, struct error *error)
{
    require(engine && topology && first_kind + STEPPER_KINDS <= ENGINE_KINDS);
    struct network_options network_options = options->network;
    struct network *network;
    network_options.tick_ps = options->clock.tick_ps;
    network_options.first_kind = first_kind;
    TRY(network_create(engine, topology, &network_options, &network, error));
    uint16_t lanes = network_fabric(network)->lanes_max;
    struct stepper *stepper = memory_alloc(1, sizeof *stepper);
    stepper->engine = engine;
    stepper->network = network;
    stepper->topology = topology;
    stepper->options = *options;
    stepper->cycle = fabric_cycle(topology, &options->clock);
    if (stepper->options.lanes > lanes)
        stepper->options.lanes = lanes;
    stepper->kind = (uint16_t)(first_kind + NETWORK_KINDS);
    stepper->devices = memory_alloc(topology->device_count, sizeof *stepper->devices);
    stepper->collectives = collectives_create(network, (uint16_t)(stepper->kind + 1));
    engine_on(engine, stepper->kind, on_op_end, stepper);
    *out = stepper;
    return STATUS_OK;
}

const struct network *stepper_network(const struct stepper *stepper)
{
    return stepper->network;
}

void stepper_destroy(struct stepper *stepper)
{
    if (!stepper)
        return;
    collectives_destroy(stepper->collectives);
    for (uint32_t device_id = 0; device_id < stepper->topology->device_count; device_id++) {
        require(!stepper->devices[device_id].job);
        free(stepper->devices[device_id].ready.tasks);
    }
    network_destroy(stepper->network);
    free(stepper->devices);
    free(stepper);
}

enum status stepper_status(const struct stepper *stepper, struct error *error)
{
    if (stepper->error.status == STATUS_OK)
        return network_status(stepper->network, error);
    if (error)
        *error = stepper->error;
    return stepper->error.status;
}
