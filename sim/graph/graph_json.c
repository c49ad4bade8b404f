/* Model files in JSON, ocsim's own format (models/README.md): reading and writing.
 *
 * cJSON parses; its tree is turned into the builder's ops and edges and freed.
 * The tree knows no places: those of ops and edges are found by walking through
 * the text beside it, those within an op only when something is wrong.
 *
 * cJSON notes its last error in a static of its own, so models are to be read
 * from one thread at a time.
 *
 * Writing is exact: a number is printed with the fewest digits that read back to
 * the same double. Reading what was written gives the same
 * graph, bit by bit. O(length) both ways.
 */
#include "graph/graph_build.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "input/text.h"
#include "input/units.h"

enum { EDGES_PER_LINE = 8 };

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
    size_t at; /* where the object opens in the text */
    const cJSON *item[ROOT_MEMBERS];
    size_t ordinal[ROOT_MEMBERS]; /* which child of the object it is */
};

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

/* Where the value or member begins that follows the one at `at` in its list or object; behind the last one, the
 * bracket that closes it. */
static size_t next_child(struct graph_span text, size_t at)
{
    size_t depth = 0;
    while (at < text.length) {
        char c = text.start[at];
        if (c == '"') {
            at = skip_string(text, at);
            continue;
        }
        if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && depth-- == 0)
            break;
        else if (c == ',' && depth == 0)
            return skip_blank(text, at + 1);
        at++;
    }
    return at;
}

/* Where the given child of the object or list that opens at `at` begins. */
static size_t offset_of_child(struct graph_span text, size_t at, size_t child)
{
    for (at = skip_blank(text, at + 1); child > 0; child--)
        at = next_child(text, at);
    return at;
}

/* Where the value of the member at `at` begins: behind the colon. */
static size_t offset_of_value(struct graph_span text, size_t at)
{
    return skip_blank(text, skip_blank(text, skip_string(text, at)) + 1);
}

static const char *keep_text(struct graph_builder *builder, const cJSON *item)
{
    return arena_text(&builder->graph->arena, item->valuestring, strlen(item->valuestring));
}

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

static enum status refuse_unknown(const struct graph_builder *builder, size_t at, const char *name,
                                  const struct member *members, size_t count, struct error *error)
{
    char list[256] = "";
    struct text_search search = {.word = name, .limit = INT_MAX, .nearest = members[0].name};
    for (size_t i = 0; i < count; i++) {
        text_append(list, sizeof list, "%s%s", i ? ", " : "", members[i].name);
        text_offer(&search, members[i].name);
    }
    return graph_build_refuse(builder, at, error, "unknown member '%s'; did you mean '%s'? The members here are: %s",
                              quote(name).text, search.nearest, list);
}

static size_t offset_of_member(const struct graph_builder *builder, const struct found *found, size_t member)
{
    return offset_of_child(builder->text, found->at, found->ordinal[member]);
}

static enum status check_member(const struct graph_builder *builder, const struct found *found, size_t i,
                                const struct member *member, struct error *error)
{
    const cJSON *item = found->item[i];
    if ((item->type & 0xFF) != member->type)
        return graph_build_refuse(builder, offset_of_member(builder, found, i), error,
                                  "'%s' is %s; it must be %s, e.g. %s", member->name, type_name(item->type),
                                  type_name(member->type), member->example);
    if (cJSON_IsString(item) && strlen(item->valuestring) > GRAPH_TEXT_MAX)
        return graph_build_refuse(builder, offset_of_member(builder, found, i), error,
                                  "'%s' is a text of %zu bytes; at most %d are allowed", member->name,
                                  strlen(item->valuestring), GRAPH_TEXT_MAX);
    return STATUS_OK;
}

