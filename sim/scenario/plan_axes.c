/* The `sweep` key: see plan_axes.h. Reading is O(values log values), the logarithm from looking for duplicates. */
#include "scenario/plan_axes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/metrics.h"
#include "input/text.h"
#include "input/units.h"

enum { LABEL_LIMIT_BYTES = 200 };

static const char *const own_members[] = {"zip", "where", "repeat", "stop_when", NULL};
static const char *const axis_members[] = {"key", "values", "range", "log_range", "label", NULL};

struct reader {
    const struct scenario *scenario;
    struct plan_probe *probe;
    struct arena *arena;
    struct sweep *sweep;
    size_t *owners; /* per key: 1 + the axis that sets it, 0 = none */
};

/* ---- words ---- */

static bool is_listed(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

const char *plan_nearest(const char *word, const char *const *list)
{
    struct text_search search = {.word = word, .limit = 3};
    for (; *list; list++)
        text_offer(&search, *list);
    return search.nearest;
}

enum status plan_check_members(const struct yaml_node *mapping, const char *const *known, const char *what,
                               struct error *error)
{
    char shown[TEXT_SHOW_BYTES], all[200] = "";
    for (size_t i = 0; i < mapping->count; i++) {
        const struct yaml_node *key = mapping->keys[i];
        if (is_listed(key->text, known))
            continue;
        const char *nearest = plan_nearest(key->text, known), *name = text_show(key->text, shown);
        if (nearest)
            return yaml_error(error, key, "%s has no member '%s'; did you mean %s?", what, name, nearest);
        for (size_t j = 0; known[j]; j++)
            text_append(all, sizeof all, "%s%s", j ? ", " : "", known[j]);
        return yaml_error(error, key, "%s has no member '%s'; there are %s", what, name, all);
    }
    return STATUS_OK;
}

enum status plan_need_scalar(const struct yaml_node *node, const char *what, struct error *error)
{
    if (node->kind != YAML_SCALAR)
        return yaml_error(error, node, "%s: expected one value, found %s", what, yaml_kind_name(node));
    if (!*node->text)
        return yaml_error(error, node, "%s: has no value", what);
    return STATUS_OK;
}

static enum status read_label(const struct yaml_node *node, const char **label, struct error *error)
{
    TRY(plan_need_scalar(node, "label", error));
    if (strlen(node->text) > LABEL_LIMIT_BYTES)
        return yaml_error(error, node, "label: longer than %d bytes", LABEL_LIMIT_BYTES);
    for (const char *at = node->text; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return yaml_error(error, node, "label: has a control character or a line end in it");
    }
    *label = node->text;
    return STATUS_OK;
}

/* ---- keys ---- */

/* A key belongs to one axis; within an axis of several keys each value may set it. */
static enum status own_key(struct reader *reader, size_t axis, const struct yaml_node *at, size_t *key,
                           struct error *error)
{
    TRY(plan_need_scalar(at, "key", error));
    int found = key_table_find(reader->probe->table, at->text);
    char shown[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES];
    if (found < 0) {
        const char *nearest = key_table_nearest(reader->probe->table, at->text);
        return yaml_error(error, at, "unknown key '%s'%s", text_show(at->text, shown),
                          nearest ? text_hint(nearest, hint) : "; `ocsim explain` lists the keys there are");
    }
    /* Neither changes a run: a parent is followed while reading, a title is for people. */
    if (text_position(at->text, "sweep|extends|title") >= 0)
        return yaml_error(error, at, "%s cannot be swept", at->text);
    size_t *owner = &reader->owners[found];
    if (*owner && *owner != axis + 1)
        return yaml_error(error, at, "%s is swept twice: by %s and by %s", at->text,
                          reader->sweep->axes[*owner - 1].name, reader->sweep->axes[axis].name);
    *owner = axis + 1;
    *key = (size_t)found;
    return STATUS_OK;
}

/* ---- values ---- */

enum axis_kind plan_axis_kind(enum key_type type)
{
    static const enum axis_kind kinds[] = {
        [KEY_INTEGER] = AXIS_NUMBER, [KEY_NUMBER] = AXIS_NUMBER, [KEY_TIME] = AXIS_TIME,
        [KEY_SECONDS] = AXIS_TIME,   [KEY_RATE] = AXIS_RATE,     [KEY_BYTES] = AXIS_BYTES};
    return (size_t)type < sizeof kinds / sizeof *kinds ? kinds[type] : AXIS_TEXT;
}

enum status plan_axis_number(enum axis_kind kind, const char *text, double *number, struct error *error)
{
    static enum status (*const readers[])(const char *, double *, struct error *) = {
        [AXIS_NUMBER] = units_number, [AXIS_TIME] = units_time_s, [AXIS_RATE] = units_rate, [AXIS_BYTES] = units_size};
    require(kind != AXIS_TEXT);
    return readers[kind](text, number, error);
}

static enum status add_setting(struct reader *reader, struct axis_value *value, size_t key,
                               const struct yaml_node *node, struct error *error)
{
    TRY(plan_probe_set(reader->probe, key, node, error));
    value->settings[value->setting_count++] =
        (struct axis_setting){.key = key, .row = &reader->probe->table->rows[key], .value = node};
    return STATUS_OK;
}

/* The text was read before: it is a number of its kind. */
static void read_numbers(enum key_type type, enum axis_kind kind, struct axis_value *value)
{
    enum status status = plan_axis_number(kind, value->text, &value->number, NULL);
    require(status == STATUS_OK);
    if (type == KEY_INTEGER)
        status = units_integer(value->text, &value->whole, NULL);
    else if (type == KEY_TIME)
        status = units_time_ps(value->text, &value->whole, NULL);
    require(status == STATUS_OK);
}

/* A value of an axis with a key. */
static enum status read_axis_value(struct reader *reader, struct axis *axis, const struct yaml_node *node,
                                   struct error *error)
{
    struct axis_value *value = &axis->values[axis->value_count];
    size_t key = (size_t)axis->key;
    if (yaml_is_null(node))
        return yaml_error(error, node, "%s: null is no value to sweep; write the default itself",
                          reader->probe->table->rows[key].name);
    *value = (struct axis_value){.at = node,
                                 .is_text = axis->kind == AXIS_TEXT,
                                 .settings = arena_alloc(reader->arena, 1, sizeof *value->settings)};
    TRY(add_setting(reader, value, key, node, error));
    bool is_scalar = node->kind == YAML_SCALAR;
    value->text = is_scalar ? node->text : keys_value_text(&reader->probe->keys, key, reader->arena);
    if (axis->kind != AXIS_TEXT)
        read_numbers(reader->probe->table->rows[key].type, axis->kind, value);
    axis->value_count++;
    return STATUS_OK;
}

/* A value of an axis without key: {label: ..., some.key: ..., other.key: ...}. */
static enum status read_compound(struct reader *reader, struct axis *axis, const struct yaml_node *node,
                                 struct error *error)
{
    struct axis_value *value = &axis->values[axis->value_count];
    if (node->kind != YAML_MAPPING)
        return yaml_error(error, node,
                          "%s: expected values such as {label: four, partition.strategy: fixed, partition.degree: 4}, "
                          "since it has no key; found %s",
                          axis->name, yaml_kind_name(node));
    *value = (struct axis_value){
        .at = node, .is_text = true, .settings = arena_alloc(reader->arena, node->count, sizeof *value->settings)};
    for (size_t i = 0; i < node->count; i++) {
        size_t key = 0;
        if (strcmp(node->keys[i]->text, "label") == 0) {
            TRY(read_label(node->items[i], &value->text, error));
            continue;
        }
        TRY(own_key(reader, (size_t)(axis - reader->sweep->axes), node->keys[i], &key, error));
        TRY(add_setting(reader, value, key, node->items[i], error));
    }
    if (!value->text)
        return yaml_error(error, node, "%s: a value that sets several keys needs a label", axis->name);
    if (!value->setting_count)
        return yaml_error(error, node, "%s: the value '%s' sets no key", axis->name, value->text);
    axis->value_count++;
    return STATUS_OK;
}

/* By number, or by text where it is none. */
static int order_values(const struct axis_value *a, const struct axis_value *b)
{
    if (a->is_text)
        return strcmp(a->text, b->text);
    int order = (a->number > b->number) - (a->number < b->number);
    return order ? order : (a->whole > b->whole) - (a->whole < b->whole);
}

static int compare_values_total(const void *left, const void *right)
{
    const struct axis_value *a = *(const struct axis_value *const *)left, *b = *(const struct axis_value *const *)right;
    int order = order_values(a, b);
    return order ? order : (a > b) - (a < b);
}

static enum status check_duplicates(const struct axis *axis, struct error *error)
{
    const struct axis_value **sorted = memory_alloc(axis->value_count, sizeof *sorted);
    for (size_t i = 0; i < axis->value_count; i++)
        sorted[i] = &axis->values[i];
    qsort(sorted, axis->value_count, sizeof *sorted, compare_values_total);
    enum status status = STATUS_OK;
    for (size_t i = 1; i < axis->value_count && status == STATUS_OK; i++) {
        const struct axis_value *a = sorted[i - 1], *b = sorted[i];
        char shown[TEXT_SHOW_BYTES], first[TEXT_SHOW_BYTES];
        if (order_values(a, b) == 0)
            status = yaml_error(error, b->at, "%s: '%s' is there twice, first as '%s' in line %d", axis->name,
                                text_show(b->text, shown), text_show(a->text, first), a->at->line);
    }
    free(sorted);
    return status;
}

/* ---- axes ---- */

static enum status read_listed(struct reader *reader, struct axis *axis, const struct yaml_node *list,
                               struct error *error)
{
    if (list->kind != YAML_SEQUENCE)
        return yaml_error(error, list, "%s: values: expected a list, e.g. [1, 2, 4]; found %s", axis->name,
                          yaml_kind_name(list));
    if (!list->count)
        return yaml_error(error, list, "%s: values: the list is empty", axis->name);
    axis->values = arena_alloc(reader->arena, list->count, sizeof *axis->values);
    for (size_t i = 0; i < list->count; i++)
        TRY(axis->key >= 0 ? read_axis_value(reader, axis, list->items[i], error)
                           : read_compound(reader, axis, list->items[i], error));
    return STATUS_OK;
}

static enum status read_range(struct reader *reader, struct axis *axis, const struct yaml_node *list, bool is_log,
                              struct error *error)
{
    const char *what = is_log ? "log_range" : "range";
    if (axis->key < 0)
        return yaml_error(error, list, "%s: %s needs a key", axis->name, what);
    if (axis->kind == AXIS_TEXT)
        return yaml_error(error, list, "%s: %s: %s is no number; list its values", axis->name, what,
                          reader->probe->table->rows[axis->key].name);
    struct yaml_node made = {0};
    TRY((is_log ? plan_range_log : plan_range_linear)(list, &reader->probe->table->rows[axis->key], reader->arena,
                                                      &made, error));
    return read_listed(reader, axis, &made, error);
}

/* Which of values, range and log_range is there. */
static enum status read_axis_values(struct reader *reader, struct axis *axis, const struct yaml_node *node,
                                    struct error *error)
{
    const struct yaml_node *values = yaml_get(node, "values"), *range = yaml_get(node, "range");
    const struct yaml_node *log_range = yaml_get(node, "log_range");
    if (!!values + !!range + !!log_range != 1)
        return yaml_error(error, node, "%s: needs one of values, range and log_range, e.g. values: [1, 2, 4]",
                          axis->name);
    TRY(values ? read_listed(reader, axis, values, error)
               : read_range(reader, axis, range ? range : log_range, log_range != NULL, error));
    return check_duplicates(axis, error);
}

static void list_resets(const struct reader *reader, size_t number)
{
    struct axis *axis = &reader->sweep->axes[number];
    axis->resets = arena_alloc(reader->arena, reader->probe->table->count, sizeof *axis->resets);
    for (size_t key = 0; axis->key < 0 && key < reader->probe->table->count; key++) {
        if (reader->owners[key] == number + 1)
            axis->resets[axis->reset_count++] = key;
    }
}

/* Names stand in `where` and as columns. */
static enum status check_name(const struct yaml_node *at, struct error *error)
{
    const char *text = at->text;
    bool is_name = isalpha((unsigned char)*text) || *text == '_';
    for (; *text && is_name; text++)
        is_name = isalnum((unsigned char)*text) || *text == '_';
    char shown[TEXT_SHOW_BYTES];
    if (!is_name || text_position(at->text, "and|or|not") >= 0 || strlen(at->text) >= TEXT_SHOW_BYTES - 4)
        return yaml_error(error, at,
                          "sweep: '%s' is no name for an axis: expected up to %d letters, digits and _, not and, or, "
                          "not",
                          text_show(at->text, shown), TEXT_SHOW_BYTES - 5);
    return STATUS_OK;
}

/* A value given on the command line that every run then replaces would do nothing. */
static enum status check_command_line(const struct reader *reader, size_t key, struct error *error)
{
    struct key_place swept = keys_place(&reader->scenario->keys, keys_named(&reader->scenario->keys, "sweep"));
    struct key_place place = keys_place(&reader->scenario->keys, key);
    if (strcmp(place.file, "command line") != 0 || strcmp(swept.file, "command line") == 0)
        return STATUS_OK;
    return keys_error(&reader->scenario->keys, key, error,
                      "has no effect, because the sweep sets it (%s:%d); sweep=null leaves the sweep out", swept.file,
                      swept.line);
}

static enum status read_axis_key(struct reader *reader, size_t number, const struct yaml_node *at, struct error *error)
{
    size_t key = 0;
    struct axis *axis = &reader->sweep->axes[number];
    TRY(own_key(reader, number, at, &key, error));
    TRY(check_command_line(reader, key, error));
    axis->key = (int)key;
    axis->kind = plan_axis_kind(reader->probe->table->rows[key].type);
    return STATUS_OK;
}

static enum status read_axis(struct reader *reader, size_t number, const struct yaml_node *name,
                             const struct yaml_node *node, struct error *error)
{
    struct axis *axis = &reader->sweep->axes[number];
    *axis = (struct axis){.name = name->text, .label = name->text, .at = name, .key = -1};
    TRY(check_name(name, error));
    if (node->kind != YAML_MAPPING) {
        char hint[TEXT_HINT_BYTES];
        return yaml_error(error, node, "%s: expected an axis such as {key: run.seed, values: [1, 2]}, found %s%s",
                          name->text, yaml_kind_name(node), text_hint(plan_nearest(name->text, own_members), hint));
    }
    TRY(plan_check_members(node, axis_members, name->text, error));
    const struct yaml_node *label = yaml_get(node, "label"), *key = yaml_get(node, "key");
    if (label)
        TRY(read_label(label, &axis->label, error));
    if (key)
        TRY(read_axis_key(reader, number, key, error));
    TRY(read_axis_values(reader, axis, node, error));
    list_resets(reader, number);
    return STATUS_OK;
}

/* A column of runs.csv has one meaning. */
static enum status check_columns(const struct reader *reader, struct error *error)
{
    const struct sweep *sweep = reader->sweep;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct axis *axis = &sweep->axes[i];
        if (axis->key >= 0)
            continue;
        bool is_taken = text_position(axis->name, "run|seed|status|events|trace_hash") >= 0;
        for (int metric = 0; metric < METRIC_COUNT; metric++)
            is_taken = is_taken || strcmp(axis->name, metric_name((enum metric)metric)) == 0;
        for (size_t j = 0; j < sweep->axis_count; j++)
            is_taken = is_taken || (sweep->axes[j].key >= 0 &&
                                    strcmp(axis->name, reader->probe->table->rows[sweep->axes[j].key].name) == 0);
        if (is_taken)
            return yaml_error(error, axis->at, "%s: runs.csv has a column of this name; give the axis another",
                              axis->name);
    }
    return STATUS_OK;
}

