/* The builder and validator behind every reader of model files.
 *
 * Steps of graph_build_finish, each relying on those before: ids are distinct
 * (sorted index, ids may be sparse), edges name known ops, edges are sorted by
 * source and place, duplicates fall out with one stamp per target, in-edges are
 * indexed, Kahn's queue gives the order or a cycle.
 */
#include "graph/graph_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/text.h"

enum { CYCLE_NAMED = 8 };

struct id_entry {
    uint32_t id, position;
};

static const struct {
    const char *name;
    double most;
    const char *range, *example;
} costs[GRAPH_COSTS] = {
    /* The limits leave sums over 10^7 ops and 10^6 steps exact enough to be finite with room to spare. */
    [GRAPH_FORWARD] = {"forward_ms", 1e12, "milliseconds from 0 to 1e12", "0.073"},
    [GRAPH_BACKWARD] = {"backward_ms", 1e12, "milliseconds from 0 to 1e12", "6.949"},
    [GRAPH_ACTIVATION] = {"activation_bytes", 1e18, "bytes from 0 to 1e18", "6291456"},
    [GRAPH_PARAMETER] = {"parameter_bytes", 1e18, "bytes from 0 to 1e18", "132382720"},
    [GRAPH_TEMPORARY] = {"temporary_bytes", 1e18, "bytes from 0 to 1e18", "1048576"},
};

struct graph_quote graph_quote(struct graph_span span)
{
    struct graph_quote quote;
    text_show_bytes(span.start, span.length, sizeof quote.text - 4, quote.text);
    return quote;
}

enum status graph_build_locate(const struct graph_builder *builder, size_t offset, struct error *error)
{
    require(builder->file);
    if (!error)
        return STATUS_USER;
    snprintf(error->file, sizeof error->file, "%s", builder->file);
    text_place(builder->text.start, builder->text.length, offset, &error->line, &error->column);
    return STATUS_USER;
}

bool graph_cost_set(struct graph_op *op, enum graph_cost cost, double value)
{
    require(cost < GRAPH_COSTS);
    double *members[GRAPH_COSTS] = {&op->forward_ms, &op->backward_ms, &op->activation_bytes, &op->parameter_bytes,
                                    &op->temporary_bytes};
    if (!isfinite(value) || value < 0 || value > costs[cost].most)
        return false;
    *members[cost] = value == 0 ? 0 : value;
    return true;
}

enum status graph_build_refuse_cost(const struct graph_builder *builder, size_t offset, enum graph_cost cost,
                                    struct graph_span found, struct error *error)
{
    require(cost < GRAPH_COSTS);
    return graph_build_refuse(builder, offset, error, "%s is '%s'; it must be %s, e.g. %s", costs[cost].name,
                              graph_quote(found).text, costs[cost].range, costs[cost].example);
}

/* Length of the UTF-8 character at text (well formed, printable or blank), 0 if it is none. */
static size_t character_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    if (first < 0x80)
        return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
    size_t length = first >= 0xC2 && first < 0xE0   ? 2
                    : (first & 0xF0) == 0xE0        ? 3
                    : first >= 0xF0 && first < 0xF5 ? 4
                                                    : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool is_overlong = (first == 0xE0 && text[1] < 0xA0) || (first == 0xF0 && text[1] < 0x90);
    bool is_surrogate = first == 0xED && text[1] > 0x9F;
    bool is_beyond = first == 0xF4 && text[1] > 0x8F;
    return is_overlong || is_surrogate || is_beyond ? 0 : length;
}

static enum status check_text(const struct graph_builder *builder, struct error *error)
{
    bool is_blank = true;
    for (size_t at = 0; at < builder->text.length;) {
        const unsigned char *c = (const unsigned char *)builder->text.start + at;
        size_t length = character_length(c, builder->text.length - at);
        if (length == 0)
            return graph_build_refuse(builder, at, error,
                                      "byte 0x%02X is not text; a model file is UTF-8 text: JSON as in "
                                      "models/README.md, or a PipeDream graph.txt",
                                      c[0]);
        is_blank = is_blank && (*c == ' ' || *c == '\t' || *c == '\n' || *c == '\r');
        at += length;
    }
    if (!is_blank)
        return STATUS_OK;
    return graph_build_refuse(builder, 0, error,
                              "the file is empty; expected a model: JSON as in models/README.md, or a PipeDream "
                              "graph.txt");
}

