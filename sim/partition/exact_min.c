/* As little as really does: the smallest legal degree whose simulated completion time, on a block that is free now,
 * meets the limit. Refuses a job that no degree can save. */
#include "partition/partition.h"

static uint32_t choose_by_simulation(const struct partition_request *request)
{
    for (uint32_t i = 0; i < request->legal_count; i++)
        if (request->meets_limit(request->context, request->legal[i]))
            return request->legal[i];
    return 0;
}

const struct partitioner partition_exact_min = {
    .strategy = {.name = "exact_min",
                 .doc = "the smallest legal degree whose simulated time meets the limit on a free block"},
    .choose = choose_by_simulation,
};
