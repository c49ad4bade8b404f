/* As much as possible: the largest legal degree. Published as Para_max (SiP-ML's rule with 16 at most). */
#include "partition/partition.h"

const struct partitioner partition_max = {
    .strategy = {.name = "max", .doc = "published Para_max: the largest legal degree"},
    .choose = partition_largest,
};