enum status graph_build_start(struct graph_builder *builder, struct graph_span text, const char *file,
                              struct error *error)
{
    require(file && (text.start || text.length == 0));
    *builder = (struct graph_builder){.file = file, .text = text, .op_limit = GRAPH_OPS_MAX};
    if (text.length >= 3 && memcmp(text.start, "\xEF\xBB\xBF", 3) == 0)
        builder->text = (struct graph_span){text.start + 3, text.length - 3};
    builder->graph = memory_alloc(1, sizeof *builder->graph);
    return check_text(builder, error);
}

void graph_build_end(struct graph_builder *builder)
{
    graph_free(builder->graph);
    free(builder->ops);
    free(builder->edges);
    *builder = (struct graph_builder){0};
}

enum status graph_build_add_op(struct graph_builder *builder, struct graph_built_op op, struct error *error)
{
    require(op.op.kind && op.op.id > 0);
    if (builder->op_count >= builder->op_limit)
        return graph_build_refuse(builder, op.offset, error,
                                  "more than %zu ops; merge ops until the graph has at most that many",
                                  builder->op_limit);
    builder->ops = memory_grow(builder->ops, &builder->op_capacity, builder->op_count + 1, sizeof *builder->ops);
    builder->ops[builder->op_count++] = op;
    return STATUS_OK;
}

enum status graph_build_add_edge(struct graph_builder *builder, struct graph_built_edge edge, struct error *error)
{
    if (builder->edge_count >= UINT32_MAX - 1)
        return graph_build_refuse(builder, edge.offset, error,
                                  "more than %u edges; merge ops until the graph has at most that many",
                                  UINT32_MAX - 1);
    builder->edges =
        memory_grow(builder->edges, &builder->edge_capacity, builder->edge_count + 1, sizeof *builder->edges);
    builder->edges[builder->edge_count++] = edge;
    return STATUS_OK;
}

static int by_id_then_position_total(const void *left, const void *right)
{
    const struct id_entry *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* Fills index with the ops by id. */
static enum status index_ids(const struct graph_builder *builder, struct id_entry *index, struct error *error)
{
    for (uint32_t i = 0; i < builder->op_count; i++)
        index[i] = (struct id_entry){builder->ops[i].op.id, i};
    qsort(index, builder->op_count, sizeof *index, by_id_then_position_total);
    for (size_t i = 1; i < builder->op_count; i++)
        if (index[i].id == index[i - 1].id)
            return graph_build_refuse(builder, builder->ops[index[i].position].offset, error,
                                      "id %u is given twice (ops number %u and %u of the file); give every op an id "
                                      "of its own",
                                      index[i].id, index[i - 1].position + 1, index[i].position + 1);
    return STATUS_OK;
}

/* The position of the op with this id, UINT32_MAX if there is none. */
static uint32_t find_id(const struct id_entry *index, size_t count, uint32_t id)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && index[low].id == id ? index[low].position : UINT32_MAX;
}

/* Turns the ids of every edge into positions. */
static enum status resolve_edges(struct graph_builder *builder, const struct id_entry *index, struct error *error)
{
    for (size_t i = 0; i < builder->edge_count; i++) {
        struct graph_edge ids = builder->edges[i].edge;
        struct graph_edge found = {find_id(index, builder->op_count, ids.source),
                                   find_id(index, builder->op_count, ids.target)};
        if (found.source == UINT32_MAX || found.target == UINT32_MAX)
            return graph_build_refuse(builder, builder->edges[i].offset, error,
                                      "edge %u -> %u: there is no op with id %u; add the op or remove the edge",
                                      ids.source, ids.target, found.source == UINT32_MAX ? ids.source : ids.target);
        if (found.source == found.target)
            return graph_build_refuse(builder, builder->edges[i].offset, error,
                                      "edge %u -> %u: an op cannot depend on itself; remove the edge", ids.source,
                                      ids.target);
        builder->edges[i].edge = found;
    }
    return STATUS_OK;
}

