#include "cluster/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/admission.h"
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

enum status cluster_check_fit(const struct graph *graph, const struct topology *topology, const struct split_rule *rule,
                              struct error *error)
{
    double most_bytes = 0;
    for (uint32_t class = 0; class < topology->class_count; class ++)
        most_bytes = fmax(most_bytes, topology->classes[class].memory_bytes);
    for (uint32_t op = 0; op < graph->op_count; op++) {
        uint32_t parts = split_parts(graph->ops[op].forward_ms, rule->quantum_ms, rule->degree);
        double part_bytes = task_op_bytes(graph, op, parts, rule->traffic) / parts;
        if (part_bytes > most_bytes)
            return error_set(error, STATUS_USER,
                             "model %.100s: op %u needs %.4g GB in each of its %u parts, a device has %.4g GB; allow a "
                             "higher degree or use devices with more memory",
                             graph->name, graph->ops[op].id, part_bytes / 1e9, parts, most_bytes / 1e9);
    }
    return STATUS_OK;
}

/* ---- starting and waiting ---- */

static void tell_end(struct cluster *cluster, uint32_t number, const struct job_record *record, sim_time now)
{
    const struct cluster_observer *observer = cluster->config->observer;
    cluster->last_event = now > cluster->last_event ? now : cluster->last_event;
    if (observer && record->outcome != OUTCOME_UNFINISHED)
        observer->ended(observer->context, number, record, now);
}

static void keep_devices(struct cluster *cluster, struct job_record *record)
{
    struct cluster_result *result = &cluster->result;
    uint32_t count = cluster->deployment.used_count;
    result->devices =
        memory_grow(result->devices, &result->device_capacity, result->device_count + count, sizeof *result->devices);
    record->device_start = result->device_count;
    memcpy(result->devices + result->device_count, cluster->deployment.used, count * sizeof *result->devices);
    result->device_count += count;
}

static void add_running(struct cluster *cluster, uint32_t number, struct job_record *record)
{
    cluster->running =
        memory_grow(cluster->running, &cluster->running_capacity, cluster->running_count + 1, sizeof *cluster->running);
    record->running_at = cluster->running_count;
    cluster->running[cluster->running_count++] = number;
}

/* The last one takes its place. */
static void remove_running(struct cluster *cluster, const struct job_record *record)
{
    require(record->running_at < cluster->running_count);
    require(record == &cluster->result.jobs[cluster->running[record->running_at]]);
    uint32_t last = cluster->running[--cluster->running_count];
    cluster->running[record->running_at] = last;
    cluster->result.jobs[last].running_at = record->running_at;
}

bool cluster_find_instant(struct cluster *cluster, sim_time from, double later_s, sim_time *instant)
{
    const struct sim_clock *clock = &cluster->config->clock;
    sim_time later;
    cluster->status = clock_from_seconds(clock, later_s, &later, &cluster->error);
    if (cluster->status == STATUS_OK)
        cluster->status = clock_advance(clock, from, later, instant, &cluster->error);
    return cluster->status == STATUS_OK;
}

/* The job takes its devices; when it will be done is known. */
static void start_job(struct cluster *cluster, struct job_record *record, uint32_t number, sim_time start)
{
    sim_time end;
    if (!cluster_find_instant(cluster, start, record->time.total_s - record->queue_s, &end))
        return;
    require(end >= start && record->device_count == cluster->deployment.used_count);
    sim_time now = engine_now(cluster->engine);
    record->end = end;
    record->outcome = OUTCOME_UNFINISHED;
    record->cause = CAUSE_HORIZON;
    occupancy_take(&cluster->occupancy, cluster->deployment.used, cluster->deployment.used_count);
    add_running(cluster, number, record);
    if (cluster->sharing)
        sharing_start(cluster, number, record);
    else
        failures_start(
            cluster, number, start,
            engine_schedule(cluster->engine, end > now ? end : now, PRIORITY_COMPLETION, EVENT_COMPLETION, number, 0));
    const struct cluster_observer *observer = cluster->config->observer;
    if (!observer)
        return;
    deployer_rank(&cluster->deployer, &cluster->deployment);
    observer->started(observer->context, number, record, &cluster->deployment, start);
}

