#include "job_world.h"
#include "strategies.h"
#include "figures.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_world_topology(const char *fabric, struct topology *topology)
{
    char path[64];
    struct error error = {0};
    snprintf(path, sizeof path, "topologies/%s-32.yaml", fabric);
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology(path, topology, &error), STATUS_OK);
}

int64_t *job_world_reconfiguration(struct topology *topology)
{
    char key[64];
    const char *name = topology->fabric.strategy->name;
    if (!fabric_of(topology)->is_reconfigured)
        return NULL;
    snprintf(key, sizeof key, "%s.%s", name, strcmp(name, "rotor") == 0 ? "dark" : "reconfiguration");
    return figure_whole(topology, key);
}

void job_world_unlike(struct job_world_unlike *unlike)
{
    struct topology *topology = &unlike->topology;
    job_world_topology("ocs", topology);
    for (uint32_t device = 0; device < 32; device++) {
        unlike->devices[device] = topology->devices[device];
        unlike->devices[device].class = device % 2;
    }
    for (int i = 0; i < 2; i++) {
        unlike->classes[i] = topology->classes[0];
        unlike->classes[i].speed = unlike->speeds[i] = 1 + i;
    }
    topology->devices = unlike->devices;
    topology->class_count = 2;
    topology->classes = unlike->classes;
    topology->speeds = unlike->speeds;
    topology->has_grid = false;
}

/* ---- graphs ---- */

/* What a model file may say of one kind of bytes. */
static const double most_bytes = 1e18;

struct graph *job_world_chain(const struct job_world_op *ops, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    struct graph *graph = NULL;
    struct error error = {0};
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "{\"format\": \"ocsim-model-1\", \"name\": \"chain\", \"device\": \"\", \"batch\": 0, \"source\": "
                  "\"\", \"ops\": [");
    for (uint32_t op = 0; op < count; op++)
        fprintf(file,
                "%s{\"id\": %u, \"kind\": \"op\", \"forward_ms\": %.17g, \"backward_ms\": %.17g, "
                "\"activation_bytes\": %.17g, \"parameter_bytes\": %.17g}",
                op ? ", " : "", op + 1, ops[op].forward_ms, ops[op].backward_ms, fmin(ops[op].bytes, most_bytes),
                fmax(ops[op].bytes - most_bytes, 0));
    fprintf(file, "], \"edges\": [");
    for (uint32_t op = 1; op < count; op++)
        fprintf(file, "%s[%u, %u]", op > 1 ? ", " : "", op, op + 1);
    fprintf(file, "]}");
    fclose(file);
    enum status status = graph_read_json(text, size, "chain.json", &graph, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    free(text);
    return graph;
}

/* Whole nanoseconds, so that profiles are exact in picoseconds. */
static double random_ms(struct random_stream *random)
{
    return (double)(1 + random_below(random, 200000)) * 1e-6;
}

struct graph *job_world_random_chain(struct random_stream *random, uint32_t count, double bytes_below)
{
    struct job_world_op *ops = memory_alloc(count, sizeof *ops);
    for (uint32_t op = 0; op < count; op++) {
        ops[op].forward_ms = random_ms(random);
        ops[op].backward_ms = random_ms(random);
        ops[op].bytes = (double)random_below(random, (uint64_t)bytes_below);
    }
    struct graph *graph = job_world_chain(ops, count);
    free(ops);
    return graph;
}

/* ---- placed ---- */

static struct task_graph *split_for(const struct topology *topology, const struct graph *graph, uint32_t degree)
{
    return split_create(graph, &(struct split_rule){0.01, degree, TRAFFIC_PUBLISHED}, topology->speeds,
                        topology->class_count);
}

void job_world_put(struct job_world *job, struct graph *graph, const struct topology *topology, const uint32_t *servers)
{
    struct place_scratch scratch;
    *job = (struct job_world){.graph = graph, .tasks = split_for(topology, graph, 1)};
    const struct place_request request = {.tasks = job->tasks, .scratch = &scratch};
    place_scratch_init(&scratch, topology);
    deployment_start(&job->deployment, job->tasks);
    for (uint32_t op = 0; op < graph->op_count; op++)
        place_assign(&request, &job->deployment, op, place_add_list(&request, &job->deployment, &servers[op], 1));
    place_end(&request, &job->deployment);
    place_scratch_fini(&scratch);
}

void job_world_put_randomly(struct job_world *job, struct graph *graph, const struct topology *topology,
                            struct random_stream *random, const uint32_t *servers, uint32_t server_count)
{
    uint32_t *chosen = memory_alloc(graph->op_count, sizeof *chosen);
    for (uint32_t op = 0; op < graph->op_count; op++)
        chosen[op] = servers[random_below(random, server_count)];
    job_world_put(job, graph, topology, chosen);
    free(chosen);
}

void job_world_split(struct job_world *job, struct graph *graph, const struct topology *topology, uint32_t degree,
                     const struct placer *placer)
{
    struct occupancy occupancy;
    struct place_scratch scratch;
    *job = (struct job_world){.graph = graph, .tasks = split_for(topology, graph, degree)};
    occupancy_init(&occupancy, topology);
    place_scratch_init(&scratch, topology);
    CU_ASSERT_FATAL(oracle_place(placer, job->tasks, &occupancy, &scratch, &job->deployment));
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
}

void job_world_end(struct job_world *job)
{
    deployment_free(&job->deployment);
    task_graph_free(job->tasks);
    graph_free(job->graph);
}

/* ---- simulated ---- */

struct circuit_options job_world_options(int64_t steps)
{
    return (struct circuit_options){.clock = {1},
                                    .all_reduce = COLLECTIVE_RING,
                                    .steps = steps,
                                    .steady_tolerance = -1,
                                    .min_steps = 2,
                                    .network = {.circuits = NETWORK_HOLD}};
}

struct step_input job_world_input(struct job_world *job, const struct topology *topology)
{
    rank_by(&schedule_srpt, topology, 1e-3, &job->deployment);
    return (struct step_input){.deployment = &job->deployment, .topology = topology, .unit_s = 1e-3};
}

struct step_result job_world_step(struct job_world *job, const struct topology *topology,
                                  const struct circuit_options *options)
{
    struct step_input input = job_world_input(job, topology);
    struct step_result result = {0};
    struct error error = {0};
    enum status status = step_run(&input, 1, options, &result, &error);
    if (status != STATUS_OK)
        printf("\n  %s said: %s\n", topology->fabric.strategy->name, error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    return result;
}

double job_world_sum_s(const struct time_parts *time)
{
    return time->part_s[TIME_COMM] + time->part_s[TIME_COMP] + time->part_s[TIME_RECONFIG] + time->part_s[TIME_WAIT];
}
