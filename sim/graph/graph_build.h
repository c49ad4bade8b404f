/* Private to sim/graph: what the readers of model files share.
 *
 * A reader fills a builder with ops and with edges between ids, in file order;
 * graph_build_finish() checks everything that struct graph promises and makes
 * the arrays. Ops and edges keep the offset at which they stand in the text, for
 * messages.
 *
 * Everything here is O(n log n) in ops and edges.
 */
#ifndef GRAPH_GRAPH_BUILD_H
#define GRAPH_GRAPH_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/status.h"
#include "graph/graph.h"

enum {
    GRAPH_OPS_MAX = 10000000,
    GRAPH_TEXT_MAX = 65536 /* bytes of one text member or one line of a profile */
};

enum graph_cost { GRAPH_FORWARD, GRAPH_BACKWARD, GRAPH_ACTIVATION, GRAPH_PARAMETER, GRAPH_TEMPORARY, GRAPH_COSTS };

/* A piece of the text being read; borrows it. */
struct graph_span {
    const char *start;
    size_t length;
};

struct graph_built_op {
    struct graph_op op;
    size_t offset;
};

struct graph_built_edge {
    struct graph_edge edge; /* ids here, positions only in the finished graph */
    size_t offset;
};

struct graph_builder {
    struct graph *graph; /* owned; its arena takes the texts of the ops */
    const char *file;    /* borrowed, for messages */
    struct graph_span text;
    struct graph_built_op *ops; /* owned, like edges */
    size_t op_count, op_capacity, op_limit;
    struct graph_built_edge *edges;
    size_t edge_count, edge_capacity;
    bool collapses_duplicates; /* duplicate edges are dropped, not refused */
};

/* Starts a builder on a text (borrowed) and refuses a text that is empty, binary or not UTF-8. A byte order mark is
 * skipped. graph_build_end must follow in either case. */
STATUS_MUST_USE enum status graph_build_start(struct graph_builder *builder, struct graph_span text, const char *file,
                                              struct error *error);

/* The op's kind must already live in the builder's arena. An edge is given by ids. */
STATUS_MUST_USE enum status graph_build_add_op(struct graph_builder *builder, struct graph_built_op op,
                                               struct error *error);
STATUS_MUST_USE enum status graph_build_add_edge(struct graph_builder *builder, struct graph_built_edge edge,
                                                 struct error *error);

/* Checks the whole and hands over the graph, returned owned. */
STATUS_MUST_USE enum status graph_build_finish(struct graph_builder *builder, struct graph **out, struct error *error);

/* Frees what the builder still owns. */
void graph_build_end(struct graph_builder *builder);

/* Sets *cost of op where value is allowed (the sign of zero is dropped), answers false otherwise. */
bool graph_cost_set(struct graph_op *op, enum graph_cost cost, double value);

/* Gives an error that has its message the place of offset in the text. Returns STATUS_USER. O(offset). */
enum status graph_build_locate(const struct graph_builder *builder, size_t offset, struct error *error);

/* STATUS_USER with a message and the place of offset. */
#define graph_build_refuse(builder, offset, error, ...)                                                                \
    (error_set(error, STATUS_USER, __VA_ARGS__), graph_build_locate(builder, offset, error))

/* The same, for a cost that graph_cost_set would not take; found is what the file says. */
enum status graph_build_refuse_cost(const struct graph_builder *builder, size_t offset, enum graph_cost cost,
                                    struct graph_span found, struct error *error);

/* A text of the file made fit for a message: short, on one line. */
struct graph_quote {
    char text[64];
};
struct graph_quote graph_quote(struct graph_span span);

#endif
