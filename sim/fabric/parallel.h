/* Alternatives side by side (ocs: switches, awgr: planes): which of them a circuit takes, and where it waits.
 *
 * A server has a transceiver to send and one to receive on each of
 * state->alternatives, with numbers one after the other, all dense. A lit circuit
 * of the pair with as many lanes is used first, else the lowest alternatives where
 * both ends are dark, then the lowest where what is lit gives way. One lane waits,
 * on every alternative, for an end that is busy there; several lanes look again
 * whenever either end lets go of a transceiver: the transceivers of one end have
 * one line, hardware number / alternatives. plan is O(alternatives).
 * Private to sim/fabric.
 */
#ifndef FABRIC_PARALLEL_H
#define FABRIC_PARALLEL_H

#include "network/fabric.h"

/* Of a pair, on the first alternative. */
struct parallel_ends {
    uint64_t send, receive;
    size_t per_lane; /* hardware, at least 2 */
};

/* What plan of struct fabric_circuits wants, but for what a lane holds beyond its two ends: plan->hold has, lane by
 * lane, the two ends and a 0 for each piece more, to be filled in by the caller. */
bool parallel_plan(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                   const struct parallel_ends *ends, struct fabric_plan *plan);

uint32_t parallel_line_of(const struct fabric_state *state, uint64_t hardware);
bool parallel_line_is_open(const struct fabric_state *state, const struct network *network, uint32_t line);

#endif
