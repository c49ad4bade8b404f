#include "step/stepper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabrics.h"
#include "step/ready.h"

/* Sizes and times from doubles must stay exact integers. */
static const double most_bytes = 1152921504606846976.0; /* 2^60 */

struct device {
    struct stepper_job *job; /* NULL = idle for good */
    uint32_t local;          /* its number in the job */
    uint32_t task;           /* running, or READY_NONE */
    sim_time since;
    event_handle end;
    struct ready_heap ready;
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
    const struct split *split;
    const struct placement *placement;
    const struct step_observer *observer; /* NULL = nobody looks */
    uint32_t number, op_count, task_count;
    stepper_done *done;
    void *context;
    struct arena arena;
    /* fixed */
    sim_time *cost;       /* per task: of one part */
    uint64_t *bytes;      /* per link: of one dependency */
    uint32_t *rank;       /* per task */
    uint32_t *in_count;   /* per task: data links that enter it */
    uint32_t *part_start; /* per op, and the number of parts of one pass behind the last */
    struct link_run *links;
    uint32_t *part_of; /* per (list, local number of a server) */
    /* of the step under way */
    sim_time start;
    uint32_t *need;                          /* per task: data links still to come */
    uint32_t *parts_left;                    /* per task */
    sim_time *left;                          /* per part of each task */
    sim_time *ready_at;                      /* per task */
    struct step_path *ready_path, *end_path; /* per task */
    uint64_t undone;                         /* tasks and links */
    struct step_path last_path;
    bool is_running;
};

struct stepper {
    struct engine *engine;
    struct network *network;
    struct collectives *collectives;
    const struct topology *topology;
    struct circuit_options options;
    uint16_t kind;          /* of the event that an op ends */
    struct device *devices; /* per server */
    struct error error;     /* the first trouble */
};

static struct placement_list servers_of(const struct stepper_job *job, uint32_t task)
{
    return job->placement->lists[job->placement->list_of_op[task % job->op_count]];
}

static size_t part_index(const struct stepper_job *job, uint32_t task, uint32_t part)
{
    size_t pass = task < job->op_count ? 0 : job->part_start[job->op_count];
    return pass + job->part_start[task % job->op_count] + part;
}

static void fail(struct stepper *stepper, const struct error *error)
{
    if (stepper->error.status == STATUS_OK)
        stepper->error = *error;
    engine_stop(stepper->engine);
}

/* ---- devices ---- */

/* Which part of a task sits on a server. */
static uint32_t part_on(const struct stepper_job *job, uint32_t task, uint32_t server)
{
    uint32_t list = job->placement->list_of_op[task % job->op_count];
    return job->part_of[(size_t)list * job->placement->used_count + job->stepper->devices[server].local];
}

/* The op on a device ends or is paused now. */
static void tell_ran(const struct stepper *stepper, uint32_t server, uint32_t task)
{
    const struct device *device = &stepper->devices[server];
    const struct step_observer *observer = device->job->observer;
    const struct sim_clock *clock = &stepper->options.clock;
    if (observer && observer->ran)
        observer->ran(observer->context, task, part_on(device->job, task, server), server,
                      clock_to_seconds(clock, device->since), clock_to_seconds(clock, engine_now(stepper->engine)));
}

static void pause_device(struct stepper *stepper, uint32_t server)
{
    struct device *device = &stepper->devices[server];
    struct stepper_job *job = device->job;
    uint32_t part = part_on(job, device->task, server);
    tell_ran(stepper, server, device->task);
    job->left[part_index(job, device->task, part)] -= engine_now(stepper->engine) - device->since;
    engine_cancel(stepper->engine, device->end);
    ready_push(&device->ready, job->rank, device->task);
    device->task = READY_NONE;
}

