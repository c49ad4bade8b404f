#include "graph/split.h"

#include <math.h>
#include <stdbool.h>
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

double split_memory(const struct graph_op *op)
{
    return op->activation_bytes + op->parameter_bytes;
}

/* Bytes of one dependency from a part of u to a part of v (section 3). The published program replaces ops
 * one by one and records M(parent)/k for edges into the new parts, M(child)/k for edges out of them; what
 * survives depends on which of the two was replaced later. */
static double dep_bytes(double source_memory, uint32_t source_parts, double target_memory, uint32_t target_parts,
                        bool target_later)
{
    if (source_parts == 1 && target_parts == 1)
        return source_memory;
    if (source_parts == 1)
        return source_memory / target_parts;
    if (target_parts == 1)
        return target_memory / source_parts;
    if (target_later)
        return source_memory / source_parts / target_parts;
    return target_memory / target_parts / source_parts;
}

/* Unsplit tasks in their first order, then split ones as they were replaced: op by op, forward then backward. */
static void order_tasks(struct split *split)
{
    uint32_t n = split->graph->op_count, used = 0;
    for (uint32_t task = 0; task < 2 * n; task++)
        if (split->parts[task % n] == 1)
            split->order[used++] = task;
    for (uint32_t op = 0; op < n; op++) {
        if (split->parts[op] == 1)
            continue;
        split->order[used++] = op;
        split->order[used++] = n + op;
    }
    require(used == 2 * n);
}

/* Summed part by part: the last bit decides whether a job with beta = 1 is late (section 8). */
static double sum_sequential(const struct split *split)
{
    const struct graph *graph = split->graph;
    uint32_t n = graph->op_count;
    double sum = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t task = split->order[i], op = task % n;
        uint32_t parts = split->parts[op];
        double part_ms = (task < n ? graph->ops[op].forward_ms : graph->ops[op].backward_ms) / parts;
        for (uint32_t part = 0; part < parts; part++)
            sum += part_ms;
    }
    return sum;
}

static void add_link(struct split *split, struct split_link link)
{
    uint32_t n = split->graph->op_count;
    uint64_t source_parts = split->parts[link.source % n], target_parts = split->parts[link.target % n];
    link.sequence = split->link_count;
    split->links[split->link_count++] = link;
    split->dep_count += link.kind == LINK_SYNC ? source_parts * (source_parts - 1) : source_parts * target_parts;
}

static struct split_link data_link(const struct split *split, enum link_kind kind, uint32_t source, uint32_t target,
                                   bool target_later)
{
    const struct graph *graph = split->graph;
    uint32_t u = source % graph->op_count, v = target % graph->op_count;
    double bytes = dep_bytes(split_memory(&graph->ops[u]), split->parts[u], split_memory(&graph->ops[v]),
                             split->parts[v], target_later);
    return (struct split_link){.kind = kind, .source = source, .target = target, .bytes = bytes};
}

/* In the order in which the published program enumerates the unsplit graph (section 1). */
static void add_links(struct split *split)
{
    const struct graph *graph = split->graph;
    uint32_t n = graph->op_count;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t u = graph->edges[e].source, v = graph->edges[e].target;
        add_link(split, data_link(split, LINK_FORWARD, u, v, v > u));
    }
    add_link(split, data_link(split, LINK_JOIN, graph->last_op, n + graph->last_op, true));
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t u = graph->edges[e].source, v = graph->edges[e].target;
        add_link(split, data_link(split, LINK_BACKWARD, n + v, n + u, u > v));
    }
    for (uint32_t op = 0; op < n; op++)
        if (split->parts[op] > 1)
            add_link(split, (struct split_link){.kind = LINK_SYNC,
                                                .source = n + op,
                                                .target = n + op,
                                                .bytes = split_memory(&graph->ops[op]) / split->parts[op]});
}

/* Neighbours of a task in the written-out graph: unsplit ones where they stood, then split ones in the order in which
 * they were replaced. The sums of section 6 and the ties of section 7.3 follow this order. */
