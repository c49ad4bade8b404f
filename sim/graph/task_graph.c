#include "graph/task_graph.h"

#include <math.h>
#include <stdlib.h>

#include "engine/statistics.h"

const char *task_pass_name(const struct task_graph *tasks, uint32_t task)
{
    return tasks->graph->is_whole_step ? "whole" : tasks->tasks[task].is_backward ? "backward" : "forward";
}

double task_op_bytes(const struct graph *graph, uint32_t op, uint32_t parts, enum task_traffic traffic)
{
    const struct graph_op *at = &graph->ops[op]; /* a twin keeps nothing of its own */
    bool is_parallel = traffic == TRAFFIC_TRAINING && !graph->is_whole_step;
    return at->activation_bytes + (is_parallel ? parts : 1) * at->parameter_bytes + at->temporary_bytes;
}

/* ---- what a link stands for ---- */

static uint32_t parts_of(const struct task_graph *tasks, uint32_t task)
{
    return tasks->parts[tasks->tasks[task].op];
}

/* Part i of n holds [i / n, (i + 1) / n) of the batch: the parts of m whose shares overlap that. */
static struct part_range overlapping(uint64_t part, uint64_t of, uint64_t others)
{
    return (struct part_range){(uint32_t)(part * others / of), (uint32_t)(((part + 1) * others + of - 1) / of - 1)};
}

static struct part_range linked_parts(enum link_pattern pattern, uint32_t part, uint32_t of, uint32_t others)
{
    require(part < of && pattern != LINK_SYNC);
    if (pattern == LINK_SHARES)
        return overlapping(part, of, others);
    return pattern == LINK_ONE_TO_ONE ? (struct part_range){part, part} : (struct part_range){0, others - 1};
}

struct part_range task_link_targets(const struct task_graph *tasks, const struct task_link *link, uint32_t source_part)
{
    return linked_parts(link->pattern, source_part, parts_of(tasks, link->source), parts_of(tasks, link->target));
}

struct part_range task_link_sources(const struct task_graph *tasks, const struct task_link *link, uint32_t target_part)
{
    return linked_parts(link->pattern, target_part, parts_of(tasks, link->target), parts_of(tasks, link->source));
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

uint64_t task_link_deps(const struct task_graph *tasks, const struct task_link *link)
{
    uint64_t from = parts_of(tasks, link->source), to = parts_of(tasks, link->target);
    switch (link->pattern) {
    case LINK_SYNC:
        return from * (from - 1);
    case LINK_ONE_TO_ONE:
        return from;
    case LINK_SHARES:
        return from + to - common_divisor(from, to); /* one more at each border that is not both's */
    case LINK_ALL_TO_ALL:
        break;
    }
    return from * to;
}

/* The first `share` of `of` equal shares of a number of bytes, rounded down. */
static uint64_t first_bytes(uint64_t bytes, uint64_t share, uint64_t of)
{
    return (uint64_t)((statistics_wide)bytes * (statistics_wide)share / (statistics_wide)of);
}

uint64_t task_link_bytes(const struct task_graph *tasks, const struct task_link *link, uint32_t source_part,
                         uint32_t target_part)
{
    uint64_t from = parts_of(tasks, link->source), to = parts_of(tasks, link->target),
             all = (uint64_t)ceil(link->bytes);
    if (link->pattern != LINK_SHARES)
        return all;
    uint64_t begin = source_part * to > target_part * from ? source_part * to : target_part * from;
    uint64_t source_end = (source_part + 1) * to, target_end = (target_part + 1) * from;
    uint64_t end = source_end < target_end ? source_end : target_end;
    require(begin < end);
    return first_bytes(all, end, from * to) - first_bytes(all, begin, from * to);
}

/* What the published program passes along a dependency, and what it synchronises: all that an op keeps. */
static double passed_bytes(const struct task_graph *tasks, uint32_t op)
{
    return tasks->tasks[op].activation_bytes + tasks->tasks[op].parameter_bytes;
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
static void order_tasks(struct task_graph *tasks)
{
    uint32_t n = tasks->graph->op_count, used = 0;
    for (uint32_t task = 0; task < tasks->task_count; task++)
        if (tasks->parts[tasks->tasks[task].op] == 1)
            tasks->order[used++] = task;
    for (uint32_t op = 0; op < n; op++)
        for (uint32_t task = op; task < tasks->task_count && tasks->parts[op] > 1; task += n)
            tasks->order[used++] = task;
    require(used == tasks->task_count);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        tasks->position[tasks->order[i]] = i;
    used = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t task = tasks->graph->order[i]; task < tasks->task_count; task += n)
            tasks->placing[used++] = task;
}

/* Summed part by part: the last bit decides whether a job with beta = 1 is late (section 8). */
static double sum_sequential(const struct task_graph *tasks)
{
    double sum = 0;
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        uint32_t task = tasks->order[i];
        double part_ms = task_part_ms(tasks, task, 0);
        for (uint32_t part = 0; part < tasks->parts[tasks->tasks[task].op]; part++)
            sum += part_ms;
    }
    return sum;
}

