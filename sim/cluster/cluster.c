#include "cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/state.h"
#include "fabric/fabrics.h"

/* How steady the look-ahead of a job is taken, where the run itself simulates every step. */
static const double look_ahead_tolerance = 0.001;

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {"completed", "blocked", "unfinished"};
    return names[outcome];
}

const char *cause_name(enum cause cause)
{
    static const char *const names[] = {"", "refused", "no_block", "late", "horizon"};
    return names[cause];
}

uint32_t *cluster_legal_degrees(const struct topology *topology, uint32_t max_degree, uint32_t *count)
{
    if (max_degree > topology->server_count)
        max_degree = topology->server_count;
    uint32_t *legal = memory_alloc(max_degree, sizeof *legal);
    *count = 0;
    for (uint32_t degree = 1; degree <= max_degree; degree++)
        if (block_is_legal(topology, degree))
            legal[(*count)++] = degree;
    return legal;
}

enum status cluster_check_fit(const struct graph *graph, const struct topology *topology, double quantum_ms,
                              uint32_t degree, struct error *error)
{
    for (uint32_t op = 0; op < graph->op_count; op++) {
        uint32_t parts = split_parts(graph->ops[op].forward_ms, quantum_ms, degree);
        double part_bytes = split_memory(&graph->ops[op]) / parts;
        if (part_bytes > topology->device_memory_bytes)
            return error_set(error, STATUS_USER,
                             "model %.100s: op %u needs %.4g GB in each of its %u parts, a device has %.4g GB; allow a "
                             "higher degree or use devices with more memory",
                             graph->name, graph->ops[op].id, part_bytes / 1e9, parts,
                             topology->device_memory_bytes / 1e9);
    }
    return STATUS_OK;
}

/* ---- starting and waiting ---- */

static void tell_end(const struct cluster *cluster, uint32_t number, const struct job_record *record, sim_time now)
{
    const struct cluster_observer *observer = cluster->config->observer;
    if (observer && record->outcome != OUTCOME_UNFINISHED)
        observer->ended(observer->context, number, record, now);
}

static void keep_devices(struct cluster *cluster, struct job_record *record)
{
    struct cluster_result *result = cluster->result;
    uint32_t count = cluster->placement.used_count;
    result->devices =
        memory_grow(result->devices, &result->device_capacity, result->device_count + count, sizeof *result->devices);
    record->device_start = result->device_count;
    memcpy(result->devices + result->device_count, cluster->placement.used, count * sizeof *result->devices);
    result->device_count += count;
}

/* The job takes its servers; when it will be done is known. */
static void start_job(struct cluster *cluster, struct job_record *record, uint32_t number, sim_time start)
{
    const struct sim_clock *clock = &cluster->config->clock;
    sim_time length, end;
    cluster->status = clock_from_seconds(clock, record->time.total_s - record->queue_s, &length, cluster->error);
    if (cluster->status == STATUS_OK)
        cluster->status = clock_advance(clock, start, length, &end, cluster->error);
    if (cluster->status != STATUS_OK)
        return;
    sim_time now = engine_now(cluster->engine);
    record->end = end;
    record->outcome = OUTCOME_UNFINISHED;
    record->cause = CAUSE_HORIZON;
    occupancy_take(&cluster->occupancy, cluster->placement.used, cluster->placement.used_count);
    if (cluster->sharing) {
        sharing_start(cluster, number, record);
    } else
        engine_schedule(cluster->engine, end > now ? end : now, PRIORITY_COMPLETION, EVENT_COMPLETION, number, 0);
    const struct cluster_observer *observer = cluster->config->observer;
    if (observer)
        observer->started(observer->context, number, record, &cluster->placement, start);
}

/* Decides about a job and starts it if it may. False where it found no servers. */
static bool settle(struct cluster *cluster, const struct job *job, uint32_t number, sim_time now,
                   struct job_record *record)
{
    double wait_s = clock_to_seconds(&cluster->config->clock, now - job->arrival);
    bool may_start = admission_decide(cluster, job, number, wait_s, record);
    if (cluster->status != STATUS_OK)
        return true;
    if (record->device_count)
        keep_devices(cluster, record);
    if (may_start)
        start_job(cluster, record, number, now);
    return may_start || record->cause == CAUSE_LATE;
}

