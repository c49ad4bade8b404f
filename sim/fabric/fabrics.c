/* The registry of fabrics. */
#include "fabric/fabrics.h"

#include <string.h>

/* One line per fabric. */
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

bool fabric_is_symmetric(const struct topology *topology)
{
    const struct fabric *fabric = fabric_find(topology->fabric);
    return fabric && fabric->is_symmetric && fabric->is_symmetric(topology);
}

enum status fabric_create_network(struct engine *engine, const struct topology *topology,
                                  const struct network_options *options, struct network **out, struct error *error)
{
    const struct fabric *fabric = fabric_find(topology->fabric);
    if (!fabric)
        return error_set(error, STATUS_USER, "fabric '%s' cannot be simulated with circuits", topology->fabric);
    return network_create(engine, topology, fabric, options, out, error);
}
