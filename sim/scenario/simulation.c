#include "scenario/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabrics.h"
#include "input/units.h"

/* Events closer than this are one instant in the published simulator (PAC-ML simulator, section 8). */
static const double published_slack_s = 1e-7;

double simulation_unit_s(const struct settings *settings)
{
    return settings->workload.time_unit == TIME_UNIT_MS ? 1e-3 : 1;
}

double simulation_quantum_ms(const struct settings *settings)
{
    return (double)settings->partition.quantum_ps / 1e9;
}

enum task_traffic simulation_traffic(const struct settings *settings)
{
    bool is_real = settings->network.model == NETWORK_CIRCUIT && settings->workload.time_unit == TIME_UNIT_MS;
    if (settings->workload.traffic == TRAFFIC_KEY_AUTO)
        return is_real ? TRAFFIC_TRAINING : TRAFFIC_PUBLISHED;
    return settings->workload.traffic == TRAFFIC_KEY_TRAINING ? TRAFFIC_TRAINING : TRAFFIC_PUBLISHED;
}

static enum status open_pool(struct simulation *simulation, const struct settings *settings, struct error *error)
{
    const struct key_list *names = &settings->workload.models, *weights = &settings->workload.weights;
    simulation->pool_models = memory_alloc(names->count, sizeof *simulation->pool_models);
    for (size_t i = 0; i < names->count; i++)
        TRY(models_find(&simulation->models, names->items[i], NULL, &simulation->pool_models[i], error));
    if (weights->count) {
        simulation->pool_weights = memory_alloc(names->count, sizeof *simulation->pool_weights);
        for (size_t i = 0; i < names->count; i++)
            TRY(units_number(weights->items[i], &simulation->pool_weights[i], error));
    }
    simulation->workload.pool_models = simulation->pool_models;
    simulation->workload.pool_weights = simulation->pool_weights;
    simulation->workload.pool_count = (uint32_t)names->count;
    simulation->workload.pool_copies = (uint32_t)settings->workload.pool;
    return STATUS_OK;
}

/* The time between jobs at which they ask for this share of all devices' time, if none were split. */
static double interarrival_at(const struct simulation *simulation, double load)
{
    double sum_s = 0, weights = 0, speed_sum = 0;
    for (uint32_t i = 0; i < simulation->workload.pool_count; i++) {
        double weight = simulation->pool_weights ? simulation->pool_weights[i] : 1;
        const struct graph *graph = simulation->models.graphs[simulation->pool_models[i]];
        sum_s +=
            weight * graph_sum(graph).sequential_ms * simulation->cluster.unit_s * (double)simulation->cluster.steps;
        weights += weight;
    }
    for (uint32_t device = 0; device < simulation->topology.device_count; device++)
        speed_sum += topology_class(&simulation->topology, device)->speed;
    return sum_s / weights / (load * speed_sum);
}

static enum status open_drawn(struct simulation *simulation, const struct settings *settings, struct error *error)
{
    struct workload *workload = &simulation->workload;
    TRY(open_pool(simulation, settings, error));
    TRY(beta_fill(&settings->workload.beta, workload->seed, &workload->beta, error));
    if (settings->workload.arrivals == ARRIVALS_TRACE)
        TRY(workload_read_arrivals(workload, settings->workload.arrivals_trace, settings->workload.arrivals_speedup,
                                   error));
    if (settings->workload.load > 0)
        workload->interarrival_s = interarrival_at(simulation, settings->workload.load);
    return STATUS_OK;
}

/* Decisions to replay must be there, and possible on this cluster at all. */
static enum status check_degrees(const struct simulation *simulation, const struct settings *settings,
                                 struct error *error)
{
    const struct placer *placer = (const struct placer *)settings->place.strategy.strategy;
    const struct workload *workload = &simulation->workload;
    const char *path = settings->workload.trace;
    if (!workload->has_degrees)
        return error_at(error, path, 1, 0, "partition.strategy: trace needs a column degree");
    for (size_t i = 0; i < workload->row_count; i++) {
        uint32_t degree = workload->rows[i].trace_degree;
        if (degree && (degree > simulation->cluster.max_degree || !placer->is_legal(&simulation->topology, degree)))
            return error_at(error, path, 0, 0,
                            "job %zu (counted from 0) has degree %u, which no block of this cluster has; legal are 0 "
                            "(refused), 1 and even degrees with a block shape, partition.max_degree at most",
                            i, degree);
    }
    return STATUS_OK;
}

static enum status open_workload(struct simulation *simulation, const struct settings *settings, struct error *error)
{
    struct workload *workload = &simulation->workload;
    workload->clock = simulation->cluster.clock;
    workload->seed = (uint64_t)settings->run.seed;
    workload->interarrival_s = settings->workload.interarrival_s;
    workload->job_limit = (uint64_t)settings->workload.jobs;
    workload->arrivals = settings->workload.arrivals;
    TRY(settings->workload.trace ? workload_read(workload, settings->workload.trace, &simulation->models, error)
                                 : open_drawn(simulation, settings, error));
    if (((const struct partitioner *)settings->partition.strategy.strategy)->replays_trace)
        TRY(check_degrees(simulation, settings, error));
    return workload_start(workload, error);
}

