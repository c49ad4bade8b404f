/* Tables of keys: see keys.h. Names are looked up linearly: tables have some dozen rows, and a file names each at most
 * once. */
#include "input/keys.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/keys_value.h"
#include "input/text.h"

enum { NAME_BYTES = 256, CONDITION_BYTES = 128 };

void keys_init(struct keys *keys, const struct key_table *table, void *settings)
{
    require(keys && table && table->count > 0 && settings);
    *keys = (struct keys){.table = table};
    keys->places = arena_alloc(&keys->arena, table->count, sizeof *keys->places);
    keys->values = arena_alloc(&keys->arena, table->count, sizeof *keys->values);
    keys->blocks = arena_alloc(&keys->arena, table->block_count, sizeof *keys->blocks);
    keys->blocks[0] = settings;
    for (size_t i = 1; i < table->block_count; i++)
        keys->blocks[i] = arena_alloc(&keys->arena, 1, table->block_bytes[i]);
    for (size_t i = 0; i < table->count; i++) {
        keys->places[i].file = "";
        keys_value_store_default(keys, i);
    }
}

void keys_free(struct keys *keys)
{
    for (size_t i = 0; i < keys->tree_count; i++)
        yaml_tree_free(&keys->trees[i]);
    free(keys->trees);
    arena_free(&keys->arena);
    *keys = (struct keys){0};
}

size_t keys_named(const struct keys *keys, const char *name)
{
    int key = key_table_find(keys->table, name);
    require(key >= 0);
    return (size_t)key;
}

bool keys_is_set(const struct keys *keys, size_t key)
{
    require(key < keys->table->count);
    return keys->values[key] != NULL;
}

const char *keys_path(const struct keys *keys, size_t key)
{
    const char *path;
    require(keys->table->rows[key].type == KEY_FILE);
    memcpy(&path, keys_field(keys, key), sizeof path);
    return path;
}

/* Do keys "name.something" exist? */
static bool is_group(const struct keys *keys, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < keys->table->count; i++) {
        if (strncmp(keys->table->rows[i].name, name, length) == 0 && keys->table->rows[i].name[length] == '.')
            return true;
    }
    return false;
}

static enum status refuse_unknown(const struct keys *keys, const char *name, const struct yaml_node *at,
                                  struct error *error)
{
    char text[KEY_UNKNOWN_BYTES];
    return yaml_error(error, at, "%s", key_table_unknown(keys->table, name, text));
}

static enum status store(struct keys *keys, size_t key, const struct yaml_node *value, struct error *error)
{
    if (yaml_is_null(value)) {
        keys_value_store_default(keys, key);
    } else {
        enum status status = keys_value_store(keys, key, value, error);
        if (status != STATUS_OK)
            return status;
    }
    keys->values[key] = yaml_is_null(value) ? NULL : value;
    keys->places[key] = (struct key_place){value->file, value->line, value->column, keys->layer};
    return STATUS_OK;
}

/* A name being put together from nested mappings. */
struct name {
    char text[NAME_BYTES];
    bool allows_repeats;     /* overrides: the last one wins */
    const char *const *skip; /* at the top level, left to the caller; NULL = none */
};

