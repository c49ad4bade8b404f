#include "cluster/admission.h"

enum status admission_open(const struct cluster_config *config, struct admission *admission, struct error *error)
{
    require(config->partitioner && config->partitioner->choose);
    *admission = (struct admission){.partitioner = config->partitioner,
                                    .settings = config->partitioner_settings,
                                    .seed = config->seed,
                                    .random = random_open(config->seed, "partition", 0)};
    if (!admission->partitioner->open)
        return STATUS_OK;
    return admission->partitioner->open(admission->settings, admission->seed, &admission->state, error);
}

void admission_close(struct admission *admission)
{
    if (admission->partitioner->close)
        admission->partitioner->close(admission->state);
    random_close(admission->random);
}

static bool meets_limit(void *cluster, uint32_t degree)
{
    struct job_record record;
    return cluster_ask(cluster, degree, &record);
}

uint32_t admission_answer(const struct admission *admission, struct cluster *cluster, const struct decision *decision)
{
    struct partition_request request = {
        .settings = admission->settings,
        .state = admission->state,
        .legal = decision->legal,
        .legal_count = decision->legal_count,
        .sequential_s = decision->sequential_s,
        .limit_s = decision->limit_s,
        .trace_degree = decision->job->trace_degree,
        .random = admission->random,
        .meets_limit = meets_limit,
        .context = cluster,
    };
    require(request.limit_s <= request.sequential_s);
    random_reseed(admission->random, admission->seed, "partition", decision->number);
    return admission->partitioner->choose(&request);
}
