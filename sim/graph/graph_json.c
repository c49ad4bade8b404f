/* Model files in JSON, ocsim's own format (models/README.md): reading and writing.
 *
 * cJSON parses; its tree is turned into the builder's ops and edges and freed.
 * The tree knows no places, so a message's place is found by walking the text
 * again down a path of child numbers: only when something is wrong, O(length).
 *
 * cJSON notes its last error in a static of its own, so models are to be read
 * from one thread at a time.
 *
 * Writing is exact: a number is printed with the fewest of 15, 16 or 17 digits
 * that read back to the same double. Reading what was written gives the same
 * graph, bit by bit. O(length) both ways.
 */
#include "graph/graph_build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "input/text.h"

enum { PATH_MAX_DEPTH = 3, EDGES_PER_LINE = 8 };

static const char FORMAT[] = "ocsim-model-1";
static const double BATCH_MAX = 9007199254740992.0; /* 2^53: every whole number up to here is a double */

struct member {
    const char *name;
    int type; /* of cJSON */
    const char *example;
    bool is_optional;
};

enum { ROOT_FORMAT, ROOT_NAME, ROOT_DEVICE, ROOT_BATCH, ROOT_SOURCE, ROOT_OPS, ROOT_EDGES, ROOT_PASS, ROOT_MEMBERS };
static const struct member root_members[ROOT_MEMBERS] = {
    [ROOT_FORMAT] = {"format", cJSON_String, "\"ocsim-model-1\""},
    [ROOT_NAME] = {"name", cJSON_String, "\"alexnet\""},
    [ROOT_DEVICE] = {"device", cJSON_String, "\"V100\", or \"\" where it is not known"},
    [ROOT_BATCH] = {"batch", cJSON_Number, "128, or 0 where it is not known"},
    [ROOT_SOURCE] = {"source", cJSON_String, "\"measured with ...\""},
    [ROOT_OPS] = {"ops", cJSON_Array, "[{\"id\": 1, ...}, ...]"},
    [ROOT_EDGES] = {"edges", cJSON_Array, "[[1, 2], [2, 3]]"},
    [ROOT_PASS] = {"pass", cJSON_String, "\"whole\"", .is_optional = true},
};

enum { OP_ID, OP_KIND, OP_COSTS, OP_MEMBERS = OP_COSTS + GRAPH_COSTS };
static const struct member op_members[OP_MEMBERS] = {
    [OP_ID] = {"id", cJSON_Number, "4"},
    [OP_KIND] = {"kind", cJSON_String, "\"Embedding(32320, 1024)\""},
    [OP_COSTS + GRAPH_FORWARD] = {"forward_ms", cJSON_Number, "0.073"},
    [OP_COSTS + GRAPH_BACKWARD] = {"backward_ms", cJSON_Number, "6.949"},
    [OP_COSTS + GRAPH_ACTIVATION] = {"activation_bytes", cJSON_Number, "6291456"},
    [OP_COSTS + GRAPH_PARAMETER] = {"parameter_bytes", cJSON_Number, "132382720"},
    [OP_COSTS + GRAPH_TEMPORARY] = {"temporary_bytes", cJSON_Number, "1048576", .is_optional = true},
};

/* The members found in one object, in the order of its table. */
struct found {
    const cJSON *item[ROOT_MEMBERS];
    size_t ordinal[ROOT_MEMBERS]; /* which child of the object it is */
};

/* A value's place in the tree: the child to take at each level. */
struct path {
    size_t child[PATH_MAX_DEPTH];
    size_t depth;
};

static struct path path_to(struct path base, size_t child)
{
    require(base.depth < PATH_MAX_DEPTH);
    struct path longer = base; /* clang 14 at -O2 loses changes made to the parameter itself */
    longer.child[longer.depth++] = child;
    return longer;
}

/* cJSON takes every byte up to the blank as blank; so must the walk. */
static size_t skip_blank(struct graph_span text, size_t at)
{
    while (at < text.length && (unsigned char)text.start[at] <= ' ')
        at++;
    return at;
}

static size_t skip_string(struct graph_span text, size_t at)
{
    for (at++; at < text.length && text.start[at] != '"'; at++)
        if (text.start[at] == '\\')
            at++;
    return at < text.length ? at + 1 : text.length;
}