static bool is_listed(const char *word, const char *const *list)
{
    for (; list && *list; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

static enum status read_entry(struct keys *keys, struct name *name, const struct yaml_node *at,
                              const struct yaml_node *value, struct error *error);

static enum status read_group(struct keys *keys, struct name *name, const struct yaml_node *group, struct error *error)
{
    size_t length = strlen(name->text);
    for (size_t i = 0; i < group->count; i++) {
        const struct yaml_node *key = group->keys[i];
        const char *dot = length ? "." : "";
        if (!length && is_listed(key->text, name->skip))
            continue;
        int needed = snprintf(name->text + length, NAME_BYTES - length, "%s%s", dot, key->text);
        if (needed < 0 || (size_t)needed >= NAME_BYTES - length)
            return refuse_unknown(keys, name->text, key, error);
        enum status status = read_entry(keys, name, key, group->items[i], error);
        if (status != STATUS_OK)
            return status;
    }
    name->text[length] = '\0';
    return STATUS_OK;
}

static enum status read_entry(struct keys *keys, struct name *name, const struct yaml_node *at,
                              const struct yaml_node *value, struct error *error)
{
    int key = key_table_find(keys->table, name->text);
    if (key >= 0) {
        const struct key_place *place = &keys->places[key];
        if (place->layer == keys->layer && !name->allows_repeats)
            return yaml_error(error, at, "duplicate key %s; its first place is line %d", name->text, place->line);
        return store(keys, (size_t)key, value, error);
    }
    if (!is_group(keys, name->text))
        return refuse_unknown(keys, name->text, at, error);
    if (value->kind == YAML_MAPPING)
        return read_group(keys, name, value, error);
    return yaml_error(error, value, "%s is a group of keys, found %s; `ocsim explain` lists the keys there are",
                      name->text, yaml_kind_name(value));
}

enum status keys_read_tree(struct keys *keys, const struct yaml_node *root, const char *const *skip,
                           struct error *error)
{
    require(keys && root && root->kind == YAML_MAPPING);
    keys_open_layer(keys);
    struct name name = {.skip = skip};
    return read_group(keys, &name, root, error);
}

void keys_open_layer(struct keys *keys)
{
    keys->layer++;
}

static enum status set_named(struct keys *keys, const char *text, const struct yaml_node *value, struct error *error)
{
    struct name name = {.allows_repeats = true};
    if (strlen(text) >= sizeof name.text)
        return refuse_unknown(keys, text, value, error);
    memcpy(name.text, text, strlen(text) + 1);
    return read_entry(keys, &name, value, value, error);
}

enum status keys_set(struct keys *keys, const char *name, const struct yaml_node *value, struct error *error)
{
    require(keys && name && value && keys->layer > 0);
    return set_named(keys, name, value, error);
}

enum status keys_override(struct keys *keys, const char *assignment, const char *source, struct error *error)
{
    require(keys && assignment && source && keys->layer > 0);
    char shown[TEXT_SHOW_BYTES];
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return error_at(error, source, 0, 0, "'%s': expected key=value, e.g. run.seed=7", text_show(assignment, shown));
    struct yaml_tree tree = {0};
    char *name = memory_text(assignment, (size_t)(equals - assignment));
    enum status status = yaml_value_parse(equals + 1, strlen(equals + 1), source, &tree, error);
    if (status != STATUS_OK) {
        if (error)
            error_wrap(error, "%s", text_show(name, shown));
        free(name);
        return status;
    }
    keys->trees = memory_grow(keys->trees, &keys->tree_capacity, keys->tree_count + 1, sizeof *keys->trees);
    keys->trees[keys->tree_count++] = tree; /* kept on failure too: an earlier part of it may be in use */
    status = set_named(keys, name, tree.root, error);
    free(name);
    return status;
}

/* The value as YAML, returned owned. A file's name is as written, so that the text does not depend on where ocsim was
 * started. */
static char *value_text(const struct keys *keys, size_t key)
{
    const struct key *row = &keys->table->rows[key];
    const char *written = keys->values[key] ? keys->values[key]->text : row->default_text;
    struct text_builder text = {0};
    if (row->type == KEY_FILE && written)
        keys_value_write_text(written, &text);
    else if (!keys->values[key] && !row->default_text)
        text_build(&text, "null");
    else
        keys_value_write(keys, key, &text);
    return text.text;
}

const char *keys_value_text(const struct keys *keys, size_t key, struct arena *arena)
{
    require(keys && key < keys->table->count && arena);
    char *text = value_text(keys, key);
    const char *kept = strcmp(text, "null") == 0 ? "" : arena_text(arena, text, strlen(text));
    free(text);
    return kept;
}

/* One part of a `when`: "other.key=a|b". */
struct condition {
    size_t key;
    char choices[CONDITION_BYTES]; /* empty = must not be set */
};

/* Reads the condition at the start of text. Returns what follows it; NULL behind the last one. */
static const char *read_condition(const struct keys *keys, const char *text, struct condition *condition)
{
    const char *equals = strchr(text, '='), *end = strchr(text, '&');
    require(equals && (!end || equals < end));
    char name[NAME_BYTES];
    int length = (int)(equals - text), size = (int)(end ? end - equals - 1 : (ptrdiff_t)strlen(equals + 1));
    require(length < (int)sizeof name && size < (int)sizeof condition->choices);
    snprintf(name, sizeof name, "%.*s", length, text);
    snprintf(condition->choices, sizeof condition->choices, "%.*s", size, equals + 1);
    condition->key = keys_named(keys, name);
    return end ? end + 1 : NULL;
}

static bool holds(const struct keys *keys, const struct condition *condition)
{
    size_t i = condition->key;
    if (!condition->choices[0])
        return !keys->values[i] && !keys->table->rows[i].default_text;
    char *text = value_text(keys, i);
    bool answer = text_position(text, condition->choices) >= 0;
    free(text);
    return answer;
}

bool keys_is_effective(const struct keys *keys, size_t key)
{
    require(key < keys->table->count);
    struct condition condition;
    for (const char *at = keys->table->rows[key].when; at;) {
        at = read_condition(keys, at, &condition);
        if (!holds(keys, &condition))
            return false;
    }
    return true;
}

static enum status refuse_ineffective(const struct keys *keys, size_t key, const struct condition *condition,
                                      struct error *error)
{
    struct arena arena = {0};
    char shown[TEXT_SHOW_BYTES], choices[300];
    const char *other = keys->table->rows[condition->key].name;
    const struct key_place *place = &keys->places[condition->key];
    const char *value = text_show(keys_value_text(keys, condition->key, &arena), shown);
    const char *origin = place->layer ? place->file : "the default";
    enum status status;
    if (!condition->choices[0])
        status = keys_error(keys, key, error, "has no effect, because %s is set to %s (%s); leave one of them out",
                            other, value, origin);
    else
        status = keys_error(keys, key, error, "has no effect with %s: %s (%s); it counts only with %s: %s", other,
                            value, origin, other, text_alternatives(condition->choices, choices, sizeof choices));
    arena_free(&arena);
    return status;
}

static enum status check_effect(const struct keys *keys, size_t key, struct error *error)
{
    struct condition condition;
    for (const char *at = keys->table->rows[key].when; at;) {
        at = read_condition(keys, at, &condition);
        bool is_overruled = keys->places[condition.key].layer > keys->places[key].layer;
        if (!holds(keys, &condition) && !is_overruled)
            return refuse_ineffective(keys, key, &condition, error);
    }
    return STATUS_OK;
}

/* A needed key is told at the place of the key that makes it needed. */
static enum status refuse_missing(const struct keys *keys, size_t key, struct error *error)
{
    const struct key *row = &keys->table->rows[key];
    const char *example = row->example ? row->example : "...";
    struct condition condition;
    for (const char *at = row->when; at;) {
        at = read_condition(keys, at, &condition);
        if (!at && condition.choices[0])
            return keys_error(keys, condition.key, error, "needs %s too, e.g. %s: %s", row->name, row->name, example);
    }
    return error_set(error, STATUS_USER, "%s is missing; e.g. %s: %s", row->name, row->name, example);
}

/* Lets the strategy that a key chooses look at its settings as a whole. */
static enum status check_strategy(const struct keys *keys, size_t key, struct error *error)
{
    struct choice choice;
    if (keys->table->rows[key].type != KEY_STRATEGY || !keys_is_effective(keys, key))
        return STATUS_OK;
    memcpy(&choice, keys_field(keys, key), sizeof choice);
    return choice.strategy->check ? choice.strategy->check(keys, choice.settings, error) : STATUS_OK;
}

enum status keys_check(const struct keys *keys, struct error *error)
{
    require(keys);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < keys->table->count && status == STATUS_OK; i++) {
        if (keys->values[i])
            status = check_effect(keys, i, error);
        else if (keys->table->rows[i].is_needed && keys_is_effective(keys, i))
            status = refuse_missing(keys, i, error);
    }
    for (size_t i = 0; i < keys->table->count && status == STATUS_OK; i++)
        status = check_strategy(keys, i, error);
    return status;
}

static enum status find_one(struct keys *keys, size_t key, struct error *error)
{
    const struct key *row = &keys->table->rows[key];
    const char *name = keys_path(keys, key), *path = NULL;
    if (!name)
        return STATUS_OK;
    char folder[64] = "";
    struct file_search search = {.named_in = keys->places[key].line > 0 ? keys->places[key].file : NULL};
    if (row->choices) {
        snprintf(folder, sizeof folder, "%s", row->choices);
        char *bar = strchr(folder, '|');
        require(bar);
        *bar = '\0';
        search.folder = folder;
        search.suffix = bar + 1;
    }
    struct error inner = {0};
    if (file_find(&search, name, &keys->arena, &path, &inner) != STATUS_OK)
        return keys_error(keys, key, error, "%s", inner.message);
    memcpy(keys_field(keys, key), &path, sizeof path);
    return STATUS_OK;
}

enum status keys_find_files(struct keys *keys, struct error *error)
{
    for (size_t i = 0; i < keys->table->count; i++) {
        if (keys->table->rows[i].type != KEY_FILE || !keys_is_effective(keys, i))
            continue;
        enum status status = find_one(keys, i, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

struct key_place keys_place(const struct keys *keys, size_t key)
{
    require(key < keys->table->count);
    return keys->places[key];
}

void keys_resolved(const struct keys *keys, FILE *out)
{
    for (size_t i = 0; i < keys->table->count; i++) {
        char *text = keys_is_effective(keys, i) ? value_text(keys, i) : NULL;
        fprintf(out, "%s: %s\n", keys->table->rows[i].name, text ? text : "null");
        free(text);
    }
}

enum status keys_error(const struct keys *keys, size_t key, struct error *error, const char *format, ...)
{
    require(key < keys->table->count);
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct key_place *place = &keys->places[key];
    return error_at(error, place->file, place->line, place->column, "%s: %s", keys->table->rows[key].name, text);
}