/* Lets the server run its ready op of the highest rank. */
static void dispatch(struct stepper *stepper, uint32_t server)
{
    struct device *device = &stepper->devices[server];
    struct stepper_job *job = device->job;
    uint32_t next = ready_top(&device->ready);
    if (next == READY_NONE)
        return;
    if (device->task != READY_NONE) {
        if (job->rank[next] < job->rank[device->task])
            return;
        pause_device(stepper, server);
    }
    ready_pop(&device->ready, job->rank);
    sim_time now = engine_now(stepper->engine), end;
    if (!clock_add(now, job->left[part_index(job, next, part_on(job, next, server))], &end)) {
        struct error error;
        error_set(&error, STATUS_USER, "an op of model %s ends beyond the clock; use a coarser run.tick",
                  job->split->graph->name);
        fail(stepper, &error);
        return;
    }
    device->task = next;
    device->since = now;
    device->end = engine_schedule(stepper->engine, end, 0, stepper->kind, server, 0);
}

static void make_ready(struct stepper_job *job, uint32_t task, const struct step_path *path)
{
    struct placement_list at = servers_of(job, task);
    job->ready_at[task] = engine_now(job->stepper->engine);
    job->ready_path[task] = *path;
    for (uint32_t part = 0; part < at.count; part++) {
        uint32_t server = job->placement->servers[at.start + part];
        ready_push(&job->stepper->devices[server].ready, job->rank, task);
        dispatch(job->stepper, server);
    }
}

/* ---- links ---- */

static void end_step_if_done(struct stepper_job *job)
{
    if (job->undone)
        return;
    struct stepper_report report = {job->start, engine_now(job->stepper->engine), job->last_path};
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
    const struct split_link *at = &job->split->links[link];
    tell_flew(job, link);
    job->undone--;
    job->last_path = *path;
    if (at->kind != LINK_SYNC && --job->need[at->target] == 0)
        make_ready(job, at->target, path);
    end_step_if_done(job);
}

/* The path leads from the end of the link's source over the network. */
static void link_arrived(const struct link_run *run, const struct collective_parts *parts)
{
    struct step_path path = run->job->end_path[run->job->split->links[run->link].source];
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

static enum status send_collective(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct split_link *at = &job->split->links[link];
    struct placement_list members = servers_of(job, at->source);
    bool is_sync = at->kind == LINK_SYNC;
    struct collective_request request = {
        .algorithm = is_sync ? job->stepper->options.all_reduce : COLLECTIVE_ALL_TO_ALL,
        .members = job->placement->servers + members.start,
        .member_count = members.count,
        .bytes = is_sync ? job->bytes[link] : job->bytes[link] * members.count,
        .has_barrier = job->stepper->options.has_barriers,
        .is_complete = true,
        .lanes = job->stepper->options.lanes,
        .job = job->number,
        .priority = -(int64_t)job->rank[at->target],
        .done = on_collective,
        .context = &job->links[link],
    };
    return collective_start(job->stepper->collectives, &request, error);
}

/* One transfer for each pair of parts on different servers. */
static enum status send_transfers(struct stepper_job *job, uint32_t link, struct error *error)
{
    const struct split_link *at = &job->split->links[link];
    const uint32_t *servers = job->placement->servers;
    struct placement_list from = servers_of(job, at->source), to = servers_of(job, at->target);
    struct link_run *run = &job->links[link];
    enum status status = STATUS_OK;
    run->transfers_left = from.count * to.count;
    for (uint32_t i = 0; i < from.count; i++)
        for (uint32_t j = 0; j < to.count && status == STATUS_OK; j++) {
            struct transfer_request request = {
                .source = servers[from.start + i],
                .target = servers[to.start + j],
                .job = job->number,
                .bytes = job->bytes[link],
                .lanes = job->stepper->options.lanes,
                .priority = -(int64_t)job->rank[at->target],
                .done = on_transfer,
                .context = run,
            };
            status = network_send(job->stepper->network, &request, NULL, error);
        }
    return status;
}

static void send_link(struct stepper_job *job, uint32_t link)
{
    const struct split_link *at = &job->split->links[link];
    uint32_t from = job->placement->list_of_op[at->source % job->op_count];
    uint32_t to = job->placement->list_of_op[at->target % job->op_count];
    struct error error;
    job->links[link].sent = engine_now(job->stepper->engine);
    bool is_collective = from == to && job->placement->lists[from].count > 1;
    enum status status = is_collective ? send_collective(job, link, &error) : send_transfers(job, link, &error);
    if (status != STATUS_OK)
        fail(job->stepper, &error);
}

/* ---- ops ---- */

static void on_op_end(struct engine *engine, const struct event *event, void *world)
{
    struct stepper *stepper = world;
    struct device *device = &stepper->devices[event->entity];
    struct stepper_job *job = device->job;
    uint32_t task = device->task;
    sim_time now = engine_now(engine);
    tell_ran(stepper, event->entity, task);
    device->task = READY_NONE;
    dispatch(stepper, event->entity);
    if (--job->parts_left[task])
        return;
    struct step_path path = job->ready_path[task];
    path.ticks[PATH_COMPUTE] += job->cost[task];
    path.ticks[PATH_WAIT] += now - job->ready_at[task] - job->cost[task];
    job->end_path[task] = path;
    job->last_path = path;
    job->undone--;
    for (uint32_t i = 0; i < job->split->out_count[task]; i++)
        send_link(job, job->split->out_start[task] + i);
    end_step_if_done(job);
}

/* ---- a job ---- */

static enum status fill_costs(struct stepper_job *job, const struct step_input *input, struct error *error)
{
    const struct split *split = job->split;
    double *placed = memory_alloc(job->task_count, sizeof *placed);
    uint32_t *rank = memory_alloc(job->task_count, sizeof *rank);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < job->task_count && status == STATUS_OK; i++) {
        uint32_t op = split->graph->order[i / 2], task = i % 2 ? job->op_count + op : op;
        double cost_ms = i % 2 ? split->graph->ops[op].backward_ms : split->graph->ops[op].forward_ms;
        placed[i] = cost_ms / split->parts[op] * input->unit_s;
        status = clock_from_seconds(&job->stepper->options.clock, placed[i], &job->cost[task], error);
    }
    input->scheduler->rank(placed, job->task_count, rank);
    for (uint32_t i = 0; i < job->task_count; i++) {
        uint32_t op = split->graph->order[i / 2];
        job->rank[i % 2 ? job->op_count + op : op] = rank[i];
    }
    free(placed);
    free(rank);
    return status;
}

