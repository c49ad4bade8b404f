#include "cluster/failures.h"

#include <math.h>
#include <stdlib.h>

#include "cluster/state.h"
#include "engine/random.h"
#include "network/reuse.h"

/* A step that ended up to this much of a step after the failure counts as done: progress is kept in seconds. */
static const double rounding_steps = 1e-9;

/* What an event of repair is about: the server, or one of its transceivers plus 1. */
enum { REPAIR_SERVER = 0 };

struct failing_job {
    uint32_t number;
    struct deployment deployment; /* ranked; only where transceivers fail */
    struct step_result healthy;   /* its step with all its hardware */
    struct step_result step;      /* at the present pace */
    bool is_hit;                  /* by anything so far */
    bool is_slowed;               /* has a pace of its own */
    bool is_cut;                  /* has no way: stands still */
    double start_up_left_s;       /* what the first steps take beyond steady ones; negative where they take less */
    double steps_left;
    sim_time since; /* both are of this instant; later than now while it waits for its servers */
    event_handle end;
};

struct failures {
    struct random_stream *servers, *ports; /* when, which, how long */
    struct failing_job *jobs;              /* by place */
    struct reuse places;
    struct reuse_map map; /* from the number of a job to its place */
    uint32_t *holder;     /* per device: number of the job plus 1; 0 = none */
    uint32_t *first;      /* per server: its devices in the list, and one more */
    uint32_t *devices;    /* by server */
    uint32_t *out;        /* per server: how many reasons there are to keep jobs away */
    bool *is_down;        /* per server */
    uint64_t *broken;     /* transceivers, as network_options has them */
    size_t broken_count, broken_capacity;
    uint32_t port_count;  /* of a server */
    uint32_t devices_out; /* that nobody holds */
};

/* ---- jobs ---- */

static struct failing_job *find_job(const struct failures *failures, uint32_t number)
{
    uint32_t place = reuse_map_find(&failures->map, number);
    require(place != REUSE_NONE);
    return &failures->jobs[place];
}

static double seconds_between(const struct cluster *cluster, sim_time from, sim_time to)
{
    return clock_to_seconds(&cluster->config->clock, to - from);
}

/* Books that steps went at the pace they did, where all were booked as healthy. */
static void book_steps(const struct failing_job *job, struct job_record *record, double done)
{
    if (!job->is_slowed)
        return;
    time_parts_add(&record->time, &job->step.step, done);
    time_parts_add(&record->time, &job->healthy.step, -done);
}

static void book_cut(struct job_record *record, double stood_s)
{
    record->time.total_s += stood_s;
    record->time.part_s[TIME_WAIT] += stood_s;
    record->time.part_s[TIME_WAIT_NETWORK] += stood_s;
}

/* Books what the job did up to now. */
static void advance(struct cluster *cluster, struct failing_job *job)
{
    sim_time now = engine_now(cluster->engine);
    if (now <= job->since)
        return;
    struct job_record *record = &cluster->result.jobs[job->number];
    double passed_s = seconds_between(cluster, job->since, now);
    job->since = now;
    if (job->is_cut) {
        book_cut(record, passed_s);
        return;
    }
    double paid_s = fmin(job->start_up_left_s, passed_s);
    job->start_up_left_s -= paid_s;
    double done = fmin((passed_s - paid_s) / job->step.step.total_s, job->steps_left);
    job->steps_left -= done;
    book_steps(job, record, done);
}

/* Moves its end to what its pace and what is left say. */
static void move_end(struct cluster *cluster, struct failing_job *job)
{
    sim_time end;
    engine_cancel(cluster->engine, job->end);
    job->end = 0;
    job->is_hit = true;
    if (job->is_cut)
        return;
    double left_s = fmax(job->start_up_left_s + job->steps_left * job->step.step.total_s, 0);
    if (!cluster_find_instant(cluster, job->since, left_s, &end))
        return;
    job->end = engine_schedule(cluster->engine, end, PRIORITY_COMPLETION, EVENT_COMPLETION, job->number, 0);
    cluster->result.jobs[job->number].end = end;
}

/* All since the last checkpoint is lost, and the first circuits are to be set up again. */
static void lose_steps(struct cluster *cluster, struct failing_job *job)
{
    struct job_record *record = &cluster->result.jobs[job->number];
    double every = (double)cluster->config->failures.checkpoint, steps = (double)cluster->config->steps;
    double done = steps - job->steps_left;
    double kept = every > 0 ? fmin(floor((done + rounding_steps) / every) * every, done) : 0;
    double start_up_s = job->healthy.start_up.total_s;
    time_parts_add(&record->time, &job->healthy.step, done - kept);
    if (start_up_s != 0)
        time_parts_add(&record->time, &job->healthy.start_up, 1 - job->start_up_left_s / start_up_s);
    record->sent_bytes += (done - kept) * job->healthy.bytes;
    record->restarts++;
    job->steps_left = steps - kept;
    job->start_up_left_s = start_up_s;
}

