/* Alternatives side by side (ocs: switches, awgr: planes): which of them a circuit takes, and where it waits.
 *
 * A server has a transceiver to send and one to receive on each of
 * state->alternatives, with numbers one after the other, all dense. A circuit takes
 * the alternative where both ends are open and the least is lost: dark ones, then
 * those lit for pairs that have other lanes, then the rest; the lowest of equals.
 * It waits, on every alternative, for an end that is busy there. O(alternatives).
 * Private to sim/fabric.
 */
#ifndef FABRIC_PARALLEL_H
#define FABRIC_PARALLEL_H

#include "network/fabric.h"

/* Of a pair, on the first alternative. */
struct parallel_ends {
    uint64_t send, receive;
};

/* What plan of struct fabric_circuits wants, but for what a lane holds beyond its two ends, which the caller adds. */
bool parallel_plan(const struct fabric_state *state, const struct network *network, const struct parallel_ends *ends,
                   struct fabric_plan *plan);

#endif