/* Where the given child of the object or array that opens at `at` begins. */
static size_t offset_of_child(struct graph_span text, size_t at, size_t child)
{
    size_t depth = 0;
    for (at = skip_blank(text, at + 1); at < text.length && child > 0;) {
        char c = text.start[at];
        if (c == '"') {
            at = skip_string(text, at);
            continue;
        }
        if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && depth-- == 0)
            return at;
        else if (c == ',' && depth == 0)
            child--;
        at++;
    }
    return skip_blank(text, at);
}

static size_t offset_of_path(struct graph_span text, struct path path)
{
    size_t at = skip_blank(text, 0);
    for (size_t i = 0; i < path.depth; i++) {
        if (at < text.length && text.start[at] == '"') /* a member: go on to its value, behind the colon */
            at = skip_blank(text, skip_blank(text, skip_string(text, at)) + 1);
        at = offset_of_child(text, at, path.child[i]);
    }
    return at;
}

struct reader {
    struct graph_builder builder;
    struct found root;
};

static size_t offset_of_part(const struct graph_builder *builder, enum graph_part part, size_t position)
{
    const struct reader *reader = builder->reader;
    size_t list = reader->root.ordinal[part == GRAPH_PART_OP ? ROOT_OPS : ROOT_EDGES];
    return offset_of_path(builder->text, (struct path){{list, position}, 2});
}

#define refuse_path(reader, path, error, ...)                                                                          \
    graph_build_refuse(&(reader)->builder, offset_of_path((reader)->builder.text, path), error, __VA_ARGS__)

static struct graph_quote quote(const char *text)
{
    return graph_quote((struct graph_span){text, strlen(text)});
}

