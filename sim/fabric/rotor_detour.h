/* The rotor with detours (rotor.two_hop): bytes may go through one intermediate server. See rotor_detour.c. */
#ifndef FABRIC_ROTOR_DETOUR_H
#define FABRIC_ROTOR_DETOUR_H

#include "fabric/rotor.h"

struct rotor_detours;

/* Borrows schedule until rotor_detour_close. Returns owned. */
struct rotor_detours *rotor_detour_open(const struct rotor_schedule *schedule);
void rotor_detour_close(struct rotor_detours *detours); /* NULL is fine */

STATUS_MUST_USE enum status rotor_detour_send(struct rotor_detours *detours, struct network *network, uint32_t transfer,
                                              struct error *error);
void rotor_detour_event(struct rotor_detours *detours, struct network *network, const struct event *event);

void rotor_detour_visit(const struct rotor_detours *detours, const struct network *network, hardware_visitor *visit,
                        void *context);

#endif
