/* Reads PipeDream's graph.txt, as the PAC-ML simulator reads it (its section 1):
 *
 *   node4 -- Embedding(32320, 1024) -- forward_compute_time=0.073, backward_compute_time=6.949,
 * activation_size=[6.0; 1.0], parameter_size=0.000 node1 -- node4
 *
 * Three fields or more make an op: its number, free text, four costs taken by
 * position; a list is summed from left to right. Two fields make an edge,
 * indented by a tab. Duplicate edges collapse. Edges may come before their ops.
 * O(length) here; the builder sorts.
 */
#include "graph/graph_build.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 3, NUMBER_MAX = 63 };

static const char SEPARATOR[] = " -- ";
static const char NODE_EXAMPLE[] =
    "node4 -- Embedding -- forward_compute_time=0.073, backward_compute_time=6.949, activation_size=6291456.0, "
    "parameter_size=132382720.000";

struct fields {
    struct graph_span part[FIELDS_MAX];
    size_t count; /* of all, also those beyond FIELDS_MAX */
};

static struct graph_span trim(struct graph_span span)
{
    while (span.length > 0 && (span.start[span.length - 1] == ' ' || span.start[span.length - 1] == '\t' ||
                               span.start[span.length - 1] == '\r'))
        span.length--;
    while (span.length > 0 && (*span.start == ' ' || *span.start == '\t')) {
        span.start++;
        span.length--;
    }
    return span;
}

/* Cuts the text up to the first separator off rest. */
static struct graph_span cut(struct graph_span *rest, const char *separator)
{
    size_t width = strlen(separator);
    const char *found = rest->length ? memmem(rest->start, rest->length, separator, width) : NULL;
    struct graph_span head = {rest->start, found ? (size_t)(found - rest->start) : rest->length};
    size_t used = head.length + (found ? width : 0);
    *rest = (struct graph_span){rest->start + used, rest->length - used};
    return head;
}

static struct fields split(struct graph_span line)
{
    struct fields fields = {.count = 0};
    const char *end = line.start + line.length;
    struct graph_span rest = line, part;
    do {
        part = cut(&rest, SEPARATOR);
        if (fields.count < FIELDS_MAX)
            fields.part[fields.count] = part;
        fields.count++;
    } while (part.start + part.length < end);
    return fields;
}

static size_t offset_in(const struct graph_builder *builder, struct graph_span span)
{
    require(span.start >= builder->text.start && span.start <= builder->text.start + builder->text.length);
    return (size_t)(span.start - builder->text.start);
}

static enum status read_id(const struct graph_builder *builder, struct graph_span field, uint32_t *out,
                           struct error *error)
{
    const char *tab = field.length ? memrchr(field.start, '\t', field.length) : NULL;
    struct graph_span name = field;
    if (tab)
        name = (struct graph_span){tab + 1, field.length - (size_t)(tab + 1 - field.start)};
    name = trim(name);
    uint64_t id = 0;
    bool is_good = name.length > 4 && memcmp(name.start, "node", 4) == 0;
    for (size_t i = 4; is_good && i < name.length; i++) {
        is_good = name.start[i] >= '0' && name.start[i] <= '9';
        id = id * 10 + (uint64_t)(name.start[i] - '0');
        is_good = is_good && id <= UINT32_MAX;
    }
    if (!is_good || id == 0)
        return graph_build_refuse(builder, offset_in(builder, name), error,
                                  "'%s' is no op; expected node and a number from 1 to 4294967295, e.g. node4",
                                  graph_quote(name).text);
    *out = (uint32_t)id;
    return STATUS_OK;
}

/* Decimal numbers only: strtod alone would also take hexadecimal, nan and inf. */
static bool read_number(struct graph_span span, double *out)
{
    char text[NUMBER_MAX + 1];
    if (span.length == 0 || span.length > NUMBER_MAX)
        return false;
    memcpy(text, span.start, span.length);
    text[span.length] = '\0';
    if (strspn(text, "0123456789+-.eE") != span.length)
        return false;
    char *end;
    double value = strtod(text, &end);
    if (end != text + span.length)
        return false;
    *out = value;
    return true;
}

/* A number, or a list of numbers in brackets, summed from left to right. */
static bool read_value(struct graph_span span, double *out)
{
    if (span.length == 0 || span.start[0] != '[')
        return read_number(span, out);
    if (span.length < 3 || span.start[span.length - 1] != ']')
        return false;
    struct graph_span rest = {span.start + 1, span.length - 2}, item;
    const char *end = rest.start + rest.length;
    double sum = 0;
    do {
        double value;
        item = cut(&rest, ";");
        if (!read_number(trim(item), &value) || !(value >= 0))
            return false;
        sum += value;
    } while (item.start + item.length < end);
    *out = sum;
    return true;
}

