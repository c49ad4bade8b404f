/* The state of a cluster run, shared by cluster.c (events) and admission.c (decisions). Private to sim/cluster. */
#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H

#include "cluster/cluster.h"
#include "cluster/memo.h"
#include "cluster/sharing.h"
#include "engine/hash.h"

enum { EVENT_COMPLETION, EVENT_ARRIVAL, EVENT_EXPIRY, EVENT_SHARING /* and those behind it */ };
enum { PRIORITY_COMPLETION, PRIORITY_ARRIVAL, PRIORITY_EXPIRY };

/* Splits and published cache of one model, by position in the list of legal degrees. */
struct model_state {
    struct split **splits;
    struct step_result *steps; /* the published cache */
    bool *has_step;
    double sequential_s; /* of the unsplit job */
};

/* Servers given back at (nearly) the instant of the next arrival. */
struct late_release {
    sim_time time;
    uint32_t servers;
};

/* A job that waits for servers. */
struct waiting_job {
    struct job job;
    uint32_t number;
    event_handle expiry;
};

struct cluster {
    const struct cluster_config *config;
    struct cluster_result *result;
    struct engine *engine;
    struct error *error;
    enum status status;
    struct occupancy occupancy;
    struct place_scratch scratch;
    struct placement placement; /* of the job last tried */
    struct placement renamed;   /* the same with servers renumbered */
    struct memo *memo;
    struct model_state *models;
    uint32_t *legal; /* degrees, ascending */
    uint32_t legal_count;
    struct random_stream *random;
    void *partitioner_state;
    struct late_release *releases;
    uint32_t release_count;
    size_t release_capacity;
    struct waiting_job *queue; /* in the order of arrival */
    size_t queue_count, queue_capacity;
    sim_time slack;
    struct job next; /* the one whose arrival is scheduled */
    struct trace_hash steps_hash;
    struct sharing *sharing;           /* where jobs share the fabric */
    struct circuit_options look_ahead; /* circuits: how the steps of one job, or of all, are looked at */
};

/* The split of a model at a legal degree, made once, and the degree's position among the legal ones. */
const struct split *admission_split(struct cluster *cluster, uint32_t model, uint32_t degree, uint32_t *position);

/* What a step of this job, so placed, is simulated from. */
struct step_input admission_input(const struct cluster *cluster, const struct split *split,
                                  const struct placement *placement);

/* Makes up the mind about a job that has waited for wait_s: fills the record, leaves the placement in
 * cluster->placement. True if the job may start now. Nothing is taken. Trouble is left in cluster->status. */
bool admission_decide(struct cluster *cluster, const struct job *job, uint32_t number, double wait_s,
                      struct job_record *record);

#endif
