/* The rotor with detours (rotor.two_hop): bytes may go through one intermediate server. See rotor_detour.c.
 *
 * Private to sim/fabric.
 */
#ifndef FABRIC_ROTOR_DETOUR_H
#define FABRIC_ROTOR_DETOUR_H

#include "fabric/rotor.h"

/* Sets carrier and own of *state; copies the schedule. */
void rotor_detour_open(struct fabric_state *state, const struct rotor_schedule *schedule);

#endif
