/* Scenario files: read, extended, overridden, checked.
 *
 * A scenario file may name one parent, `extends: base.yaml`, relative to itself;
 * the chain may be 8 files long and must not be cyclic. Values come in
 * layers, later ones win: defaults, the farthest parent, ..., the file, the
 * command line, the point of a sweep. A key without effect is an error unless
 * the key that takes its effect away was set in a later layer (see keys.h).
 *
 * Where a scenario has a sweep, keys without effect are looked for in each of
 * its runs, not in the scenario itself: only a run knows all its values.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "scenario/settings.h"

enum { SCENARIO_CHAIN_LIMIT = 8 };

struct scenario_sources; /* the parsed files of the chain, shared by the scenario and its variants */

struct scenario {
    struct settings settings; /* texts live until scenario_free */
    struct keys keys;         /* where each value came from */
    struct scenario_sources *sources;
    bool owns_sources;
};

/* key=value texts, borrowed. */
struct scenario_overrides {
    const char *const *assignments;
    size_t count;
};

/* Reads the file and those it extends (path NULL = the defaults alone), applies the overrides as one layer, checks, and
 * finds the files it names. The scenario is returned owned: scenario_free. */
STATUS_MUST_USE enum status scenario_load(const char *path, struct scenario_overrides overrides,
                                          struct scenario **scenario, struct error *error);

/* The same from memory, without parents (extends is refused) and without looking for files. */
STATUS_MUST_USE enum status scenario_parse(const char *text, size_t size, const char *file,
                                           struct scenario_overrides overrides, struct scenario **scenario,
                                           struct error *error);

/* One setting of a point of a sweep: borrowed until the variant is freed. */
struct scenario_point {
    const char *key;
    const struct yaml_node *value;
};

/* The scenario with the settings of one point on top, as one more layer: checked in full, `sweep` cleared. Returned
 * owned; must be freed before the base. */
STATUS_MUST_USE enum status scenario_variant(const struct scenario *base, const struct scenario_point *points,
                                             size_t point_count, struct scenario **variant, struct error *error);

void scenario_free(struct scenario *scenario);

/* The files read, nearest first, for the manifest. */
size_t scenario_file_count(const struct scenario *scenario);
const char *scenario_file(const struct scenario *scenario, size_t i);

#endif
