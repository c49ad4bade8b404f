/* Tables of keys: one row says everything about a key, one machine does the rest.
 *
 * A table fills plain structs: each key is stored at its offset, in the C type
 * that goes with its key_type. A key that chooses a strategy brings the keys of
 * all strategies of its registry with it (key_table.h). Parser, defaults, ranges, messages, `explain`
 * and the resolved list of the manifest all come from the same row.
 *
 * Values come in layers: the defaults are layer 0, each tree read and each
 * batch of overrides opens the next one, and a later layer wins. Within one
 * layer a key of a file may be given once; of overrides the last one wins.
 *
 * A key whose `when` does not hold has no effect. Setting it is an error,
 * unless the key it depends on was set in a later layer: a base file may give
 * partition.degree and the command line then choose a strategy without one.
 *
 * `key: null` takes a key back to its default.
 *
 * Looking up a key by name is O(keys in the table); tables are short.
 */
#ifndef INPUT_KEYS_H
#define INPUT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/memory.h"
#include "engine/status.h"
#include "input/key_table.h"
#include "input/registry.h"
#include "input/text.h"
#include "input/yaml.h"

enum key_type {
    KEY_TEXT,    /* const char * */
    KEY_FILE,    /* const char *: a path as written until keys_find_files; `choices` is "folder|.suffix" of its data, or
                    NULL */
    KEY_CHOICE,  /* int: the position among `choices`, as an enum of the same order has it */
    KEY_INTEGER, /* int64_t */
    KEY_NUMBER,  /* double */
    KEY_BOOLEAN, /* bool: true or false */
    KEY_TIME,    /* int64_t, picoseconds */
    KEY_SECONDS, /* double, seconds: for times that may pass 106 days */
    KEY_RATE,    /* double, bytes per second */
    KEY_BYTES,   /* double, bytes */
    KEY_LIST,    /* struct key_list; each item one of `choices` unless that is NULL */
    KEY_NODE,    /* const struct yaml_node *: kept for its own reader */
    KEY_STRATEGY /* struct choice: one of `registry` */
};

/* A list of texts: from a sequence of scalars, or from one scalar "a,b". */
struct key_list {
    const char **items;
    size_t count;
};

struct key {
    const char *name; /* dotted: "workload.beta" */
    enum key_type type;
    size_t offset;                 /* offsetof(struct ..., field) */
    const char *default_text;      /* as a user would write it; NULL = not set (NULL pointer, 0, empty list) */
    const char *minimum, *maximum; /* text with unit, NULL = none; a leading '>' or '<' leaves the bound itself out */
    const char *choices;           /* "a|b|c", or NULL; of KEY_INTEGER one word that may stand for it, stored as 0 */
    const char *when; /* "other.key=a|b": has an effect only then; "other.key=" = only when that is not set;
                         "x=a&y=b" = both; NULL = always */
    const char *doc;
    const char *example;             /* a value, without the key; NULL = the default */
    bool is_needed;                  /* must be set wherever it has an effect */
    const struct registry *registry; /* of KEY_STRATEGY, which has its choices and its default from there */
    /* filled by key_table_init */
    size_t block;                  /* the struct that offset counts in */
    const size_t *strategy_blocks; /* of KEY_STRATEGY: the block of each strategy's settings, 0 = it has none */
};

/* How the rows of a table begin: name, type and field at once. SETTINGS is the struct that the table fills. Reading a
 * field of another type than the key stores does not compile (choices are ints or enums, which C cannot tell). */
#define KEY_ROW(text, key_type, c_type, field)                                                                         \
    .name = (text), .type = (key_type),                                                                                \
    .offset = offsetof(SETTINGS, field) + 0 * sizeof(&((SETTINGS *)0)->field == (c_type *)0)
