/* A training step split into parts (PAC-ML simulator, sections 1 to 3).
 *
 * Tasks: the forward op i is task i, its backward twin is task op_count + i.
 * A split of degree d cuts op i into parts[i] equal parts, and its twin as well.
 * What lies between two split tasks is one *link*: parts x parts dependencies
 * of one size, kept as one object. So are the synchronisation edges among the
 * parts of one backward task. Counts are those of the fully written-out graph.
 */
#ifndef GRAPH_SPLIT_H
#define GRAPH_SPLIT_H

#include <stdint.h>

#include "graph/graph.h"

enum link_kind {
    LINK_FORWARD,  /* op u -> op v */
    LINK_BACKWARD, /* twin of v -> twin of u */
    LINK_JOIN,     /* last forward op -> its twin */
    LINK_SYNC      /* every part of a backward task <-> every other part of it */
};

struct split_link {
    enum link_kind kind;
    uint32_t source, target; /* tasks */
    uint32_t sequence;       /* place in the enumeration of the unsplit graph */
    double bytes;            /* of each single dependency */
};

struct split {
    const struct graph *graph; /* borrowed */
    uint32_t asked;            /* the degree asked for */
    uint32_t degree;           /* the most parts any op got */
    uint32_t *parts;           /* op_count: parts of op i and of its twin */
    uint32_t link_count;
    struct split_link *links;        /* in the order of dependencies of the written-out graph */
    uint32_t *out_start, *out_count; /* per task: its out-links are links[out_start[t]] and following */
    uint32_t *in_start;              /* 2 * op_count + 1: in-links of task t are links[in_link[in_start[t] ..]] */
    uint32_t *in_link;
    uint64_t part_count;  /* parts of all tasks: "ops" as published */
    uint64_t dep_count;   /* dependencies, sync edges included: "deps" as published */
    double sequential_ms; /* time of all parts one after the other, summed in the published order */
    uint32_t *order;      /* 2 * op_count: tasks in the node order of the written-out graph ... */
    uint32_t *position;   /* ... and where each task stands in it */
    struct arena arena;   /* owns all of the above */
};

/* How many parts an op of this forward time gets (section 2). Degrees: 1 or even. */
uint32_t split_parts(double forward_ms, double quantum_ms, uint32_t degree);

/* Bytes an op keeps in memory: activations and parameters. */
double split_memory(const struct graph_op *op);

/* Returned owned: split_free. O(n log n) in ops and edges, whatever the degree. Borrows graph. */
struct split *split_create(const struct graph *graph, double quantum_ms, uint32_t degree);
void split_free(struct split *split);

/* Sums of the unsplit training step: time of all tasks, bytes of all tasks, bytes of all dependencies (activations). */
struct graph_totals {
    double sequential_ms, memory_bytes, dep_bytes;
    uint32_t tasks, deps;
};
struct graph_totals graph_sum(const struct graph *graph);

#endif