static enum status read_costs(const struct graph_builder *builder, struct graph_span field, struct graph_op *op,
                              struct error *error)
{
    struct graph_span rest = field;
    for (int cost = 0; cost < GRAPH_TEMPORARY; cost++) { /* which it does not know */
        struct graph_span item = trim(cut(&rest, ","));
        const char *equals = item.length ? memchr(item.start, '=', item.length) : NULL;
        if (!equals)
            return graph_build_refuse(builder, offset_in(builder, item), error,
                                      "'%s' should be cost number %d of the op, name=value; an op looks like: %s",
                                      graph_quote(item).text, cost + 1, NODE_EXAMPLE);
        struct graph_span text = {equals + 1, item.length - (size_t)(equals + 1 - item.start)};
        double value;
        if (!read_value(trim(text), &value) || !graph_cost_set(op, (enum graph_cost)cost, value))
            return graph_build_refuse_cost(builder, offset_in(builder, text), (enum graph_cost)cost, trim(text), error);
    }
    return STATUS_OK;
}

static enum status read_op(struct graph_builder *builder, const struct fields *fields, struct error *error)
{
    struct graph_built_op op = {.offset = offset_in(builder, fields->part[0])};
    enum status status = read_id(builder, fields->part[0], &op.op.id, error);
    if (status == STATUS_OK)
        status = read_costs(builder, fields->part[2], &op.op, error);
    if (status != STATUS_OK)
        return status;
    op.op.kind = arena_text(&builder->graph->arena, fields->part[1].start, fields->part[1].length);
    return graph_build_add_op(builder, op, error);
}

static enum status read_line(struct graph_builder *builder, struct graph_span line, struct error *error)
{
    size_t offset = offset_in(builder, line);
    if (line.length > GRAPH_TEXT_MAX)
        return graph_build_refuse(builder, offset, error,
                                  "a line of %zu bytes; at most %d are allowed: one op or one edge per line",
                                  line.length, GRAPH_TEXT_MAX);
    struct fields fields = split(line);
    if (fields.count > 2)
        return read_op(builder, &fields, error);
    if (fields.count < 2)
        return graph_build_refuse(builder, offset, error,
                                  "'%s' is neither an op (%s) nor an edge (node1 -- node4), and a JSON model begins "
                                  "with {; is this a model file?",
                                  graph_quote(line).text, NODE_EXAMPLE);
    struct graph_built_edge edge = {.offset = offset};
    enum status status = read_id(builder, fields.part[0], &edge.edge.source, error);
    if (status == STATUS_OK)
        status = read_id(builder, fields.part[1], &edge.edge.target, error);
    return status == STATUS_OK ? graph_build_add_edge(builder, edge, error) : status;
}

/* The model is called after its file, or after the folder of a file called graph.txt. */
static const char *model_name(struct arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    if (strcmp(base, "graph.txt") == 0 && slash > file) {
        const char *folder = slash;
        while (folder > file && folder[-1] != '/')
            folder--;
        if (folder < slash && *folder != '.')
            return arena_text(arena, folder, (size_t)(slash - folder));
    }
    const char *dot = strrchr(base, '.');
    size_t length = dot > base ? (size_t)(dot - base) : strlen(base);
    return length ? arena_text(arena, base, length) : "model";
}

enum status graph_read_pipedream(const char *text, size_t length, const char *file, struct graph **out,
                                 struct error *error)
{
    struct graph_builder builder;
    enum status status = graph_build_start(&builder, (struct graph_span){text, length}, file, error);
    builder.collapses_duplicates = true;
    builder.graph->name = model_name(&builder.graph->arena, file);
    builder.graph->device = "";
    builder.graph->source = "PipeDream profile";
    struct graph_span rest = builder.text;
    while (status == STATUS_OK && rest.length > 0) {
        struct graph_span line = cut(&rest, "\n");
        if (line.length > 0 && line.start[line.length - 1] == '\r')
            line.length--;
        if (trim(line).length > 0)
            status = read_line(&builder, line, error);
    }
    if (status == STATUS_OK)
        status = graph_build_finish(&builder, out, error);
    graph_build_end(&builder);
    return status;
}
