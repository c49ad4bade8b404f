/* A scenario to try values on: reads a value of a sweep, and tells whether a key has an effect.
 *
 * It starts as the scenario is without its sweep. Setting a key costs one read
 * of its value; nothing is checked across keys, so any combination can be tried.
 * Private to sim/scenario.
 */
#ifndef SCENARIO_PLAN_PROBE_H
#define SCENARIO_PLAN_PROBE_H

#include "scenario/scenario.h"

struct plan_probe {
    const struct key_table *table; /* the scenario's */
    struct settings settings;
    struct keys keys;
    struct yaml_tree *trees; /* per key: the scenario's own value */
    size_t set_count;        /* since the keys were last made anew */
};

/* Borrows the scenario's table of keys until plan_probe_free. */
void plan_probe_init(struct plan_probe *probe, const struct scenario *scenario);
void plan_probe_free(struct plan_probe *probe);

/* All keys back to the scenario's own values. */
void plan_probe_restart(struct plan_probe *probe);

/* One key back to the scenario's own value. */
void plan_probe_reset(struct plan_probe *probe, size_t key);

/* Borrows the node until the next restart. */
STATUS_MUST_USE enum status plan_probe_set(struct plan_probe *probe, size_t key, const struct yaml_node *value,
                                           struct error *error);

#endif
