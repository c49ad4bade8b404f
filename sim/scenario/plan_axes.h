/* The `sweep` key as read: axes, their values, and how they combine.
 *
 * Everything is put into one arena; nodes of the scenario are borrowed and live
 * until the scenario is freed. No two axes set the same key, so there are never
 * more axes than keys, and loops over axes are short. Private to sim/scenario.
 */
#ifndef SCENARIO_PLAN_AXES_H
#define SCENARIO_PLAN_AXES_H

#include "scenario/plan.h"
#include "scenario/plan_probe.h"

struct axis_setting {
    size_t key;            /* in the table of the scenario ... */
    const struct key *row; /* ... and what stands there */
    const struct yaml_node *value;
    bool had_effect; /* in some combination: written while combining */
};

struct axis_value {
    const char *text; /* in runs.csv, and in `where` */
    bool is_text;     /* else it is a number: */
    double number;    /* in seconds, bytes, bytes per second */
    int64_t whole;    /* of INTEGER and TIME keys: the value where a double has too few digits; else 0 */
    const struct yaml_node *at;
    struct axis_setting *settings;
    size_t setting_count;
    bool is_used; /* in some combination that `where` keeps: written while combining */
};

enum axis_kind { AXIS_TEXT, AXIS_NUMBER, AXIS_TIME, AXIS_RATE, AXIS_BYTES };

struct axis {
    const char *name, *label;
    const struct yaml_node *at;
    int key; /* -1 = each value sets keys of its own */
    enum axis_kind kind;
    struct axis_value *values;
    size_t value_count;
    size_t dimension; /* axes zipped together share one */
    size_t *resets;   /* keys that only some of its values set */
    size_t reset_count;
};

struct sweep {
    struct axis *axes;
    size_t axis_count;
    size_t *lengths; /* per dimension, outermost first */
    size_t dimension_count;
    const struct yaml_node *where; /* a scalar, NULL = none */
    struct stop_rule stop;
};

/* Reads and checks the sweep of a scenario; the probe serves to check values and is left in any state. */
STATUS_MUST_USE enum status plan_axes_read(const struct scenario *scenario, struct plan_probe *probe,
                                           struct arena *arena, struct sweep *sweep, struct error *error);

/* The nodes of `range: [first, last, step]` and `log_range: [first, last, count]`, made in the arena with the place of
 * the list. */
STATUS_MUST_USE enum status plan_range_linear(const struct yaml_node *list, const struct key *key, struct arena *arena,
                                              struct yaml_node *values, struct error *error);
STATUS_MUST_USE enum status plan_range_log(const struct yaml_node *list, const struct key *key, struct arena *arena,
                                           struct yaml_node *values, struct error *error);

/* What kind of axis a key makes, and a value of it as a number in its base unit. */
enum axis_kind plan_axis_kind(enum key_type type);
STATUS_MUST_USE enum status plan_axis_number(enum axis_kind kind, const char *text, double *number,
                                             struct error *error);

/* The word of a NULL-terminated list that a mistyped one was meant to be; NULL where none is near. */
const char *plan_nearest(const char *word, const char *const *list);

/* Refuses members of a mapping that are not known, and what is not one text that says something. */
STATUS_MUST_USE enum status plan_check_members(const struct yaml_node *mapping, const char *const *known,
                                               const char *what, struct error *error);
STATUS_MUST_USE enum status plan_need_scalar(const struct yaml_node *node, const char *what, struct error *error);

#endif
