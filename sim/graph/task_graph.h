/* What a step runs: tasks, cut into parts, and the links between them.
 *
 * A task graph is made from a graph and the parts of each of its ops. Where the
 * graph is a forward pass, each op has two tasks, itself and its backward twin:
 * task i is op i, task op_count + i its twin (PAC-ML simulator, sections 1 to 3).
 * Where the graph is a whole step already, or a single pass, each op is one task.
 * Tasks of one op are cut into as many equal parts and sit on the same devices.
 *
 * What lies between two tasks is one *link*: all its dependencies, of one size,
 * are one object whatever the parts. So are the synchronisation edges among the
 * parts of one backward task. Counts are those of the fully written-out graph.
 */
#ifndef GRAPH_TASK_GRAPH_H
#define GRAPH_TASK_GRAPH_H

#include <stdint.h>

#include "graph/graph.h"

enum link_pattern {
    LINK_ALL_TO_ALL, /* every part of the source -> every part of the target */
    LINK_ONE_TO_ONE, /* part i of the source -> part i of the target, which has as many */
    LINK_SYNC        /* every part of a task <-> every other part of it */
};

struct task_link {
    enum link_pattern pattern;
    uint32_t source, target; /* tasks */
    uint32_t sequence;       /* place in the enumeration of the unsplit graph */
    double bytes;            /* of each single dependency */
};

struct task {
    uint32_t op;
    bool is_backward;
    /* of all its parts together */
    double parameter_bytes, activation_bytes, temporary_bytes;
};

struct task_graph {
    const struct graph *graph; /* borrowed */
    uint32_t degree;           /* the most parts any op got */
    uint32_t *parts;           /* per op */
    uint32_t task_count;
    struct task *tasks;
    uint32_t class_count; /* of devices */
    double *time_ms;      /* per task and class: of all its parts together; see task_part_ms */
    uint32_t link_count;
    struct task_link *links;         /* in the order of dependencies of the written-out graph */
    uint32_t *out_start, *out_count; /* per task: its out-links are links[out_start[t]] and following */
    uint32_t *in_start;              /* task_count + 1: in-links of task t are links[in_link[in_start[t] ..]] */
    uint32_t *in_link;
    uint32_t *part_start; /* task_count + 1: the first part of each task among all parts, and their number */
    uint64_t dep_count;   /* dependencies, sync edges included: "deps" as published */
    double sequential_ms; /* time of all parts one after the other on class 0, summed in the published order */
    uint32_t *placing;    /* tasks in the order in which they are placed: op by op, in the graph's order */
    uint32_t *order;      /* tasks in the node order of the written-out graph ... */
    uint32_t *position;   /* ... and where each task stands in it */
    struct arena arena;   /* owns all of the above */
};

/* How a graph is cut and timed. All borrowed during the call. */
struct task_options {
    const uint32_t *parts; /* per op, at least 1 */
    const double
        *speeds; /* per class of devices, above 0: a task takes its profiled time / speed; NULL = one class of 1 */
    uint32_t class_count;
};

/* Returned owned: task_graph_free. O(n log n) in ops and edges, whatever the parts. Borrows graph until then. */
struct task_graph *task_graph_create(const struct graph *graph, const struct task_options *options);
void task_graph_free(struct task_graph *tasks);

/* All parts of all tasks: "ops" as published. */
static inline uint64_t task_graph_parts(const struct task_graph *tasks)
{
    return tasks->part_start[tasks->task_count];
}

static inline double task_part_ms(const struct task_graph *tasks, uint32_t task, uint32_t class)
{
    return tasks->time_ms[(size_t)task * tasks->class_count + class] / tasks->parts[tasks->tasks[task].op];
}

/* Bytes an op keeps in memory, over all its parts. */
static inline double task_graph_op_bytes(const struct task_graph *tasks, uint32_t op)
{
    const struct task *task = &tasks->tasks[op]; /* a twin keeps nothing of its own */
    return task->activation_bytes + task->parameter_bytes + task->temporary_bytes;
}

/* For people: "forward" or "backward", or "whole" where the graph has no twins. */
const char *task_pass_name(const struct task_graph *tasks, uint32_t task);

#endif
