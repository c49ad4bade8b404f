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

#include "cluster/cluster.h"
#include "input/keys.h"

struct settings {
    const char *extends;  /* always NULL: followed while reading */
    const char *title;    /* NULL = none */
    const char *topology; /* a path, found */

    struct {
        const char *trace;                            /* a path, found; NULL = jobs are drawn */
        enum { TIME_UNIT_S, TIME_UNIT_MS } time_unit; /* what a profile's millisecond is read as */
        struct key_list models;
        int64_t pool;            /* copies of each model */
        struct key_list weights; /* empty = all alike; else as many as models, checked to be numbers > 0 */
        enum arrival_law arrivals;
        const char *arrivals_trace; /* a path, found */
        double arrivals_speedup;
        double load; /* 0 = not set */
        double interarrival_s;
        struct choice beta;                                                             /* of distributions */
        int64_t jobs;                                                                   /* 0 = until the horizon */
        int64_t steps;                                                                  /* training steps per job */
        enum { TRAFFIC_KEY_AUTO, TRAFFIC_KEY_PUBLISHED, TRAFFIC_KEY_TRAINING } traffic; /* see simulation_traffic */
    } workload;

    struct {
        enum { NETWORK_PUBLISHED, NETWORK_CIRCUIT } model;
        double node_rate_bytes_per_s; /* 0 = as the topology says */
        bool has_reconfiguration;     /* else as the topology says; filled by settings_check */
        int64_t reconfiguration_ps;
        enum { SHARING_EXCLUSIVE, SHARING_SHARED } sharing;
        bool backfills;
        enum { ALL_REDUCE_AUTO, ALL_REDUCE_RAMP, ALL_REDUCE_RING, ALL_REDUCE_HALVING, ALL_REDUCE_SERVER } all_reduce;
        int64_t lanes;
    } network;
    struct circuit_options
        circuit; /* as far as keys name its fields; simulation_circuit adds what follows from others */

    struct energy_figures energy;
    struct failure_figures failures;

    struct {
        enum { ADMISSION_INSTANT, ADMISSION_QUEUE } policy;
        int64_t length;
        double patience_s; /* 0 = not set */
    } admission;

    struct {
        struct choice strategy; /* of partitioners */
        int64_t max_degree;
        int64_t quantum_ps; /* in profile time */
    } partition;

    struct {
        struct choice strategy; /* of placers */
    } place;

    struct {
        struct choice strategy; /* of schedulers */
    } schedule;

    struct {
        enum { MEMO_PLACEMENT, MEMO_MODEL_DEGREE } memo;
        int64_t phases;
        bool is_steady;
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

/* Every key of a scenario, those of all strategies included. Release with key_table_free. */
void settings_table(struct key_table *table);

/* When the run ends, in seconds; 0 = when the last job has ended. */
double settings_horizon_s(const struct settings *settings);

/* What no single key can check: weights against models, horizon against tick. Fills what follows from keys being set.
 * Call after keys_check. */
STATUS_MUST_USE enum status settings_check(const struct keys *keys, struct settings *settings, struct error *error);

#endif
