/* Which runs a scenario asks for: one, or one for each point of its sweep and each repetition.
 *
 *   sweep:
 *     strategy: {key: partition.strategy, values: [max, random], label: "strategy"}
 *     load:     {key: workload.interarrival, range: [500s, 2000s, 500s]}    first, last, step
 *     tick:     {key: run.tick, log_range: [1ps, 1ns, 4]}                   first, last, how many
 *     policy:   {values: [{label: four, place.strategy: ramp_compact, schedule.strategy: fifo}]}
 *     zip: [[strategy, load]]       axes that advance together; all others are combined
 *     where: "load <= 1000 or strategy != random"
 *     repeat: 10
 *     stop_when: {metric: blocking_rate, relative_half_width: 0.05, max_repeat: 50}
 *
 * A run is known by its number in this list, which depends on the scenario
 * alone: not on workers, shards or what was done before. The first axis is the
 * outermost; the repetitions of a point stand side by side.
 *
 * A value whose key has no effect in a combination (partition.degree where the
 * strategy is max) is not applied there: its text is empty, and of the
 * combinations that become alike only the first stays. An axis that has no
 * effect in any run is an error.
 *
 * Repetition 0 has the seed run.seed; the others have seeds drawn from it that
 * depend on the number of the repetition alone, so that all points see the same
 * jobs (common random numbers).
 */
#ifndef SCENARIO_PLAN_H
#define SCENARIO_PLAN_H

#include "scenario/scenario.h"
#include "scenario/stop_rule.h"

enum {
    PLAN_RUN_LIMIT = 1000 * 1000,
    PLAN_COMBINATION_LIMIT = 10 * 1000 * 1000, /* before `where` */
};

struct plan_axis {
    const char *key;   /* the scenario key it sets, or the axis's name where it sets several: a column of runs.csv */
    const char *label; /* for figures; the axis's name where none is given */
};

struct plan_run {
    size_t number;
    size_t point;                        /* which combination of values; repetitions share it */
    uint32_t repetition;                 /* from 0 */
    const struct scenario_point *values; /* of the axes, in their order, then run.seed */
    size_t value_count;
    const char **texts; /* of the axes, as they stand in runs.csv; "" = no effect in this run */
    int64_t seed;
};

struct plan {
    const struct scenario *scenario; /* borrowed */
    struct plan_axis *axes;
    size_t axis_count;
    struct plan_run *runs; /* by point, then by repetition: stop.most per point */
    size_t run_count;
    size_t point_count;
    struct stop_rule stop;
    struct arena arena;
};

/* Returned owned: plan_free, before the scenario. Every run's settings are checked: O(runs). */
STATUS_MUST_USE enum status plan_create(const struct scenario *scenario, struct plan **plan, struct error *error);
void plan_free(struct plan *plan);

/* The settings of one run, returned owned: scenario_free, before the plan's scenario. */
STATUS_MUST_USE enum status plan_settings(const struct plan *plan, size_t run, struct scenario **settings,
                                          struct error *error);

/* The name of the run's folder: its number in 4 digits, or as many as needed. */
enum { PLAN_NAME_BYTES = 24 };
void plan_name(const struct plan *plan, size_t run, char name[PLAN_NAME_BYTES]);

#endif