/* Carries out an answer. False where the job found no devices, or was refused: it may wait. */
static bool settle(struct cluster *cluster, struct answer answer, struct job_record *record)
{
    bool may_start = false;
    record->is_decided = true;
    if (answer.degree) {
        may_start = attempt_answer(cluster, answer, record);
    } else {
        record->degree = 0;
        record->outcome = OUTCOME_BLOCKED;
        record->cause = CAUSE_REFUSED;
    }
    if (cluster->status != STATUS_OK)
        return true;
    if (record->device_count)
        keep_devices(cluster, record);
    if (may_start)
        start_job(cluster, record, cluster->decision.number, cluster->decision.now);
    return may_start || record->cause == CAUSE_LATE;
}

/* Puts a job at the end of the queue; it gives up when its patience ends, or its limit has passed anyway. */
static void wait_in_queue(struct cluster *cluster, const struct job *job, uint32_t number, struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    double patience_s = config->patience_s > 0 ? config->patience_s : record->limit_s;
    sim_time expiry;
    if (!cluster_find_instant(cluster, engine_now(cluster->engine), patience_s, &expiry))
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
    require(at < cluster->queue_count);
    memmove(cluster->queue + at, cluster->queue + at + 1, (cluster->queue_count - at - 1) * sizeof *cluster->queue);
    cluster->queue_count--;
}

/* ---- decisions ---- */

/* Devices the published mask sees as free (section 11): it looks at the jobs that ran when the last tick began, so
 * those that end at the very instant of the arrival still count. */
static uint32_t mask_free(const struct cluster *cluster, sim_time arrival)
{
    uint32_t stale = 0;
    for (uint32_t i = 0; i < cluster->release_count; i++)
        if (cluster->releases[i].time >= arrival - cluster->slack)
            stale += cluster->releases[i].devices;
    uint32_t free_count = cluster->occupancy.free_count;
    require(stale <= free_count || cluster->failures); /* of which some may be out of service since */
    return stale < free_count ? free_count - stale : 0;
}

/* Asks about a job, as of now; stops the engine until it is answered. */
static void ask_about(struct cluster *cluster, const struct job *job, uint32_t number, sim_time now)
{
    require(!cluster->is_due && job->model < cluster->config->models->count && now >= job->arrival);
    uint32_t free_devices = mask_free(cluster, job->arrival), legal_count = 0;
    while (legal_count < cluster->legal_count && cluster->legal[legal_count] <= free_devices)
        legal_count++;
    cluster->job = *job;
    cluster->decision = (struct decision){
        .number = number,
        .job = &cluster->job,
        .graph = cluster->config->models->graphs[job->model],
        .sequential_s = cluster->models[job->model].sequential_s,
        .limit_s = job->beta * cluster->models[job->model].sequential_s,
        .now = now,
        .waited_s = clock_to_seconds(&cluster->config->clock, now - job->arrival),
        .legal = cluster->legal,
        .legal_count = legal_count,
        .occupancy = &cluster->occupancy,
        .running = cluster->running,
        .running_count = cluster->running_count,
        .records = cluster->result.jobs,
        .record_count = cluster->result.job_count,
    };
    cluster->release_count = 0;
    cluster->is_due = true;
    engine_stop(cluster->engine);
}

/* Devices were given back: asks about the waiting jobs, in the order of arrival. One that still finds none does not
 * hold up those behind it. */
static void serve_next(struct cluster *cluster)
{
    cluster->is_serving = cluster->status == STATUS_OK && cluster->serving < cluster->queue_count;
    if (!cluster->is_serving)
        return;
    const struct waiting_job *waiting = &cluster->queue[cluster->serving];
    cluster->release_count = 0; /* one who waited sees the cluster as it is */
    cluster->record = cluster->result.jobs[waiting->number];
    ask_about(cluster, &waiting->job, waiting->number, engine_now(cluster->engine));
}

void cluster_serve(struct cluster *cluster)
{
    cluster->serving = 0;
    serve_next(cluster);
}

static void decide_waiting(struct cluster *cluster, struct answer answer)
{
    uint32_t number = cluster->decision.number;
    require(cluster->queue[cluster->serving].number == number);
    bool is_settled = settle(cluster, answer, &cluster->record);
    if (is_settled) {
        engine_cancel(cluster->engine, cluster->queue[cluster->serving].expiry);
        leave_queue(cluster, cluster->serving);
        cluster->result.jobs[number] = cluster->record;
        tell_end(cluster, number, &cluster->record, engine_now(cluster->engine));
    } else {
        cluster->serving++;
    }
    serve_next(cluster);
}