/* ---- zip ---- */

static enum status find_zipped(const struct sweep *sweep, const struct yaml_node *name, struct axis **axis,
                               struct error *error)
{
    if (name->kind != YAML_SCALAR)
        return yaml_error(error, name, "zip: expected the name of an axis, found %s", yaml_kind_name(name));
    struct text_search search = {.word = name->text, .limit = 3};
    for (size_t i = 0; i < sweep->axis_count; i++) {
        *axis = &sweep->axes[i];
        if (strcmp(name->text, (*axis)->name) == 0)
            return STATUS_OK;
        text_offer(&search, (*axis)->name);
    }
    char shown[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES];
    return yaml_error(error, name, "zip: there is no axis '%s'%s", text_show(name->text, shown),
                      text_hint(search.nearest, hint));
}

/* groups[axis] = 1 + the zip group it is in. */
static enum status read_zip_group(const struct sweep *sweep, const struct yaml_node *list, size_t group, size_t *groups,
                                  struct error *error)
{
    if (list->kind != YAML_SEQUENCE || list->count < 2)
        return yaml_error(error, list, "zip: expected lists of at least two axes, e.g. zip: [[strategy, degree]]");
    const struct axis *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        struct axis *axis = NULL;
        TRY(find_zipped(sweep, list->items[i], &axis, error));
        size_t *entry = &groups[axis - sweep->axes];
        if (*entry)
            return yaml_error(error, list->items[i], "zip: %s is there twice", axis->name);
        *entry = group + 1;
        first = first ? first : axis;
        if (axis->value_count != first->value_count)
            return yaml_error(error, list->items[i], "zip: %s has %zu values, %s has %zu; they must be as many",
                              first->name, first->value_count, axis->name, axis->value_count);
    }
    return STATUS_OK;
}

