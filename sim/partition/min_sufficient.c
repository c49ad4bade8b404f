/* As little as would do if communication were free: the smallest legal degree of at least 1/beta, the largest one where
 * none is. Published as Para_min. Since a job is slightly slower than its share, beta = 0.5 or 0.25 always misses. */
#include "partition/partition.h"

#include <math.h>

static uint32_t choose_sufficient(const struct partition_request *request)
{
    return partition_at_least(request, ceil(request->sequential_s / request->limit_s));
}

const struct partitioner partition_min_sufficient = {
    .strategy = {.name = "min_sufficient", .doc = "published Para_min: the smallest legal degree of at least 1/beta"},
    .choose = choose_sufficient,
};