/* ---- events ---- */

static void schedule_arrival(struct cluster *cluster)
{
    bool has_job;
    sim_time time;
    cluster->status = workload_next(cluster->config->workload, &cluster->next, &has_job, &cluster->error);
    cluster->has_all_jobs = cluster->status == STATUS_OK && !has_job;
    if (cluster->status != STATUS_OK || !has_job || cluster->next.arrival > cluster->config->horizon)
        return;
    /* Decided a slack later, so that completions up to there come first; everything is dated at the arrival itself. */
    cluster->status =
        clock_advance(&cluster->config->clock, cluster->next.arrival, cluster->slack, &time, &cluster->error);
    if (cluster->status == STATUS_OK)
        engine_schedule(cluster->engine, time, PRIORITY_ARRIVAL, EVENT_ARRIVAL, (uint32_t)cluster->result.job_count, 0);
}

/* The job's record is final or it runs or waits: the next one may come. */
static void end_arrival(struct cluster *cluster, uint32_t number)
{
    struct cluster_result *result = &cluster->result;
    require(number == result->job_count);
    result->jobs = memory_grow(result->jobs, &result->job_capacity, result->job_count + 1, sizeof *result->jobs);
    result->jobs[result->job_count++] = cluster->record;
    tell_end(cluster, number, &cluster->record, cluster->job.arrival);
    if (cluster->status == STATUS_OK)
        schedule_arrival(cluster);
}

static void decide_arriving(struct cluster *cluster, struct answer answer)
{
    uint32_t number = cluster->decision.number;
    bool is_settled = settle(cluster, answer, &cluster->record);
    if (!is_settled && cluster->queue_count < cluster->config->queue_length)
        wait_in_queue(cluster, &cluster->job, number, &cluster->record);
    end_arrival(cluster, number);
}