#define TEXT_KEY(text, field) KEY_ROW(text, KEY_TEXT, const char *, field)
#define FILE_KEY(text, field) KEY_ROW(text, KEY_FILE, const char *, field)
#define INTEGER_KEY(text, field) KEY_ROW(text, KEY_INTEGER, int64_t, field)
#define NUMBER_KEY(text, field) KEY_ROW(text, KEY_NUMBER, double, field)
#define BOOLEAN_KEY(text, field) KEY_ROW(text, KEY_BOOLEAN, bool, field)
#define TIME_KEY(text, field) KEY_ROW(text, KEY_TIME, int64_t, field)
#define SECONDS_KEY(text, field) KEY_ROW(text, KEY_SECONDS, double, field)
#define RATE_KEY(text, field) KEY_ROW(text, KEY_RATE, double, field)
#define BYTES_KEY(text, field) KEY_ROW(text, KEY_BYTES, double, field)
#define LIST_KEY(text, field) KEY_ROW(text, KEY_LIST, struct key_list, field)
#define NODE_KEY(text, field) KEY_ROW(text, KEY_NODE, const struct yaml_node *, field)
#define STRATEGY_KEY(text, field, kinds) KEY_ROW(text, KEY_STRATEGY, struct choice, field), .registry = (kinds)
#define CHOICE_KEY(text, field, words)                                                                                 \
    .name = (text), .type = KEY_CHOICE, .choices = (words), .offset = offsetof(SETTINGS, field)

/* Where a value came from. */
struct key_place {
    const char *file; /* "" = default, "command line" */
    int line, column; /* 0 = not known */
    int layer;        /* 0 = default */
};

/* A table being filled. Treat the fields as private. */
struct keys {
    struct arena arena; /* owns texts, lists and the trees of overrides */
    const struct key_table *table;
    void **blocks;                   /* the structs that are filled: the caller's, then one per strategy with keys */
    struct key_place *places;        /* per key */
    const struct yaml_node **values; /* per key; NULL = default */
    struct yaml_tree *trees;         /* of overrides */
    size_t tree_count, tree_capacity;
    int layer;
};

/* Starts with the defaults, written into *settings. Borrows table and settings until keys_free. */
void keys_init(struct keys *keys, const struct key_table *table, void *settings);

/* Frees every text, list, override tree and strategy's settings that the settings point to. */
void keys_free(struct keys *keys);

/* Reads a mapping as a new layer; nested mappings flatten to dotted names. Keys listed in skip (NULL-terminated, may be
 * NULL) at the top level are left to the caller. Borrows root until keys_free. */
STATUS_MUST_USE enum status keys_read_tree(struct keys *keys, const struct yaml_node *root, const char *const *skip,
                                           struct error *error);

/* Opens a new layer for keys_override and keys_set. */
void keys_open_layer(struct keys *keys);

/* Sets one key from "key=value", the value read as YAML flow. Errors speak of `source`, e.g. "command line". */
STATUS_MUST_USE enum status keys_override(struct keys *keys, const char *assignment, const char *source,
                                          struct error *error);

/* Sets one key from a node, e.g. one value of a sweep. Borrows the node until keys_free. */
STATUS_MUST_USE enum status keys_set(struct keys *keys, const char *name, const struct yaml_node *value,
                                     struct error *error);

/* Refuses keys that were set and have no effect, and needed keys that were not set. Call when all layers are in. */
STATUS_MUST_USE enum status keys_check(const struct keys *keys, struct error *error);

/* Replaces each FILE that is set by the path where it was found, see file_find; a FILE whose `when` does not hold
 * stays as written. */
STATUS_MUST_USE enum status keys_find_files(struct keys *keys, struct error *error);

/* Does the `when` of this key hold now? */
bool keys_is_effective(const struct keys *keys, size_t key);

/* Position of a key that is in the table, and whether it was given a value. */
size_t keys_named(const struct keys *keys, const char *name);
bool keys_is_set(const struct keys *keys, size_t key);

/* What a FILE holds: the path, NULL where it is not set. */
const char *keys_path(const struct keys *keys, size_t key);

/* The value of a key as text that reads back as the same value ("" = not set), and its place. The text is put into
 * the arena. */
const char *keys_value_text(const struct keys *keys, size_t key, struct arena *arena);
struct key_place keys_place(const struct keys *keys, size_t key);

/* The resolved list: one "name: value" line per key, in table order, as YAML that can be read back; null where a key is
 * not set or has no effect. */
void keys_resolved(const struct keys *keys, FILE *out);

/* What a key means, its unit, range and default, and the strategies it chooses among. */
void keys_explain(const struct key *key, struct text_builder *out);

/* All keys: a table for the terminal, or Markdown for the README. */
void keys_explain_all(const struct key_table *table, bool is_markdown, struct text_builder *out);

/* "a time such as 10us" and so on, for messages and the reference. */
const char *keys_type_name(enum key_type type);

/* An error about a key's value, with its place and name: "file:line:column: key: text". Returns STATUS_USER. */
enum status keys_error(const struct keys *keys, size_t key, struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