static void add_link(struct task_graph *tasks, struct task_link link)
{
    require(link.pattern != LINK_ONE_TO_ONE || parts_of(tasks, link.source) == parts_of(tasks, link.target));
    link.sequence = tasks->link_count;
    tasks->links[tasks->link_count++] = link;
    tasks->dep_count += task_link_deps(tasks, &link);
}

/* ---- a forward pass, mirrored ---- */

static void add_data_link(struct task_graph *tasks, uint32_t source, uint32_t target, bool target_later)
{
    uint32_t u = tasks->tasks[source].op, v = tasks->tasks[target].op;
    if (tasks->traffic == TRAFFIC_TRAINING) { /* on the way back: as many bytes of gradients as went forth */
        double passed = tasks->graph->ops[tasks->tasks[source].is_backward ? v : u].activation_bytes;
        add_link(tasks,
                 (struct task_link){.pattern = LINK_SHARES, .source = source, .target = target, .bytes = passed});
        return;
    }
    double bytes =
        dep_bytes(passed_bytes(tasks, u), tasks->parts[u], passed_bytes(tasks, v), tasks->parts[v], target_later);
    add_link(tasks, (struct task_link){.source = source, .target = target, .bytes = bytes});
}

/* Data parallel parts each have a gradient of all parameters, and nothing to synchronise without any. */
static void add_sync_link(struct task_graph *tasks, uint32_t op)
{
    uint32_t twin = tasks->graph->op_count + op;
    bool is_training = tasks->traffic == TRAFFIC_TRAINING;
    double bytes = is_training ? tasks->tasks[op].parameter_bytes : passed_bytes(tasks, op) / tasks->parts[op];
    if (tasks->parts[op] > 1 && (!is_training || bytes > 0))
        add_link(tasks, (struct task_link){.pattern = LINK_SYNC, .source = twin, .target = twin, .bytes = bytes});
}

/* In the order in which the published program enumerates the unsplit graph (section 1): forward edges, the join of the
 * last op and its twin, the edges back, and what synchronises the parts of each twin. */
static void add_mirrored_links(struct task_graph *tasks)
{
    const struct graph *graph = tasks->graph;
    uint32_t n = graph->op_count;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t u = graph->edges[e].source, v = graph->edges[e].target;
        add_data_link(tasks, u, v, v > u);
    }
    add_data_link(tasks, graph->last_op, n + graph->last_op, true);
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t u = graph->edges[e].source, v = graph->edges[e].target;
        add_data_link(tasks, n + v, n + u, u > v);
    }
    for (uint32_t op = 0; op < n; op++)
        add_sync_link(tasks, op);
}

/* ---- a whole step as it stands ---- */

/* Parts hold equal shares of an op's output: like goes to like, or everything is dealt out anew. */
static void add_whole_links(struct task_graph *tasks)
{
    const struct graph *graph = tasks->graph;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t u = graph->edges[e].source, v = graph->edges[e].target;
        bool is_alike = tasks->parts[u] == tasks->parts[v] && tasks->parts[u] > 1;
        double bytes = graph->ops[u].activation_bytes / tasks->parts[u];
        add_link(tasks, (struct task_link){.pattern = is_alike ? LINK_ONE_TO_ONE : LINK_ALL_TO_ALL,
                                           .source = u,
                                           .target = v,
                                           .bytes = is_alike ? bytes : bytes / tasks->parts[v]});
    }
}

/* ---- both ---- */

/* Neighbours of a task in the written-out graph: unsplit ones where they stood, then split ones in the order in which
 * they were replaced. The sums of section 6 and the ties of section 7.3 follow this order. */
static int compare_neighbours(const struct task_graph *tasks, uint32_t a, uint32_t b, uint32_t sequence_a,
                              uint32_t sequence_b)
{
    uint32_t op_a = tasks->tasks[a].op, op_b = tasks->tasks[b].op;
    bool split_a = tasks->parts[op_a] > 1, split_b = tasks->parts[op_b] > 1;
    if (split_a != split_b)
        return split_a ? 1 : -1;
    if (split_a && a != b)
        return op_a != op_b ? (op_a < op_b ? -1 : 1) : (a < b ? -1 : 1);
    return sequence_a < sequence_b ? -1 : sequence_a > sequence_b;
}

static int by_source_total(const void *left, const void *right, void *context)
{
    const struct task_graph *tasks = context;
    const struct task_link *a = left, *b = right;
    if (a->source != b->source)
        return tasks->position[a->source] < tasks->position[b->source] ? -1 : 1;
    return compare_neighbours(tasks, a->target, b->target, a->sequence, b->sequence);
}

