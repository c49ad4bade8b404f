/* The registry of fabrics, and topologies with theirs. */
#include "fabric/fabrics.h"

/* One line per fabric. */
#define FABRICS(_, type)                                                                                               \
    _(type, fabric_ramp)                                                                                               \
    _(type, fabric_ocs)                                                                                                \
    _(type, fabric_awgr)                                                                                               \
    _(type, fabric_ring)                                                                                               \
    _(type, fabric_rotor)                                                                                              \
    _(type, fabric_static)                                                                                             \
    _(type, fabric_packet)
REGISTRY(fabrics, struct fabric, FABRICS, fabric_ramp)

void fabric_topology_table(struct key_table *table)
{
    topology_table(&fabrics, table);
}

/* Hands the topology out, or frees it. */
static enum status check_topology(struct topology *topology, const char *path, struct topology *out,
                                  struct error *error)
{
    const struct fabric *fabric = fabric_of(topology);
    enum status status = fabric->check ? fabric->check(topology, path, error) : STATUS_OK;
    if (status == STATUS_OK)
        *out = *topology;
    else
        topology_free(topology);
    return status;
}

enum status fabric_load_topology(const char *path, struct topology *out, struct error *error)
{
    struct topology topology;
    enum status status = topology_load(path, &fabrics, &topology, error);
    return status == STATUS_OK ? check_topology(&topology, path, out, error) : status;
}

enum status fabric_parse_topology(const char *text, size_t size, const char *file, struct topology *out,
                                  struct error *error)
{
    struct topology topology;
    enum status status = topology_parse(text, size, file, &fabrics, &topology, error);
    return status == STATUS_OK ? check_topology(&topology, file, out, error) : status;
}
