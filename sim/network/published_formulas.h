/* How long a transfer takes on RAMP by the published formulas (PAC-ML simulator, section 6).
 *
 * Kept as published, quirks included:
 *   - a transceiver's rate (node rate / groups) is divided by the groups once more in collectives; the factor for
 *     spare transceivers gives it back for subgroups of two;
 *   - contending racks are always one;
 *   - a collective inside one rack costs nothing;
 *   - nothing collides and no circuit is ever set up.
 * Times are seconds in doubles: the last bits decide ties of the published program.
 */
#ifndef NETWORK_PUBLISHED_FORMULAS_H
#define NETWORK_PUBLISHED_FORMULAS_H

#include <stdint.h>

#include "topology/topology.h"

struct published_network {
    double hop_s;                               /* propagation + both ends' io */
    double transceiver_rate_bytes_per_s;        /* of one of the node's transceivers */
    int64_t transceivers;                       /* one per communication group */
    double memory_rate_bytes_per_s, peak_per_s; /* roofline of the reduction */
};

void published_init(struct published_network *network, const struct topology *topology);

/* A message from one server to another. Nothing to send takes no time. */
double published_message_s(const struct published_network *network, double bytes);

/* How many distinct groups, racks and places the members of a collective have. */
struct published_spread {
    int64_t groups, racks, places;
};

/* An all-reduce of message_bytes, both ways and with its reductions. */
double published_collective_s(const struct published_network *network, double message_bytes,
                              struct published_spread spread);

#endif