/* Every member of the object at `at` must be known, given once, of its type; and only optional ones may miss. */
static enum status find_members(const struct graph_builder *builder, size_t at, const cJSON *object,
                                const struct member *members, size_t count, struct found *found, struct error *error)
{
    struct graph_span text = builder->text;
    size_t ordinal = 0;
    require(count <= ROOT_MEMBERS);
    *found = (struct found){.at = at};
    for (const cJSON *item = object->child; item; item = item->next, ordinal++) {
        size_t i = 0;
        while (i < count && strcmp(item->string, members[i].name) != 0)
            i++;
        if (i == count)
            return refuse_unknown(builder, offset_of_child(text, at, ordinal), item->string, members, count, error);
        if (found->item[i])
            return graph_build_refuse(builder, offset_of_child(text, at, ordinal), error,
                                      "member '%s' is given twice; remove one", members[i].name);
        found->item[i] = item;
        found->ordinal[i] = ordinal;
        enum status status = check_member(builder, found, i, &members[i], error);
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < count; i++)
        if (!found->item[i] && !members[i].is_optional)
            return graph_build_refuse(builder, at, error, "member '%s' is missing; add it, e.g. \"%s\": %s",
                                      members[i].name, members[i].name, members[i].example);
    return STATUS_OK;
}

static bool is_whole(double value, double least, double most)
{
    return value >= least && value <= most && value == (double)(int64_t)value;
}

/* What the file says where the value of a member stands. */
static struct graph_span value_text(const struct graph_builder *builder, const struct found *found, size_t member)
{
    struct graph_span text = builder->text;
    size_t at = offset_of_value(text, offset_of_member(builder, found, member)), end = at;
    while (end < text.length && !strchr(",]} \t\r\n", text.start[end]))
        end++;
    return (struct graph_span){text.start + at, end - at};
}

static enum status read_op(struct graph_builder *builder, const cJSON *item, size_t at, struct error *error)
{
    struct found found;
    if (!cJSON_IsObject(item))
        return graph_build_refuse(builder, at, error,
                                  "op number %zu is %s; it must be an object, e.g. {\"id\": 4, ...}",
                                  builder->op_count + 1, type_name(item->type));
    enum status status = find_members(builder, at, item, op_members, OP_MEMBERS, &found, error);
    if (status != STATUS_OK)
        return status;
    double id = found.item[OP_ID]->valuedouble;
    if (!is_whole(id, 1, UINT32_MAX))
        return graph_build_refuse(builder, offset_of_member(builder, &found, OP_ID), error,
                                  "'id' is %s; it must be a whole number from 1 to 4294967295, e.g. 4",
                                  graph_quote(value_text(builder, &found, OP_ID)).text);
    struct graph_built_op op = {.op.id = (uint32_t)id, .offset = at};
    for (size_t i = 0; i < GRAPH_COSTS; i++) {
        const cJSON *cost = found.item[OP_COSTS + i];
        if (!cost || graph_cost_set(&op.op, (enum graph_cost)i, cost->valuedouble))
            continue;
        status = graph_build_refuse_cost(builder, offset_of_member(builder, &found, OP_COSTS + i), (enum graph_cost)i,
                                         value_text(builder, &found, OP_COSTS + i), error);
        return error ? error_wrap(error, "op %u", op.op.id) : status;
    }
    op.op.kind = keep_text(builder, found.item[OP_KIND]);
    return graph_build_add_op(builder, op, error);
}

static enum status read_edge(struct graph_builder *builder, const cJSON *item, size_t at, struct error *error)
{
    const cJSON *source = cJSON_IsArray(item) ? item->child : NULL;
    const cJSON *target = source ? source->next : NULL;
    if (!target || target->next || !cJSON_IsNumber(source) || !cJSON_IsNumber(target) ||
        !is_whole(source->valuedouble, 1, UINT32_MAX) || !is_whole(target->valuedouble, 1, UINT32_MAX))
        return graph_build_refuse(builder, at, error,
                                  "edge number %zu must be a list of two ids, each a whole number from 1 to "
                                  "4294967295, e.g. [1, 4]",
                                  builder->edge_count + 1);
    struct graph_edge ids = {(uint32_t)source->valuedouble, (uint32_t)target->valuedouble};
    return graph_build_add_edge(builder, (struct graph_built_edge){ids, at}, error);
}

typedef enum status read_item(struct graph_builder *builder, const cJSON *item, size_t at, struct error *error);

static enum status read_list(struct graph_builder *builder, const struct found *root, size_t member, read_item *read,
                             struct error *error)
{
    struct graph_span text = builder->text;
    size_t at = offset_of_child(text, offset_of_value(text, offset_of_member(builder, root, member)), 0);
    enum status status = STATUS_OK;
    for (const cJSON *item = root->item[member]->child; item && status == STATUS_OK; item = item->next) {
        status = read(builder, item, at, error);
        at = next_child(text, at);
    }
    return status;
}

