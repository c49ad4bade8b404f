/* What the workload says: replays decisions made elsewhere. A degree that is not legal here counts as a refusal. */
#include "partition/partition.h"

static uint32_t choose(const struct partition_request *request)
{
    for (uint32_t i = 0; i < request->legal_count; i++)
        if (request->legal[i] == request->trace_degree)
            return request->trace_degree;
    return 0;
}

const struct partitioner partition_trace = {
    .name = "trace",
    .doc = "the degree column of workload.trace",
    .choose = choose,
};
