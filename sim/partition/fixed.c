/* The same degree for every job; the largest legal one below it where that is not legal now. */
#include "partition/partition.h"

struct fixed {
    int64_t degree;
};

#define SETTINGS struct fixed
static const struct key fixed_keys[] = {
    {INTEGER_KEY("partition.degree", degree), .minimum = "1", .maximum = "65536",
     .doc = "Parts each op is split into, at most.", .example = "8", .is_needed = true},
};

static enum status check_degree(const struct keys *keys, const void *settings, struct error *error)
{
    const struct fixed *fixed = settings;
    if (fixed->degree == 1 || fixed->degree % 2 == 0)
        return STATUS_OK;
    return keys_error(keys, keys_named(keys, fixed_keys[0].name), error,
                      "%lld is odd; expected 1 or an even number, e.g. 8", (long long)fixed->degree);
}

static uint32_t choose_fixed(const struct partition_request *request)
{
    const struct fixed *fixed = request->settings;
    uint32_t best = 0;
    for (uint32_t i = 0; i < request->legal_count && request->legal[i] <= fixed->degree; i++)
        best = request->legal[i];
    return best;
}

const struct partitioner partition_fixed = {
    .strategy = {.name = "fixed",
                 .doc = "partition.degree for every job, or the largest legal degree below it",
                 .check = check_degree,
                 STRATEGY_KEYS(fixed_keys, struct fixed)},
    .choose = choose_fixed,
};
