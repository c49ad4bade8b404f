/* Who is linked to whom on the static fabric: a graph for each open job over its own servers, and one over all.
 *
 * A server is on the graph of at most one open job, so the links (server, port) of
 * open jobs are different hardware. A job that was never opened uses the graph
 * over all servers. A closed job's graph lives on while a transfer is on it.
 *
 * Finding a job or the node of a server is O(1); opening and closing O(servers of
 * the job * degree). Memory O(servers + servers of the open jobs * degree).
 * Private to sim/fabric.
 */
#ifndef FABRIC_STATIC_JOBS_H
#define FABRIC_STATIC_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/status.h"
#include "fabric/static_graph.h"
#include "network/reuse.h"
#include "topology/topology.h"

/* A graph and the servers that are its nodes. */
struct static_wiring {
    struct static_graph *graph; /* owned; NULL for a job of one server */
    uint32_t *servers;          /* owned: of each node; NULL = a node is a server */
    uint32_t count;
    uint32_t users;
    bool is_closed;
};

struct static_job {
    bool has_sent;
    sim_time lit;                 /* its graph, once it has sent */
    struct static_wiring *wiring; /* owned unless it is the one over all; NULL = a place that is free */
};

struct static_seat {
    struct static_wiring *wiring; /* of the open job that has the server, or NULL */
    uint32_t node;
};

struct static_jobs {
    const struct topology *topology;
    struct static_wiring all;
    struct static_seat *seats; /* per server */
    struct static_job *items;  /* open, or has sent */
    struct reuse places;
    struct reuse_map map; /* by job */
};

/* Borrows topology until static_jobs_fini, takes graph: that over all servers. */
void static_jobs_init(struct static_jobs *jobs, const struct topology *topology, struct static_graph *graph);

/* Nobody may use a graph any more. */
void static_jobs_fini(struct static_jobs *jobs);

/* Borrows servers until it returns. STATUS_USER where the job is open or has sent already, or a server is named twice
 * or taken by another open job. */
STATUS_MUST_USE enum status static_jobs_open(struct static_jobs *jobs, uint32_t job, const uint32_t *servers,
                                             uint32_t count, struct error *error);

/* STATUS_USER where the job is not open. */
STATUS_MUST_USE enum status static_jobs_close(struct static_jobs *jobs, uint32_t job, struct error *error);

/* Where a transfer goes, in nodes of the wiring. */
struct static_way {
    struct static_wiring *wiring;
    uint32_t source, target;
};

/* STATUS_USER where the job is open and one of the servers is not its own. The wiring lives until the job is closed, or
 * until static_wiring_drop after a static_wiring_use. */
STATUS_MUST_USE enum status static_jobs_find(struct static_jobs *jobs, uint32_t job, uint32_t source, uint32_t target,
                                             struct static_way *way, struct error *error);

/* When the job's graph is lit: if_new for the first who asks. */
sim_time static_jobs_lit(struct static_jobs *jobs, uint32_t job, sim_time if_new);

void static_wiring_use(struct static_wiring *wiring);
void static_wiring_drop(struct static_wiring *wiring);
uint32_t static_wiring_server(const struct static_wiring *wiring, uint32_t node);

#endif
