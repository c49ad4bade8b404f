/* How much to split a job: the interface of partitioners.
 *
 * A partitioner sees the waiting job and the degrees that are legal now, and
 * answers one of them, or 0 to refuse the job (PAC-ML simulator, section 11).
 *
 * To add a partitioner: one file with one struct partitioner, one line in partition.c.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/random.h"

struct partition_request {
    const uint32_t *legal; /* degrees allowed now, ascending, without 0 */
    uint32_t legal_count;
    double sequential_s;          /* of the unsplit job */
    double limit_s;               /* beta times that */
    uint32_t trace_degree;        /* what the workload says, 0 = refuse */
    uint32_t fixed_degree;        /* partition.degree */
    struct random_stream *random; /* this job's own stream */
    /* Would the job, split this far, find a block now and meet its limit? Simulates. */
    bool (*meets_limit)(void *context, uint32_t degree);
    void *context;
};

struct partitioner {
    const char *name;
    const char *doc;
    uint32_t (*choose)(const struct partition_request *request);
};

/* NULL where there is none of that name. */
const struct partitioner *partitioner_find(const char *name);

/* The i-th partitioner, NULL past the last. */
const struct partitioner *partitioner_at(unsigned i);

/* The largest legal degree, 0 without any. */
uint32_t partition_largest(const struct partition_request *request);

/* The smallest legal degree not below wanted; the largest one where all are below. */
uint32_t partition_at_least(const struct partition_request *request, double wanted);

extern const struct partitioner partition_exact_min;
extern const struct partitioner partition_fixed;
extern const struct partitioner partition_max;
extern const struct partitioner partition_min_sufficient;
extern const struct partitioner partition_random;
extern const struct partitioner partition_trace;

#endif
