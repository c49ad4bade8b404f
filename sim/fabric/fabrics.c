/* The registry of fabrics. */
#include "fabric/fabrics.h"

#include <string.h>

/* One line a fabric. */
static const struct fabric *const registry[] = {
    &fabric_ramp, &fabric_ocs, &fabric_awgr, &fabric_ring, &fabric_rotor, &fabric_static, &fabric_packet,
};
enum { FABRIC_COUNT = sizeof registry / sizeof *registry };

const struct fabric *fabric_at(size_t index)
{
    return index < FABRIC_COUNT ? registry[index] : NULL;
}

const struct fabric *fabric_find(const char *name)
{
    for (size_t i = 0; i < FABRIC_COUNT; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}

/* The others know distances (ring, static), turns (rotor) or which servers share a switch (awgr, packet). */
bool fabric_is_symmetric(const struct topology *topology)
{
    return strcmp(topology->fabric, "ocs") == 0 ||
           (strcmp(topology->fabric, "ramp") == 0 && topology->ramp.planes == 1);
}
