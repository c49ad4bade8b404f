#include "cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/memo.h"
#include "engine/hash.h"

enum { EVENT_COMPLETION, EVENT_ARRIVAL };
enum { PRIORITY_COMPLETION, PRIORITY_ARRIVAL };

/* Splits and published cache of one model, by position in the list of legal degrees. */
struct model_state {
    struct split **splits;
    struct step_result *steps; /* the published cache */
    bool *has_step;
    double sequential_s; /* of the unsplit job */
};

/* Servers given back at (nearly) the instant of the next arrival. */
struct late_release {
    sim_time time;
    uint32_t servers;
};

struct cluster {
    const struct cluster_config *config;
    struct cluster_result *result;
    struct engine *engine;
    struct error *error;
    enum status status;
    struct occupancy occupancy;
    struct place_scratch scratch;
    struct placement placement;
    struct memo *memo;
    struct model_state *models;
    uint32_t *legal;
    uint32_t legal_count;
    struct random_stream *random;
    struct late_release *releases;
    uint32_t release_count;
    size_t release_capacity;
    sim_time slack;
    struct job next; /* the one whose arrival is scheduled */
    struct trace_hash steps_hash;
};

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

/* ---- one job on the cluster as it is now ---- */

static struct split *split_of(struct cluster *cluster, uint32_t model, uint32_t degree, uint32_t *position)
{
    for (*position = 0; cluster->legal[*position] != degree; ++*position)
        require(*position + 1 < cluster->legal_count);
    struct split **split = &cluster->models[model].splits[*position];
    if (!*split)
        *split = split_create(cluster->config->models->graphs[model], cluster->config->quantum_ms, degree);
    return *split;
}

static enum status simulate(struct cluster *cluster, const struct split *split, struct step_result *step)
{
    const struct cluster_config *config = cluster->config;
    struct step_input input = {.split = split,
                               .placement = &cluster->placement,
                               .topology = config->topology,
                               .scheduler = config->scheduler,
                               .unit_s = config->unit_s};
    enum status status = step_published(&input, step, cluster->error);
    if (status == STATUS_OK) {
        cluster->result->steps_simulated++;
        trace_hash_fold(&cluster->steps_hash, step->trace_hash, split->degree, step->events);
    }
    return status;
}

/* The step of the job as placed, simulated or remembered. */
static enum status find_step(struct cluster *cluster, uint32_t model, uint32_t position, const struct split *split,
                             struct step_result *step)
{
    struct model_state *state = &cluster->models[model];
    bool by_degree = cluster->config->keeps_by_degree;
    const struct step_result *known =
        by_degree ? (state->has_step[position] ? &state->steps[position] : NULL)
                  : memo_find(cluster->memo, model, cluster->legal[position], &cluster->placement);
    if (known) {
        *step = *known;
        return STATUS_OK;
    }
    enum status status = simulate(cluster, split, step);
    if (status != STATUS_OK)
        return status;
    if (by_degree) {
        state->steps[position] = *step;
        state->has_step[position] = true;
    } else {
        memo_add(cluster->memo, step);
    }
    return STATUS_OK;
}

/* Tries a degree on the cluster as it is; fills what the record says about it. Nothing is taken. */
static bool try_degree(struct cluster *cluster, const struct job *job, uint32_t degree, struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    uint32_t position;
    const struct split *split = split_of(cluster, job->model, degree, &position);
    struct step_result step;
    record->degree = degree;
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_NO_BLOCK;
    if (!config->placer->place(split, &cluster->occupancy, &cluster->scratch, &cluster->placement))
        return false;
    cluster->status = find_step(cluster, job->model, position, split, &step);
    if (cluster->status != STATUS_OK)
        return false;
    double steps = (double)config->steps;
    /* The limit follows the sequential time of the split graph, which differs in the last bits (section 3). */
    record->sequential_s = steps * (split->sequential_ms * config->unit_s);
    record->limit_s = job->beta * record->sequential_s;
    record->jct_s = step.step_s * steps;
    record->comm_s = step.comm_s * steps;
    record->comp_s = step.comp_s * steps;
    record->device_count = cluster->placement.used_count;
    bool is_late = record->jct_s > record->limit_s;
    record->outcome = is_late ? OUTCOME_BLOCKED : OUTCOME_COMPLETED;
    record->cause = is_late ? CAUSE_LATE : CAUSE_NONE;
    return !is_late;
}

struct probe {
    struct cluster *cluster;
    const struct job *job;
};

static bool meets_limit(void *context, uint32_t degree)
{
    struct probe *probe = context;
    struct job_record record = {0};
    return try_degree(probe->cluster, probe->job, degree, &record);
}

/* ---- decisions ---- */

/* Servers the published mask sees as free (section 11): it looks at the jobs that ran when the last tick began, so those
 * that end at the very instant of the arrival still count. */
static uint32_t mask_free(const struct cluster *cluster, sim_time arrival)
{
    uint32_t stale = 0;
    for (uint32_t i = 0; i < cluster->release_count; i++)
        if (cluster->releases[i].time >= arrival - cluster->slack)
            stale += cluster->releases[i].servers;
    return cluster->occupancy.free_count - stale;
}

