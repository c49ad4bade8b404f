/* The registry of fabrics, and the network of the fabric that a topology names. */
#ifndef FABRIC_FABRICS_H
#define FABRIC_FABRICS_H

#include "network/fabric.h"

/* In the order of the documentation; NULL behind the last, and where no fabric has that name. */
const struct fabric *fabric_at(size_t index);
const struct fabric *fabric_find(const char *name);

/* Does the topology's fabric treat all groups, racks and places alike? False also where there is no such fabric. */
bool fabric_is_symmetric(const struct topology *topology);

/* network_create with the topology's fabric; STATUS_USER also where there is no such fabric. */
STATUS_MUST_USE enum status fabric_create_network(struct engine *engine, const struct topology *topology,
                                                  const struct network_options *options, struct network **out,
                                                  struct error *error);

/* One line each, as in the registry of fabrics.c. */
extern const struct fabric fabric_ramp;
extern const struct fabric fabric_ocs;
extern const struct fabric fabric_awgr;
extern const struct fabric fabric_ring;
extern const struct fabric fabric_rotor;
extern const struct fabric fabric_static;
extern const struct fabric fabric_packet;

#endif