static void number_dimensions(struct sweep *sweep, const size_t *groups)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        struct axis *axis = &sweep->axes[i];
        axis->dimension = sweep->dimension_count;
        for (size_t j = 0; j < i && groups[i]; j++) {
            if (groups[j] == groups[i])
                axis->dimension = sweep->axes[j].dimension;
        }
        if (axis->dimension == sweep->dimension_count)
            sweep->lengths[sweep->dimension_count++] = axis->value_count;
    }
}

static enum status read_zip(struct reader *reader, const struct yaml_node *zip, struct error *error)
{
    struct sweep *sweep = reader->sweep;
    size_t *groups = arena_alloc(reader->arena, sweep->axis_count, sizeof *groups);
    sweep->lengths = arena_alloc(reader->arena, sweep->axis_count, sizeof *sweep->lengths);
    if (zip && zip->kind != YAML_SEQUENCE)
        return yaml_error(error, zip, "zip: expected a list of lists of axes, e.g. [[strategy, degree]]; found %s",
                          yaml_kind_name(zip));
    for (size_t i = 0; zip && i < zip->count; i++)
        TRY(read_zip_group(sweep, zip->items[i], i, groups, error));
    number_dimensions(sweep, groups);
    return STATUS_OK;
}

/* ---- the sweep ---- */

