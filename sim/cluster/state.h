/* The state of an open cluster, shared by cluster.c (events, decisions), attempt.c (what an answer would come to) and
 * sharing.c (jobs that contend). Private to sim/cluster. */
#ifndef CLUSTER_STATE_H
#define CLUSTER_STATE_H

#include "cluster/cluster.h"
#include "cluster/deployer.h"
#include "cluster/failures.h"
#include "cluster/memo.h"
#include "cluster/sharing.h"
#include "engine/hash.h"
#include "engine/intern.h"

enum {
    EVENT_COMPLETION,
    EVENT_ARRIVAL,
    EVENT_EXPIRY,
    EVENT_SHARING, /* and those behind it */
    EVENT_SERVER_FAILURE = EVENT_SHARING + STEPPER_KINDS,
    EVENT_PORT_FAILURE,
    EVENT_REPAIR
};
enum { PRIORITY_COMPLETION, PRIORITY_ARRIVAL, PRIORITY_EXPIRY, PRIORITY_FAILURE };

struct model_state {
    struct task_graph **tasks; /* by position in the list of legal degrees; NULL = not split so far yet */
    double sequential_s;       /* of the unsplit job */
};

/* Devices given back at (nearly) the instant of the next arrival. */
struct late_release {
    sim_time time;
    uint32_t devices;
};

/* A job that waits for devices. */
struct waiting_job {
    struct job job;
    uint32_t number;
    event_handle expiry;
};

struct cluster {
    const struct cluster_config *config;
    struct cluster_result result;
    struct engine *engine;
    sim_time until; /* when the run ends, what is decided at that instant included */
    enum status status;
    struct error error; /* where status says so */
    struct occupancy occupancy;
    struct deployer deployer;
    struct deployment deployment; /* of the job last tried */
    struct step_result step;      /* the same: alone on the fabric */
    struct deployment renamed;    /* the same with devices renumbered */
    struct memo *memo;
    struct energy energy;
    struct failures *failures; /* NULL = nothing fails */
    struct model_state *models;
    struct intern splits;             /* of answers with parts: the model and the parts */
    struct task_graph **split_graphs; /* by their numbers */
    size_t split_capacity;
    uint32_t *legal; /* degrees, ascending */
    uint32_t legal_count;
    struct late_release *releases;
    uint32_t release_count;
    size_t release_capacity;
    struct waiting_job *queue; /* in the order of arrival */
    size_t queue_count, queue_capacity;
    size_t serving; /* the waiting job that is to be decided next */
    bool is_serving;
    uint32_t *running; /* numbers of jobs, in no order */
    uint32_t running_count;
    size_t running_capacity;
    sim_time slack;
    struct job next;     /* the one whose arrival is scheduled */
    bool has_all_jobs;   /* the stream has ended */
    sim_time last_event; /* the last arrival or end of a job */
    struct trace_hash steps_hash;
    struct sharing *sharing;           /* where jobs share the fabric */
    struct chooser *chooser;           /* of all-reduces, where the network is to choose */
    struct circuit_options look_ahead; /* circuits: how the steps of one job, or of all, are looked at */
    sim_time cycle;                    /* of a fabric that turns by the clock, else 0 */
    /* the decision that is due */
    bool is_due;
    struct decision decision;
    struct job job;           /* of it */
    struct job_record record; /* its record so far */
};

/* The instant so long after another; false, with the trouble in cluster->status, where it lies beyond the clock. */
bool cluster_find_instant(struct cluster *cluster, sim_time from, double later_s, sim_time *instant);

/* Devices came back: asks about the jobs that wait. */
void cluster_serve(struct cluster *cluster);

/* What a step of this deployment is simulated from. */
struct step_input attempt_input(const struct cluster *cluster, const struct deployment *deployment);

/* Tries an answer for the job of the decision on the cluster as it is; fills what the record says about it, leaves the
 * deployment in cluster->deployment. True if the job may start now. Nothing is taken. Trouble is left in
 * cluster->status. */
bool attempt_answer(struct cluster *cluster, struct answer answer, struct job_record *record);

#endif
