#include "step/stepper.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabrics.h"
#include "step/ready.h"
#include "step/stepper_state.h"

/* What a device does. */
struct device_run {
    struct stepper_job *job; /* NULL = idle for good */
    uint32_t local;          /* its number in the job */
    uint32_t task;           /* running, or READY_NONE; it stands still while the device reduces */
    bool is_reducing;
    sim_time since;
    event_handle end;
    struct ready_set ready;
};

/* The time of a task's part on a device. */
static sim_time part_cost(const struct stepper_job *job, uint32_t task, uint32_t device)
{
    return job->cost[(size_t)task * job->tasks->class_count + job->stepper->topology->devices[device].class];
}

void stepper_keep_error(struct stepper *stepper, const struct error *error)
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

static void stop_op(struct stepper *stepper, uint32_t device_id)
{
    struct device_run *device = &stepper->devices[device_id];
    struct stepper_job *job = device->job;
    uint32_t part = part_on(job, device->task, device_id);
    tell_ran(stepper, device_id, device->task);
    job->left[part_index(job, device->task, part)] -= engine_now(stepper->engine) - device->since;
    engine_cancel(stepper->engine, device->end);
}

static void pause_device(struct stepper *stepper, uint32_t device_id)
{
    struct device_run *device = &stepper->devices[device_id];
    stop_op(stepper, device_id);
    ready_push(&device->ready, device->job->deployment, device->task);
    device->task = READY_NONE;
}

/* Runs what is left of the task's part. */
static void run_op(struct stepper *stepper, uint32_t device_id, uint32_t task)
{
    struct device_run *device = &stepper->devices[device_id];
    struct stepper_job *job = device->job;
    sim_time now = engine_now(stepper->engine), end;
    if (!clock_add(now, job->left[part_index(job, task, part_on(job, task, device_id))], &end)) {
        struct error error;
        error_set(&error, STATUS_USER, "an op of model %s ends beyond the clock; use a coarser run.tick",
                  job->tasks->graph->name);
        stepper_keep_error(stepper, &error);
        return;
    }
    device->task = task;
    device->since = now;
    device->end = engine_schedule(stepper->engine, end, 0, stepper->kind, device_id, 0);
}

/* Lets the device run its ready op of the highest rank, or the one that is picked. */
static void dispatch_device(struct stepper *stepper, uint32_t device_id)
{
    struct device_run *device = &stepper->devices[device_id];
    struct stepper_job *job = device->job;
    const struct deployment *deployment = job->deployment;
    if (device->is_reducing || (device->task != READY_NONE && deployment->pick))
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
    run_op(stepper, device_id, next);
}

/* Does the op that runs end at this instant anyway? */
static bool ends_now(const struct stepper *stepper, uint32_t device_id)
{
    const struct device_run *device = &stepper->devices[device_id];
    uint32_t part = part_on(device->job, device->task, device_id);
    sim_time left = device->job->left[part_index(device->job, device->task, part)];
    return device->since + left == engine_now(stepper->engine);
}

/* Reductions go before ops: the op that runs stands still meanwhile, also one that runs to its end, and then goes on.
 */
static void on_reduction(void *context, uint32_t device_id, bool is_reducing)
{
    struct stepper *stepper = context;
    struct device_run *device = &stepper->devices[device_id];
    require(device->job && device->is_reducing != is_reducing);
    device->is_reducing = is_reducing;
    bool has_op = device->task != READY_NONE;
    if (is_reducing) {
        if (has_op && !ends_now(stepper, device_id))
            stop_op(stepper, device_id);
        return;
    }
    if (has_op)
        run_op(stepper, device_id, device->task);
    dispatch_device(stepper, device_id);
}

void stepper_make_ready(struct stepper_job *job, uint32_t task, uint32_t part, const struct step_path *path)
{
    size_t index = part_index(job, task, part);
    uint32_t device_id = job->deployment->devices[deployment_list(job->deployment, task).start + part];
    job->ready_at[index] = engine_now(job->stepper->engine);
    job->path[index] = *path;
    ready_push(&job->stepper->devices[device_id].ready, job->deployment, task);
    dispatch_device(job->stepper, device_id);
}

/* ---- ops ---- */

