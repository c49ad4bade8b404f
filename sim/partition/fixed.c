/* The same degree for every job; the largest legal one below it where that is not legal now. */
#include "partition/partition.h"

static uint32_t choose(const struct partition_request *request)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < request->legal_count && request->legal[i] <= request->fixed_degree; i++)
        best = request->legal[i];
    return best;
}

const struct partitioner partition_fixed = {
    .name = "fixed",
    .doc = "partition.degree for every job, or the largest legal degree below it",
    .choose = choose,
};
