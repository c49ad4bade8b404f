/* YAML trees: see yaml.h. libyaml gives events; reading stops at the first thing that is refused, so a hostile file
 * costs no more than the limits allow. Depth is bounded, hence the recursion. Children are collected on one stack and
 * copied into the arena when their parent ends. Anchors are found by the numbers of their names. */
#include "input/yaml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "engine/intern.h"
#include "input/file.h"
#include "input/text.h"

struct reader {
    yaml_parser_t parser;
    struct arena arena;
    const char *file; /* in the arena */
    const char *source;
    size_t source_size;
    bool has_places; /* false for a bare value: there is no line to point at */
    size_t node_count;
    const struct yaml_node **stack; /* children waiting for their parent to end */
    size_t stack_used, stack_capacity;
    struct intern anchors;             /* their names */
    const struct yaml_node **anchored; /* by number of the anchor */
    size_t anchored_count, anchored_capacity;
};

static int place_number(const struct reader *reader, size_t from_zero)
{
    require(from_zero < INT32_MAX);
    return reader->has_places ? (int)from_zero + 1 : 0;
}

#define refuse_mark(reader, mark, error, ...)                                                                          \
    error_at(error, (reader)->file, place_number(reader, (mark).line), place_number(reader, (mark).column), __VA_ARGS__)

/* libyaml knows only the offset of bytes that are no text. */
static enum status refuse_bytes(const struct reader *reader, struct error *error)
{
    int line, column;
    text_place(reader->source, reader->source_size, reader->parser.problem_offset, &line, &column);
    return error_at(error, reader->file, reader->has_places ? line : 0, reader->has_places ? column : 0,
                    "not a text file in UTF-8: %s", reader->parser.problem);
}

static enum status refuse_syntax(const struct reader *reader, struct error *error)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        memory_exhausted(1, reader->source_size);
    if (parser->error == YAML_READER_ERROR)
        return refuse_bytes(reader, error);
    return refuse_mark(reader, parser->problem_mark, error, "not valid YAML: %s%s%s",
                       parser->problem ? parser->problem : "cannot be read", parser->context ? ", " : "",
                       parser->context ? parser->context : "");
}

static enum status next_event(struct reader *reader, yaml_event_t *event, struct error *error)
{
    if (!yaml_parser_parse(&reader->parser, event))
        return refuse_syntax(reader, error);
    return STATUS_OK;
}

/* An anchor is known once its node has ended, so no node can contain itself. A later anchor of the same name wins. */
static void keep_anchor(struct reader *reader, const yaml_char_t *name, const struct yaml_node *node)
{
    if (!name)
        return;
    size_t number = intern_number(&reader->anchors, name, strlen((const char *)name));
    reader->anchored = memory_grow(reader->anchored, &reader->anchored_capacity, number + 1, sizeof *reader->anchored);
    reader->anchored[number] = node;
    if (number == reader->anchored_count)
        reader->anchored_count++;
}

static enum status count_nodes(struct reader *reader, size_t more, yaml_mark_t mark, struct error *error)
{
    reader->node_count += more;
    if (reader->node_count <= YAML_NODE_LIMIT)
        return STATUS_OK;
    return refuse_mark(reader, mark, error, "too many nodes, aliases counted in full; at most 1000000 are read");
}

static enum status check_depth(const struct reader *reader, int depth, yaml_mark_t mark, struct error *error)
{
    if (depth <= YAML_DEPTH_LIMIT)
        return STATUS_OK;
    return refuse_mark(reader, mark, error, "nested too deeply; at most 64 levels are read");
}

static struct yaml_node *new_node(struct reader *reader, enum yaml_kind kind, yaml_mark_t mark)
{
    struct yaml_node *node = arena_alloc(&reader->arena, 1, sizeof *node);
    node->kind = kind;
    node->file = reader->file;
    node->line = place_number(reader, mark.line);
    node->column = place_number(reader, mark.column);
    node->weight = 1;
    return node;
}