/* Puts a job at the end of the queue; it gives up when its patience ends, or its limit has passed anyway. */
static void wait_in_queue(struct cluster *cluster, const struct job *job, uint32_t number, struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    double patience_s = config->patience_s > 0 ? config->patience_s : record->limit_s;
    sim_time patience, expiry;
    cluster->status = clock_from_seconds(&config->clock, patience_s, &patience, cluster->error);
    if (cluster->status == STATUS_OK)
        cluster->status = clock_advance(&config->clock, engine_now(cluster->engine), patience, &expiry, cluster->error);
    if (cluster->status != STATUS_OK)
        return;
    cluster->queue =
        memory_grow(cluster->queue, &cluster->queue_capacity, cluster->queue_count + 1, sizeof *cluster->queue);
    cluster->queue[cluster->queue_count++] = (struct waiting_job){
        *job, number, engine_schedule(cluster->engine, expiry, PRIORITY_EXPIRY, EVENT_EXPIRY, number, 0)};
    record->outcome = OUTCOME_UNFINISHED;
    record->cause = CAUSE_HORIZON;
}

static void leave_queue(struct cluster *cluster, size_t at)
{
    memmove(cluster->queue + at, cluster->queue + at + 1, (cluster->queue_count - at - 1) * sizeof *cluster->queue);
    cluster->queue_count--;
}

/* Servers were given back: lets waiting jobs start, in the order of arrival. One that still finds none does not hold up
 * those behind it. O(jobs waiting). */
static void serve_queue(struct cluster *cluster)
{
    size_t at = 0;
    while (cluster->status == STATUS_OK && at < cluster->queue_count) {
        struct waiting_job *waiting = &cluster->queue[at];
        uint32_t number = waiting->number;
        struct job_record record = cluster->result->jobs[number];
        cluster->release_count = 0; /* one who waited sees the cluster as it is */
        if (!settle(cluster, &waiting->job, number, engine_now(cluster->engine), &record)) {
            at++;
            continue;
        }
        engine_cancel(cluster->engine, waiting->expiry);
        leave_queue(cluster, at);
        cluster->result->jobs[number] = record;
        tell_end(cluster, number, &record, engine_now(cluster->engine));
    }
}

/* ---- events ---- */

static void schedule_arrival(struct cluster *cluster)
{
    bool has_job;
    sim_time time;
    cluster->status = workload_next(cluster->config->workload, &cluster->next, &has_job, cluster->error);
    if (cluster->status != STATUS_OK || !has_job || cluster->next.arrival > cluster->config->horizon)
        return;
    /* Decided a slack later, so that completions up to there come first; everything is dated at the arrival itself. */
    cluster->status =
        clock_advance(&cluster->config->clock, cluster->next.arrival, cluster->slack, &time, cluster->error);
    if (cluster->status == STATUS_OK)
        engine_schedule(cluster->engine, time, PRIORITY_ARRIVAL, EVENT_ARRIVAL, (uint32_t)cluster->result->job_count,
                        0);
}

