/* Jobs made for a test, on circuits: chains of ops, ops put on servers by hand, fabrics by name.
 *
 * A chain has one transfer under way at a time, so that no scheduling anomaly (Graham 1969) can hide what the network
 * does to it.
 */
#ifndef TESTS_JOB_WORLD_H
#define TESTS_JOB_WORLD_H

#include "engine/random.h"
#include "fabric/fabrics.h"
#include "oracle.h"
#include "step/on_circuits.h"

/* The 32 servers of topologies/<fabric>-32.yaml; release with topology_free. */
void job_world_topology(const char *fabric, struct topology *topology);

/* Where the fabric keeps its reconfiguration time; NULL for packet, which has none. */
int64_t *job_world_reconfiguration(struct topology *topology);

/* 32 servers whose odd ones have a device twice as fast; release with topology_free of its topology. */
struct job_world_unlike {
    struct topology topology;
    struct device devices[32];
    struct device_class classes[2];
    double speeds[2];
};
void job_world_unlike(struct job_world_unlike *unlike);

struct job_world_op {
    double forward_ms, backward_ms;
    double bytes; /* in memory, and so on its links */
};

/* Ops one behind the other; returned owned (graph_free). */
struct graph *job_world_chain(const struct job_world_op *ops, uint32_t count);
struct graph *job_world_random_chain(struct random_stream *random, uint32_t count, double bytes_below);

/* A graph on servers, ready to be simulated; owns what it holds. */
struct job_world {
    struct graph *graph;
    struct task_graph *tasks;
    struct deployment deployment;
};

/* Takes graph; op i, unsplit, goes on servers[i]. */
void job_world_put(struct job_world *job, struct graph *graph, const struct topology *topology,
                   const uint32_t *servers);

/* The same, each op on one of the first server_count of servers. */
void job_world_put_randomly(struct job_world *job, struct graph *graph, const struct topology *topology,
                            struct random_stream *random, const uint32_t *servers, uint32_t server_count);

/* Takes graph; splits it and asks the placer, on an empty cluster. */
void job_world_split(struct job_world *job, struct graph *graph, const struct topology *topology, uint32_t degree,
                     const struct placer *placer);
void job_world_end(struct job_world *job);

/* Picoseconds, profiles in milliseconds, every one of `steps` steps simulated, circuits held, ring all-reduce. */
struct circuit_options job_world_options(int64_t steps);

/* Ranks its tasks, shortest first. */
struct step_input job_world_input(struct job_world *job, const struct topology *topology);

/* Simulates the job alone; fails the test where it cannot be. */
struct step_result job_world_step(struct job_world *job, const struct topology *topology,
                                  const struct circuit_options *options);

/* Its parts that follow one another on circuits; they make up the total. */
double job_world_sum_s(const struct time_parts *time);

#endif
