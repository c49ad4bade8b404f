/* The fixed graphs of the static fabric, and shortest paths in them.
 *
 * Links are directed: port p of a node leads to static_graph_neighbour(node, p).
 * - ring: port 2i goes stride s_i up, port 2i + 1 the same down; the strides are
 *   powers of the k-th root of n, from 1, so that k rings cross n in few hops.
 * - torus: groups x racks x servers (3 dimensions), groups x the rest (2), or all
 *   in one ring; port 2i up and 2i + 1 down in dimension i.
 * - expander: random Hamiltonian cycles of a fixed seed (with an odd degree one
 *   perfect matching more), no pair linked twice, hence connected and regular.
 *
 * The graph of a job has the job's servers as nodes, and never more ports than that
 * over all servers: a torus has sides as equal as the count allows, rings and
 * expanders link nobody twice, so that few servers leave ports dark.
 *
 * The path is always the shortest, and of these the one whose ports come first.
 * Ring: one table of n for all sources, since only the difference matters. Torus:
 * arithmetic, dimension by dimension, ties up. Expander: a search from both ends
 * for each path, about the square root of n nodes. Memory O(n * degree), no n * n.
 * Private to sim/fabric.
 */
#ifndef FABRIC_STATIC_GRAPH_H
#define FABRIC_STATIC_GRAPH_H

#include <stdint.h>

#include "engine/status.h"
#include "topology/topology.h"

struct static_graph;

/* The keys of the fabric. */
struct static_settings {
    enum graph_kind { GRAPH_RING, GRAPH_TORUS, GRAPH_EXPANDER } graph;
    int64_t degree;
    int64_t dimensions; /* of the torus */
    int64_t reconfiguration_ps;
    enum { FORWARD_CELLS, FORWARD_WHOLE } forwarding;
    double cell_bytes;
};

/* *out is owned, to be freed with static_graph_destroy; written only on success. */
STATUS_MUST_USE enum status static_graph_create(const struct topology *topology, struct static_graph **out,
                                                struct error *error);

/* The same over `count` servers, at least 2, of one job. Any count will do: the degree is at most count - 1, an odd one
 * of an expander over an odd count is one less, and an expander that would link most pairs is made of rings. */
STATUS_MUST_USE enum status static_graph_create_job(const struct topology *topology, uint32_t count,
                                                    struct static_graph **out, struct error *error);
void static_graph_destroy(struct static_graph *graph);

uint32_t static_graph_ports(const struct static_graph *graph);
uint32_t static_graph_neighbour(const struct static_graph *graph, uint32_t node, uint32_t port);

/* The number of links from source to target, which differ. *path: its ports, owned by the caller (free), or NULL where
 * static_graph_port tells them one by one. Not const: it has scratch space. */
uint32_t static_graph_route(struct static_graph *graph, uint32_t source, uint32_t target, uint8_t **path);

/* The first port on the way from node to target; not for the expander. */
uint32_t static_graph_port(const struct static_graph *graph, uint32_t node, uint32_t target);

/* All nodes in the order of a cycle of links, where the graph has one: a torus and a ring always, an expander the first
 * of those that it is made of. order has room for all of them. */
void static_graph_ring(const struct static_graph *graph, uint32_t *order);

/* static_expander.c: fills neighbours[node * degree + port]. */
STATUS_MUST_USE enum status expander_make(uint32_t nodes, uint32_t degree, uint32_t *neighbours, struct error *error);

/* Scratch of a search from both ends; stamps spare clearing it. */
struct expander_search {
    uint32_t *stamp[2], *level[2], *queue[2];
    uint8_t *is_alive;
    uint32_t round;
};
void expander_search_open(struct expander_search *search, uint32_t nodes);
void expander_search_close(struct expander_search *search);
uint32_t expander_route(struct expander_search *search, const uint32_t *neighbours, uint32_t degree, uint32_t source,
                        uint32_t target, uint8_t **path);

#endif
