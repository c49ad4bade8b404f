/* The stream of jobs on a cluster: arrival, decision, completion, blocking (PAC-ML simulator, sections 8 and 9).
 *
 * The cluster is open: it runs up to the next decision and asks how far a job is
 * to be split. The answer is tried at once: the placer looks for devices, one
 * training step is simulated, and the job is admitted if all its steps fit into its
 * limit. Otherwise it is blocked for good, or waits its turn where the cluster has
 * a queue; one that waits is asked about again when devices are given back.
 * Devices are exclusive to a job, so an admitted job's completion is known at
 * once, unless jobs share a fabric (sharing.h) or hardware fails (failures.h).
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "cluster/energy.h"
#include "cluster/workload.h"
#include "engine/engine.h"
#include "graph/split.h"
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

/* An observer; what becomes of the jobs does not depend on it. Times are ticks of the run's clock, what is pointed to
 * lives until the call returns. */
struct cluster_observer {
    /* A job takes its devices; its record says all but the outcome, its end included. The deployment is ranked. */
    void (*started)(void *context, uint32_t number, const struct job_record *job, const struct deployment *deployment,
                    sim_time start);
    /* Completed, blocked at its arrival, or gave up waiting: the record is final. Jobs that the end of the run cuts off
     * are not told. */
    void (*ended)(void *context, uint32_t number, const struct job_record *job, sim_time now);
    void *context;
};

/* How often what breaks, and for how long: see failures.h. */
struct failure_figures {
    double server_mtbf_s, port_mtbf_s; /* mean time to failure of a server, of a transceiver; 0 = never */
    double repair_s;                   /* the mean */
    int64_t checkpoint;                /* steps between two; 0 = none */
};

static inline bool failures_asked(const struct failure_figures *figures)
{
    return figures->server_mtbf_s > 0 || figures->port_mtbf_s > 0;
}

/* All borrowed, none changed but the workload, which is used up. */
struct cluster_config {
    const struct topology *topology;
    const struct models *models;
    struct workload *workload;
    struct choice partitioner, placer, scheduler;
    struct sim_clock clock;
    sim_time horizon; /* SIM_TIME_MAX = until every job has ended */
    uint64_t seed;
    double unit_s; /* what a profile's millisecond is taken for */
    int64_t steps; /* training steps of a job */
    double quantum_ms;
    enum task_traffic traffic; /* between the parts of a job */
    uint32_t max_degree;
    bool keeps_by_degree;  /* the published cache: the first step simulated of a (model, degree) stands for all */
    int64_t phases;        /* of a turn, on a fabric that turns by the clock, that starts are sorted into; 0 = exact */
    double slack_s;        /* events closer than this count as simultaneous; published: 1e-7 */
    uint64_t queue_length; /* jobs that may wait for servers; published: 0 */
    double patience_s;     /* how long each waits at most; 0 = until its limit */
    double warm_up_s;      /* jobs that arrive earlier are not counted */
    struct energy_figures energy;            /* circuits */
    struct failure_figures failures;         /* not where jobs share a fabric; port_mtbf_s on circuits only */
    const struct circuit_options *circuit;   /* NULL = the published formulas */
    bool is_shared;                          /* circuits: running jobs contend for one fabric; else each is alone */
    const struct cluster_observer *observer; /* NULL = none */
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
    double sent_bytes;      /* circuits: between servers, by all its steps */
    double power_w;         /* of what it holds */
    double energy_j;
    uint32_t restarts; /* from a checkpoint */
    uint32_t device_count;
    size_t device_start; /* in cluster_result.devices */
    sim_time end;
    uint32_t running_at; /* while it runs: its place among those that do */
};

struct cluster_result {
    struct job_record *jobs;
    size_t job_count, job_capacity;
    uint32_t *devices;
    size_t device_count, device_capacity;
    double length_s;    /* how long the run was: the horizon, or the last event */
    double simulated_s; /* the same, but no longer than jobs come or run */
    uint64_t steps_simulated;
    uint64_t events; /* those inside simulated steps included */
    uint64_t trace_hash;
};

/* What the cluster asks: how far is this job to be split? */
struct decision {
    uint32_t number; /* of the job */
    const struct job *job;
    const struct graph *graph;
    double sequential_s; /* of the unsplit job */
    double limit_s;      /* beta times that */
    sim_time now;        /* of its arrival, or of the instant at which devices were given back */
    double waited_s;     /* since its arrival */
    /* the legal answers, besides 0: degrees, ascending */
    const uint32_t *legal;
    uint32_t legal_count;
    /* the state of the cluster */
    const struct occupancy *occupancy; /* free devices */
    const uint32_t
        *running; /* numbers of the jobs that run, in no order; their ends are in their records: as things
                     stand where jobs share a fabric, as admitted where every step of such jobs is simulated */
    uint32_t running_count;
    const struct job_record *records; /* of all jobs so far, by number */
    size_t record_count;
};

/* What is answered. */
struct answer {
    uint32_t degree; /* one of the legal ones, or 0 to refuse the job */
    const uint32_t
        *parts; /* of each op, degree at most; borrowed during the call. NULL = split by the published rule */
};

struct cluster;

/* Opens a cluster at time 0. *out is owned, to be closed with cluster_close, and written only on success. */
STATUS_MUST_USE enum status cluster_open(const struct cluster_config *config, struct cluster **out,
                                         struct error *error);

/* Runs up to the next decision. *decision is NULL at the end of the run; it lives until cluster_decide, which must be
 * called before the next cluster_next. */
STATUS_MUST_USE enum status cluster_next(struct cluster *cluster, const struct decision **decision,
                                         struct error *error);

/* What would this answer to the decision that is due come to? Fills *record (outcome, cause, times) and returns whether
 * the job would be admitted. Any legal answer but a refusal may be asked about, as often as one likes, and nothing is
 * taken: only the step that was simulated is remembered, and counted in the run's events and trace hash. (With the
 * published cache, keeps_by_degree, what is remembered stands for every placement from then on, as it does for jobs.)
 * Trouble with the simulation is kept for cluster_decide, and answers false. */
bool cluster_ask(struct cluster *cluster, struct answer answer, struct job_record *record);

/* Answers the decision that is due. STATUS_USER where the answer is not legal: the decision is still due then. */
STATUS_MUST_USE enum status cluster_decide(struct cluster *cluster, struct answer answer, struct error *error);

/* Ends the run and frees the cluster. Where result is not NULL and all went well it is filled, to be released with
 * cluster_result_free; NULL gives the run up. */
STATUS_MUST_USE enum status cluster_close(struct cluster *cluster, struct cluster_result *result, struct error *error);

/* A whole run, decided by the config's partitioner. Fills *result on success only. */
STATUS_MUST_USE enum status cluster_run(const struct cluster_config *config, struct cluster_result *result,
                                        struct error *error);
void cluster_result_free(struct cluster_result *result);

/* Refuses a model with an op that no device can hold, even split as far as it goes at this degree. */
STATUS_MUST_USE enum status cluster_check_fit(const struct graph *graph, const struct topology *topology,
                                              const struct split_rule *rule, struct error *error);

#endif