/* A server of the job is down until then. */
static void set_back(struct cluster *cluster, struct failing_job *job, sim_time repaired)
{
    struct job_record *record = &cluster->result.jobs[job->number];
    advance(cluster, job);
    if (job->since <= engine_now(cluster->engine))
        lose_steps(cluster, job);
    if (repaired > job->since) {
        time_parts_queue(&record->time, seconds_between(cluster, job->since, repaired));
        job->since = repaired;
    }
    move_end(cluster, job);
}

/* ---- the pace without some transceivers ---- */

static bool has_broken(const struct cluster *cluster, const struct failing_job *job)
{
    const struct failures *failures = cluster->failures;
    for (size_t i = 0; i < failures->broken_count; i++) {
        uint32_t server = (uint32_t)(failures->broken[i] / failures->port_count);
        for (uint32_t k = failures->first[server]; k < failures->first[server + 1]; k++)
            if (failures->holder[failures->devices[k]] == job->number + 1)
                return true;
    }
    return false;
}

static void simulate_broken(struct cluster *cluster, struct failing_job *job)
{
    struct step_input input = attempt_input(cluster, &job->deployment);
    struct circuit_options options = cluster->look_ahead;
    options.network.broken = cluster->failures->broken;
    options.network.broken_count = cluster->failures->broken_count;
    enum status status = step_run(&input, 1, &options, &job->step, &cluster->error);
    job->is_cut = status == STATUS_IMPOSSIBLE;
    if (job->is_cut)
        return;
    cluster->status = status;
    if (status != STATUS_OK)
        return;
    cluster->result.steps_simulated++;
    cluster->result.events += job->step.events;
    trace_hash_fold(&cluster->steps_hash, job->step.trace_hash, job->number, job->step.events);
}

/* A transceiver of its servers failed or was repaired. */
static void change_pace(struct cluster *cluster, struct failing_job *job)
{
    advance(cluster, job);
    job->is_slowed = has_broken(cluster, job);
    job->is_cut = false;
    job->step = job->healthy;
    if (job->is_slowed)
        simulate_broken(cluster, job);
    if (cluster->status == STATUS_OK)
        move_end(cluster, job);
}

/* ---- servers in and out of service ---- */

static void put_out(struct cluster *cluster, uint32_t server)
{
    struct failures *failures = cluster->failures;
    if (failures->out[server]++ > 0)
        return;
    for (uint32_t k = failures->first[server]; k < failures->first[server + 1]; k++) {
        uint32_t device = failures->devices[k];
        if (failures->holder[device])
            continue;
        occupancy_take(&cluster->occupancy, &device, 1);
        failures->devices_out++;
    }
}

static void put_in(struct cluster *cluster, uint32_t server)
{
    struct failures *failures = cluster->failures;
    require(failures->out[server] > 0);
    if (--failures->out[server] > 0)
        return;
    for (uint32_t k = failures->first[server]; k < failures->first[server + 1]; k++) {
        uint32_t device = failures->devices[k];
        if (failures->holder[device])
            continue;
        occupancy_release(&cluster->occupancy, &device, 1);
        failures->devices_out--;
    }
}

void failures_keep(struct cluster *cluster, const struct job_record *record)
{
    struct failures *failures = cluster->failures;
    for (uint32_t i = 0; failures && i < record->device_count; i++) {
        uint32_t device = cluster->result.devices[record->device_start + i];
        failures->holder[device] = 0;
        if (!failures->out[topology_host(cluster->config->topology, device)])
            continue;
        occupancy_take(&cluster->occupancy, &device, 1);
        failures->devices_out++;
    }
}

uint32_t failures_devices(const struct cluster *cluster)
{
    return cluster->failures ? cluster->failures->devices_out : 0;
}

/* ---- events ---- */

/* Nobody is left whom a failure could hit. */
static bool is_over(const struct cluster *cluster)
{
    return cluster->has_all_jobs && cluster->running_count + cluster->queue_count == 0;
}

/* One beyond the clock does not happen. */
static void schedule_failure(struct cluster *cluster, struct random_stream *random, uint16_t kind, double mean_s)
{
    sim_time later, time;
    double later_s = random_exponential(random, mean_s);
    enum status status = clock_from_seconds(&cluster->config->clock, later_s, &later, NULL);
    if (status == STATUS_OK && clock_add(engine_now(cluster->engine), later, &time))
        engine_schedule(cluster->engine, time, PRIORITY_FAILURE, kind, 0, 0);
}

