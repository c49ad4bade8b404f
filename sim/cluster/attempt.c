/* What would become of a job, split this far, on the cluster as it is now (PAC-ML simulator, sections 8 and 11). */
#include "cluster/state.h"

/* The task graph of a model at a legal degree, made once. */
static const struct task_graph *find_tasks(struct cluster *cluster, uint32_t model, uint32_t degree)
{
    const struct cluster_config *config = cluster->config;
    uint32_t position = 0;
    while (cluster->legal[position] != degree)
        require(++position < cluster->legal_count);
    struct task_graph **tasks = &cluster->models[model].tasks[position];
    if (!*tasks)
        *tasks = split_create(config->models->graphs[model], config->quantum_ms, degree, config->topology->speeds,
                              config->topology->class_count);
    return *tasks;
}

struct step_input attempt_input(const struct cluster *cluster, const struct deployment *deployment)
{
    const struct cluster_config *config = cluster->config;
    return (struct step_input){.deployment = deployment, .topology = config->topology, .unit_s = config->unit_s};
}

static enum status simulate_step(struct cluster *cluster, struct step_result *step)
{
    const struct cluster_config *config = cluster->config;
    struct deployment *deployment = &cluster->deployment;
    if (config->circuit && !config->keeps_by_degree) {
        memo_rename(cluster->memo, deployment, &cluster->renamed);
        deployment = &cluster->renamed;
    }
    schedule_fill(config->scheduler, config->scheduler_settings, config->topology, config->unit_s, deployment);
    TRY(deployment_check(deployment, config->topology, !config->placer->counts_memory_together, &cluster->error));
    struct step_input input = attempt_input(cluster, deployment);
    TRY(step_run(&input, 1, config->circuit ? &cluster->look_ahead : NULL, step, &cluster->error));
    cluster->result.steps_simulated++;
    cluster->result.events += step->events;
    trace_hash_fold(&cluster->steps_hash, step->trace_hash, deployment->tasks->degree, step->events);
    return STATUS_OK;
}

/* The step of the job as placed, simulated or remembered. */
static enum status find_step(struct cluster *cluster, struct step_result *step)
{
    const struct deployment *deployment = &cluster->deployment;
    const struct step_result *known = memo_find(cluster->memo, cluster->job.model, deployment->tasks->degree,
                                                cluster->config->keeps_by_degree ? NULL : deployment);
    if (known) {
        *step = *known;
        return STATUS_OK;
    }
    TRY(simulate_step(cluster, step));
    memo_add(cluster->memo, step);
    return STATUS_OK;
}

bool attempt_degree(struct cluster *cluster, uint32_t degree, struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    const struct job *job = &cluster->job;
    const struct task_graph *tasks = find_tasks(cluster, job->model, degree);
    struct place_request request = {.settings = config->placer_settings,
                                    .state = cluster->placer_state,
                                    .tasks = tasks,
                                    .occupancy = &cluster->occupancy,
                                    .scratch = &cluster->scratch};
    struct step_result step;
    record->degree = degree;
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_NO_BLOCK;
    if (!config->placer->place(&request, &cluster->deployment))
        return false;
    require(cluster->deployment.tasks == tasks && cluster->deployment.used_count > 0);
    cluster->status = find_step(cluster, &step);
    if (cluster->status != STATUS_OK)
        return false;
    /* The limit follows the sequential time of the split graph, which differs in the last bits (section 3). */
    record->sequential_s = (double)config->steps * (tasks->sequential_ms * config->unit_s);
    record->limit_s = job->beta * record->sequential_s;
    record->time = step_times(&step, config->steps);
    record->time.part_s[TIME_WAIT] += cluster->decision.waited_s;
    record->time.total_s += cluster->decision.waited_s;
    record->queue_s = cluster->decision.waited_s;
    record->device_count = cluster->deployment.used_count;
    bool is_late = record->time.total_s > record->limit_s;
    record->outcome = is_late ? OUTCOME_BLOCKED : OUTCOME_COMPLETED;
    record->cause = is_late ? CAUSE_LATE : CAUSE_NONE;
    return !is_late;
}