static int compare_neighbours(const struct split *split, uint32_t a, uint32_t b, uint32_t sequence_a,
                              uint32_t sequence_b)
{
    uint32_t n = split->graph->op_count;
    bool split_a = split->parts[a % n] > 1, split_b = split->parts[b % n] > 1;
    if (split_a != split_b)
        return split_a ? 1 : -1;
    if (split_a && a != b)
        return a % n != b % n ? (a % n < b % n ? -1 : 1) : (a < b ? -1 : 1);
    return sequence_a < sequence_b ? -1 : sequence_a > sequence_b;
}

static int by_source_total(const void *left, const void *right, void *context)
{
    const struct split *split = context;
    const struct split_link *a = left, *b = right;
    if (a->source != b->source)
        return split->position[a->source] < split->position[b->source] ? -1 : 1;
    return compare_neighbours(split, a->target, b->target, a->sequence, b->sequence);
}

static int by_target_total(const void *left, const void *right, void *context)
{
    const struct split *split = context;
    const struct split_link *a = &split->links[*(const uint32_t *)left], *b = &split->links[*(const uint32_t *)right];
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    return compare_neighbours(split, a->source, b->source, a->sequence, b->sequence);
}

static void index_links(struct split *split)
{
    uint32_t tasks = 2 * split->graph->op_count;
    for (uint32_t i = 0; i < tasks; i++)
        split->position[split->order[i]] = i;
    qsort_r(split->links, split->link_count, sizeof *split->links, by_source_total, split);
    for (uint32_t i = 0; i < split->link_count; i++) {
        split->in_link[i] = i;
        split->out_count[split->links[i].source]++;
        split->in_start[split->links[i].target + 1]++;
    }
    qsort_r(split->in_link, split->link_count, sizeof *split->in_link, by_target_total, split);
    for (uint32_t i = 0, start = 0; i < tasks; i++) {
        split->out_start[split->order[i]] = start;
        start += split->out_count[split->order[i]];
        split->in_start[i + 1] += split->in_start[i];
    }
}

struct split *split_create(const struct graph *graph, double quantum_ms, uint32_t degree)
{
    struct split *split = memory_alloc(1, sizeof *split);
    uint32_t n = graph->op_count, most_links = 2 * graph->edge_count + 1 + n;
    split->graph = graph;
    split->asked = degree;
    split->parts = arena_alloc(&split->arena, n, sizeof *split->parts);
    split->order = arena_alloc(&split->arena, 2 * (size_t)n, sizeof *split->order);
    split->links = arena_alloc(&split->arena, most_links, sizeof *split->links);
    split->position = arena_alloc(&split->arena, 2 * (size_t)n, sizeof *split->position);
    split->out_start = arena_alloc(&split->arena, 2 * (size_t)n, sizeof *split->out_start);
    split->out_count = arena_alloc(&split->arena, 2 * (size_t)n, sizeof *split->out_count);
    split->in_start = arena_alloc(&split->arena, 2 * (size_t)n + 1, sizeof *split->in_start);
    split->in_link = arena_alloc(&split->arena, most_links, sizeof *split->in_link);
    for (uint32_t op = 0; op < n; op++) {
        split->parts[op] = split_parts(graph->ops[op].forward_ms, quantum_ms, degree);
        split->part_count += 2 * split->parts[op];
        if (split->degree < split->parts[op])
            split->degree = split->parts[op];
    }
    order_tasks(split);
    split->sequential_ms = sum_sequential(split);
    add_links(split);
    index_links(split);
    return split;
}

void split_free(struct split *split)
{
    if (!split)
        return;
    arena_free(&split->arena);
    free(split);
}

struct graph_totals graph_sum(const struct graph *graph)
{
    struct graph_totals sum = {.tasks = 2 * graph->op_count, .deps = 2 * graph->edge_count + 1};
    for (uint32_t op = 0; op < graph->op_count; op++) {
        sum.sequential_ms += graph->ops[op].forward_ms;
        sum.memory_bytes += 2 * split_memory(&graph->ops[op]);
    }
    for (uint32_t op = 0; op < graph->op_count; op++)
        sum.sequential_ms += graph->ops[op].backward_ms;
    for (uint32_t e = 0; e < graph->edge_count; e++)
        sum.dep_bytes +=
            graph->ops[graph->edges[e].source].activation_bytes + graph->ops[graph->edges[e].target].activation_bytes;
    sum.dep_bytes += graph->ops[graph->last_op].activation_bytes;
    return sum;
}