static enum status read_header(struct graph_builder *builder, const struct found *root, struct error *error)
{
    struct graph *graph = builder->graph;
    const char *format = root->item[ROOT_FORMAT]->valuestring;
    if (strcmp(format, FORMAT) != 0)
        return graph_build_refuse(builder, offset_of_member(builder, root, ROOT_FORMAT), error,
                                  "'format' is '%s'; this ocsim reads '%s'", quote(format).text, FORMAT);
    double batch = root->item[ROOT_BATCH]->valuedouble;
    if (!is_whole(batch, 0, BATCH_MAX))
        return graph_build_refuse(builder, offset_of_member(builder, root, ROOT_BATCH), error,
                                  "'batch' is %g; it must be a whole number from 0 (not known) to 2^53, e.g. 128",
                                  batch);
    graph->batch = (int64_t)batch;
    const char *pass = root->item[ROOT_PASS] ? root->item[ROOT_PASS]->valuestring : "forward";
    graph->is_whole_step = strcmp(pass, "whole") == 0;
    if (!graph->is_whole_step && strcmp(pass, "forward") != 0)
        return graph_build_refuse(
            builder, offset_of_member(builder, root, ROOT_PASS), error,
            "'pass' is '%s'; it must be \"forward\" (the backward pass is its mirror) or \"whole\"", quote(pass).text);
    graph->name = keep_text(builder, root->item[ROOT_NAME]);
    graph->device = keep_text(builder, root->item[ROOT_DEVICE]);
    graph->source = keep_text(builder, root->item[ROOT_SOURCE]);
    if (graph->name[0] == '\0')
        return graph_build_refuse(builder, offset_of_member(builder, root, ROOT_NAME), error,
                                  "'name' is empty; name the model, e.g. \"alexnet\"");
    return STATUS_OK;
}

static enum status read_tree(struct graph_builder *builder, const cJSON *tree, struct graph **out, struct error *error)
{
    struct found root;
    if (!cJSON_IsObject(tree))
        return graph_build_refuse(builder, 0, error, "the file holds %s; a model is an object: {\"format\": ...}",
                                  type_name(tree->type));
    size_t at = skip_blank(builder->text, 0);
    enum status status = find_members(builder, at, tree, root_members, ROOT_MEMBERS, &root, error);
    if (status == STATUS_OK)
        status = read_header(builder, &root, error);
    if (status == STATUS_OK)
        status = read_list(builder, &root, ROOT_OPS, read_op, error);
    if (status == STATUS_OK)
        status = read_list(builder, &root, ROOT_EDGES, read_edge, error);
    return status == STATUS_OK ? graph_build_finish(builder, out, error) : status;
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

static enum status refuse_syntax(const struct graph_builder *builder, size_t offset, struct error *error)
{
    struct graph_span text = builder->text;
    size_t last = text.length; /* blanks at the end do not count: the text broke off before them */
    while (last > 0 && (unsigned char)text.start[last - 1] <= ' ')
        last--;
    if (offset < text.length && depth_at(text, offset) >= CJSON_NESTING_LIMIT)
        return graph_build_refuse(builder, offset, error, "lists within lists, more than %d deep; a model needs only 3",
                                  CJSON_NESTING_LIMIT);
    if (offset + 1 >= last)
        return graph_build_refuse(builder, last, error,
                                  "the text ends before the JSON does; close every bracket and quote");
    size_t left = last - offset;
    return graph_build_refuse(builder, offset, error,
                              "this is not JSON, from '%s' on; look for a missing comma, quote or bracket, or a value "
                              "that is neither a number, a \"text\", a [list] nor an {object}",
                              graph_quote((struct graph_span){text.start + offset, left < 16 ? left : 16}).text);
}

/* The escape \u0000 would cut a C string short: 'id\u0000x' would read as 'id'. */
static enum status check_escapes(const struct graph_builder *builder, struct error *error)
{
    struct graph_span text = builder->text;
    for (size_t at = 0; at + 6 <= text.length; at++) {
        if (text.start[at] != '\\')
            continue;
        if (memcmp(text.start + at, "\\u0000", 6) == 0)
            return graph_build_refuse(builder, at, error, "the character \\u0000 is not allowed; remove it");
        at++; /* whatever is escaped, it escapes nothing itself */
    }
    return STATUS_OK;
}

static enum status parse(struct graph_builder *builder, struct graph **out, struct error *error)
{
    struct graph_span text = builder->text;
    enum status status = check_escapes(builder, error);
    if (status != STATUS_OK)
        return status;
    const char *end = text.start;
    errno = 0;
    cJSON *tree = cJSON_ParseWithLengthOpts(text.start, text.length, &end, 0);
    size_t offset = (size_t)(end - text.start);
    if (!tree && errno == ENOMEM) /* cJSON tells no memory and bad text apart in no other way */
        memory_exhausted(text.length, sizeof *tree);
    if (!tree)
        return refuse_syntax(builder, offset, error);
    offset = skip_blank(text, offset);
    if (offset < text.length)
        status =
            graph_build_refuse(builder, offset, error, "there is more text behind the model; remove it, from '%s' on",
                               graph_quote((struct graph_span){text.start + offset, text.length - offset}).text);
    else
        status = read_tree(builder, tree, out, error);
    cJSON_Delete(tree);
    return status;
}

enum status graph_read_json(const char *text, size_t length, const char *file, struct graph **out, struct error *error)
{
    struct graph_builder builder;
    enum status status = graph_build_start(&builder, (struct graph_span){text, length}, file, error);
    if (status == STATUS_OK)
        status = parse(&builder, out, error);
    graph_build_end(&builder);
    return status;
}

static void put_text(struct text_builder *json, const char *text)
{
    text_build(json, "\"");
    while (*text) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
            plain++;
        text_build(json, "%.*s", (int)plain, text);
        text += plain;
        if (*text)
            text_build(json, *text == '"' || *text == '\\' ? "\\%c" : "\\u%04x", *text);
        text += *text != '\0';
    }
    text_build(json, "\"");
}

