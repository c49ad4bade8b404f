#include "scenario/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "input/units.h"

/* Events closer than this are one instant in the published simulator (PAC-ML simulator, section 8). */
static const double published_slack_s = 1e-7;

double world_unit_s(const struct settings *settings)
{
    return strcmp(settings->workload.time_unit, "ms") == 0 ? 1e-3 : 1;
}

double world_quantum_ms(const struct settings *settings)
{
    return (double)settings->partition.quantum_ps / 1e9;
}

/* One of the published laws, A, B, C or D; false where the name is none of them. */
static bool add_published(struct beta_law *law, const char *name, double share, uint64_t seed)
{
    static const double skews[] = {0, 5, 0, -5};
    struct beta_law one = {0};
    if (strlen(name) != 1 || *name < 'A' || *name > 'D')
        return false;
    if (*name == 'A') {
        beta_uniform(&one);
    } else {
        struct random_stream *random = random_open(seed, "beta.table", 0);
        beta_skew_normal(&one, skews[*name - 'A'], random);
        random_close(random);
    }
    beta_mix(law, &one, share);
    beta_free(&one);
    return true;
}

static enum status open_mixture(struct beta_law *law, const struct settings *settings, struct error *error)
{
    const struct key_list *items = &settings->workload.beta_mixture;
    for (size_t i = 0; i < items->count; i++) {
        char name[2] = {items->items[i][0], '\0'};
        double share = 0;
        bool is_good = name[0] && items->items[i][1] == ':' &&
                       units_number(items->items[i] + 2, &share, NULL) == STATUS_OK && share > 0 &&
                       add_published(law, name, share, (uint64_t)settings->run.seed);
        if (!is_good)
            return error_set(error, STATUS_USER,
                             "workload.beta_mixture: '%.40s': expected a law and its share, e.g. A:0.5",
                             items->items[i]);
    }
    return STATUS_OK;
}

static enum status open_beta(struct beta_law *law, const struct settings *settings, struct error *error)
{
    const char *name = settings->workload.beta;
    uint64_t seed = (uint64_t)settings->run.seed;
    if (strcmp(name, "table") == 0)
        return beta_load(law, settings->workload.beta_table, error);
    if (strcmp(name, "mixture") == 0)
        return open_mixture(law, settings, error);
    if (strcmp(name, "uniform") == 0) {
        beta_uniform(law);
    } else if (strcmp(name, "fixed") == 0) {
        beta_fixed(law, settings->workload.beta_value);
    } else if (!add_published(law, name, 1, seed)) {
        require(strcmp(name, "skew_normal") == 0);
        struct random_stream *random = random_open(seed, "beta.table", 0);
        beta_skew_normal(law, settings->workload.beta_skew, random);
        random_close(random);
    }
    return STATUS_OK;
}

static enum status open_pool(struct world *world, const struct settings *settings, struct error *error)
{
    const struct key_list *names = &settings->workload.models, *weights = &settings->workload.weights;
    world->pool_models = memory_alloc(names->count, sizeof *world->pool_models);
    for (size_t i = 0; i < names->count; i++) {
        enum status status = models_find(&world->models, names->items[i], NULL, &world->pool_models[i], error);
        if (status != STATUS_OK)
            return status;
    }
    if (weights->count) {
        world->pool_weights = memory_alloc(names->count, sizeof *world->pool_weights);
        for (size_t i = 0; i < names->count; i++) {
            enum status status = units_number(weights->items[i], &world->pool_weights[i], error);
            if (status != STATUS_OK)
                return status;
        }
    }
    world->workload.pool_models = world->pool_models;
    world->workload.pool_weights = world->pool_weights;
    world->workload.pool_count = (uint32_t)names->count;
    world->workload.pool_copies = (uint32_t)settings->workload.pool;
    return STATUS_OK;
}

