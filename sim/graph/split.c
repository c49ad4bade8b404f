#include "graph/split.h"

#include <math.h>
#include <stdlib.h>

uint32_t split_parts(double forward_ms, double quantum_ms, uint32_t degree)
{
    require(degree >= 1 && quantum_ms > 0);
    /* In doubles, as published: 0.07 / 0.01 is 7.000000000000001 and gives 8. Compared before the conversion: it may
     * not fit. */
    double wanted = 2 * ceil(ceil(forward_ms / quantum_ms) / 2);
    uint32_t parts = wanted < degree ? (uint32_t)wanted : degree;
    return parts ? parts : 1;
}

struct task_graph *split_create(const struct graph *graph, const struct split_rule *rule, const double *speeds,
                                uint32_t class_count)
{
    uint32_t *parts = memory_alloc(graph->op_count, sizeof *parts);
    for (uint32_t op = 0; op < graph->op_count; op++)
        parts[op] = split_parts(graph->ops[op].forward_ms, rule->quantum_ms, rule->degree);
    struct task_options options = {
        .parts = parts, .speeds = speeds, .class_count = class_count, .traffic = rule->traffic};
    struct task_graph *tasks = task_graph_create(graph, &options);
    free(parts);
    return tasks;
}

double graph_op_bytes(const struct graph_op *op)
{
    return op->activation_bytes + op->parameter_bytes + op->temporary_bytes;
}

struct graph_totals graph_sum(const struct graph *graph)
{
    bool is_whole = graph->is_whole_step;
    struct graph_totals sum = {.tasks = (is_whole ? 1 : 2) * graph->op_count,
                               .deps = is_whole ? graph->edge_count : 2 * graph->edge_count + 1};
    for (uint32_t op = 0; op < graph->op_count; op++) {
        sum.sequential_ms += graph->ops[op].forward_ms;
        sum.memory_bytes += (is_whole ? 1 : 2) * graph_op_bytes(&graph->ops[op]);
    }
    for (uint32_t op = 0; op < graph->op_count; op++)
        sum.sequential_ms += graph->ops[op].backward_ms;
    for (uint32_t e = 0; e < graph->edge_count; e++)
        sum.dep_bytes += graph->ops[graph->edges[e].source].activation_bytes +
                         (is_whole ? 0 : graph->ops[graph->edges[e].target].activation_bytes);
    sum.dep_bytes += is_whole ? 0 : graph->ops[graph->last_op].activation_bytes;
    return sum;
}
