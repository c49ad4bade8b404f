#include "experiment/world.h"

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

/* The law of beta. A, B, C, D are the published ones. */
static enum status open_beta(struct beta_law *law, const struct settings *settings, struct error *error)
{
    const char *name = settings->workload.beta;
    uint64_t seed = (uint64_t)settings->run.seed;
    static const struct {
        const char *name;
        double skew;
    } published[] = {{"B", 5}, {"C", 0}, {"D", -5}};
    if (strcmp(name, "table") == 0)
        return beta_load(law, settings->workload.beta_table, error);
    if (strcmp(name, "A") == 0 || strcmp(name, "uniform") == 0) {
        beta_uniform(law);
    } else if (strcmp(name, "fixed") == 0) {
        beta_fixed(law, settings->workload.beta_value);
    } else {
        double skew = settings->workload.beta_skew;
        for (size_t i = 0; i < sizeof published / sizeof *published; i++)
            if (strcmp(name, published[i].name) == 0)
                skew = published[i].skew;
        struct random_stream *random = random_open(seed, "beta.table", 0);
        beta_skew_normal(law, skew, random);
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
    return STATUS_OK;
}

static enum status open_workload(struct world *world, const struct settings *settings, struct error *error)
{
    struct workload *workload = &world->workload;
    workload->clock = world->cluster.clock;
    workload->seed = (uint64_t)settings->run.seed;
    workload->interarrival_s = settings->workload.interarrival_s;
    workload->job_limit = (uint64_t)settings->workload.jobs;
    workload->arrivals = strcmp(settings->workload.arrivals, "poisson") == 0 ? ARRIVALS_POISSON : ARRIVALS_FIXED;
    enum status status;
    if (settings->workload.trace) {
        status = workload_read(workload, settings->workload.trace, &world->models, error);
    } else {
        status = open_pool(world, settings, error);
        if (status == STATUS_OK)
            status = open_beta(&workload->beta, settings, error);
    }
    return status == STATUS_OK ? workload_start(workload, error) : status;
}

enum status world_build(struct world *world, const struct settings *settings, struct error *error)
{
    *world = (struct world){0};
    enum status status = topology_load(settings->topology, &world->topology, error);
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
    };
    require(world->cluster.partitioner && world->cluster.placer && world->cluster.scheduler);
    if (settings->run.horizon_s > 0)
        status = clock_from_seconds(&world->cluster.clock, settings->run.horizon_s, &world->cluster.horizon, error);
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
