/* The points of a sweep: see plan_points.h. */
#include "scenario/plan_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/intern.h"
#include "scenario/plan_where.h"
#include "input/text.h"

/* After this many values tried, the probe's memory is worth taking back. */
enum { PROBE_SET_LIMIT = 100 * 1000 };

#define NOT_APPLIED UINT32_MAX

struct finder {
    struct sweep *sweep;
    const struct plan_where *where; /* NULL = all */
    struct plan_probe *probe;
    struct arena *arena;
    struct plan_points *points;
    size_t *counters; /* per dimension */
    uint32_t *row;    /* per axis: its value, or NOT_APPLIED */
    /* Rows of the combinations so far in which some axis was not applied; others cannot be alike. */
    struct intern seen;
};

/* Is the combination unlike all before it? */
static bool is_new(struct finder *finder)
{
    size_t known = finder->seen.count;
    return intern_number(&finder->seen, finder->row, finder->sweep->axis_count * sizeof *finder->row) == known;
}

/* ---- one combination ---- */

static struct axis_value *current_value(const struct finder *finder, size_t axis)
{
    const struct axis *at = &finder->sweep->axes[axis];
    return &at->values[finder->counters[at->dimension]];
}

/* Axes of several keys do not set the same ones with each value: what an earlier combination set has to go. */
static void reset_compounds(const struct finder *finder)
{
    for (size_t i = 0; i < finder->sweep->axis_count; i++) {
        const struct axis *axis = &finder->sweep->axes[i];
        for (size_t j = 0; j < axis->reset_count; j++)
            plan_probe_reset(finder->probe, axis->resets[j]);
    }
}

static void try_values(const struct finder *finder)
{
    if (finder->probe->set_count > PROBE_SET_LIMIT)
        plan_probe_restart(finder->probe);
    reset_compounds(finder);
    for (size_t i = 0; i < finder->sweep->axis_count; i++) {
        const struct axis_value *value = current_value(finder, i);
        for (size_t j = 0; j < value->setting_count; j++) {
            enum status status = plan_probe_set(finder->probe, value->settings[j].key, value->settings[j].value, NULL);
            require(status == STATUS_OK); /* it was read before */
        }
    }
}

/* `null` takes back what a file set, which is an effect whatever the other keys are. */
static bool is_effective(const struct finder *finder, const struct axis_setting *setting)
{
    return yaml_is_null(setting->value) || keys_is_effective(&finder->probe->keys, setting->key);
}

/* Fills the row. Returns whether every axis is applied. */
static bool find_effects(struct finder *finder)
{
    bool is_whole = true;
    for (size_t i = 0; i < finder->sweep->axis_count; i++) {
        struct axis_value *value = current_value(finder, i);
        bool is_applied = false;
        value->is_used = true;
        for (size_t j = 0; j < value->setting_count; j++) {
            bool has_effect = is_effective(finder, &value->settings[j]);
            value->settings[j].had_effect |= has_effect;
            is_applied |= has_effect;
        }
        finder->row[i] = is_applied ? (uint32_t)(value - finder->sweep->axes[i].values) : NOT_APPLIED;
        is_whole &= is_applied;
    }
    return is_whole;
}

static size_t count_settings(const struct finder *finder)
{
    size_t count = 0;
    for (size_t i = 0; i < finder->sweep->axis_count; i++)
        count += current_value(finder, i)->setting_count;
    return count;
}

static void add_point(struct finder *finder)
{
    struct plan_points *points = finder->points;
    const struct sweep *sweep = finder->sweep;
    points->items = memory_grow(points->items, &points->capacity, points->count + 1, sizeof *points->items);
    struct plan_point *point = &points->items[points->count++];
    *point = (struct plan_point){
        .values = arena_alloc(finder->arena, count_settings(finder) + 1, sizeof *point->values),
        .texts = arena_alloc(finder->arena, sweep->axis_count, sizeof *point->texts),
    };
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct axis_value *value = current_value(finder, i);
        point->texts[i] = finder->row[i] == NOT_APPLIED ? "" : value->text;
        for (size_t j = 0; j < value->setting_count; j++) {
            const struct axis_setting *setting = &value->settings[j];
            if (is_effective(finder, setting))
                point->values[point->value_count++] = (struct scenario_point){setting->row->name, setting->value};
        }
    }
}

static void take_combination(struct finder *finder)
{
    if (finder->where && !plan_where_holds(finder->where, finder->counters))
        return;
    try_values(finder);
    if (find_effects(finder) || is_new(finder))
        add_point(finder);
}

/* ---- all of them ---- */

