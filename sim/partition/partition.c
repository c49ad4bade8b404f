#include "partition/partition.h"

#include <string.h>

static const struct partitioner *const partitioners[] = {&partition_fixed,  &partition_max,   &partition_min_sufficient,
                                                         &partition_random, &partition_trace, &partition_exact_min};

const struct partitioner *partitioner_at(unsigned i)
{
    return i < sizeof partitioners / sizeof *partitioners ? partitioners[i] : NULL;
}

const struct partitioner *partitioner_find(const char *name)
{
    for (unsigned i = 0; partitioner_at(i); i++)
        if (strcmp(partitioners[i]->name, name) == 0)
            return partitioners[i];
    return NULL;
}

uint32_t partition_largest(const struct partition_request *request)
{
    return request->legal_count ? request->legal[request->legal_count - 1] : 0;
}

uint32_t partition_at_least(const struct partition_request *request, double wanted)
{
    for (uint32_t i = 0; i < request->legal_count; i++)
        if (request->legal[i] >= wanted)
            return request->legal[i];
    return partition_largest(request);
}
