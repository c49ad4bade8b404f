/* What exists and what it is called: servers in racks in communication groups, one device each.
 *
 * Server number = (group * racks + rack) * servers + place in rack, so that
 * ascending numbers are the order in which the published placer scans them.
 * Its name is "group-rack-place", e.g. 0-1-1.
 */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include <stdint.h>

#include "engine/memory.h"
#include "engine/status.h"

/* A rack's servers are the bits of one 64-bit word; RAMP has at most 64 wavelengths, hence 64 servers, a rack. */
enum { TOPOLOGY_RACK_MAX = 64, TOPOLOGY_NAME_BYTES = 36 };

struct topology {
    const char *title;
    const char *fabric;             /* "ramp" */
    int64_t groups, racks, servers; /* groups, racks a group, servers a rack */
    uint32_t server_count;
    const char *device_name;
    double device_memory_bytes;
    double device_memory_rate_bytes_per_s; /* for the roofline of reductions */
    double device_peak_per_s;              /* operations per second */
    double node_rate_bytes_per_s;          /* all transceivers of a server together */
    int64_t propagation_ps;
    int64_t io_latency_ps; /* paid at each end */
    struct arena arena;    /* owns the texts */
};

/* Reads a topology file. Fills *out on success only; topology_free releases what it owns. */
STATUS_MUST_USE enum status topology_load(const char *path, struct topology *out, struct error *error);
void topology_free(struct topology *topology);

static inline uint32_t topology_group(const struct topology *t, uint32_t server)
{
    return server / (uint32_t)(t->racks * t->servers);
}

static inline uint32_t topology_rack(const struct topology *t, uint32_t server)
{
    return server / (uint32_t)t->servers % (uint32_t)t->racks;
}

static inline uint32_t topology_place(const struct topology *t, uint32_t server)
{
    return server % (uint32_t)t->servers;
}

/* Writes "group-rack-place"; returns its length. */
int topology_name(const struct topology *topology, uint32_t server, char name[TOPOLOGY_NAME_BYTES]);

#endif
