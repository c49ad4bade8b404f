/* What a job's traffic and the hardware it holds take: joules.
 *
 * Every bit that its servers send to others, once for each target and whatever the
 * hops in between, and power for as long as it holds its devices: of these, and of
 * all transceivers of their servers, lit or not, since lasers and their drivers are
 * kept warm. Of a server shared with other jobs it counts the share of the devices.
 * Switches are not counted: they are everybody's.
 */
#ifndef CLUSTER_ENERGY_H
#define CLUSTER_ENERGY_H

#include "engine/status.h"
#include "network/network.h"
#include "topology/topology.h"

/* All 0 = not asked for. */
struct energy_figures {
    double bit_pj;   /* picojoules for a bit sent */
    double port_w;   /* watts of a transceiver */
    double device_w; /* watts of a device */
};

struct energy {
    struct energy_figures figures;
    const struct topology *topology; /* borrowed */
    struct network_ports ports;      /* of a server */
    uint32_t *devices_in;            /* of each server, owned; NULL = one each */
};

/* Release with energy_close, also after failure. STATUS_USER where the topology's figures cannot work. */
STATUS_MUST_USE enum status energy_open(struct energy *energy, const struct energy_figures *figures,
                                        const struct topology *topology, const struct network_options *network,
                                        struct error *error);
void energy_close(struct energy *energy);

/* Of a job on these devices, watts. O(count). */
double energy_power_w(const struct energy *energy, const uint32_t *devices, uint32_t count);

/* Of a job that drew so much for so long and sent so much. */
double energy_j(const struct energy *energy, double power_w, double held_s, double bytes);

#endif