static int by_target_total(const void *left, const void *right, void *context)
{
    const struct task_graph *tasks = context;
    const struct task_link *a = &tasks->links[*(const uint32_t *)left], *b = &tasks->links[*(const uint32_t *)right];
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    return compare_neighbours(tasks, a->source, b->source, a->sequence, b->sequence);
}

static void index_links(struct task_graph *tasks)
{
    qsort_r(tasks->links, tasks->link_count, sizeof *tasks->links, by_source_total, tasks);
    for (uint32_t i = 0; i < tasks->link_count; i++) {
        tasks->in_link[i] = i;
        tasks->out_count[tasks->links[i].source]++;
        tasks->in_start[tasks->links[i].target + 1]++;
    }
    qsort_r(tasks->in_link, tasks->link_count, sizeof *tasks->in_link, by_target_total, tasks);
    for (uint32_t i = 0, start = 0; i < tasks->task_count; i++) {
        tasks->out_start[tasks->order[i]] = start;
        start += tasks->out_count[tasks->order[i]];
        tasks->in_start[i + 1] += tasks->in_start[i];
    }
}

/* Times and memory of the tasks, and where the parts of each begin. */
static void fill_tasks(struct task_graph *tasks, const double *speeds)
{
    const struct graph *graph = tasks->graph;
    uint32_t n = graph->op_count;
    for (uint32_t task = 0; task < tasks->task_count; task++) {
        const struct graph_op *op = &graph->ops[task % n];
        bool is_backward = task >= n;
        double time_ms = is_backward ? op->backward_ms : op->forward_ms + (graph->is_whole_step ? op->backward_ms : 0);
        tasks->tasks[task] = (struct task){.op = task % n, .is_backward = is_backward};
        if (!is_backward) {
            tasks->tasks[task].parameter_bytes = op->parameter_bytes;
            tasks->tasks[task].activation_bytes = op->activation_bytes;
            tasks->tasks[task].temporary_bytes = op->temporary_bytes;
        }
        for (uint32_t class = 0; class < tasks->class_count; class ++)
            tasks->time_ms[(size_t)task * tasks->class_count + class] = speeds ? time_ms / speeds[class] : time_ms;
        tasks->part_start[task + 1] = tasks->part_start[task] + tasks->parts[task % n];
    }
}

static void allocate_tasks(struct task_graph *tasks)
{
    struct arena *arena = &tasks->arena;
    size_t count = tasks->task_count, links = 2 * (size_t)tasks->graph->edge_count + 1 + tasks->graph->op_count;
    tasks->parts = arena_alloc(arena, tasks->graph->op_count, sizeof *tasks->parts);
    tasks->tasks = arena_alloc(arena, count, sizeof *tasks->tasks);
    tasks->time_ms = arena_alloc(arena, count * tasks->class_count, sizeof *tasks->time_ms);
    tasks->part_start = arena_alloc(arena, count + 1, sizeof *tasks->part_start);
    tasks->placing = arena_alloc(arena, count, sizeof *tasks->placing);
    tasks->order = arena_alloc(arena, count, sizeof *tasks->order);
    tasks->position = arena_alloc(arena, count, sizeof *tasks->position);
    tasks->links = arena_alloc(arena, links, sizeof *tasks->links);
    tasks->out_start = arena_alloc(arena, count, sizeof *tasks->out_start);
    tasks->out_count = arena_alloc(arena, count, sizeof *tasks->out_count);
    tasks->in_start = arena_alloc(arena, count + 1, sizeof *tasks->in_start);
    tasks->in_link = arena_alloc(arena, links, sizeof *tasks->in_link);
}

struct task_graph *task_graph_create(const struct graph *graph, const struct task_options *options)
{
    require(graph->op_count > 0 && options->parts);
    struct task_graph *tasks = memory_alloc(1, sizeof *tasks);
    tasks->graph = graph;
    tasks->traffic = graph->is_whole_step ? TRAFFIC_PUBLISHED : options->traffic;
    tasks->task_count = graph->is_whole_step ? graph->op_count : 2 * graph->op_count;
    tasks->class_count = options->speeds ? options->class_count : 1;
    require(tasks->class_count > 0);
    allocate_tasks(tasks);
    for (uint32_t op = 0; op < graph->op_count; op++) {
        tasks->parts[op] = options->parts[op];
        require(tasks->parts[op] >= 1);
        tasks->degree = tasks->parts[op] > tasks->degree ? tasks->parts[op] : tasks->degree;
    }
    fill_tasks(tasks, options->speeds);
    order_tasks(tasks);
    tasks->sequential_ms = sum_sequential(tasks);
    if (graph->is_whole_step)
        add_whole_links(tasks);
    else
        add_mirrored_links(tasks);
    index_links(tasks);
    return tasks;
}

void task_graph_free(struct task_graph *tasks)
{
    if (!tasks)
        return;
    arena_free(&tasks->arena);
    free(tasks);
}