static void put_op(struct text_builder *json, const struct graph_op *op)
{
    const double values[GRAPH_COSTS] = {op->forward_ms, op->backward_ms, op->activation_bytes, op->parameter_bytes,
                                        op->temporary_bytes};
    text_build(json, "    {\"id\": %" PRIu32 ", \"kind\": ", op->id);
    put_text(json, op->kind);
    for (int i = 0; i < GRAPH_COSTS; i++) {
        char number[UNITS_TEXT_BYTES];
        units_format_number(values[i], number);
        if (!op_members[OP_COSTS + i].is_optional || values[i] != 0)
            text_build(json, ", \"%s\": %s", op_members[OP_COSTS + i].name, number);
    }
    text_build(json, "}");
}

/* One line for the edges of one op, more when it has many. */
static void put_edges(struct text_builder *json, const struct graph *graph)
{
    for (uint32_t op = 0; op < graph->op_count; op++) {
        for (uint32_t e = graph->out_start[op]; e < graph->out_start[op + 1]; e++) {
            bool is_line_start = (e - graph->out_start[op]) % EDGES_PER_LINE == 0;
            text_build(json, "%s%s[%" PRIu32 ", %" PRIu32 "]", e ? "," : "", is_line_start ? "\n    " : " ",
                       graph->ops[op].id, graph->ops[graph->edges[e].target].id);
        }
    }
}

char *graph_to_json(const struct graph *graph)
{
    require(graph->op_count > 0);
    struct text_builder json = {0};
    text_build(&json, "{\n  \"format\": \"%s\",\n  \"name\": ", FORMAT);
    put_text(&json, graph->name);
    text_build(&json, ",\n  \"device\": ");
    put_text(&json, graph->device);
    text_build(&json, ",\n  \"batch\": %" PRId64 ",\n  \"source\": ", graph->batch);
    put_text(&json, graph->source);
    text_build(&json, "%s,\n  \"ops\": [", graph->is_whole_step ? ",\n  \"pass\": \"whole\"" : "");
    for (uint32_t i = 0; i < graph->op_count; i++) {
        text_build(&json, "%s\n", i ? "," : "");
        put_op(&json, &graph->ops[i]);
    }
    text_build(&json, "\n  ],\n  \"edges\": [");
    put_edges(&json, graph);
    text_build(&json, "%s]\n}\n", graph->edge_count ? "\n  " : "");
    return json.text;
}
