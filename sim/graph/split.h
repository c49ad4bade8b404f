/* The published rule of how far an op is split (PAC-ML simulator, section 2), and sums of the unsplit step. */
#ifndef GRAPH_SPLIT_H
#define GRAPH_SPLIT_H

#include "graph/task_graph.h"

/* How many parts an op of this forward time gets: as many as it has quanta, rounded up to an even number, degree at
 * most. Degrees: 1 or even. */
uint32_t split_parts(double forward_ms, double quantum_ms, uint32_t degree);

struct split_rule {
    double quantum_ms;
    uint32_t degree;
    enum task_traffic traffic; /* what the parts pass on */
};

/* The task graph of a graph whose ops are all split by that rule, for classes of devices of these speeds (NULL = one
 * class of speed 1). Returned owned: task_graph_free. */
struct task_graph *split_create(const struct graph *graph, const struct split_rule *rule, const double *speeds,
                                uint32_t class_count);

/* Bytes an op keeps in memory. */
double graph_op_bytes(const struct graph_op *op);

/* Sums of the unsplit training step: time of all tasks, bytes of all tasks, bytes of all dependencies (activations). */
struct graph_totals {
    double sequential_ms, memory_bytes, dep_bytes;
    uint32_t tasks, deps;
};
struct graph_totals graph_sum(const struct graph *graph);

#endif