enum status simulation_topology(const struct settings *settings, struct topology *topology, struct error *error)
{
    TRY(fabric_load_topology(settings->topology, topology, error));
    if (settings->network.node_rate_bytes_per_s > 0)
        topology->node_rate_bytes_per_s = settings->network.node_rate_bytes_per_s;
    if (!settings->network.has_reconfiguration)
        return STATUS_OK;
    topology->reconfiguration_ps = settings->network.reconfiguration_ps;
    if (fabric_of(topology)->is_reconfigured)
        return STATUS_OK;
    enum status status =
        error_set(error, STATUS_USER, "network.reconfiguration: the fabric %s has no circuits to reconfigure",
                  topology->fabric.strategy->name);
    topology_free(topology);
    return status;
}

struct circuit_options simulation_circuit(const struct settings *settings)
{
    static const enum collective_algorithm all_reduces[] = {COLLECTIVE_AUTO, COLLECTIVE_RAMP, COLLECTIVE_RING,
                                                            COLLECTIVE_HALVING_DOUBLING, COLLECTIVE_PARAMETER_SERVER};
    struct circuit_options circuit = settings->circuit;
    circuit.network.is_strict = !settings->network.backfills;
    circuit.clock.tick_ps = settings->run.tick_ps;
    circuit.all_reduce = all_reduces[settings->network.all_reduce];
    circuit.lanes = settings->network.lanes > 0 ? (uint16_t)settings->network.lanes : NETWORK_ALL_LANES;
    circuit.steps = settings->workload.steps;
    if (!settings->step.is_steady) {
        circuit.steady_tolerance = -1;
        circuit.max_steps = 0;
    }
    return circuit;
}

/* What a run would refuse whatever jobs it gets. */
static enum status check_network(const struct cluster_config *config, struct error *error)
{
    const struct topology *topology = config->topology;
    TRY(place_check((const struct placer *)config->placer.strategy, topology, error));
    if (!config->circuit)
        return step_check_published(topology, error);
    if (config->is_shared && failures_asked(&config->failures))
        return error_set(error, STATUS_USER,
                         "failures.server_mtbf, failures.port_mtbf: jobs that share a fabric cannot fail yet; use "
                         "network.sharing: exclusive");
    if (config->is_shared && fabric_of(topology)->connects_jobs && topology->device_count > topology->server_count)
        return error_set(
            error, STATUS_USER,
            "network.sharing: shared: the fabric %s connects the servers of a job for good, so jobs cannot "
            "share a server with several devices; use exclusive, or another fabric",
            topology->fabric.strategy->name);
    return STATUS_OK;
}

enum status simulation_open(struct simulation *simulation, const struct settings *settings, struct error *error)
{
    *simulation = (struct simulation){0};
    TRY(simulation_topology(settings, &simulation->topology, error));
    simulation->cluster = (struct cluster_config){
        .topology = &simulation->topology,
        .models = &simulation->models,
        .workload = &simulation->workload,
        .partitioner = settings->partition.strategy,
        .placer = settings->place.strategy,
        .scheduler = settings->schedule.strategy,
        .clock = {settings->run.tick_ps},
        .horizon = SIM_TIME_MAX,
        .seed = (uint64_t)settings->run.seed,
        .unit_s = simulation_unit_s(settings),
        .steps = settings->workload.steps,
        .quantum_ms = simulation_quantum_ms(settings),
        .traffic = simulation_traffic(settings),
        .max_degree = (uint32_t)settings->partition.max_degree,
        .keeps_by_degree = settings->step.memo == MEMO_MODEL_DEGREE,
        .phases = settings->step.phases,
        .slack_s = published_slack_s,
        .queue_length = settings->admission.policy == ADMISSION_QUEUE ? (uint64_t)settings->admission.length : 0,
        .patience_s = settings->admission.patience_s,
        .warm_up_s = settings->run.warm_up_s,
        .failures = settings->failures,
    };
    if (settings->network.model == NETWORK_CIRCUIT) {
        simulation->circuit = simulation_circuit(settings);
        simulation->cluster.energy = settings->energy;
        simulation->cluster.circuit = &simulation->circuit;
        simulation->cluster.is_shared = settings->network.sharing == SHARING_SHARED;
        simulation->cluster.slack_s = 0;
    }
    TRY(check_network(&simulation->cluster, error));
    double horizon_s = settings_horizon_s(settings);
    if (horizon_s > 0)
        TRY(clock_from_seconds(&simulation->cluster.clock, horizon_s, &simulation->cluster.horizon, error));
    return open_workload(simulation, settings, error);
}

void simulation_close(struct simulation *simulation)
{
    workload_free(&simulation->workload);
    models_free(&simulation->models);
    topology_free(&simulation->topology);
    free(simulation->pool_models);
    free(simulation->pool_weights);
}