static void schedule_server(struct cluster *cluster)
{
    double mean_s = cluster->config->failures.server_mtbf_s / cluster->config->topology->server_count;
    schedule_failure(cluster, cluster->failures->servers, EVENT_SERVER_FAILURE, mean_s);
}

static void schedule_port(struct cluster *cluster)
{
    const struct failures *failures = cluster->failures;
    double count = (double)cluster->config->topology->server_count * failures->port_count;
    schedule_failure(cluster, failures->ports, EVENT_PORT_FAILURE, cluster->config->failures.port_mtbf_s / count);
}

/* When what fails now is repaired. */
static bool find_repair(struct cluster *cluster, struct random_stream *random, sim_time *repaired)
{
    double repair_s = random_exponential(random, cluster->config->failures.repair_s);
    return cluster_find_instant(cluster, engine_now(cluster->engine), repair_s, repaired);
}

static void fail_server(struct cluster *cluster, uint32_t server, sim_time repaired)
{
    struct failures *failures = cluster->failures;
    failures->is_down[server] = true;
    put_out(cluster, server);
    engine_schedule(cluster->engine, repaired, PRIORITY_COMPLETION, EVENT_REPAIR, server, REPAIR_SERVER);
    for (uint32_t k = failures->first[server]; k < failures->first[server + 1]; k++)
        if (failures->holder[failures->devices[k]])
            set_back(cluster, find_job(failures, failures->holder[failures->devices[k]] - 1), repaired);
}