static enum status read_axes(struct reader *reader, const struct yaml_node *node, struct error *error)
{
    struct sweep *sweep = reader->sweep;
    /* One axis more than there are keys cannot have a key of its own, so it is refused when its key is read. */
    sweep->axes = arena_alloc(reader->arena, reader->probe->table->count + 1, sizeof *sweep->axes);
    for (size_t i = 0; i < node->count; i++) {
        if (is_listed(node->keys[i]->text, own_members))
            continue;
        require(sweep->axis_count <= reader->probe->table->count);
        TRY(read_axis(reader, sweep->axis_count, node->keys[i], node->items[i], error));
        sweep->axis_count++;
    }
    return check_columns(reader, error);
}

enum status plan_axes_read(const struct scenario *scenario, struct plan_probe *probe, struct arena *arena,
                           struct sweep *sweep, struct error *error)
{
    require(scenario && scenario->settings.sweep && probe && arena && sweep);
    const struct yaml_node *node = scenario->settings.sweep;
    struct sweep made = {0};
    struct reader reader = {.scenario = scenario, .probe = probe, .arena = arena, .sweep = &made};
    if (node->kind != YAML_MAPPING || !node->count)
        return yaml_error(error, node, "sweep: expected axes, e.g. %s; found %s",
                          "{degree: {key: partition.max_degree, values: [2, 4, 8]}}",
                          node->kind == YAML_MAPPING ? "none" : yaml_kind_name(node));
    reader.owners = arena_alloc(arena, probe->table->count, sizeof *reader.owners);
    TRY(read_axes(&reader, node, error));
    TRY(read_zip(&reader, yaml_get(node, "zip"), error));
    TRY(stop_rule_read(node, &made.stop, error));
    made.where = yaml_get(node, "where");
    if (made.where)
        TRY(plan_need_scalar(made.where, "where", error));
    *sweep = made;
    return STATUS_OK;
}