static int by_source_then_offset_total(const void *left, const void *right)
{
    const struct graph_built_edge *a = left, *b = right;
    if (a->edge.source != b->edge.source)
        return a->edge.source < b->edge.source ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Copies the edges into the graph by source; duplicates are dropped or refused. */
static enum status place_edges(struct graph_builder *builder, struct error *error)
{
    struct graph *graph = builder->graph;
    graph->edges = arena_alloc(&graph->arena, builder->edge_count, sizeof *graph->edges);
    graph->out_start = arena_alloc(&graph->arena, builder->op_count + 1, sizeof *graph->out_start);
    uint32_t *stamp = memory_alloc(builder->op_count, sizeof *stamp); /* last source seen for each target, from 1 */
    enum status status = STATUS_OK;
    if (builder->edge_count)
        qsort(builder->edges, builder->edge_count, sizeof *builder->edges, by_source_then_offset_total);
    for (size_t i = 0; i < builder->edge_count && status == STATUS_OK; i++) {
        struct graph_edge edge = builder->edges[i].edge;
        if (stamp[edge.target] != edge.source + 1) {
            graph->edges[graph->edge_count++] = edge;
            graph->out_start[edge.source + 1]++;
        } else if (!builder->collapses_duplicates) {
            status =
                graph_build_refuse(builder, builder->edges[i].offset, error, "edge %u -> %u is given twice; remove one",
                                   builder->ops[edge.source].op.id, builder->ops[edge.target].op.id);
        }
        stamp[edge.target] = edge.source + 1;
    }
    for (size_t op = 0; op < builder->op_count; op++)
        graph->out_start[op + 1] += graph->out_start[op];
    free(stamp);
    return status;
}

static enum status make_edges(struct graph_builder *builder, struct error *error)
{
    struct id_entry *index = memory_alloc(builder->op_count, sizeof *index);
    enum status status = index_ids(builder, index, error);
    if (status == STATUS_OK)
        status = resolve_edges(builder, index, error);
    if (status == STATUS_OK)
        status = place_edges(builder, error);
    free(index);
    return status;
}

static void index_in_edges(struct graph *graph)
{
    graph->in_start = arena_alloc(&graph->arena, (size_t)graph->op_count + 1, sizeof *graph->in_start);
    graph->in_edge = arena_alloc(&graph->arena, graph->edge_count, sizeof *graph->in_edge);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->in_start[graph->edges[i].target + 1]++;
    for (uint32_t i = 0; i < graph->op_count; i++)
        graph->in_start[i + 1] += graph->in_start[i];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->in_edge[graph->in_start[graph->edges[i].target]++] = i;
    memmove(graph->in_start + 1, graph->in_start, graph->op_count * sizeof *graph->in_start);
    graph->in_start[0] = 0;
}

/* Kahn's queue is the order itself. Answers how many ops were reached; waiting keeps the unmet parents of each op. */
static uint32_t queue_ops(struct graph *graph, uint32_t *waiting)
{
    uint32_t queued = 0;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        waiting[i] = graph->in_start[i + 1] - graph->in_start[i];
        if (waiting[i] == 0)
            graph->order[queued++] = i;
    }
    for (uint32_t taken = 0; taken < queued; taken++) {
        uint32_t op = graph->order[taken];
        for (uint32_t e = graph->out_start[op]; e < graph->out_start[op + 1]; e++) {
            require(waiting[graph->edges[e].target] > 0);
            if (--waiting[graph->edges[e].target] == 0)
                graph->order[queued++] = graph->edges[e].target;
        }
    }
    return queued;
}

