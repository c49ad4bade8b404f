/* YAML files as trees of nodes, each with its place in the file.
 *
 * What is read: one document of mappings, sequences and scalars, anchors and
 * aliases included. What is refused, with its place: tags, merge keys (`<<`),
 * more than one document, duplicate keys, keys that are no scalars, bytes that
 * are not UTF-8, files over 16 MiB or with lines over 256 KiB, depth over 64 and more than a million nodes.
 * An alias shares the node of its anchor, but counts all the nodes under it,
 * and a text counts one node more for each 64 bytes, so a "bomb" of aliases hits
 * the limit at once.
 *
 * Nodes are read-only after parsing and live in the arena of their tree.
 * Time and space O(size of the file), duplicate keys O(n log n).
 */
#ifndef INPUT_YAML_H
#define INPUT_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/memory.h"
#include "engine/status.h"

enum {
    YAML_DEPTH_LIMIT = 64,
    YAML_NODE_LIMIT = 1000 * 1000,
    YAML_BYTES_PER_NODE = 64,
    YAML_FILE_LIMIT_BYTES = 16 * 1024 * 1024,
    YAML_LINE_LIMIT_BYTES = 256 * 1024,
};

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
    enum yaml_kind kind;
    bool is_plain;    /* a scalar without quotes */
    const char *file; /* the place, for messages; line and column count from 1 */
    int line, column;
    const char *text;               /* scalar, NUL-terminated, without NUL inside; else NULL */
    size_t count;                   /* items of a sequence, pairs of a mapping; else 0 */
    const struct yaml_node **items; /* items of a sequence, values of a mapping */
    const struct yaml_node **keys;  /* of a mapping, in file order; scalars, distinct */
    size_t weight;                  /* nodes in this subtree, aliases expanded, long texts counted by their length */
    int height;                     /* levels below this node, 0 = none */
};

/* Zero-initialise before use. */
struct yaml_tree {
    struct arena arena; /* owns everything below */
    const struct yaml_node *root;
};

/* Reads a file; its top level must be a mapping. On success the caller owns the tree: yaml_tree_free. */
STATUS_MUST_USE enum status yaml_tree_load(const char *path, struct yaml_tree *tree, struct error *error);

/* The same from memory; file is named in messages (borrows text and file during the call only). */
STATUS_MUST_USE enum status yaml_tree_parse(const char *text, size_t size, const char *file, struct yaml_tree *tree,
                                            struct error *error);

/* The same for a bare value such as `[alexnet, vgg16]` or `10us`: any kind of node may stand at the top. */
STATUS_MUST_USE enum status yaml_value_parse(const char *text, size_t size, const char *file, struct yaml_tree *tree,
                                             struct error *error);

void yaml_tree_free(struct yaml_tree *tree);

/* The value under key, or NULL. Lives as long as the tree. O(pairs). */
const struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);

/* `null` or `~`, not quoted: the word for "as if it were not written". */
bool yaml_is_null(const struct yaml_node *node);

/* A scalar without quotes that no file holds, with the place of another node; its text is put into the arena. */
struct yaml_node yaml_scalar(const struct yaml_node *place, const char *text, struct arena *arena);

/* "a mapping", "a list" or "text", for messages. */
const char *yaml_kind_name(const struct yaml_node *node);

/* error_at() with the place of the node, which is evaluated more than once. Returns STATUS_USER. */
#define yaml_error(error, node, ...) error_at(error, (node)->file, (node)->line, (node)->column, __VA_ARGS__)

#endif
