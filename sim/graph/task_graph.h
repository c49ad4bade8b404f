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
 *
 * What is passed along comes in two kinds. As *published*: parts split the
 * parameters too, every part talks to every other, and a dependency carries all
 * that an op keeps. In *training*, parts are data parallel: each keeps all
 * parameters of its op and works on an equal share of the batch, so a link carries
 * activations from share to share, the way back carries as many bytes of gradients,
 * and what the parts synchronise is the parameters. A whole step states its own
 * links; it takes the first kind.
 */
#ifndef GRAPH_TASK_GRAPH_H
#define GRAPH_TASK_GRAPH_H

#include <stdint.h>

#include "graph/graph.h"

enum link_pattern {
    LINK_ALL_TO_ALL, /* every part of the source -> every part of the target */
    LINK_ONE_TO_ONE, /* part i of the source -> part i of the target, which has as many */
    LINK_SHARES,     /* both hold equal shares of one batch: a part -> those whose shares overlap its own */
    LINK_SYNC        /* every part of a task <-> every other part of it */
};

struct task_link {
    enum link_pattern pattern;
    uint32_t source, target; /* tasks */
    uint32_t sequence;       /* place in the enumeration of the unsplit graph */
    double bytes;            /* of each single dependency; of LINK_SHARES: of all of them together */
};

enum task_traffic { TRAFFIC_PUBLISHED, TRAFFIC_TRAINING };

struct task {
    uint32_t op;
    bool is_backward;
    /* of all its parts together */
    double parameter_bytes, activation_bytes, temporary_bytes;
};

struct task_graph {
    const struct graph *graph; /* borrowed */
    enum task_traffic traffic;
    uint32_t degree; /* the most parts any op got */
    uint32_t *parts; /* per op */
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
    enum task_traffic traffic;
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

/* Bytes an op of a graph keeps in memory, over all its parts: data parallel ones keep all of its parameters each. */
double task_op_bytes(const struct graph *graph, uint32_t op, uint32_t parts, enum task_traffic traffic);

static inline double task_graph_op_bytes(const struct task_graph *tasks, uint32_t op)
{
    return task_op_bytes(tasks->graph, op, tasks->parts[op], tasks->traffic);
}

/* The parts first .. last at the other end of a link that a part of its source, or of its target, has dependencies
 * with. Not for LINK_SYNC. */
struct part_range {
    uint32_t first, last;
};
struct part_range task_link_targets(const struct task_graph *tasks, const struct task_link *link, uint32_t source_part);
struct part_range task_link_sources(const struct task_graph *tasks, const struct task_link *link, uint32_t target_part);

/* How many dependencies a link stands for. */
uint64_t task_link_deps(const struct task_graph *tasks, const struct task_link *link);

/* The bytes of one of them, in whole bytes: rounded up each, but shares of a batch add up to the whole of it, rounded
 * up. The link's bytes, of all its parts together, are below 2^60. */
uint64_t task_link_bytes(const struct task_graph *tasks, const struct task_link *link, uint32_t source_part,
                         uint32_t target_part);

/* For people: "forward" or "backward", or "whole" where the graph has no twins. */
const char *task_pass_name(const struct task_graph *tasks, uint32_t task);

#endif