static void on_server_failure(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct failures *failures = cluster->failures;
    sim_time repaired;
    (void)event;
    if (is_over(cluster))
        return;
    uint32_t server = (uint32_t)random_below(failures->servers, cluster->config->topology->server_count);
    if (find_repair(cluster, failures->servers, &repaired) && !failures->is_down[server])
        fail_server(cluster, server, repaired);
    schedule_server(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

/* The pace of whoever has devices of the server. */
static void change_paces(struct cluster *cluster, uint32_t server)
{
    const struct failures *failures = cluster->failures;
    uint32_t last = 0;
    for (uint32_t k = failures->first[server]; k < failures->first[server + 1]; k++) {
        uint32_t holder = failures->holder[failures->devices[k]];
        if (holder && holder != last && cluster->status == STATUS_OK)
            change_pace(cluster, find_job(failures, holder - 1));
        last = holder;
    }
}

/* Its place in the list, or the end of that. */
static size_t find_broken(const struct failures *failures, uint64_t port)
{
    size_t at = 0;
    while (at < failures->broken_count && failures->broken[at] != port)
        at++;
    return at;
}

static void fail_port(struct cluster *cluster, uint64_t port, sim_time repaired)
{
    struct failures *failures = cluster->failures;
    uint32_t server = (uint32_t)(port / failures->port_count);
    failures->broken =
        memory_grow(failures->broken, &failures->broken_capacity, failures->broken_count + 1, sizeof *failures->broken);
    failures->broken[failures->broken_count++] = port;
    put_out(cluster, server);
    engine_schedule(cluster->engine, repaired, PRIORITY_COMPLETION, EVENT_REPAIR, server,
                    port % failures->port_count + 1);
    change_paces(cluster, server);
}

static void on_port_failure(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct failures *failures = cluster->failures;
    uint64_t count = (uint64_t)cluster->config->topology->server_count * failures->port_count;
    sim_time repaired;
    (void)event;
    if (is_over(cluster))
        return;
    uint64_t port = random_below(failures->ports, count);
    if (find_repair(cluster, failures->ports, &repaired) && find_broken(failures, port) == failures->broken_count)
        fail_port(cluster, port, repaired);
    schedule_port(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

static void on_repair(struct engine *engine, const struct event *event, void *world)
{
    struct cluster *cluster = world;
    struct failures *failures = cluster->failures;
    uint32_t server = event->entity;
    if (event->data == REPAIR_SERVER) {
        failures->is_down[server] = false;
    } else {
        size_t at = find_broken(failures, (uint64_t)server * failures->port_count + event->data - 1);
        require(at < failures->broken_count);
        failures->broken[at] = failures->broken[--failures->broken_count];
        change_paces(cluster, server);
    }
    put_in(cluster, server);
    cluster_serve(cluster);
    if (cluster->status != STATUS_OK)
        engine_stop(engine);
}

/* ---- starting and ending ---- */

void failures_start(struct cluster *cluster, uint32_t number, sim_time start, event_handle end)
{
    struct failures *failures = cluster->failures;
    const struct deployment *deployment = &cluster->deployment;
    uint32_t place;
    if (!failures)
        return;
    failures->jobs = reuse_take(&failures->places, failures->jobs, sizeof *failures->jobs, &place);
    reuse_map_add(&failures->map, number, place);
    struct failing_job *job = &failures->jobs[place];
    *job = (struct failing_job){.number = number,
                                .healthy = cluster->step,
                                .step = cluster->step,
                                .start_up_left_s = cluster->step.start_up.total_s,
                                .steps_left = (double)cluster->config->steps,
                                .since = start,
                                .end = end};
    if (failures->ports) {
        deployment_copy(deployment, &job->deployment);
        deployer_rank(&cluster->deployer, &job->deployment);
    }
    for (uint32_t i = 0; i < deployment->used_count; i++)
        failures->holder[deployment->used[i]] = number + 1;
}

void failures_end(struct cluster *cluster, uint32_t number)
{
    struct failures *failures = cluster->failures;
    if (!failures)
        return;
    struct failing_job *job = find_job(failures, number);
    struct job_record *record = &cluster->result.jobs[number];
    if (job->is_hit) {
        advance(cluster, job);
        record->time.total_s = clock_to_seconds(&cluster->config->clock, record->end) - record->arrival_s;
        record->cause = record->time.total_s > record->limit_s ? CAUSE_LATE : CAUSE_NONE;
    }
    deployment_free(&job->deployment);
    reuse_give(&failures->places, reuse_map_find(&failures->map, number));
    reuse_map_remove(&failures->map, number);
}

/* ---- opening ---- */

static void list_devices(struct failures *failures, const struct topology *topology)
{
    uint32_t servers = topology->server_count;
    failures->first = memory_alloc((size_t)servers + 1, sizeof *failures->first);
    failures->devices = memory_alloc(topology->device_count, sizeof *failures->devices);
    for (uint32_t device = 0; device < topology->device_count; device++)
        failures->first[topology_host(topology, device)]++;
    for (uint32_t server = 0; server < servers; server++)
        failures->first[server + 1] += failures->first[server];
    for (uint32_t device = topology->device_count; device-- > 0;)
        failures->devices[--failures->first[topology_host(topology, device)]] = device;
    failures->first[servers] = topology->device_count;
}

static enum status open_ports(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    struct network_ports ports;
    require(config->circuit);
    TRY(network_find_ports(config->topology, &config->circuit->network, &ports, &cluster->error));
    if (!ports.reroutes)
        return error_set(&cluster->error, STATUS_USER,
                         "failures.port_mtbf: the fabric %s knows no way around a transceiver that is out of service; "
                         "ocs, ramp, and awgr on demand do",
                         config->topology->fabric.strategy->name);
    cluster->failures->port_count = ports.count;
    cluster->failures->ports = random_open(config->seed, "port failures", 0);
    engine_on(cluster->engine, EVENT_PORT_FAILURE, on_port_failure, cluster);
    schedule_port(cluster);
    return cluster->status;
}

enum status failures_create(struct cluster *cluster)
{
    const struct cluster_config *config = cluster->config;
    const struct failure_figures *figures = &config->failures;
    if (!failures_asked(figures))
        return STATUS_OK;
    struct failures *failures = cluster->failures = memory_alloc(1, sizeof *failures);
    require(!config->is_shared && figures->repair_s > 0);
    failures->holder = memory_alloc(config->topology->device_count, sizeof *failures->holder);
    failures->out = memory_alloc(config->topology->server_count, sizeof *failures->out);
    failures->is_down = memory_alloc(config->topology->server_count, sizeof *failures->is_down);
    list_devices(failures, config->topology);
    engine_on(cluster->engine, EVENT_REPAIR, on_repair, cluster);
    if (figures->server_mtbf_s > 0) {
        failures->servers = random_open(config->seed, "server failures", 0);
        engine_on(cluster->engine, EVENT_SERVER_FAILURE, on_server_failure, cluster);
        schedule_server(cluster);
    }
    return figures->port_mtbf_s > 0 && cluster->status == STATUS_OK ? open_ports(cluster) : cluster->status;
}

void failures_free(struct failures *failures)
{
    if (!failures)
        return;
    for (size_t i = 0; i < failures->places.count; i++)
        deployment_free(&failures->jobs[i].deployment);
    reuse_free(&failures->places, failures->jobs);
    reuse_map_free(&failures->map);
    random_close(failures->servers);
    random_close(failures->ports);
    free(failures->holder);
    free(failures->first);
    free(failures->devices);
    free(failures->out);
    free(failures->is_down);
    free(failures->broken);
    free(failures);
}