static enum status fill_links(struct stepper_job *job, struct error *error)
{
    for (uint32_t link = 0; link < job->split->link_count; link++) {
        const struct split_link *at = &job->split->links[link];
        double total = at->bytes * job->split->parts[at->source % job->op_count];
        if (!(total < most_bytes))
            return error_set(error, STATUS_USER, "model %s: a dependency of %.3g bytes is more than 2^60",
                             job->split->graph->name, total);
        job->bytes[link] = (uint64_t)ceil(at->bytes);
        job->links[link] = (struct link_run){.job = job, .link = link};
        job->in_count[at->target] += at->kind != LINK_SYNC;
    }
    return STATUS_OK;
}

static void allocate(struct stepper_job *job)
{
    uint32_t tasks = job->task_count, n = job->op_count;
    struct arena *arena = &job->arena;
    job->cost = arena_alloc(arena, tasks, sizeof *job->cost);
    job->bytes = arena_alloc(arena, job->split->link_count, sizeof *job->bytes);
    job->rank = arena_alloc(arena, tasks, sizeof *job->rank);
    job->in_count = arena_alloc(arena, tasks, sizeof *job->in_count);
    job->part_start = arena_alloc(arena, n + 1, sizeof *job->part_start);
    job->links = arena_alloc(arena, job->split->link_count, sizeof *job->links);
    job->need = arena_alloc(arena, tasks, sizeof *job->need);
    job->parts_left = arena_alloc(arena, tasks, sizeof *job->parts_left);
    job->left = arena_alloc(arena, job->split->part_count, sizeof *job->left);
    job->ready_at = arena_alloc(arena, tasks, sizeof *job->ready_at);
    job->ready_path = arena_alloc(arena, tasks, sizeof *job->ready_path);
    job->end_path = arena_alloc(arena, tasks, sizeof *job->end_path);
    for (uint32_t op = 0; op < n; op++)
        job->part_start[op + 1] = job->part_start[op] + job->split->parts[op];
}

