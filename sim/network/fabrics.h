/* The fabrics that exist: one line each, as in the registry of fabric.c. */
#ifndef NETWORK_FABRICS_H
#define NETWORK_FABRICS_H

#include "network/fabric.h"

extern const struct fabric fabric_ramp;
extern const struct fabric fabric_ocs;
extern const struct fabric fabric_awgr;

#endif