static void on_arrival(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    const struct job *job = &cluster->next;
    double sequential_s = cluster->models[job->model].sequential_s;
    cluster->job = *job;
    cluster->record = (struct job_record){.model = job->model,
                                          .arrival_s = clock_to_seconds(&cluster->config->clock, job->arrival),
                                          .beta = job->beta,
                                          .sequential_s = sequential_s,
                                          .limit_s = job->beta * sequential_s,
                                          .outcome = OUTCOME_UNFINISHED,
                                          .cause = CAUSE_HORIZON};
    /* One that arrives at the very end is counted and never decided (section 8). */
    if (job->arrival < cluster->config->horizon)
        ask_about(cluster, job, event->entity, job->arrival);
    else
        end_arrival(cluster, event->entity);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

static void on_completion(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct job_record *record = &cluster->result.jobs[event->entity];
    require(record->outcome == OUTCOME_UNFINISHED && record->device_count > 0);
    record->outcome = OUTCOME_COMPLETED;
    record->cause = CAUSE_NONE;
    remove_running(cluster, record);
    if (cluster->sharing)
        sharing_end(cluster, event->entity);
    failures_end(cluster, event->entity);
    record->energy_j =
        energy_j(&cluster->energy, record->power_w, record->time.total_s - record->queue_s, record->sent_bytes);
    tell_end(cluster, event->entity, record, record->end);
    occupancy_release(&cluster->occupancy, cluster->result.devices + record->device_start, record->device_count);
    failures_keep(cluster, record);
    if (cluster->release_count && cluster->releases[cluster->release_count - 1].time < record->end - cluster->slack)
        cluster->release_count = 0; /* older ones are no longer near any arrival to come */
    cluster->releases = memory_grow(cluster->releases, &cluster->release_capacity, cluster->release_count + 1,
                                    sizeof *cluster->releases);
    cluster->releases[cluster->release_count++] = (struct late_release){record->end, record->device_count};
    cluster_serve(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

/* A job's patience ends. */
static void on_expiry(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct job_record *record = &cluster->result.jobs[event->entity];
    size_t at = 0;
    (void)engine;
    while (cluster->queue[at].number != event->entity)
        require(++at < cluster->queue_count);
    leave_queue(cluster, at);
    require(record->outcome == OUTCOME_UNFINISHED && record->device_count == 0);
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
        state->tasks = memory_alloc(cluster->legal_count, sizeof(struct task_graph *));
        state->sequential_s =
            (double)config->steps * (graph_sum(graph).sequential_ms / config->topology->speeds[0] * config->unit_s);
        struct split_rule rule = {config->quantum_ms, largest, config->traffic};
        TRY(cluster_check_fit(graph, config->topology, &rule, &cluster->error));
    }
    return STATUS_OK;
}

static void free_cluster(struct cluster *cluster)
{
    for (uint32_t model = 0; cluster->models && model < cluster->config->models->count; model++) {
        struct model_state *state = &cluster->models[model];
        for (uint32_t i = 0; state->tasks && i < cluster->legal_count; i++)
            task_graph_free(state->tasks[i]);
        free(state->tasks);
    }
    sharing_free(cluster->sharing);
    for (size_t i = 0; i < cluster->splits.count; i++)
        task_graph_free(cluster->split_graphs[i]);
    free(cluster->split_graphs);
    intern_free(&cluster->splits);
    deployer_close(&cluster->deployer);
    free(cluster->models);
    free(cluster->legal);
    free(cluster->releases);
    free(cluster->queue);
    free(cluster->running);
    occupancy_fini(&cluster->occupancy);
    deployment_free(&cluster->deployment);
    deployment_free(&cluster->renamed);
    memo_free(cluster->memo);
    chooser_destroy(cluster->chooser);
    energy_close(&cluster->energy);
    failures_free(cluster->failures);
    engine_destroy(cluster->engine);
    cluster_result_free(&cluster->result);
    free(cluster);
}

static void start_engine(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    cluster->engine = engine_create();
    trace_hash_start(&cluster->steps_hash);
    engine_on(cluster->engine, EVENT_COMPLETION, on_completion, cluster);
    engine_on(cluster->engine, EVENT_ARRIVAL, on_arrival, cluster);
    engine_on(cluster->engine, EVENT_EXPIRY, on_expiry, cluster);
    if (!config->circuit)
        return;
    cluster->look_ahead = *config->circuit;
    cluster->cycle = fabric_cycle(config->topology, &config->clock);
    if (config->circuit->all_reduce == COLLECTIVE_AUTO) {
        struct network_options options = config->circuit->network;
        options.tick_ps = config->clock.tick_ps;
        cluster->look_ahead.chooser = cluster->chooser = chooser_create(config->topology, &options);
    }
    if (config->is_shared && config->circuit->steady_tolerance < 0)
        cluster->look_ahead.steady_tolerance = look_ahead_tolerance;
}

static enum status open_parts(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    const struct topology *topology = config->topology;
    bool is_alike = !config->circuit || fabric_is_symmetric(topology, config->circuit->lanes);
    start_engine(cluster);
    occupancy_init(&cluster->occupancy, topology);
    cluster->memo = memo_create(topology, topology->has_grid && is_alike);
    TRY(deployer_open(&cluster->deployer, topology, config->placer, config->scheduler, config->unit_s,
                      &cluster->error));
    cluster->legal =
        place_legal_degrees(deployer_placer(&cluster->deployer), topology, config->max_degree, &cluster->legal_count);
    TRY(clock_from_seconds(&config->clock, config->slack_s, &cluster->slack, &cluster->error));
    TRY(open_models(cluster));
    if (config->circuit)
        TRY(energy_open(&cluster->energy, &config->energy, topology, &config->circuit->network, &cluster->error));
    TRY(failures_create(cluster));
    return config->is_shared ? sharing_create(cluster) : STATUS_OK;
}

/* ---- open, next, decide, close ---- */

static enum status tell_status(const struct cluster *cluster, struct error *error)
{
    if (cluster->status != STATUS_OK && error)
        *error = cluster->error;
    return cluster->status;
}

enum status cluster_open(const struct cluster_config *config, struct cluster **out, struct error *error)
{
    require(config->topology && config->models && config->workload && config->placer.strategy &&
            config->scheduler.strategy);
    struct cluster *cluster = memory_alloc(1, sizeof *cluster);
    cluster->config = config;
    cluster->status = open_parts(cluster);
    if (!clock_add(config->horizon, cluster->slack, &cluster->until))
        cluster->until = SIM_TIME_MAX;
    if (cluster->status == STATUS_OK)
        schedule_arrival(cluster);
    enum status status = tell_status(cluster, error);
    if (status == STATUS_OK)
        *out = cluster;
    else
        free_cluster(cluster);
    return status;
}

enum status cluster_next(struct cluster *cluster, const struct decision **decision, struct error *error)
{
    require(!cluster->is_due || cluster->is_serving);
    if (cluster->status == STATUS_OK && !cluster->is_due)
        engine_run(cluster->engine, cluster->until);
    if (cluster->status == STATUS_OK && !cluster->is_due)
        cluster->status = sharing_status(cluster);
    *decision = cluster->is_due ? &cluster->decision : NULL;
    return tell_status(cluster, error);
}

bool cluster_ask(struct cluster *cluster, struct answer answer, struct job_record *record)
{
    require(cluster->is_due && answer.degree > 0);
    *record = (struct job_record){0};
    /* Trouble with another degree ends the run: it must not be forgotten. */
    return cluster->status == STATUS_OK && attempt_answer(cluster, answer, record);
}

static bool is_legal_answer(const struct cluster *cluster, struct answer answer)
{
    const struct decision *decision = &cluster->decision;
    bool is_legal = answer.degree == 0;
    for (uint32_t i = 0; i < decision->legal_count && !is_legal; i++)
        is_legal = decision->legal[i] == answer.degree;
    for (uint32_t op = 0; answer.degree && answer.parts && op < decision->graph->op_count && is_legal; op++)
        is_legal = answer.parts[op] >= 1 && answer.parts[op] <= answer.degree;
    return is_legal;
}

enum status cluster_decide(struct cluster *cluster, struct answer answer, struct error *error)
{
    require(cluster->is_due);
    if (cluster->status == STATUS_OK && !is_legal_answer(cluster, answer))
        return error_set(error, STATUS_USER, "job %u: a degree of %u%s is not legal now", cluster->decision.number,
                         answer.degree, answer.parts ? " with these parts" : "");
    cluster->is_due = false;
    if (cluster->status == STATUS_OK && cluster->is_serving)
        decide_waiting(cluster, answer);
    else if (cluster->status == STATUS_OK)
        decide_arriving(cluster, answer);
    return tell_status(cluster, error);
}

/* Repairs behind the last job are not part of the run. */
static sim_time last_instant(const struct cluster *cluster)
{
    return cluster->failures ? cluster->last_event : engine_now(cluster->engine);
}

enum status cluster_close(struct cluster *cluster, struct cluster_result *result, struct error *error)
{
    const struct cluster_config *config = cluster->config;
    enum status status = tell_status(cluster, error);
    if (status == STATUS_OK && result) {
        require(cluster->running_count > 0 ||
                cluster->occupancy.free_count + failures_devices(cluster) == config->topology->device_count);
        sim_time end = config->horizon == SIM_TIME_MAX ? last_instant(cluster) : config->horizon;
        *result = cluster->result;
        result->length_s = result->simulated_s = clock_to_seconds(&config->clock, end);
        if (config->horizon != SIM_TIME_MAX && cluster->has_all_jobs &&
            cluster->running_count + cluster->queue_count == 0)
            result->simulated_s = clock_to_seconds(&config->clock, cluster->last_event);
        result->events += engine_events(cluster->engine);
        result->trace_hash = hash_pair(engine_trace_hash(cluster->engine), trace_hash_value(&cluster->steps_hash));
        cluster->result = (struct cluster_result){0};
    }
    free_cluster(cluster);
    return status;
}

enum status cluster_run(const struct cluster_config *config, struct cluster_result *result, struct error *error)
{
    struct admission admission;
    struct cluster *cluster = NULL;
    const struct decision *decision;
    enum status status = admission_open(config, &admission, error);
    if (status == STATUS_OK)
        status = cluster_open(config, &cluster, error);
    while (status == STATUS_OK && (status = cluster_next(cluster, &decision, error)) == STATUS_OK && decision)
        status = cluster_decide(cluster, admission_answer(&admission, cluster, decision), error);
    if (cluster) {
        enum status closed = cluster_close(cluster, status == STATUS_OK ? result : NULL, error);
        status = status == STATUS_OK ? closed : status;
    }
    admission_close(&admission);
    return status;
}

void cluster_result_free(struct cluster_result *result)
{
    free(result->jobs);
    free(result->devices);
    *result = (struct cluster_result){0};
}
