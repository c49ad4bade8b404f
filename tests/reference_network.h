/* A second network, slow and simple: no engine, no pools, no lines, no numbers for hardware.
 *
 * Time goes from one change to the next; at each, what ends ends, then every
 * waiting request is looked at in order and compared with every circuit there is.
 * It shares nothing with sim/network but the meaning of its options. For tests of
 * a few dozen transfers.
 */
#ifndef TESTS_REFERENCE_NETWORK_H
#define TESTS_REFERENCE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "network/network.h"
#include "topology/topology.h"

enum { REFERENCE_TARGETS = 3 };

struct reference_transfer {
    int64_t sent;
    uint64_t bytes;
    int64_t priority;
    uint32_t source;
    uint32_t targets[REFERENCE_TARGETS];
    uint32_t target_count;
    uint16_t lanes, first_lane; /* as in struct transfer_request */
    bool is_cleared_when_blocked;
    /* The answer. */
    int64_t end; /* -1 = never */
    int64_t wait, reconfiguration;
    bool was_cleared;
};

/* Fills in the answers. The transfers are in the order in which they are sent. Fabrics ramp, ocs and awgr. */
void reference_network_run(const struct topology *topology, const struct network_options *options,
                           struct reference_transfer *transfers, int count);

#endif