/* Every op that was never queued has a parent that was never queued. */
static uint32_t waiting_parent(const struct graph *graph, const uint32_t *waiting, uint32_t op)
{
    uint32_t i = graph->in_start[op];
    while (waiting[graph->edges[graph->in_edge[i]].source] == 0) {
        i++;
        require(i < graph->in_start[op + 1]);
    }
    return graph->edges[graph->in_edge[i]].source;
}

/* An op on a cycle: going up from parent to parent must come round. */
static uint32_t find_cycle(const struct graph *graph, const uint32_t *waiting)
{
    unsigned char *is_seen = memory_alloc(graph->op_count, 1);
    uint32_t op = 0;
    while (waiting[op] == 0)
        op++;
    while (!is_seen[op]) {
        is_seen[op] = 1;
        op = waiting_parent(graph, waiting, op);
    }
    free(is_seen);
    return op;
}

static enum status refuse_cycle(const struct graph_builder *builder, const uint32_t *waiting, struct error *error)
{
    const struct graph *graph = builder->graph;
    uint32_t last = find_cycle(graph, waiting);
    uint32_t named[CYCLE_NAMED];
    size_t length = 0;
    uint32_t op = last;
    do {
        named[length % CYCLE_NAMED] = op;
        length++;
        op = waiting_parent(graph, waiting, op);
    } while (op != last);
    /* The walk went against the edges, so the last op met is the first on the way along them. */
    char list[CYCLE_NAMED * 16 + 32] = "";
    for (size_t i = 0; i < length && i < CYCLE_NAMED; i++)
        text_append(list, sizeof list, "%u -> ", graph->ops[named[(length - 1 - i) % CYCLE_NAMED]].id);
    text_append(list, sizeof list, "%s%u", length > CYCLE_NAMED ? "... -> " : "",
                graph->ops[named[(length - 1) % CYCLE_NAMED]].id);
    return graph_build_refuse(builder, builder->ops[named[(length - 1) % CYCLE_NAMED]].offset, error,
                              "the edges run in a cycle of %zu ops: %s; remove one of these edges", length, list);
}

static enum status order_ops(struct graph_builder *builder, struct error *error)
{
    struct graph *graph = builder->graph;
    graph->order = arena_alloc(&graph->arena, graph->op_count, sizeof *graph->order);
    uint32_t *waiting = memory_alloc(graph->op_count, sizeof *waiting);
    enum status status = STATUS_OK;
    if (queue_ops(graph, waiting) < graph->op_count)
        status = refuse_cycle(builder, waiting, error);
    free(waiting);
    return status;
}

static enum status check_ops(const struct graph_builder *builder, struct error *error)
{
    if (builder->op_count < 2)
        return graph_build_refuse(
            builder, 0, error, "the graph has %zu op%s; a model needs at least 2 (an op that feeds, an op that ends)",
            builder->op_count, builder->op_count == 1 ? "" : "s");
    for (size_t i = 0; i < builder->op_count; i++)
        if (builder->ops[i].op.forward_ms > 0 || builder->ops[i].op.backward_ms > 0)
            return STATUS_OK;
    return graph_build_refuse(builder, builder->ops[0].offset, error,
                              "no op takes any time; give at least one op a forward or backward time above 0, e.g. "
                              "forward_ms 0.073");
}

enum status graph_build_finish(struct graph_builder *builder, struct graph **out, struct error *error)
{
    struct graph *graph = builder->graph;
    require(graph && graph->name && graph->device && graph->source);
    enum status status = check_ops(builder, error);
    if (status == STATUS_OK)
        status = make_edges(builder, error);
    if (status != STATUS_OK)
        return status;
    graph->op_count = (uint32_t)builder->op_count;
    graph->ops = arena_alloc(&graph->arena, builder->op_count, sizeof *graph->ops);
    for (size_t i = 0; i < builder->op_count; i++)
        graph->ops[i] = builder->ops[i].op;
    index_in_edges(graph);
    status = order_ops(builder, error);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 1; i < graph->op_count; i++)
        if (graph->ops[i].id > graph->ops[graph->last_op].id)
            graph->last_op = i;
    builder->graph = NULL;
    *out = graph;
    return STATUS_OK;
}
