/* The plan: see plan.h. Points come from plan_points.c; here they are repeated, seeded and checked. Everything a plan
 * holds is in its arena. Runs of a point share its texts; its repetitions differ in the last value, the seed. */
#include "scenario/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "engine/intern.h"
#include "input/text.h"
#include "scenario/plan_axes.h"
#include "scenario/plan_points.h"
#include "scenario/plan_probe.h"

/* ---- seeds ---- */

/* The seeds of the repetitions under one master seed, and nodes that say them. */
struct seeds {
    int64_t master;
    int64_t *numbers;
    struct yaml_node *nodes;
    size_t count;
};

/* Positive and in 31 bits, so that a seed can be typed and fits everywhere. */
static int64_t draw_seed(int64_t master, uint64_t repetition, uint64_t attempt)
{
    uint64_t hash = hash_pair((uint64_t)master, repetition);
    if (attempt)
        hash = hash_pair(hash, attempt);
    return (int64_t)(1 + hash % (uint64_t)(INT32_MAX));
}

/* 31 bits are few: of 10,000 repetitions two would share a seed every fortieth time, and count one run twice. A seed
 * that is taken is drawn again, which depends on earlier repetitions alone. */
static void fill_seeds(struct seeds *seeds, int64_t master)
{
    struct intern taken = {0};
    seeds->master = master;
    for (size_t i = 0; i < seeds->count; i++) {
        uint64_t attempt = 0;
        do
            seeds->numbers[i] = i ? draw_seed(master, i, attempt++) : master;
        while (intern_number(&taken, &seeds->numbers[i], sizeof seeds->numbers[i]) != i);
    }
    intern_free(&taken);
}

static struct seeds *seeds_new(struct arena *arena, size_t count, int64_t master, const struct yaml_node *at)
{
    struct seeds *seeds = arena_alloc(arena, 1, sizeof *seeds);
    seeds->count = count;
    seeds->numbers = arena_alloc(arena, count, sizeof *seeds->numbers);
    seeds->nodes = arena_alloc(arena, count, sizeof *seeds->nodes);
    fill_seeds(seeds, master);
    for (size_t i = 0; i < count; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, seeds->numbers[i]);
        seeds->nodes[i] = yaml_scalar(at, text, arena);
    }
    return seeds;
}

/* ---- runs ---- */

/* Says in which combination the trouble is. */
static void name_point(const struct plan *plan, const struct plan_point *point, struct error *error)
{
    char text[300] = "";
    for (size_t i = 0; i < plan->axis_count; i++)
        if (*point->texts[i])
            text_append(text, sizeof text, "%s%s=%.40s", *text ? ", " : "", plan->axes[i].key, point->texts[i]);
    if (error && *text)
        error_wrap(error, "sweep, run with %s", text);
}

/* The settings of a point are those of its runs but for the seed, on which no other key depends: one check does. */
static enum status check_point(const struct plan *plan, const struct plan_point *point, int64_t *seed,
                               struct error *error)
{
    struct scenario *variant = NULL;
    enum status status = scenario_variant(plan->scenario, point->values, point->value_count, &variant, error);
    if (status != STATUS_OK) {
        name_point(plan, point, error);
        return status;
    }
    *seed = variant->settings.run.seed;
    scenario_free(variant);
    return STATUS_OK;
}

static void add_run(struct plan *plan, const struct plan_point *point, size_t repetition, const struct seeds *seeds)
{
    struct plan_run *run = &plan->runs[plan->run_count];
    size_t count = point->value_count;
    struct scenario_point *values = arena_alloc(&plan->arena, count + 1, sizeof *values);
    if (count)
        memcpy(values, point->values, count * sizeof *values);
    values[count] = (struct scenario_point){"run.seed", &seeds->nodes[repetition]};
    *run = (struct plan_run){.number = plan->run_count,
                             .point = plan->point_count,
                             .repetition = (uint32_t)repetition,
                             .values = values,
                             .value_count = count + 1,
                             .texts = point->texts,
                             .seed = seeds->numbers[repetition]};
    plan->run_count++;
}

static enum status add_points(struct plan *plan, const struct plan_points *points, struct error *error)
{
    size_t repetitions = plan->stop.most;
    struct seeds *seeds = NULL;
    require(points->count > 0 && points->count <= PLAN_RUN_LIMIT / repetitions);
    plan->runs = arena_alloc(&plan->arena, points->count * repetitions, sizeof *plan->runs);
    for (size_t i = 0; i < points->count; i++) {
        int64_t master = 0;
        TRY(check_point(plan, &points->items[i], &master, error));
        /* The same for all points, unless run.seed itself is swept. */
        if (!seeds || seeds->master != master)
            seeds = seeds_new(&plan->arena, repetitions, master, plan->scenario->settings.sweep);
        for (size_t repetition = 0; repetition < repetitions; repetition++)
            add_run(plan, &points->items[i], repetition, seeds);
        plan->point_count++;
    }
    return STATUS_OK;
}

/* ---- the plan ---- */

static void copy_axes(struct plan *plan, const struct sweep *sweep)
{
    plan->axis_count = sweep->axis_count;
    plan->axes = arena_alloc(&plan->arena, sweep->axis_count, sizeof *plan->axes);
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct axis *axis = &sweep->axes[i];
        plan->axes[i].key = axis->key >= 0 ? plan->scenario->keys.table->rows[axis->key].name : axis->name;
        plan->axes[i].label = axis->label;
    }
    plan->stop = sweep->stop;
}

static enum status fill_sweep(struct plan *plan, struct plan_probe *probe, struct error *error)
{
    const struct yaml_node *at = plan->scenario->settings.sweep;
    struct sweep sweep;
    struct plan_points points = {0};
    TRY(plan_axes_read(plan->scenario, probe, &plan->arena, &sweep, error));
    copy_axes(plan, &sweep);
    enum status status = plan_points_find(&sweep, at, probe, &plan->arena, &points, error);
    if (status == STATUS_OK)
        status = add_points(plan, &points, error);
    plan_points_free(&points);
    return status;
}

static void fill_one_run(struct plan *plan)
{
    plan->run_count = plan->point_count = 1;
    plan->stop.least = plan->stop.most = 1;
    plan->runs = arena_alloc(&plan->arena, 1, sizeof *plan->runs);
    plan->runs[0].seed = plan->scenario->settings.run.seed;
}

enum status plan_create(const struct scenario *scenario, struct plan **plan, struct error *error)
{
    require(scenario && plan);
    struct plan *made = memory_alloc(1, sizeof *made);
    made->scenario = scenario;
    enum status status = STATUS_OK;
    if (scenario->settings.sweep) {
        struct plan_probe probe;
        plan_probe_init(&probe, scenario);
        status = fill_sweep(made, &probe, error);
        plan_probe_free(&probe);
    } else {
        fill_one_run(made);
    }
    if (status != STATUS_OK) {
        plan_free(made);
        return status;
    }
    *plan = made;
    return STATUS_OK;
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    arena_free(&plan->arena);
    free(plan);
}

enum status plan_settings(const struct plan *plan, size_t run, struct scenario **settings, struct error *error)
{
    require(plan && run < plan->run_count && settings);
    return scenario_variant(plan->scenario, plan->runs[run].values, plan->runs[run].value_count, settings, error);
}

void plan_name(const struct plan *plan, size_t run, char name[PLAN_NAME_BYTES])
{
    require(plan && run < plan->run_count);
    snprintf(name, PLAN_NAME_BYTES, "%04zu", run);
}