static void on_arrival(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct cluster_result *result = cluster->result;
    struct job job = cluster->next;
    double sequential_s = cluster->models[job.model].sequential_s;
    struct job_record record = {.model = job.model,
                                .arrival_s = clock_to_seconds(&cluster->config->clock, job.arrival),
                                .beta = job.beta,
                                .sequential_s = sequential_s,
                                .limit_s = job.beta * sequential_s,
                                .outcome = OUTCOME_UNFINISHED,
                                .cause = CAUSE_HORIZON};
    /* One that arrives at the very end is counted and never decided (section 8). */
    if (job.arrival < cluster->config->horizon) {
        record.is_decided = true;
        bool is_settled = settle(cluster, &job, event->entity, job.arrival, &record);
        if (!is_settled && cluster->queue_count < cluster->config->queue_length)
            wait_in_queue(cluster, &job, event->entity, &record);
    }
    result->jobs = memory_grow(result->jobs, &result->job_capacity, result->job_count + 1, sizeof record);
    result->jobs[result->job_count++] = record;
    tell_end(cluster, event->entity, &record, job.arrival);
    if (cluster->status == STATUS_OK)
        schedule_arrival(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

static void on_completion(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct job_record *record = &cluster->result->jobs[event->entity];
    record->outcome = OUTCOME_COMPLETED;
    record->cause = CAUSE_NONE;
    if (cluster->sharing)
        sharing_end(cluster, event->entity);
    tell_end(cluster, event->entity, record, record->end);
    occupancy_release(&cluster->occupancy, cluster->result->devices + record->device_start, record->device_count);
    if (cluster->release_count && cluster->releases[cluster->release_count - 1].time < record->end - cluster->slack)
        cluster->release_count = 0; /* older ones are no longer near any arrival to come */
    cluster->releases = memory_grow(cluster->releases, &cluster->release_capacity, cluster->release_count + 1,
                                    sizeof *cluster->releases);
    cluster->releases[cluster->release_count++] = (struct late_release){record->end, record->device_count};
    serve_queue(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

/* A job's patience ends. */
static void on_expiry(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct job_record *record = &cluster->result->jobs[event->entity];
    size_t at = 0;
    (void)engine;
    while (cluster->queue[at].number != event->entity)
        require(++at < cluster->queue_count);
    leave_queue(cluster, at);
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_NO_BLOCK;
    tell_end(cluster, event->entity, record, engine_now(cluster->engine));
}

/* ---- the run ---- */

static enum status open_models(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    uint32_t count = config->models->count, largest = cluster->legal[cluster->legal_count - 1];
    cluster->models = memory_alloc(count, sizeof *cluster->models);
    for (uint32_t model = 0; model < count; model++) {
        struct model_state *state = &cluster->models[model];
        const struct graph *graph = config->models->graphs[model];
        state->splits = memory_alloc(cluster->legal_count, sizeof(struct split *));
        state->steps = memory_alloc(cluster->legal_count, sizeof *state->steps);
        state->has_step = memory_alloc(cluster->legal_count, sizeof *state->has_step);
        state->sequential_s = (double)config->steps * (graph_sum(graph).sequential_ms * config->unit_s);
        enum status status = cluster_check_fit(graph, config->topology, config->quantum_ms, largest, cluster->error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static void close_cluster(struct cluster *cluster)
{
    for (uint32_t model = 0; cluster->models && model < cluster->config->models->count; model++) {
        struct model_state *state = &cluster->models[model];
        for (uint32_t i = 0; state->splits && i < cluster->legal_count; i++)
            split_free(state->splits[i]);
        free(state->splits);
        free(state->steps);
        free(state->has_step);
    }
    free(cluster->models);
    free(cluster->legal);
    free(cluster->releases);
    free(cluster->queue);
    occupancy_fini(&cluster->occupancy);
    place_scratch_fini(&cluster->scratch);
    placement_fini(&cluster->placement);
    placement_fini(&cluster->renamed);
    sharing_free(cluster->sharing);
    memo_free(cluster->memo);
    random_close(cluster->random);
    if (cluster->config->partitioner->close)
        cluster->config->partitioner->close(cluster->partitioner_state);
    engine_destroy(cluster->engine);
}

static enum status open_cluster(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    cluster->legal = cluster_legal_degrees(config->topology, config->max_degree, &cluster->legal_count);
    occupancy_init(&cluster->occupancy, config->topology);
    place_scratch_init(&cluster->scratch, config->topology);
    cluster->memo = memo_create(config->topology, !config->circuit || fabric_is_symmetric(config->topology));
    cluster->random = random_open(config->seed, "partition", 0);
    cluster->engine = engine_create();
    trace_hash_start(&cluster->steps_hash);
    if (config->circuit) {
        cluster->look_ahead = *config->circuit;
        if (config->is_shared && config->circuit->steady_tolerance < 0)
            cluster->look_ahead.steady_tolerance = look_ahead_tolerance;
    }
    engine_on(cluster->engine, EVENT_COMPLETION, on_completion, cluster);
    engine_on(cluster->engine, EVENT_ARRIVAL, on_arrival, cluster);
    engine_on(cluster->engine, EVENT_EXPIRY, on_expiry, cluster);
    enum status status = clock_from_seconds(&config->clock, config->slack_s, &cluster->slack, cluster->error);
    if (status == STATUS_OK && config->partitioner->open)
        status = config->partitioner->open(config->partitioner_settings, config->seed, &cluster->partitioner_state,
                                           cluster->error);
    if (status == STATUS_OK)
        status = open_models(cluster);
    return status == STATUS_OK && config->is_shared ? sharing_create(cluster) : status;
}

enum status cluster_run(const struct cluster_config *config, struct cluster_result *result, struct error *error)
{
    struct cluster_result found = {0};
    struct cluster cluster = {.config = config, .result = &found, .error = error};
    sim_time until = config->horizon;
    cluster.status = open_cluster(&cluster);
    if (cluster.status == STATUS_OK && !clock_add(config->horizon, cluster.slack, &until))
        until = SIM_TIME_MAX;
    if (cluster.status == STATUS_OK)
        schedule_arrival(&cluster);
    if (cluster.status == STATUS_OK)
        engine_run(cluster.engine, until);
    if (cluster.status == STATUS_OK)
        cluster.status = sharing_status(&cluster);
    if (cluster.status == STATUS_OK) {
        sim_time end = config->horizon == SIM_TIME_MAX ? engine_now(cluster.engine) : config->horizon;
        found.length_s = clock_to_seconds(&config->clock, end);
        found.events += engine_events(cluster.engine);
        found.trace_hash = hash_pair(engine_trace_hash(cluster.engine), trace_hash_value(&cluster.steps_hash));
        *result = found;
    } else {
        cluster_result_free(&found);
    }
    close_cluster(&cluster);
    return cluster.status;
}

void cluster_result_free(struct cluster_result *result)
{
    free(result->jobs);
    free(result->devices);
    *result = (struct cluster_result){0};
}
