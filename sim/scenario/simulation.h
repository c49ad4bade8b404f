/* One run, built from its settings: loads what they name and hands it to the cluster. */
#ifndef SCENARIO_SIMULATION_H
#define SCENARIO_SIMULATION_H

#include "cluster/cluster.h"
#include "scenario/settings.h"

struct simulation {
    struct topology topology;
    struct models models;
    struct workload workload;
    struct cluster_config cluster;
    struct circuit_options circuit;
    uint32_t *pool_models;
    double *pool_weights;
};

/* Loads everything the settings name and checks it. Borrows settings. Release with simulation_close, also after
 * failure. */
STATUS_MUST_USE enum status simulation_open(struct simulation *simulation, const struct settings *settings,
                                            struct error *error);
void simulation_close(struct simulation *simulation);

/* The cluster of the settings: the topology file with what the settings override. Release with topology_free. */
STATUS_MUST_USE enum status simulation_topology(const struct settings *settings, struct topology *topology,
                                                struct error *error);

/* How transfers use circuits, from the settings. */
struct circuit_options simulation_circuit(const struct settings *settings);

/* What a profile's millisecond is taken for, in seconds; the quantum in profile milliseconds. */
double simulation_unit_s(const struct settings *settings);
double simulation_quantum_ms(const struct settings *settings);

/* What parts send, auto resolved. */
enum task_traffic simulation_traffic(const struct settings *settings);

#endif
