/* Which runs a scenario asks for: one, or one for each point of its sweep and each repetition.
 *
 * A run is known by its number in this list, which depends on the scenario
 * alone: not on workers, shards or what was done before.
 */
#ifndef EXPERIMENT_PLAN_H
#define EXPERIMENT_PLAN_H

#include "experiment/scenario.h"

struct plan_axis {
    const char *key;   /* the scenario key it sets: a column of runs.csv */
    const char *label; /* for figures; the axis's name where none is given */
};

struct plan_run {
    size_t number;
    size_t point;                        /* which combination of values; repetitions share it */
    uint32_t repetition;                 /* from 0 */
    const struct scenario_point *values; /* of the axes, in their order, then run.seed */
    size_t value_count;
    const char **texts; /* of the axes, as they stand in runs.csv */
    int64_t seed;
};

/* Stop repeating a point when the 95 % interval of a metric is narrow enough. */
struct plan_stop {
    const char *metric; /* NULL = never */
    double relative_half_width;
    uint32_t max_repeat;
};

struct plan {
    const struct scenario *scenario; /* borrowed */
    struct plan_axis *axes;
    size_t axis_count;
    struct plan_run *runs; /* by point, then by repetition */
    size_t run_count;
    size_t point_count;
    uint32_t repeat;
    struct plan_stop stop;
    struct arena arena;
};

/* Returned owned: plan_free, before the scenario. Every run's settings are checked. */
STATUS_MUST_USE enum status plan_create(const struct scenario *scenario, struct plan **plan, struct error *error);
void plan_free(struct plan *plan);

/* The settings of one run, returned owned: scenario_free, before the plan's scenario. */
STATUS_MUST_USE enum status plan_settings(const struct plan *plan, size_t run, struct scenario **settings,
                                          struct error *error);

/* The name of the run's folder. */
enum { PLAN_NAME_BYTES = 24 };
void plan_name(const struct plan *plan, size_t run, char name[PLAN_NAME_BYTES]);

#endif