static enum status read_scalar(struct reader *reader, const yaml_event_t *event, const struct yaml_node **out,
                               struct error *error)
{
    size_t length = event->data.scalar.length;
    const char *text = (const char *)event->data.scalar.value;
    if (memchr(text, 0, length))
        return refuse_mark(reader, event->start_mark, error, "a text with a NUL character inside");
    enum status status = count_nodes(reader, length / YAML_BYTES_PER_NODE, event->start_mark, error);
    if (status != STATUS_OK)
        return status;
    struct yaml_node *node = new_node(reader, YAML_SCALAR, event->start_mark);
    node->weight += length / YAML_BYTES_PER_NODE;
    node->text = arena_text(&reader->arena, text, length);
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    keep_anchor(reader, event->data.scalar.anchor, node);
    *out = node;
    return STATUS_OK;
}

static enum status read_alias(struct reader *reader, const yaml_event_t *event, int depth, const struct yaml_node **out,
                              struct error *error)
{
    const char *name = (const char *)event->data.alias.anchor;
    char shown[TEXT_SHOW_BYTES];
    size_t number = intern_number(&reader->anchors, name, strlen(name));
    if (number >= reader->anchored_count) /* a new one */
        return refuse_mark(reader, event->start_mark, error, "alias *%s: no anchor of this name ends before it",
                           text_show(name, shown));
    const struct yaml_node *anchored = reader->anchored[number];
    enum status status = check_depth(reader, depth + anchored->height, event->start_mark, error);
    if (status == STATUS_OK)
        status = count_nodes(reader, anchored->weight - 1, event->start_mark, error);
    if (status != STATUS_OK)
        return status;
    struct yaml_node *node = new_node(reader, anchored->kind, event->start_mark);
    struct yaml_node place = *node;
    *node = *anchored; /* shares the children, keeps its own place */
    node->line = place.line;
    node->column = place.column;
    *out = node;
    return STATUS_OK;
}

static void push(struct reader *reader, const struct yaml_node *node)
{
    reader->stack = memory_grow(reader->stack, &reader->stack_capacity, reader->stack_used + 1, sizeof(void *));
    reader->stack[reader->stack_used++] = node;
}

static int by_text_then_place_total(const void *left, const void *right)
{
    const struct yaml_node *a = *(const struct yaml_node *const *)left;
    const struct yaml_node *b = *(const struct yaml_node *const *)right;
    int order = strcmp(a->text, b->text);
    if (order)
        return order;
    return a->line != b->line ? (a->line < b->line ? -1 : 1) : (a->column > b->column) - (a->column < b->column);
}

static enum status check_keys(const struct yaml_node *mapping, struct error *error)
{
    const struct yaml_node **sorted = memory_alloc(mapping->count, sizeof *sorted);
    if (mapping->count)
        memcpy(sorted, mapping->keys, mapping->count * sizeof *sorted);
    qsort(sorted, mapping->count, sizeof *sorted, by_text_then_place_total);
    enum status status = STATUS_OK;
    for (size_t i = 1; i < mapping->count && status == STATUS_OK; i++) {
        char shown[TEXT_SHOW_BYTES];
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            status = yaml_error(error, sorted[i], "duplicate key '%s'; its first place is line %d",
                                text_show(sorted[i]->text, shown), sorted[i - 1]->line);
    }
    free(sorted);
    return status;
}

/* Moves the children above `base` from the stack into the node; a mapping has keys and values in turn. */
static void adopt(struct reader *reader, size_t base, struct yaml_node *node)
{
    size_t children = reader->stack_used - base, stride = node->kind == YAML_MAPPING ? 2 : 1;
    require(children % stride == 0);
    node->count = children / stride;
    node->items = arena_alloc(&reader->arena, node->count, sizeof *node->items);
    if (stride == 2)
        node->keys = arena_alloc(&reader->arena, node->count, sizeof *node->keys);
    for (size_t i = 0; i < children; i++) {
        const struct yaml_node *child = reader->stack[base + i];
        node->weight += child->weight;
        if (child->height + 1 > node->height)
            node->height = child->height + 1;
        if (stride == 2 && i % 2 == 0)
            node->keys[i / 2] = child;
        else
            node->items[i / stride] = child;
    }
    reader->stack_used = base;
}