static enum arrival_law arrivals_named(const char *name)
{
    return strcmp(name, "poisson") == 0   ? ARRIVALS_POISSON
           : strcmp(name, "uniform") == 0 ? ARRIVALS_UNIFORM
                                          : ARRIVALS_FIXED;
}

/* The time between jobs at which they ask for this share of all devices' time, if none were split. */
static double interarrival_at(const struct world *world, double load)
{
    double sum_s = 0, weights = 0;
    for (uint32_t i = 0; i < world->workload.pool_count; i++) {
        double weight = world->pool_weights ? world->pool_weights[i] : 1;
        const struct graph *graph = world->models.graphs[world->pool_models[i]];
        sum_s += weight * graph_sum(graph).sequential_ms * world->cluster.unit_s * (double)world->cluster.steps;
        weights += weight;
    }
    return sum_s / weights / (load * world->topology.server_count);
}

static enum status open_drawn(struct world *world, const struct settings *settings, struct error *error)
{
    struct workload *workload = &world->workload;
    enum status status = open_pool(world, settings, error);
    if (status == STATUS_OK)
        status = open_beta(&workload->beta, settings, error);
    if (status == STATUS_OK && strcmp(settings->workload.arrivals, "trace") == 0)
        status = workload_read_arrivals(workload, settings->workload.arrivals_trace,
                                        settings->workload.arrivals_speedup, error);
    if (status == STATUS_OK && settings->workload.load > 0)
        workload->interarrival_s = interarrival_at(world, settings->workload.load);
    return status;
}

/* Decisions to replay must be there, and possible on this cluster at all. */
static enum status check_degrees(const struct world *world, const struct settings *settings, struct error *error)
{
    const struct workload *workload = &world->workload;
    const char *path = settings->workload.trace;
    if (!workload->has_degrees)
        return error_at(error, path, 1, 0, "partition.strategy: trace needs a column degree");
    for (size_t i = 0; i < workload->row_count; i++) {
        uint32_t degree = workload->rows[i].trace_degree;
        if (degree && (degree > world->cluster.max_degree || !block_is_legal(&world->topology, degree)))
            return error_at(error, path, 0, 0,
                            "job %zu (counted from 0) has degree %u, which no block of this cluster has; legal are 0 "
                            "(refused), 1 and even degrees with a block shape, partition.max_degree at most",
                            i, degree);
    }
    return STATUS_OK;
}

static enum status open_workload(struct world *world, const struct settings *settings, struct error *error)
{
    struct workload *workload = &world->workload;
    workload->clock = world->cluster.clock;
    workload->seed = (uint64_t)settings->run.seed;
    workload->interarrival_s = settings->workload.interarrival_s;
    workload->job_limit = (uint64_t)settings->workload.jobs;
    workload->arrivals = arrivals_named(settings->workload.arrivals);
    enum status status = settings->workload.trace
                             ? workload_read(workload, settings->workload.trace, &world->models, error)
                             : open_drawn(world, settings, error);
    if (status == STATUS_OK && strcmp(settings->partition.strategy, "trace") == 0)
        status = check_degrees(world, settings, error);
    return status == STATUS_OK ? workload_start(workload, error) : status;
}

/* Sets the delay of the fabric in use. */
static enum status set_reconfiguration(struct topology *topology, int64_t delay_ps, struct error *error)
{
    const struct {
        const char *fabric;
        int64_t *delay_ps;
    } delays[] = {{"ramp", &topology->ramp.reconfiguration_ps}, {"ocs", &topology->ocs.reconfiguration_ps},
                  {"ring", &topology->ring.reconfiguration_ps}, {"rotor", &topology->rotor.dark_ps},
                  {"awgr", &topology->awgr.reconfiguration_ps}, {"static", &topology->fixed.reconfiguration_ps}};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++)
        if (strcmp(delays[i].fabric, topology->fabric) == 0) {
            *delays[i].delay_ps = delay_ps;
            return STATUS_OK;
        }
    return error_set(error, STATUS_USER, "network.reconfiguration: the fabric %s has no circuits to reconfigure",
                     topology->fabric);
}

