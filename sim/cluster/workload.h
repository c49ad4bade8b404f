/* The stream of jobs: drawn, or replayed from a CSV file.
 *
 * Each job's draws come from streams of its own (purpose and job number), so a
 * longer stream starts with the shorter one, and every strategy sees the same
 * jobs. Memory is O(1) for drawn jobs, O(rows) for a replayed file.
 */
#ifndef CLUSTER_WORKLOAD_H
#define CLUSTER_WORKLOAD_H

#include "cluster/beta.h"
#include "engine/clock.h"
#include "graph/models.h"

struct job {
    uint32_t model;
    sim_time arrival;
    double beta;
    uint32_t trace_degree; /* 0 without one */
};

enum arrival_law { ARRIVALS_FIXED, ARRIVALS_POISSON, ARRIVALS_UNIFORM, ARRIVALS_TRACE };

/* Zero-initialise, fill the settings, then workload_start. */
struct workload {
    /* settings */
    struct sim_clock clock;
    uint64_t seed;
    enum arrival_law arrivals;
    double interarrival_s;       /* the mean */
    uint64_t job_limit;          /* 0 = none */
    const uint32_t *pool_models; /* borrowed: models to draw from ... */
    const double *pool_weights;  /* ... with these weights, or NULL: each equally often, drawn without replacement */
    uint32_t pool_count;
    uint32_t pool_copies; /* of each model in the pool, before it is refilled; 0 = 1000 */
    struct beta_law beta; /* owned */
    /* state */
    struct job *rows; /* of a replayed file */
    size_t row_count, row_capacity;
    bool is_replay;
    bool has_degrees;        /* the file has a column degree */
    sim_time *arrival_times; /* of ARRIVALS_TRACE */
    size_t arrival_count, arrival_capacity;
    uint64_t drawn; /* jobs handed out so far */
    sim_time last_arrival, interarrival;
    uint32_t *pool; /* shuffled copies; drawn from the front */
    uint64_t pool_cycle;
    void *pool_lookup; /* gsl_ran_discrete_t over pool_weights */
    struct random_stream *random;
};

/* Reads model,arrival_s,beta[,degree] (other columns are ignored), loading models as they come up. Checks everything:
 * arrivals must not go back, beta in (0, 1]. Needs workload->clock. */
STATUS_MUST_USE enum status workload_read(struct workload *workload, const char *path, struct models *models,
                                          struct error *error);

/* The same from memory, called jobs.csv in messages. */
STATUS_MUST_USE enum status workload_parse(struct workload *workload, const char *text, size_t size,
                                           struct models *models, struct error *error);

/* Reads the arrivals of a cluster trace: the column timestamp, in seconds or as YYYY-MM-DD HH:MM:SS, divided by
 * speedup; the first one is time 0. Needs workload->clock; sets arrivals to ARRIVALS_TRACE. */
STATUS_MUST_USE enum status workload_read_arrivals(struct workload *workload, const char *path, double speedup,
                                                   struct error *error);

/* Makes the settings ready for workload_next. */
STATUS_MUST_USE enum status workload_start(struct workload *workload, struct error *error);

/* The next job; *has_job is false behind the last one. An arrival beyond the clock is an error. */
STATUS_MUST_USE enum status workload_next(struct workload *workload, struct job *job, bool *has_job,
                                          struct error *error);
void workload_free(struct workload *workload);

#endif