/* The next combination; false behind the last. */
static bool next_combination(struct finder *finder)
{
    for (size_t i = finder->sweep->dimension_count; i > 0; i--) {
        if (++finder->counters[i - 1] < finder->sweep->lengths[i - 1])
            return true;
        finder->counters[i - 1] = 0;
    }
    return false;
}

static enum status check_size(const struct sweep *sweep, const struct yaml_node *at, struct error *error)
{
    size_t combinations = 1;
    for (size_t i = 0; i < sweep->dimension_count; i++) {
        require(sweep->lengths[i] > 0);
        if (sweep->lengths[i] > PLAN_COMBINATION_LIMIT / combinations)
            return yaml_error(error, at, "sweep: more than %d combinations", PLAN_COMBINATION_LIMIT);
        combinations *= sweep->lengths[i];
    }
    return STATUS_OK;
}

/* "a=x|y&b=" as "a: x or y and b not set". */
static const char *say_condition(const char *when, char *text, size_t size)
{
    text[0] = '\0';
    for (const char *at = when; at;) {
        const char *equals = strchr(at, '='), *end = strchr(at, '&');
        require(equals);
        size_t length = end ? (size_t)(end - equals) - 1 : strlen(equals + 1);
        char choices[200], alternatives[300];
        snprintf(choices, sizeof choices, "%.*s", (int)length, equals + 1);
        text_alternatives(choices, alternatives, sizeof alternatives);
        text_append(text, size, "%s%.*s%s%s", *text ? " and " : "", (int)(equals - at), at, length ? ": " : " not set",
                    length ? alternatives : "");
        at = end ? end + 1 : NULL;
    }
    return text;
}

static enum status refuse_idle(const struct axis *axis, const struct axis_setting *setting, const char *of,
                               struct error *error)
{
    const struct key *key = setting->row;
    require(key->when);
    const struct yaml_node *at = of ? setting->value : axis->at;
    char condition[400];
    return yaml_error(error, at, "%s: %s%s%s has no effect in any run of the sweep; it counts only with %s", axis->name,
                      key->name, of ? " of " : "", of ? of : "", say_condition(key->when, condition, sizeof condition));
}

/* An axis with a key needs one value that counts; where values set several keys, each of these has to. */
static enum status check_effects(const struct axis *axis, struct error *error)
{
    bool is_idle = true;
    for (size_t i = 0; i < axis->value_count; i++) {
        const struct axis_value *value = &axis->values[i];
        for (size_t j = 0; j < value->setting_count; j++) {
            is_idle &= !value->settings[j].had_effect;
            if (axis->key < 0 && value->is_used && !value->settings[j].had_effect)
                return refuse_idle(axis, &value->settings[j], value->text, error);
        }
    }
    return is_idle ? refuse_idle(axis, &axis->values[0].settings[0], NULL, error) : STATUS_OK;
}

static enum status check_found(const struct finder *finder, struct error *error)
{
    const struct sweep *sweep = finder->sweep;
    if (!finder->points->count) {
        require(sweep->where);
        return yaml_error(error, sweep->where, "where: no combination is left");
    }
    for (size_t i = 0; i < sweep->axis_count; i++)
        TRY(check_effects(&sweep->axes[i], error));
    return STATUS_OK;
}

static enum status find_all(struct finder *finder, const struct yaml_node *at, struct error *error)
{
    do {
        take_combination(finder);
        if (finder->points->count > PLAN_RUN_LIMIT / finder->sweep->stop.most)
            return yaml_error(error, at, "sweep: more than %d runs", PLAN_RUN_LIMIT);
    } while (next_combination(finder));
    return check_found(finder, error);
}

enum status plan_points_find(struct sweep *sweep, const struct yaml_node *at, struct plan_probe *probe,
                             struct arena *arena, struct plan_points *points, struct error *error)
{
    require(sweep && at && probe && arena && points);
    *points = (struct plan_points){0};
    TRY(check_size(sweep, at, error));
    enum status status = STATUS_OK;
    struct finder finder = {.sweep = sweep, .probe = probe, .arena = arena, .points = points};
    finder.counters = arena_alloc(arena, sweep->dimension_count, sizeof *finder.counters);
    finder.row = arena_alloc(arena, sweep->axis_count, sizeof *finder.row);
    plan_probe_restart(probe);
    if (sweep->where)
        status = plan_where_read(sweep->where, sweep, arena, &finder.where, error);
    if (status == STATUS_OK)
        status = find_all(&finder, at, error);
    if (status != STATUS_OK)
        plan_points_free(points);
    intern_free(&finder.seen);
    return status;
}

void plan_points_free(struct plan_points *points)
{
    free(points->items);
    *points = (struct plan_points){0};
}
