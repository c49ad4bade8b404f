#include "cluster/admission.h"

#include <stdlib.h>

enum status admission_open(const struct cluster_config *config, struct admission *admission, struct error *error)
{
    *admission = (struct admission){.partitioner = (const struct partitioner *)config->partitioner.strategy,
                                    .settings = config->partitioner.settings,
                                    .seed = config->seed,
                                    .random = random_open(config->seed, "partition", 0)};
    require(admission->partitioner && admission->partitioner->choose);
    if (!admission->partitioner->open)
        return STATUS_OK;
    return admission->partitioner->open(admission->settings, admission->seed, &admission->state, error);
}

void admission_close(struct admission *admission)
{
    if (admission->state)
        admission->partitioner->close(admission->state);
    free(admission->parts);
    random_close(admission->random);
}

/* The answer being looked for. */
struct question {
    struct admission *admission;
    struct cluster *cluster;
    struct partition_request request;
};

/* A degree, and how the partitioner splits each op at it, where that has a rule of its own. */
static struct answer answer_of(const struct question *question, uint32_t degree)
{
    struct admission *admission = question->admission;
    const struct graph *graph = question->request.graph;
    if (!degree || !admission->partitioner->split)
        return (struct answer){.degree = degree};
    admission->parts =
        memory_grow(admission->parts, &admission->part_capacity, graph->op_count, sizeof *admission->parts);
    admission->partitioner->split(&question->request, degree, admission->parts);
    return (struct answer){.degree = degree, .parts = admission->parts};
}

static bool meets_limit(void *context, uint32_t degree)
{
    const struct question *question = context;
    struct job_record record;
    return cluster_ask(question->cluster, answer_of(question, degree), &record);
}

struct answer admission_answer(struct admission *admission, struct cluster *cluster, const struct decision *decision)
{
    struct question question = {.admission = admission,
                                .cluster = cluster,
                                .request = {.settings = admission->settings,
                                            .state = admission->state,
                                            .graph = decision->graph,
                                            .legal = decision->legal,
                                            .legal_count = decision->legal_count,
                                            .sequential_s = decision->sequential_s,
                                            .limit_s = decision->limit_s,
                                            .trace_degree = decision->job->trace_degree,
                                            .random = admission->random,
                                            .meets_limit = meets_limit,
                                            .context = &question}};
    random_reseed(admission->random, admission->seed, "partition", decision->number);
    return answer_of(&question, admission->partitioner->choose(&question.request));
}
