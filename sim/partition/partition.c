/* The registry of partitioners, and what they share. */
#include "partition/partition.h"

/* One line per partitioner. */
#define PARTITIONERS(_, type)                                                                                          \
    _(type, partition_fixed)                                                                                           \
    _(type, partition_max)                                                                                             \
    _(type, partition_min_sufficient)                                                                                  \
    _(type, partition_random)                                                                                          \
    _(type, partition_trace)                                                                                           \
    _(type, partition_exact_min)
REGISTRY(partitioners, struct partitioner, PARTITIONERS, partition_max)

uint32_t partition_largest(const struct partition_request *request)
{
    require(request->legal || request->legal_count == 0);
    return request->legal_count ? request->legal[request->legal_count - 1] : 0;
}

uint32_t partition_at_least(const struct partition_request *request, double wanted)
{
    for (uint32_t i = 0; i < request->legal_count; i++)
        if (request->legal[i] >= wanted)
            return request->legal[i];
    return partition_largest(request);
}
