/* What would become of a job, split this far, on the cluster as it is now (PAC-ML simulator, sections 8 and 11). */
#include "cluster/state.h"

#include <stdlib.h>
#include <string.h>

/* The task graph of an answer, made once, and its number among those of its model. */
struct split_choice {
    const struct task_graph *tasks;
    uint32_t variant; /* the degree of the published rule; above all degrees for parts of the answer's own */
};

static struct split_choice split_by_degree(struct cluster *cluster, uint32_t model, uint32_t degree)
{
    const struct cluster_config *config = cluster->config;
    uint32_t position = 0;
    while (cluster->legal[position] != degree)
        require(++position < cluster->legal_count);
    struct task_graph **tasks = &cluster->models[model].tasks[position];
    struct split_rule rule = {config->quantum_ms, degree, config->traffic};
    if (!*tasks)
        *tasks =
            split_create(config->models->graphs[model], &rule, config->topology->speeds, config->topology->class_count);
    return (struct split_choice){*tasks, degree};
}

static struct split_choice split_by_parts(struct cluster *cluster, uint32_t model, const uint32_t *parts)
{
    const struct cluster_config *config = cluster->config;
    const struct graph *graph = config->models->graphs[model];
    uint32_t *key = memory_alloc(graph->op_count + 1, sizeof *key);
    key[0] = model;
    memcpy(key + 1, parts, graph->op_count * sizeof *key);
    size_t known = cluster->splits.count,
           number = intern_number(&cluster->splits, key, (graph->op_count + 1) * sizeof *key);
    free(key);
    if (number == known) {
        struct task_options options = {parts, config->topology->speeds, config->topology->class_count, config->traffic};
        cluster->split_graphs =
            memory_grow(cluster->split_graphs, &cluster->split_capacity, number + 1, sizeof(struct task_graph *));
        cluster->split_graphs[number] = task_graph_create(graph, &options);
    }
    require(number < UINT32_MAX - config->topology->device_count);
    return (struct split_choice){cluster->split_graphs[number], config->topology->device_count + 1 + (uint32_t)number};
}

struct step_input attempt_input(const struct cluster *cluster, const struct deployment *deployment)
{
    const struct cluster_config *config = cluster->config;
    return (struct step_input){.deployment = deployment, .topology = config->topology, .unit_s = config->unit_s};
}

/* Where in its turn a fabric that turns by the clock is when the job starts. */
static sim_time phase_of(const struct cluster *cluster)
{
    if (cluster->cycle <= 0)
        return 0;
    sim_time phase = cluster->decision.now % cluster->cycle,
             width = cluster->config->phases > 0 ? cluster->cycle / cluster->config->phases : 1;
    return width > 1 ? phase - phase % width : phase;
}

static enum status simulate_step(struct cluster *cluster, struct step_result *step)
{
    const struct cluster_config *config = cluster->config;
    struct deployment *deployment = &cluster->deployment;
    if (config->circuit && !config->keeps_by_degree) {
        memo_rename(cluster->memo, deployment, &cluster->renamed);
        deployment = &cluster->renamed;
    }
    deployer_rank(&cluster->deployer, deployment);
    TRY(deployer_check(&cluster->deployer, deployment, &cluster->error));
    struct step_input input = attempt_input(cluster, deployment);
    cluster->look_ahead.network.epoch = phase_of(cluster);
    TRY(step_run(&input, 1, config->circuit ? &cluster->look_ahead : NULL, step, &cluster->error));
    cluster->result.steps_simulated++;
    cluster->result.events += step->events;
    trace_hash_fold(&cluster->steps_hash, step->trace_hash, deployment->tasks->degree, step->events);
    return STATUS_OK;
}

/* The step of the job as placed, simulated or remembered. */
static enum status find_step(struct cluster *cluster, uint32_t variant, struct step_result *step)
{
    const struct deployment *deployment = cluster->config->keeps_by_degree ? NULL : &cluster->deployment;
    const struct step_result *known =
        memo_find(cluster->memo, cluster->job.model, variant, deployment, phase_of(cluster));
    if (known) {
        *step = *known;
        return STATUS_OK;
    }
    TRY(simulate_step(cluster, step));
    memo_add(cluster->memo, step);
    return STATUS_OK;
}

bool attempt_answer(struct cluster *cluster, struct answer answer, struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    const struct job *job = &cluster->job;
    struct split_choice split = answer.parts ? split_by_parts(cluster, job->model, answer.parts)
                                             : split_by_degree(cluster, job->model, answer.degree);
    record->degree = answer.degree;
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_NO_BLOCK;
    if (!deployer_place(&cluster->deployer, split.tasks, &cluster->occupancy, &cluster->deployment))
        return false;
    cluster->status = find_step(cluster, split.variant, &cluster->step);
    if (cluster->status != STATUS_OK)
        return false;
    /* The limit follows the sequential time of the split graph, which differs in the last bits (section 3). */
    record->sequential_s = (double)config->steps * (split.tasks->sequential_ms * config->unit_s);
    record->limit_s = job->beta * record->sequential_s;
    record->time = step_times(&cluster->step, config->steps);
    time_parts_queue(&record->time, cluster->decision.waited_s);
    record->queue_s = cluster->decision.waited_s;
    record->device_count = cluster->deployment.used_count;
    record->sent_bytes = (double)config->steps * cluster->step.bytes;
    record->power_w = energy_power_w(&cluster->energy, cluster->deployment.used, record->device_count);
    record->energy_j =
        energy_j(&cluster->energy, record->power_w, record->time.total_s - record->queue_s, record->sent_bytes);
    bool is_late = record->time.total_s > record->limit_s;
    record->outcome = is_late ? OUTCOME_BLOCKED : OUTCOME_COMPLETED;
    record->cause = is_late ? CAUSE_LATE : CAUSE_NONE;
    return !is_late;
}