static uint32_t choose_degree(struct cluster *cluster, const struct job *job, uint64_t number)
{
    const struct cluster_config *config = cluster->config;
    struct probe probe = {cluster, job};
    uint32_t free_servers = mask_free(cluster, job->arrival);
    struct partition_request request = {
        .legal = cluster->legal,
        .sequential_s = cluster->models[job->model].sequential_s,
        .trace_degree = job->trace_degree,
        .fixed_degree = config->fixed_degree,
        .random = cluster->random,
        .meets_limit = meets_limit,
        .context = &probe,
    };
    request.limit_s = job->beta * request.sequential_s;
    while (request.legal_count < cluster->legal_count && cluster->legal[request.legal_count] <= free_servers)
        request.legal_count++;
    random_reseed(cluster->random, config->seed, "partition", number);
    return config->partitioner->choose(&request);
}

static void keep_devices(struct cluster *cluster, struct job_record *record)
{
    struct cluster_result *result = cluster->result;
    uint32_t count = cluster->placement.used_count;
    result->devices = memory_grow(result->devices, &result->device_capacity, result->device_count + count,
                                  sizeof *result->devices);
    record->device_start = result->device_count;
    memcpy(result->devices + result->device_count, cluster->placement.used, count * sizeof *result->devices);
    result->device_count += count;
}

static void admit(struct cluster *cluster, struct job_record *record, uint32_t number, sim_time arrival)
{
    sim_time length, end;
    cluster->status = clock_from_seconds(&cluster->config->clock, record->jct_s, &length, cluster->error);
    if (cluster->status == STATUS_OK)
        cluster->status = clock_advance(&cluster->config->clock, arrival, length, &end, cluster->error);
    if (cluster->status != STATUS_OK)
        return;
    sim_time now = engine_now(cluster->engine);
    record->end = end;
    record->outcome = OUTCOME_UNFINISHED;
    record->cause = CAUSE_HORIZON;
    occupancy_take(&cluster->occupancy, cluster->placement.used, cluster->placement.used_count);
    engine_schedule(cluster->engine, end > now ? end : now, PRIORITY_COMPLETION, EVENT_COMPLETION, number, 0);
}

static void decide(struct cluster *cluster, const struct job *job, uint32_t number, struct job_record *record)
{
    uint32_t degree = choose_degree(cluster, job, number);
    cluster->release_count = 0;
    record->is_decided = true;
    if (cluster->status != STATUS_OK)
        return;
    if (degree == 0) {
        record->outcome = OUTCOME_BLOCKED;
        record->cause = CAUSE_REFUSED;
        return;
    }
    bool is_admitted = try_degree(cluster, job, degree, record);
    if (cluster->status == STATUS_OK && record->device_count)
        keep_devices(cluster, record);
    if (is_admitted)
        admit(cluster, record, number, job->arrival);
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
        engine_schedule(cluster->engine, time, PRIORITY_ARRIVAL, EVENT_ARRIVAL,
                        (uint32_t)cluster->result->job_count, 0);
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
    if (job.arrival < cluster->config->horizon)
        decide(cluster, &job, event->entity, &record);
    result->jobs = memory_grow(result->jobs, &result->job_capacity, result->job_count + 1, sizeof record);
    result->jobs[result->job_count++] = record;
    if (cluster->status == STATUS_OK)
        schedule_arrival(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

static void on_completion(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct job_record *record = &cluster->result->jobs[event->entity];
    (void)engine;
    record->outcome = OUTCOME_COMPLETED;
    record->cause = CAUSE_NONE;
    occupancy_release(&cluster->occupancy, cluster->result->devices + record->device_start, record->device_count);
    if (cluster->release_count && cluster->releases[cluster->release_count - 1].time < record->end - cluster->slack)
        cluster->release_count = 0; /* older ones are no longer near any arrival to come */
    cluster->releases = memory_grow(cluster->releases, &cluster->release_capacity, cluster->release_count + 1,
                                    sizeof *cluster->releases);
    cluster->releases[cluster->release_count++] = (struct late_release){record->end, record->device_count};
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
    occupancy_fini(&cluster->occupancy);
    place_scratch_fini(&cluster->scratch);
    placement_fini(&cluster->placement);
    memo_free(cluster->memo);
    random_close(cluster->random);
    engine_destroy(cluster->engine);
}

static enum status open_cluster(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    cluster->legal = cluster_legal_degrees(config->topology, config->max_degree, &cluster->legal_count);
    occupancy_init(&cluster->occupancy, config->topology);
    place_scratch_init(&cluster->scratch, config->topology);
    cluster->memo = memo_create(config->topology);
    cluster->random = random_open(config->seed, "partition", 0);
    cluster->engine = engine_create();
    trace_hash_start(&cluster->steps_hash);
    engine_on(cluster->engine, EVENT_COMPLETION, on_completion, cluster);
    engine_on(cluster->engine, EVENT_ARRIVAL, on_arrival, cluster);
    enum status status = clock_from_seconds(&config->clock, config->slack_s, &cluster->slack, cluster->error);
    return status == STATUS_OK ? open_models(cluster) : status;
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
    if (cluster.status == STATUS_OK) {
        sim_time end = config->horizon == SIM_TIME_MAX ? engine_now(cluster.engine) : config->horizon;
        found.length_s = clock_to_seconds(&config->clock, end);
        found.events = engine_events(cluster.engine) + cluster.steps_hash.count;
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
