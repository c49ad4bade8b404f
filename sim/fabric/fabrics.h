/* The fabrics that exist: one line each, as in the registry of fabric.c. */
#ifndef FABRIC_FABRICS_H
#define FABRIC_FABRICS_H

#include "network/fabric.h"

extern const struct fabric fabric_ramp;
extern const struct fabric fabric_ocs;
extern const struct fabric fabric_awgr;
extern const struct fabric fabric_ring;
extern const struct fabric fabric_rotor;
extern const struct fabric fabric_static;
extern const struct fabric fabric_packet;

#endif
