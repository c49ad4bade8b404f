/* The points of a sweep: which combinations of its values become runs.
 *
 * Combinations are gone through as an odometer does, the first axis slowest:
 * O(combinations x axes). Those that `where` refuses are left out; values
 * without effect are not applied, and combinations that are alike then are kept
 * once. Private to sim/scenario.
 */
#ifndef SCENARIO_PLAN_POINTS_H
#define SCENARIO_PLAN_POINTS_H

#include "scenario/plan_axes.h"

struct plan_point {
    struct scenario_point *values; /* with room for one more, the seed */
    size_t value_count;
    const char **texts; /* per axis; "" = not applied */
};

struct plan_points {
    struct plan_point *items; /* owned, plan_points_free; what they point to is in the arena */
    size_t count, capacity;
};

/* Finds the points and checks that every axis has an effect in one of them. On failure *points is empty. */
STATUS_MUST_USE enum status plan_points_find(struct sweep *sweep, const struct yaml_node *at, struct plan_probe *probe,
                                             struct arena *arena, struct plan_points *points, struct error *error);
void plan_points_free(struct plan_points *points);

#endif