static enum status check_key(const struct yaml_node *key, struct error *error)
{
    if (key->kind != YAML_SCALAR)
        return yaml_error(error, key, "a key must be plain text, found %s", yaml_kind_name(key));
    if (key->is_plain && strcmp(key->text, "<<") == 0)
        return yaml_error(error, key, "merge keys (<<) are not read; use `extends:` or write the keys out");
    return STATUS_OK;
}

static enum status read_node(struct reader *reader, const yaml_event_t *event, int depth, const struct yaml_node **out,
                             struct error *error);

static enum status read_collection(struct reader *reader, const yaml_event_t *start, int depth,
                                   const struct yaml_node **out, struct error *error)
{
    bool is_mapping = start->type == YAML_MAPPING_START_EVENT;
    yaml_event_type_t end = is_mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    const yaml_char_t *anchor = is_mapping ? start->data.mapping_start.anchor : start->data.sequence_start.anchor;
    struct yaml_node *node = new_node(reader, is_mapping ? YAML_MAPPING : YAML_SEQUENCE, start->start_mark);
    size_t base = reader->stack_used;
    for (;;) {
        yaml_event_t event;
        enum status status = next_event(reader, &event, error);
        if (status != STATUS_OK)
            return status;
        if (event.type == end) {
            yaml_event_delete(&event);
            break;
        }
        const struct yaml_node *child = NULL;
        status = read_node(reader, &event, depth + 1, &child, error);
        yaml_event_delete(&event);
        if (status == STATUS_OK && is_mapping && (reader->stack_used - base) % 2 == 0)
            status = check_key(child, error);
        if (status != STATUS_OK)
            return status;
        push(reader, child);
    }
    adopt(reader, base, node);
    keep_anchor(reader, anchor, node);
    *out = node;
    return is_mapping ? check_keys(node, error) : STATUS_OK;
}

static bool has_tag(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag;
    default:
        return false;
    }
}

static enum status read_node(struct reader *reader, const yaml_event_t *event, int depth, const struct yaml_node **out,
                             struct error *error)
{
    enum status status = check_depth(reader, depth, event->start_mark, error);
    if (status == STATUS_OK)
        status = count_nodes(reader, 1, event->start_mark, error);
    if (status != STATUS_OK)
        return status;
    if (has_tag(event))
        return refuse_mark(reader, event->start_mark, error, "tags (!...) are not read; leave the tag out");
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, out, error);
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, depth, out, error);
    default:
        require(event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT);
        return read_collection(reader, event, depth, out, error);
    }
}

/* Reads events of the given type; `what` tells what is wrong with any other. */
static enum status expect(struct reader *reader, yaml_event_type_t type, const char *what, struct error *error)
{
    yaml_event_t event;
    enum status status = next_event(reader, &event, error);
    if (status != STATUS_OK)
        return status;
    if (event.type != type)
        status = refuse_mark(reader, event.start_mark, error, "%s", what);
    yaml_event_delete(&event);
    return status;
}

static enum status read_document(struct reader *reader, const struct yaml_node **root, struct error *error)
{
    enum status status = expect(reader, YAML_STREAM_START_EVENT, "not a YAML stream", error);
    if (status == STATUS_OK)
        status = expect(reader, YAML_DOCUMENT_START_EVENT,
                        reader->has_places ? "nothing in the file; expected keys and values, e.g. `title: hello`"
                                           : "no value given; write '' for an empty text, null for the default",
                        error);
    if (status != STATUS_OK)
        return status;
    yaml_event_t event;
    status = next_event(reader, &event, error);
    if (status != STATUS_OK)
        return status;
    status = read_node(reader, &event, 1, root, error);
    yaml_event_delete(&event);
    if (status == STATUS_OK)
        status = expect(reader, YAML_DOCUMENT_END_EVENT, "the document goes on where it should end", error);
    if (status == STATUS_OK)
        status = expect(reader, YAML_STREAM_END_EVENT, "a second document begins; one file holds one document", error);
    return status;
}

