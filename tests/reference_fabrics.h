/* The fabrics ring, rotor, static and packet once more, slow and simple; and a way to run the real ones on the same
 * case.
 *
 * No engine, no bit sets, no arithmetic over windows, no components: time goes tick by tick or from change to change,
 * and everything is compared with everything. For tests of a few dozen transfers on a few servers. They share nothing
 * with sim/network but the meaning of its options; static takes the graphs themselves (who is linked to whom) from
 * there.
 */
#ifndef TESTS_REFERENCE_FABRICS_H
#define TESTS_REFERENCE_FABRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "network_world.h"

struct slow_transfer {
    int64_t sent;
    uint64_t bytes;
    int64_t priority;
    uint32_t source, target, job;
    uint16_t lanes;
    bool is_cleared_when_blocked;
    /* The answer. */
    int64_t end; /* -1 = never */
    int64_t wait, reconfiguration;
    bool was_cleared;
};

/* Each fills in the answers. The transfers are in the order in which they are sent; a tick is 1 ps. Those of rotor and
 * static return the time that all ports or links together send; on static a byte must take a tick. */
void slow_ring(const struct world *world, struct slow_transfer *transfers, int count);
int64_t slow_rotor(const struct world *world, struct slow_transfer *transfers, int count);
int64_t slow_static(const struct world *world, struct slow_transfer *transfers, int count);
void slow_packet(const struct world *world, struct slow_transfer *transfers, int count);

/* True when `left` goes before `right` in the order of the world's options. */
bool slow_is_before(const struct world *world, const struct slow_transfer *transfers, int left, int right);

/* Runs the network of the world, started and stopped here, on the case; its books are checked whenever something is
 * sent. Returns the busy time of all its hardware together. */
sim_time fast_run(struct world *world, struct slow_transfer *transfers, struct transfer_report *reports, int count);

/* How many transfers end, wait, switch or are cleared otherwise in the reports than in the answers. */
int slow_differences(const struct slow_transfer *transfers, const struct transfer_report *reports, int count);

#endif
