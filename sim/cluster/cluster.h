/* The stream of jobs on a cluster: arrival, admission, completion, blocking (PAC-ML simulator, sections 8 and 9).
 *
 * A job is decided the moment it arrives: the partitioner names a degree among
 * the legal ones, the placer looks for servers, one training step is simulated,
 * and the job is admitted if all its steps fit into its limit. Otherwise it is
 * blocked for good, or waits its turn where the cluster has a queue. Servers are
 * exclusive to a job, so an admitted job's completion is known at once.
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "cluster/workload.h"
#include "engine/engine.h"
#include "partition/partition.h"
#include "place/place.h"
#include "schedule/schedule.h"
#include "step/on_circuits.h"

enum outcome { OUTCOME_COMPLETED, OUTCOME_BLOCKED, OUTCOME_UNFINISHED };
enum cause { CAUSE_NONE, CAUSE_REFUSED, CAUSE_NO_BLOCK, CAUSE_LATE, CAUSE_HORIZON };

/* As in jobs.csv. */
const char *outcome_name(enum outcome outcome);
const char *cause_name(enum cause cause);

struct job_record;

/* Somebody who looks on; what becomes of the jobs does not depend on it. Times are ticks of the run's clock, what is
 * pointed to lives until the call returns. */
struct cluster_observer {
    /* A job takes its servers; its record says all but the outcome, its end included. */
    void (*started)(void *context, uint32_t number, const struct job_record *job, const struct placement *placement,
                    sim_time start);
    /* Completed, blocked at its arrival, or gave up waiting: the record is final. Jobs that the end of the run cuts off
     * are not told. */
    void (*ended)(void *context, uint32_t number, const struct job_record *job, sim_time now);
    void *context;
};

/* All borrowed, none changed but the workload, which is used up. */
struct cluster_config {
    const struct topology *topology;
    const struct models *models;
    struct workload *workload;
    const struct partitioner *partitioner;
    const void *partitioner_settings;
    const struct placer *placer;
    const struct scheduler *scheduler;
    struct sim_clock clock;
    sim_time horizon; /* SIM_TIME_MAX = until every job has ended */
    uint64_t seed;
    double unit_s; /* what a profile's millisecond is taken for */
    int64_t steps; /* training steps a job */
    double quantum_ms;
    uint32_t max_degree;
    bool keeps_by_degree;  /* the published cache: the first placed job of a (model, degree) decides for all */
    double slack_s;        /* events closer than this count as simultaneous; published: 1e-7 */
    uint64_t queue_length; /* jobs that may wait for servers; published: 0 */
    double patience_s;     /* how long each waits at most; 0 = until its limit */
    double warm_up_s;      /* jobs that arrive earlier are not counted */
    const struct circuit_options *circuit;   /* NULL = the published formulas */
    bool is_shared;                          /* circuits: running jobs contend for one fabric; else each is alone */
    const struct cluster_observer *observer; /* NULL = nobody looks */
};

struct job_record {
    uint32_t model;
    uint32_t degree; /* 0 = refused */
    double arrival_s, beta;
    double sequential_s, limit_s;
    enum outcome outcome;
    enum cause cause;
    bool is_decided;        /* false for one that arrives at the very end */
    struct time_parts time; /* of jobs that found servers; from arrival to completion */
    double queue_s;         /* of the wait: before it had servers */
    uint32_t device_count;
    size_t device_start; /* in cluster_result.devices */
    sim_time end;
};

struct cluster_result {
    struct job_record *jobs;
    size_t job_count, job_capacity;
    uint32_t *devices;
    size_t device_count, device_capacity;
    double length_s; /* how long the run was: the horizon, or the last event */
    uint64_t steps_simulated;
    uint64_t events; /* those inside simulated steps included */
    uint64_t trace_hash;
};

/* Fills *result, to be released with cluster_result_free; on failure there is nothing to release. */
STATUS_MUST_USE enum status cluster_run(const struct cluster_config *config, struct cluster_result *result,
                                        struct error *error);
void cluster_result_free(struct cluster_result *result);

/* Degrees that have a block shape on this topology, ascending, max_degree at most. Returned owned (free). */
uint32_t *cluster_legal_degrees(const struct topology *topology, uint32_t max_degree, uint32_t *count);

/* Refuses a model with an op that no device can hold, even split as far as it goes at this degree. */
STATUS_MUST_USE enum status cluster_check_fit(const struct graph *graph, const struct topology *topology,
                                              double quantum_ms, uint32_t degree, struct error *error);

#endif
