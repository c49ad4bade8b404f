/* How much to split a job: the interface of partitioners.
 *
 * A partitioner sees the waiting job and the degrees that are legal now, and
 * answers one of them, or 0 to refuse the job (PAC-ML simulator, section 11). It
 * may also say how many parts each op gets at that degree.
 *
 * To add a partitioner: one file with one struct partitioner, one line in partition.c.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/random.h"
#include "graph/graph.h"
#include "input/keys.h"

struct partition_request {
    const void *settings;      /* the partitioner's own */
    void *state;               /* what its open made */
    const struct graph *graph; /* of the job */
    const uint32_t *legal;     /* degrees allowed now, ascending, without 0 */
    uint32_t legal_count;
    double sequential_s;          /* of the unsplit job */
    double limit_s;               /* beta times that */
    uint32_t trace_degree;        /* what the workload says, 0 = refuse */
    struct random_stream *random; /* this job's own stream */
    /* Would the job, split this far, find a block now and meet its limit? Simulates. */
    bool (*meets_limit)(void *context, uint32_t degree);
    void *context;
};

struct partitioner {
    struct strategy strategy;
    /* State that lives as long as a run; *state is NULL before, and close is called where it is not any more. Both may
     * be NULL. */
    enum status (*open)(const void *settings, uint64_t seed, void **state, struct error *error);
    void (*close)(void *state);
    uint32_t (*choose)(const struct partition_request *request);
    /* How many parts each op gets at a degree it chose or asks about, 1 to degree; the same whenever it is asked. NULL
     * = the published rule (graph/split.h). */
    void (*split)(const struct partition_request *request, uint32_t degree, uint32_t *parts);
    bool replays_trace; /* needs the degrees of the workload's trace */
};

extern const struct registry partitioners;

/* The largest legal degree, 0 without any. */
uint32_t partition_largest(const struct partition_request *request);

/* The smallest legal degree not below wanted; the largest one where all are below. */
uint32_t partition_at_least(const struct partition_request *request, double wanted);

#endif
