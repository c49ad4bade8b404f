/* Any legal degree, each equally likely. */
#include "partition/partition.h"

static uint32_t choose_any(const struct partition_request *request)
{
    return request->legal_count ? request->legal[random_below(request->random, request->legal_count)] : 0;
}

const struct partitioner partition_random = {
    .strategy = {.name = "random", .doc = "published Random: each legal degree equally likely"},
    .choose = choose_any,
};
