/* What becomes of one job on the cluster as it is now (PAC-ML simulator, sections 8 and 11). */
#include "cluster/state.h"

const struct split *admission_split(struct cluster *cluster, uint32_t model, uint32_t degree, uint32_t *position)
{
    for (*position = 0; cluster->legal[*position] != degree; ++*position)
        require(*position + 1 < cluster->legal_count);
    struct split **split = &cluster->models[model].splits[*position];
    if (!*split)
        *split = split_create(cluster->config->models->graphs[model], cluster->config->quantum_ms, degree);
    return *split;
}

struct step_input admission_input(const struct cluster *cluster, const struct split *split,
                                  const struct placement *placement)
{
    const struct cluster_config *config = cluster->config;
    return (struct step_input){.split = split,
                               .placement = placement,
                               .topology = config->topology,
                               .scheduler = config->scheduler,
                               .unit_s = config->unit_s};
}

static enum status simulate(struct cluster *cluster, const struct split *split, struct step_result *step)
{
    const struct cluster_config *config = cluster->config;
    const struct placement *placement = &cluster->placement;
    if (config->circuit && !config->keeps_by_degree) {
        memo_rename(cluster->memo, placement, &cluster->renamed);
        placement = &cluster->renamed;
    }
    struct step_input input = admission_input(cluster, split, placement);
    enum status status = config->circuit ? step_circuit(&input, 1, &cluster->look_ahead, step, cluster->error)
                                         : step_published(&input, step, cluster->error);
    if (status == STATUS_OK) {
        cluster->result->steps_simulated++;
        cluster->result->events += step->events;
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
static bool try_degree(struct cluster *cluster, const struct job *job, uint32_t degree, double wait_s,
                       struct job_record *record)
{
    const struct cluster_config *config = cluster->config;
    uint32_t position;
    const struct split *split = admission_split(cluster, job->model, degree, &position);
    struct step_result step;
    record->degree = degree;
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_NO_BLOCK;
    if (!config->placer->place(split, &cluster->occupancy, &cluster->scratch, &cluster->placement))
        return false;
    cluster->status = find_step(cluster, job->model, position, split, &step);
    if (cluster->status != STATUS_OK)
        return false;
    /* The limit follows the sequential time of the split graph, which differs in the last bits (section 3). */
    record->sequential_s = (double)config->steps * (split->sequential_ms * config->unit_s);
    record->limit_s = job->beta * record->sequential_s;
    record->time = step_times(&step, config->steps);
    record->time.part_s[TIME_WAIT] += wait_s;
    record->time.total_s += wait_s;
    record->queue_s = wait_s;
    record->device_count = cluster->placement.used_count;
    bool is_late = record->time.total_s > record->limit_s;
    record->outcome = is_late ? OUTCOME_BLOCKED : OUTCOME_COMPLETED;
    record->cause = is_late ? CAUSE_LATE : CAUSE_NONE;
    return !is_late;
}

struct probe {
    struct cluster *cluster;
    const struct job *job;
    double wait_s;
};

static bool meets_limit(void *context, uint32_t degree)
{
    struct probe *probe = context;
    struct job_record record = {0};
    if (probe->cluster->status != STATUS_OK)
        return false; /* trouble with another degree ends the run: it must not be forgotten */
    return try_degree(probe->cluster, probe->job, degree, probe->wait_s, &record);
}

/* Servers the published mask sees as free (section 11): it looks at the jobs that ran when the last tick began, so
 * those that end at the very instant of the arrival still count. */
static uint32_t mask_free(const struct cluster *cluster, sim_time arrival)
{
    uint32_t stale = 0;
    for (uint32_t i = 0; i < cluster->release_count; i++)
        if (cluster->releases[i].time >= arrival - cluster->slack)
            stale += cluster->releases[i].servers;
    return cluster->occupancy.free_count - stale;
}

static uint32_t choose_degree(struct cluster *cluster, const struct job *job, uint64_t number, double wait_s)
{
    const struct cluster_config *config = cluster->config;
    struct probe probe = {cluster, job, wait_s};
    uint32_t free_servers = mask_free(cluster, job->arrival);
    struct partition_request request = {
        .settings = config->partitioner_settings,
        .state = cluster->partitioner_state,
        .legal = cluster->legal,
        .sequential_s = cluster->models[job->model].sequential_s,
        .trace_degree = job->trace_degree,
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

bool admission_decide(struct cluster *cluster, const struct job *job, uint32_t number, double wait_s,
                      struct job_record *record)
{
    uint32_t degree = choose_degree(cluster, job, number, wait_s);
    cluster->release_count = 0;
    record->is_decided = true;
    if (cluster->status != STATUS_OK)
        return false;
    if (degree)
        return try_degree(cluster, job, degree, wait_s, record);
    record->degree = 0;
    record->outcome = OUTCOME_BLOCKED;
    record->cause = CAUSE_REFUSED;
    return false;
}
