/* Everything a scenario can say, as one plain struct and one table of keys.
 *
 * The table in settings.c is the only description of the keys: defaults are the
 * published set-up of PAC-ML (PAC-ML simulator, section 10). Texts live in the
 * scenario that filled the struct.
 */
#ifndef SCENARIO_SETTINGS_H
#define SCENARIO_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/keys.h"

struct settings {
    const char *extends;  /* always NULL: followed while reading */
    const char *title;    /* NULL = none */
    const char *topology; /* a path, found */

    struct {
        const char *trace;     /* a path, found; NULL = jobs are drawn */
        const char *time_unit; /* what a profile's millisecond is read as: "s" or "ms" */
        struct key_list models;
        int64_t pool;               /* copies of each model */
        struct key_list weights;    /* empty = all alike; else as many as models, checked to be numbers > 0 */
        const char *arrivals;       /* "fixed", "poisson", "uniform" or "trace" */
        const char *arrivals_trace; /* a path, found */
        double arrivals_speedup;
        double load; /* 0 = not set */
        double interarrival_s;
        const char *beta; /* a distribution's name */
        double beta_value;
        double beta_skew;
        const char *beta_table; /* a path, found */
        struct key_list beta_mixture;
        int64_t jobs;  /* 0 = until the horizon */
        int64_t steps; /* training steps a job */
    } workload;

    struct {
        const char *model;
        double node_rate_bytes_per_s; /* 0 = as the topology says */
        bool has_reconfiguration;     /* else as the topology says; filled by settings_check */
        int64_t reconfiguration_ps;
        const char *sharing; /* "exclusive" or "shared" */
        const char *order;   /* "fifo", "srpt" or "priority" */
        bool backfills;
        const char *circuits; /* "hold", "teardown" or "linger" */
        int64_t linger_ps;
        const char *all_reduce;
        bool has_barriers;
        int64_t lanes;
    } network;

    struct {
        const char *policy;
        int64_t length;
        double patience_s; /* 0 = not set */
    } admission;

    struct {
        const char *strategy;
        int64_t degree; /* of "fixed" */
        int64_t max_degree;
        int64_t quantum_ps; /* in profile time */
    } partition;

    struct {
        const char *strategy;
    } place;

    struct {
        const char *strategy;
    } schedule;

    struct {
        const char *memo;
        bool is_steady;
        double steady_tolerance;
        int64_t min_steps, max_steps;
    } step;

    struct {
        double horizon_s; /* 0 = not set, see settings_horizon_s */
        double warm_up_s;
        int64_t seed;
        int64_t tick_ps;
        bool writes_jobs; /* run.jobs_file */
    } run;

    const struct yaml_node *sweep;   /* NULL = one run */
    const struct yaml_node *figures; /* NULL = one by default; read by figures.c */
};

extern const struct key settings_keys[];
extern const size_t settings_key_count;

/* When the run ends, in seconds; 0 = when the last job has ended. */
double settings_horizon_s(const struct settings *settings);

/* What no single key can check: weights against models, horizon against tick. Fills what follows from keys being set.
 * Call after keys_check. */
STATUS_MUST_USE enum status settings_check(const struct keys *keys, struct settings *settings, struct error *error);

#endif