/* A line nobody can have written by hand. */
static enum status check_lines(const char *text, size_t size, const char *file, struct error *error)
{
    const char *end = text + size;
    for (int line = 1; text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        if (stop - text > YAML_LINE_LIMIT_BYTES)
            return error_at(error, file, line, YAML_LINE_LIMIT_BYTES + 1,
                            "the line is %zu bytes long; at most %d are read: break it up", (size_t)(stop - text),
                            YAML_LINE_LIMIT_BYTES);
        text = stop + 1;
    }
    return STATUS_OK;
}

static enum status parse(const char *text, size_t size, const char *file, bool has_places, struct yaml_tree *tree,
                         struct error *error)
{
    require(text && file && tree);
    if (size > YAML_FILE_LIMIT_BYTES)
        return error_at(error, file, 0, 0, "%zu bytes are too many; at most 16 MiB are read", size);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    struct reader reader = {.source = text, .source_size = size, .has_places = has_places};
    reader.file = arena_text(&reader.arena, file, strlen(file));
    if (!yaml_parser_initialize(&reader.parser))
        memory_exhausted(1, sizeof reader.parser);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    const struct yaml_node *root = NULL;
    enum status status = read_document(&reader, &root, error);
    yaml_parser_delete(&reader.parser);
    free(reader.stack);
    free(reader.anchored);
    intern_free(&reader.anchors);
    if (status == STATUS_OK && has_places && root->kind != YAML_MAPPING)
        status = yaml_error(error, root, "the top level must be keys and values, e.g. `title: hello`; found %s",
                            yaml_kind_name(root));
    if (status != STATUS_OK) {
        arena_free(&reader.arena);
        return status;
    }
    tree->arena = reader.arena;
    tree->root = root;
    return STATUS_OK;
}

enum status yaml_tree_parse(const char *text, size_t size, const char *file, struct yaml_tree *tree,
                            struct error *error)
{
    return parse(text, size, file, true, tree, error);
}

enum status yaml_value_parse(const char *text, size_t size, const char *file, struct yaml_tree *tree,
                             struct error *error)
{
    return parse(text, size, file, false, tree, error);
}

enum status yaml_tree_load(const char *path, struct yaml_tree *tree, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = file_read(path, YAML_FILE_LIMIT_BYTES, &text, &size, error);
    if (status != STATUS_OK)
        return status;
    status = check_lines(text, size, path, error);
    if (status == STATUS_OK)
        status = yaml_tree_parse(text, size, path, tree, error);
    free(text);
    return status;
}

void yaml_tree_free(struct yaml_tree *tree)
{
    arena_free(&tree->arena);
    tree->root = NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
    require(mapping && key && mapping->kind == YAML_MAPPING);
    for (size_t i = 0; i < mapping->count; i++) {
        if (strcmp(mapping->keys[i]->text, key) == 0)
            return mapping->items[i];
    }
    return NULL;
}

struct yaml_node yaml_scalar(const struct yaml_node *place, const char *text, struct arena *arena)
{
    return (struct yaml_node){.kind = YAML_SCALAR,
                              .is_plain = true,
                              .file = place->file,
                              .line = place->line,
                              .column = place->column,
                              .text = arena_text(arena, text, strlen(text)),
                              .weight = 1};
}

bool yaml_is_null(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && node->is_plain &&
           (strcmp(node->text, "null") == 0 || strcmp(node->text, "~") == 0);
}

const char *yaml_kind_name(const struct yaml_node *node)
{
    return node->kind == YAML_MAPPING ? "a mapping" : node->kind == YAML_SEQUENCE ? "a list" : "text";
}
