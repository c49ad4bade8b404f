/* Which servers and devices a topology has: generators of the table of devices, one file each.
 *
 * A layout fills server_count, devices and classes from keys of its own. Servers
 * are the nodes of the network; a grid also says in which group and rack each
 * stands. Private to sim/topology.
 */
#ifndef TOPOLOGY_LAYOUT_H
#define TOPOLOGY_LAYOUT_H

#include "topology/topology.h"

struct layout {
    struct strategy strategy;
    /* The other figures of the topology, device.* among them, are in. */
    enum status (*build)(const void *settings, struct topology *topology, struct error *error);
};

/* Room for so many servers, devices and classes; servers stand in one group and rack until the layout says otherwise.
 */
void layout_allocate(struct topology *topology, uint64_t servers, uint64_t devices, uint32_t classes);

/* STATUS_USER where a cluster of that many devices is more than can be simulated. */
STATUS_MUST_USE enum status layout_check_size(uint64_t devices, struct error *error);

#endif