void stepper_end_if_done(struct stepper_job *job)
{
    if (job->undone)
        return;
    struct stepper_report report = {job->start, engine_now(job->stepper->engine), job->last_path, job->schedule, {0}};
    memcpy(report.all_reduces, job->all_reduces, sizeof report.all_reduces);
    require(step_path_length(&report.path) == report.end - report.start);
    job->is_running = false;
    job->done(job->context, job, &report);
}

static void on_op_end(struct engine *engine, const struct event *event, void *world)
{
    struct stepper *stepper = world;
    struct device_run *device = &stepper->devices[event->entity];
    struct stepper_job *job = device->job;
    uint32_t task = device->task;
    require(job && task != READY_NONE && job->parts_left[task] > 0);
    tell_ran(stepper, event->entity, task);
    device->task = READY_NONE;
    dispatch_device(stepper, event->entity);
    bool is_last = --job->parts_left[task] == 0;
    uint32_t part = part_on(job, task, event->entity);
    size_t index = part_index(job, task, part);
    sim_time cost = part_cost(job, task, event->entity);
    job->path[index].ticks[PATH_COMPUTE] += cost;
    job->path[index].ticks[PATH_WAIT_DEVICE] += engine_now(engine) - job->ready_at[index] - cost;
    job->last_path = job->path[index];
    stepper_note_end(job, index);
    stepper_send_links(job, task, part, is_last);
    job->undone -= is_last; /* only now: links that are there at once must not end the step, and then again here */
    if (is_last)
        stepper_end_if_done(job);
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

static void allocate_job(struct stepper_job *job)
{
    uint32_t tasks = job->task_count;
    size_t parts = (size_t)task_graph_parts(job->tasks);
    struct arena *arena = &job->arena;
    job->cost = arena_alloc(arena, (size_t)tasks * job->tasks->class_count, sizeof *job->cost);
    job->in_count = arena_alloc(arena, parts, sizeof *job->in_count);
    job->links = arena_alloc(arena, job->tasks->link_count, sizeof *job->links);
    job->parts_left = arena_alloc(arena, tasks, sizeof *job->parts_left);
    job->need = arena_alloc(arena, parts, sizeof *job->need);
    job->left = arena_alloc(arena, parts, sizeof *job->left);
    job->ready_at = arena_alloc(arena, parts, sizeof *job->ready_at);
    job->path = arena_alloc(arena, parts, sizeof *job->path);
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
        status = stepper_fill_links(job, error);
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
    sim_time cycle = job->stepper->cycle;
    job->is_running = true;
    job->start = engine_now(job->stepper->engine);
    job->schedule = cycle > 0 ? hash_mix((uint64_t)(job->start % cycle)) : 0;
    memset(job->all_reduces, 0, sizeof job->all_reduces);
    job->undone = (uint64_t)job->task_count + job->tasks->link_count;
    memcpy(job->need, job->in_count, (size_t)task_graph_parts(job->tasks) * sizeof *job->need);
    stepper_reset_links(job);
    for (uint32_t task = 0; task < job->task_count; task++) {
        struct device_list at = deployment_list(job->deployment, task);
        job->parts_left[task] = at.count;
        for (uint32_t part = 0; part < at.count; part++)
            job->left[part_index(job, task, part)] = part_cost(job, task, job->deployment->devices[at.start + part]);
    }
    for (uint32_t task = 0; task < job->task_count; task++)
        for (uint32_t part = 0; part < job->parts_left[task]; part++)
            if (job->in_count[part_index(job, task, part)] == 0)
                stepper_make_ready(job, task, part, &nothing);
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
        for (size_t at = part_index(job, task, 0); at < part_index(job, task + 1, 0) && status == STATUS_OK; at++)
            if (job->need[at])
                status = error_set(
                    error, STATUS_IMPOSSIBLE, "deadlock: %s op %u of model %s waits for %u of %u dependencies; %.600s",
                    task_pass_name(job->tasks, task), job->tasks->graph->ops[job->tasks->tasks[task].op].id,
                    job->tasks->graph->name, job->need[at], job->in_count[at], text);
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
    if (options->all_reduce == COLLECTIVE_AUTO && !options->chooser)
        stepper->own_chooser = chooser_create(topology, &network_options);
    collectives_on_reduction(stepper->collectives, on_reduction, stepper);
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
    chooser_destroy(stepper->own_chooser);
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
