/* What the workload says: replays decisions made elsewhere. A degree that is not legal here counts as a refusal. */
#include "partition/partition.h"

static uint32_t choose_traced(const struct partition_request *request)
{
    for (uint32_t i = 0; i < request->legal_count; i++)
        if (request->legal[i] == request->trace_degree)
            return request->trace_degree;
    return 0;
}

static enum status check_trace(const struct keys *keys, const void *settings, struct error *error)
{
    (void)settings;
    if (keys_is_set(keys, keys_named(keys, "workload.trace")))
        return STATUS_OK;
    return keys_error(keys, keys_named(keys, "partition.strategy"), error,
                      "trace takes the degrees of workload.trace, which is not set");
}

const struct partitioner partition_trace = {
    .strategy = {.name = "trace", .doc = "the degree column of workload.trace", .check = check_trace},
    .choose = choose_traced,
    .replays_trace = true,
};
