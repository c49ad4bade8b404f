/* Computation graphs: the ops of one training pass with their measured costs.
 *
 * A graph holds the forward pass only, exactly as profiled, and the backward pass
 * is its mirror (task_graph.h); or it is a whole step as it stands. The order of ops and edges is that of the file
 * and it matters: placement, splitting and sums all follow it.
 *
 * Invariants after loading: at least two ops, acyclic, no op depends on itself,
 * no duplicate edge, every cost finite and not negative, at least one op with
 * time to run, ids distinct and at least 1.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/memory.h"
#include "engine/status.h"

struct graph_op {
    const char *kind;   /* free text of the profiler, e.g. "Conv2d(3, 64, ...)" */
    uint32_t id;        /* number in the profile; the op with the largest id ends the forward pass */
    double forward_ms;  /* time of the forward op */
    double backward_ms; /* time of its backward twin */
    double activation_bytes;
    double parameter_bytes;
    double temporary_bytes; /* beside these, set aside for the whole job */
};

/* source and target are positions in ops. */
struct graph_edge {
    uint32_t source, target;
};

struct graph {
    struct arena arena; /* owns everything below */
    const char *name;
    const char *device; /* what the costs were measured on; "" = not stated */
    const char *source; /* where the figures come from */
    int64_t batch;      /* 0 = not stated */
    bool is_whole_step; /* not to be mirrored: an op takes its forward and its backward time at once */
    uint32_t op_count, edge_count;
    struct graph_op *ops;     /* in file order */
    struct graph_edge *edges; /* by source in file order, then in line order */
    uint32_t *out_start;      /* op_count + 1: out-edges of op i are edges[out_start[i] .. out_start[i+1]) */
    uint32_t *in_start;       /* op_count + 1: in-edges of op i are edges[in_edge[in_start[i] .. in_start[i+1])] */
    uint32_t *in_edge;        /* positions in edges, ascending for each op */
    uint32_t *order;          /* op_count: Kahn's topological order, first in first out, roots in file order */
    uint32_t last_op;         /* the op with the largest id */
};

/* Reads a model file (JSON) or, by its looks, a PipeDream graph.txt. The graph is returned owned: graph_free.
 * O(n log n) in ops and edges. */
STATUS_MUST_USE enum status graph_load(const char *path, struct graph **out, struct error *error);

/* The same from memory; file is named in messages. */
STATUS_MUST_USE enum status graph_read_json(const char *text, size_t length, const char *file, struct graph **out,
                                            struct error *error);
STATUS_MUST_USE enum status graph_read_pipedream(const char *text, size_t length, const char *file, struct graph **out,
                                                 struct error *error);

/* The graph as JSON text, returned owned (free). */
char *graph_to_json(const struct graph *graph);

void graph_free(struct graph *graph);

#endif