static const char *type_name(int type)
{
    switch (type & 0xFF) {
    case cJSON_String:
        return "a text";
    case cJSON_Number:
        return "a number";
    case cJSON_Array:
        return "a list";
    case cJSON_Object:
        return "an object";
    case cJSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static const char *nearest(const char *name, const struct member *members, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (text_distance(name, members[i].name) < text_distance(name, members[best].name))
            best = i;
    return members[best].name;
}

static enum status refuse_unknown(const struct reader *reader, struct path path, const char *name,
                                  const struct member *members, size_t count, struct error *error)
{
    char list[256];
    int used = 0;
    for (size_t i = 0; i < count; i++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", i ? ", " : "", members[i].name);
    require(used < (int)sizeof list);
    return refuse_path(reader, path, error, "unknown member '%s'; did you mean '%s'? The members here are: %s",
                       quote(name).text, nearest(name, members, count), list);
}

static enum status check_member(const struct reader *reader, struct path path, const cJSON *item,
                                const struct member *member, struct error *error)
{
    if ((item->type & 0xFF) != member->type)
        return refuse_path(reader, path, error, "'%s' is %s; it must be %s, e.g. %s", member->name,
                           type_name(item->type), type_name(member->type), member->example);
    if (cJSON_IsString(item) && strlen(item->valuestring) > GRAPH_TEXT_MAX)
        return refuse_path(reader, path, error, "'%s' is a text of %zu bytes; at most %d are allowed", member->name,
                           strlen(item->valuestring), GRAPH_TEXT_MAX);
    return STATUS_OK;
}

/* Every member of the object must be known, given once, of its type; and only optional ones may miss. */
static enum status find_members(const struct reader *reader, struct path path, const cJSON *object,
                                const struct member *members, size_t count, struct found *out, struct error *error)
{
    struct found found = {.item = {NULL}};
    size_t ordinal = 0;
    require(count <= ROOT_MEMBERS);
    for (const cJSON *item = object->child; item; item = item->next, ordinal++) {
        size_t i = 0;
        while (i < count && strcmp(item->string, members[i].name) != 0)
            i++;
        if (i == count)
            return refuse_unknown(reader, path_to(path, ordinal), item->string, members, count, error);
        if (found.item[i])
            return refuse_path(reader, path_to(path, ordinal), error, "member '%s' is given twice; remove one",
                               members[i].name);
        enum status status = check_member(reader, path_to(path, ordinal), item, &members[i], error);
        if (status != STATUS_OK)
            return status;
        found.item[i] = item;
        found.ordinal[i] = ordinal;
    }
    for (size_t i = 0; i < count; i++)
        if (!found.item[i] && !members[i].is_optional)
            return refuse_path(reader, path, error, "member '%s' is missing; add it, e.g. \"%s\": %s", members[i].name,
                               members[i].name, members[i].example);
    *out = found;
    return STATUS_OK;
}

static bool is_whole(double value, double least, double most)
{
    return value >= least && value <= most && value == (double)(int64_t)value;
}

/* What the file says where the value of the member at path stands. */
static struct graph_span value_text(const struct reader *reader, struct path path)
{
    struct graph_span text = reader->builder.text;
    size_t at = offset_of_path(text, path);
    if (at < text.length && text.start[at] == '"')
        at = skip_blank(text, skip_blank(text, skip_string(text, at)) + 1);
    size_t end = at;
    while (end < text.length && !strchr(",]} \t\r\n", text.start[end]))
        end++;
    return (struct graph_span){text.start + at, end - at};
}

static enum status read_op(struct reader *reader, const cJSON *item, size_t position, struct error *error)
{
    struct path path = {{reader->root.ordinal[ROOT_OPS], position}, 2};
    struct found found = {0};
    if (!cJSON_IsObject(item))
        return refuse_path(reader, path, error, "op number %zu is %s; it must be an object, e.g. {\"id\": 4, ...}",
                           position + 1, type_name(item->type));
    enum status status = find_members(reader, path, item, op_members, OP_MEMBERS, &found, error);
    if (status != STATUS_OK)
        return status;
    double id = found.item[OP_ID]->valuedouble;
    if (!is_whole(id, 1, UINT32_MAX))
        return refuse_path(reader, path_to(path, found.ordinal[OP_ID]), error,
                           "'id' is %s; it must be a whole number from 1 to 4294967295, e.g. 4",
                           graph_quote(value_text(reader, path_to(path, found.ordinal[OP_ID]))).text);
    struct graph_op op = {.id = (uint32_t)id};
    for (size_t i = 0; i < GRAPH_COSTS; i++) {
        const cJSON *cost = found.item[OP_COSTS + i];
        if (!cost || graph_cost_set(&op, (enum graph_cost)i, cost->valuedouble))
            continue;
        struct path place = path_to(path, found.ordinal[OP_COSTS + i]);
        status = graph_build_refuse_cost(&reader->builder, offset_of_path(reader->builder.text, place),
                                         (enum graph_cost)i, value_text(reader, place), error);
        return error ? error_wrap(error, "op %u", op.id) : status;
    }
    const char *kind = found.item[OP_KIND]->valuestring;
    op.kind = arena_text(&reader->builder.graph->arena, kind, strlen(kind));
    return graph_build_add_op(&reader->builder, &op, error);
}

static enum status read_edge(struct reader *reader, const cJSON *item, size_t position, struct error *error)
{
    const cJSON *source = cJSON_IsArray(item) ? item->child : NULL;
    const cJSON *target = source ? source->next : NULL;
    if (!target || target->next || !cJSON_IsNumber(source) || !cJSON_IsNumber(target) ||
        !is_whole(source->valuedouble, 1, UINT32_MAX) || !is_whole(target->valuedouble, 1, UINT32_MAX))
        return graph_build_refuse(&reader->builder, offset_of_part(&reader->builder, GRAPH_PART_EDGE, position), error,
                                  "edge number %zu must be a list of two ids, each a whole number from 1 to "
                                  "4294967295, e.g. [1, 4]",
                                  position + 1);
    return graph_build_add_edge(&reader->builder, (uint32_t)source->valuedouble, (uint32_t)target->valuedouble, error);
}

static enum status read_lists(struct reader *reader, struct error *error)
{
    enum status status = STATUS_OK;
    size_t position = 0;
    for (const cJSON *op = reader->root.item[ROOT_OPS]->child; op && status == STATUS_OK; op = op->next)
        status = read_op(reader, op, position++, error);
    position = 0;
    for (const cJSON *edge = reader->root.item[ROOT_EDGES]->child; edge && status == STATUS_OK; edge = edge->next)
        status = read_edge(reader, edge, position++, error);
    return status;
}

static const char *keep_text(struct reader *reader, int member)
{
    const char *text = reader->root.item[member]->valuestring;
    return arena_text(&reader->builder.graph->arena, text, strlen(text));
}

static enum status read_header(struct reader *reader, struct error *error)
{
    const struct found *root = &reader->root;
    struct graph *graph = reader->builder.graph;
    const char *format = root->item[ROOT_FORMAT]->valuestring;
    if (strcmp(format, FORMAT) != 0)
        return refuse_path(reader, ((struct path){{root->ordinal[ROOT_FORMAT]}, 1}), error,
                           "'format' is '%s'; this ocsim reads '%s'", quote(format).text, FORMAT);
    double batch = root->item[ROOT_BATCH]->valuedouble;
    if (!is_whole(batch, 0, BATCH_MAX))
        return refuse_path(reader, ((struct path){{root->ordinal[ROOT_BATCH]}, 1}), error,
                           "'batch' is %g; it must be a whole number from 0 (not known) to 2^53, e.g. 128", batch);
    graph->batch = (int64_t)batch;
    const char *pass = root->item[ROOT_PASS] ? root->item[ROOT_PASS]->valuestring : "forward";
    graph->is_whole_step = strcmp(pass, "whole") == 0;
    if (!graph->is_whole_step && strcmp(pass, "forward") != 0)
        return refuse_path(reader, ((struct path){{root->ordinal[ROOT_PASS]}, 1}), error,
                           "'pass' is '%s'; it must be \"forward\" (the backward pass is its mirror) or \"whole\"",
                           quote(pass).text);
    graph->name = keep_text(reader, ROOT_NAME);
    graph->device = keep_text(reader, ROOT_DEVICE);
    graph->source = keep_text(reader, ROOT_SOURCE);
    if (graph->name[0] == '\0')
        return refuse_path(reader, ((struct path){{root->ordinal[ROOT_NAME]}, 1}), error,
                           "'name' is empty; name the model, e.g. \"alexnet\"");
    return STATUS_OK;
}

static enum status read_tree(struct reader *reader, const cJSON *tree, struct graph **out, struct error *error)
{
    if (!cJSON_IsObject(tree))
        return graph_build_refuse(&reader->builder, 0, error,
                                  "the file holds %s; a model is an object: {\"format\": ...}", type_name(tree->type));
    enum status status =
        find_members(reader, (struct path){{0}, 0}, tree, root_members, ROOT_MEMBERS, &reader->root, error);
    if (status == STATUS_OK)
        status = read_header(reader, error);
    if (status == STATUS_OK)
        status = read_lists(reader, error);
    return status == STATUS_OK ? graph_build_finish(&reader->builder, out, error) : status;
}

/* How many lists and objects are open at offset. */
static size_t depth_at(struct graph_span text, size_t offset)
{
    size_t depth = 0;
    for (size_t at = 0; at < offset && at < text.length;) {
        char c = text.start[at];
        depth += c == '[' || c == '{';
        depth -= (c == ']' || c == '}') && depth > 0;
        at = c == '"' ? skip_string(text, at) : at + 1;
    }
    return depth;
}

static enum status refuse_syntax(const struct reader *reader, size_t offset, struct error *error)
{
    struct graph_span text = reader->builder.text;
    size_t last = text.length; /* blanks at the end do not count: the text broke off before them */
    while (last > 0 && (unsigned char)text.start[last - 1] <= ' ')
        last--;
    if (offset < text.length && depth_at(text, offset) >= CJSON_NESTING_LIMIT)
        return graph_build_refuse(&reader->builder, offset, error,
                                  "lists within lists, more than %d deep; a model needs only 3", CJSON_NESTING_LIMIT);
    if (offset + 1 >= last)
        return graph_build_refuse(&reader->builder, last, error,
                                  "the text ends before the JSON does; close every bracket and quote");
    size_t left = last - offset;
    return graph_build_refuse(&reader->builder, offset, error,
                              "this is not JSON, from '%s' on; look for a missing comma, quote or bracket, or a value "
                              "that is neither a number, a \"text\", a [list] nor an {object}",
                              graph_quote((struct graph_span){text.start + offset, left < 16 ? left : 16}).text);
}

/* The escape \u0000 would cut a C string short: 'id\u0000x' would read as 'id'. */
static enum status check_escapes(const struct reader *reader, struct error *error)
{
    struct graph_span text = reader->builder.text;
    for (size_t at = 0; at + 6 <= text.length; at++) {
        if (text.start[at] != '\\')
            continue;
        if (memcmp(text.start + at, "\\u0000", 6) == 0)
            return graph_build_refuse(&reader->builder, at, error, "the character \\u0000 is not allowed; remove it");
        at++; /* whatever is escaped, it escapes nothing itself */
    }
    return STATUS_OK;
}

static enum status parse(struct reader *reader, struct graph **out, struct error *error)
{
    struct graph_span text = reader->builder.text;
    enum status status = check_escapes(reader, error);
    if (status != STATUS_OK)
        return status;
    const char *end = text.start;
    errno = 0;
    cJSON *tree = cJSON_ParseWithLengthOpts(text.start, text.length, &end, 0);
    size_t offset = (size_t)(end - text.start);
    if (!tree && errno == ENOMEM) /* cJSON tells no memory and bad text apart in no other way */
        memory_exhausted(text.length, sizeof *tree);
    if (!tree)
        return refuse_syntax(reader, offset, error);
    offset = skip_blank(text, offset);
    if (offset < text.length)
        status = graph_build_refuse(&reader->builder, offset, error,
                                    "there is more text behind the model; remove it, from '%s' on",
                                    graph_quote((struct graph_span){text.start + offset, text.length - offset}).text);
    else
        status = read_tree(reader, tree, out, error);
    cJSON_Delete(tree);
    return status;
}

enum status graph_read_json(const char *text, size_t length, const char *file, struct graph **out, struct error *error)
{
    struct reader reader = {.root = {.item = {NULL}}};
    enum status status = graph_build_start(&reader.builder, (struct graph_span){text, length}, file, error);
    reader.builder.offset_of = offset_of_part;
    reader.builder.reader = &reader;
    if (status == STATUS_OK)
        status = parse(&reader, out, error);
    graph_build_end(&reader.builder);
    return status;
}

struct writer {
    char *text;
    size_t length, capacity;
};

static void put_bytes(struct writer *writer, const char *text, size_t length)
{
    writer->text = memory_grow(writer->text, &writer->capacity, writer->length + length + 1, 1);
    memcpy(writer->text + writer->length, text, length);
    writer->length += length;
    writer->text[writer->length] = '\0';
}

static void __attribute__((format(printf, 2, 3))) put(struct writer *writer, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    require(length >= 0 && (size_t)length < sizeof piece);
    put_bytes(writer, piece, (size_t)length);
}

static bool is_plain(char c)
{
    return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

static void put_text(struct writer *writer, const char *text)
{
    put(writer, "\"");
    while (*text) {
        size_t plain = 0;
        while (text[plain] && is_plain(text[plain]))
            plain++;
        put_bytes(writer, text, plain);
        text += plain;
        if (*text == '"' || *text == '\\')
            put(writer, "\\%c", *text++);
        else if (*text)
            put(writer, "\\u%04x", (unsigned)*text++);
    }
    put(writer, "\"");
}

static void put_number(struct writer *writer, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put(writer, "%s", text);
}

static void put_op(struct writer *writer, const struct graph_op *op)
{
    const double values[GRAPH_COSTS] = {op->forward_ms, op->backward_ms, op->activation_bytes, op->parameter_bytes,
                                        op->temporary_bytes};
    put(writer, "    {\"id\": %" PRIu32 ", \"kind\": ", op->id);
    put_text(writer, op->kind);
    for (int i = 0; i < GRAPH_COSTS; i++) {
        if (op_members[OP_COSTS + i].is_optional && values[i] == 0)
            continue;
        put(writer, ", \"%s\": ", op_members[OP_COSTS + i].name);
        put_number(writer, values[i]);
    }
    put(writer, "}");
}

/* One line for the edges of one op, more when it has many. */
static void put_edges(struct writer *writer, const struct graph *graph)
{
    for (uint32_t op = 0; op < graph->op_count; op++) {
        for (uint32_t e = graph->out_start[op]; e < graph->out_start[op + 1]; e++) {
            bool is_line_start = (e - graph->out_start[op]) % EDGES_PER_LINE == 0;
            put(writer, "%s%s[%" PRIu32 ", %" PRIu32 "]", e ? "," : "", is_line_start ? "\n    " : " ",
                graph->ops[op].id, graph->ops[graph->edges[e].target].id);
        }
    }
}

char *graph_to_json(const struct graph *graph)
{
    require(graph->op_count > 0);
    struct writer writer = {.text = NULL};
    put(&writer, "{\n  \"format\": \"%s\",\n  \"name\": ", FORMAT);
    put_text(&writer, graph->name);
    put(&writer, ",\n  \"device\": ");
    put_text(&writer, graph->device);
    put(&writer, ",\n  \"batch\": %" PRId64 ",\n  \"source\": ", graph->batch);
    put_text(&writer, graph->source);
    put(&writer, "%s,\n  \"ops\": [", graph->is_whole_step ? ",\n  \"pass\": \"whole\"" : "");
    for (uint32_t i = 0; i < graph->op_count; i++) {
        put(&writer, "%s\n", i ? "," : "");
        put_op(&writer, &graph->ops[i]);
    }
    put(&writer, "\n  ],\n  \"edges\": [");
    put_edges(&writer, graph);
    put(&writer, "%s]\n}\n", graph->edge_count ? "\n  " : "");
    return writer.text;
}