static void map_parts(struct stepper_job *job)
{
    const struct placement *placement = job->placement;
    job->part_of =
        arena_alloc(&job->arena, (size_t)placement->list_count * placement->used_count, sizeof *job->part_of);
    for (uint32_t list = 0; list < placement->list_count; list++)
        for (uint32_t part = 0; part < placement->lists[list].count; part++) {
            uint32_t server = placement->servers[placement->lists[list].start + part];
            job->part_of[(size_t)list * placement->used_count + job->stepper->devices[server].local] = part;
        }
}

enum status stepper_add(struct stepper *stepper, const struct step_input *input, uint32_t number, stepper_done *done,
                        void *context, struct stepper_job **out, struct error *error)
{
    struct stepper_job *job = memory_alloc(1, sizeof *job);
    job->stepper = stepper;
    job->split = input->split;
    job->placement = input->placement;
    job->observer = input->observer;
    job->number = number;
    job->op_count = input->split->graph->op_count;
    job->task_count = 2 * job->op_count;
    job->done = done;
    job->context = context;
    allocate(job);
    enum status status = fill_costs(job, input, error);
    if (status == STATUS_OK)
        status = fill_links(job, error);
    if (status == STATUS_OK)
        status =
            network_open_job(stepper->network, number, input->placement->used, input->placement->used_count, error);
    if (status != STATUS_OK) {
        arena_free(&job->arena);
        free(job);
        return status;
    }
    for (uint32_t i = 0; i < input->placement->used_count; i++) {
        struct device *device = &stepper->devices[input->placement->used[i]];
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
    require(!job->is_running);
    const struct step_path nothing = {0};
    job->is_running = true;
    job->start = engine_now(job->stepper->engine);
    job->undone = (uint64_t)job->task_count + job->split->link_count;
    for (uint32_t task = 0; task < job->task_count; task++) {
        job->need[task] = job->in_count[task];
        job->parts_left[task] = job->split->parts[task % job->op_count];
        for (uint32_t part = 0; part < job->parts_left[task]; part++)
            job->left[part_index(job, task, part)] = job->cost[task];
    }
    for (uint32_t task = 0; task < job->task_count; task++)
        if (job->need[task] == 0)
            make_ready(job, task, &nothing);
}

void stepper_remove(struct stepper_job *job)
{
    for (uint32_t i = 0; i < job->placement->used_count; i++) {
        struct device *device = &job->stepper->devices[job->placement->used[i]];
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
            status = error_set(
                error, STATUS_IMPOSSIBLE, "deadlock: %s op %u of model %s waits for %u of %u dependencies; %.600s",
                task < job->op_count ? "forward" : "backward", job->split->graph->ops[task % job->op_count].id,
                job->split->graph->name, job->need[task], job->in_count[task], text);
    if (status == STATUS_OK)
        status = error_set(error, STATUS_IMPOSSIBLE, "deadlock: model %s: %.800s", job->split->graph->name, text);
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
    enum status status = fabric_create_network(engine, topology, &network_options, &network, error);
    if (status != STATUS_OK)
        return status;
    uint16_t lanes = network_lanes(network);
    struct stepper *stepper = memory_alloc(1, sizeof *stepper);
    stepper->engine = engine;
    stepper->network = network;
    stepper->topology = topology;
    stepper->options = *options;
    if (stepper->options.lanes > lanes)
        stepper->options.lanes = lanes;
    stepper->kind = (uint16_t)(first_kind + NETWORK_KINDS);
    stepper->devices = memory_alloc(topology->server_count, sizeof *stepper->devices);
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
    for (uint32_t server = 0; server < stepper->topology->server_count; server++) {
        require(!stepper->devices[server].job);
        free(stepper->devices[server].ready.tasks);
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