enum status world_topology(const struct settings *settings, struct topology *topology, struct error *error)
{
    enum status status = topology_load(settings->topology, topology, error);
    if (status != STATUS_OK)
        return status;
    if (settings->network.node_rate_bytes_per_s > 0)
        topology->node_rate_bytes_per_s = settings->network.node_rate_bytes_per_s;
    if (settings->network.has_reconfiguration)
        status = set_reconfiguration(topology, settings->network.reconfiguration_ps, error);
    if (status != STATUS_OK)
        topology_free(topology);
    return status;
}

struct circuit_options world_circuit(const struct settings *settings)
{
    struct circuit_options options = {
        .network = {.order = strcmp(settings->network.order, "srpt") == 0       ? NETWORK_SRPT
                             : strcmp(settings->network.order, "priority") == 0 ? NETWORK_PRIORITY
                                                                                : NETWORK_FIFO,
                    .is_strict = !settings->network.backfills,
                    .circuits = strcmp(settings->network.circuits, "linger") == 0     ? NETWORK_LINGER
                                : strcmp(settings->network.circuits, "teardown") == 0 ? NETWORK_TEARDOWN
                                                                                      : NETWORK_HOLD,
                    .linger_ps = settings->network.linger_ps},
        .clock = {settings->run.tick_ps},
        .has_barriers = settings->network.has_barriers,
        .lanes = (uint16_t)settings->network.lanes,
        .steps = settings->workload.steps,
        .steady_tolerance = settings->step.is_steady ? settings->step.steady_tolerance : -1,
        .min_steps = settings->step.min_steps,
        .max_steps = settings->step.is_steady ? settings->step.max_steps : 0,
    };
    require(collective_find(settings->network.all_reduce, &options.all_reduce));
    return options;
}

enum status world_build(struct world *world, const struct settings *settings, struct error *error)
{
    *world = (struct world){0};
    enum status status = world_topology(settings, &world->topology, error);
    if (status != STATUS_OK)
        return status;
    world->cluster = (struct cluster_config){
        .topology = &world->topology,
        .models = &world->models,
        .workload = &world->workload,
        .partitioner = partitioner_find(settings->partition.strategy),
        .placer = placer_find(settings->place.strategy),
        .scheduler = scheduler_find(settings->schedule.strategy),
        .clock = {settings->run.tick_ps},
        .horizon = SIM_TIME_MAX,
        .seed = (uint64_t)settings->run.seed,
        .unit_s = world_unit_s(settings),
        .steps = settings->workload.steps,
        .quantum_ms = world_quantum_ms(settings),
        .max_degree = (uint32_t)settings->partition.max_degree,
        .fixed_degree = (uint32_t)settings->partition.degree,
        .keeps_by_degree = strcmp(settings->step.memo, "model_degree") == 0,
        .slack_s = published_slack_s,
        .queue_length = strcmp(settings->admission.policy, "queue") == 0 ? (uint64_t)settings->admission.length : 0,
        .patience_s = settings->admission.patience_s,
        .warm_up_s = settings->run.warm_up_s,
    };
    require(world->cluster.partitioner && world->cluster.placer && world->cluster.scheduler);
    if (strcmp(settings->network.model, "circuit") == 0) {
        world->circuit = world_circuit(settings);
        world->cluster.circuit = &world->circuit;
        world->cluster.is_shared = strcmp(settings->network.sharing, "shared") == 0;
        world->cluster.slack_s = 0;
    }
    double horizon_s = settings_horizon_s(settings);
    if (horizon_s > 0)
        status = clock_from_seconds(&world->cluster.clock, horizon_s, &world->cluster.horizon, error);
    return status == STATUS_OK ? open_workload(world, settings, error) : status;
}

void world_free(struct world *world)
{
    workload_free(&world->workload);
    models_free(&world->models);
    topology_free(&world->topology);
    free(world->pool_models);
    free(world->pool_weights);
}
