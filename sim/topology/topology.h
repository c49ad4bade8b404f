/* What exists and what it is called: a table of devices, in servers that are the nodes of a network.
 *
 * A layout (layout.h) generates the table. In a grid, server number = (group *
 * racks per group + rack) * servers per rack + place in the rack, so that
 * ascending numbers are the order in which the published placer scans them; its
 * name is "group-rack-place", e.g. 0-1-1, and its one device has its number.
 */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/memory.h"
#include "engine/status.h"
#include "input/keys.h"

/* A rack's servers are the bits of one 64-bit word; RAMP has at most 64 wavelengths, hence 64 servers, a rack. */
enum { TOPOLOGY_RACK_MAX = 64, TOPOLOGY_NAME_BYTES = 64, TOPOLOGY_SITES_MAX = 65536, TOPOLOGY_AS_FABRIC = -1 };

/* What devices of a kind can do. */
struct device_class {
    const char *name;
    double speed; /* a task takes its profiled time / speed */
    double memory_bytes;
    double memory_rate_bytes_per_s; /* for the roofline of reductions */
    double peak_per_s;              /* operations per second */
};

struct device {
    uint32_t host;  /* the server it is in, a node of the network */
    uint32_t site;  /* of the host: its communication group in a grid */
    uint32_t class; /* in topology.classes */
};

struct topology {
    const char *title;
    struct choice fabric; /* one of the registry it was loaded with */
    struct choice layout;
    bool has_grid;                                     /* a grid of servers with one device each, all alike ... */
    int64_t groups, racks_per_group, servers_per_rack; /* ... of this size; else one rack of all servers */
    uint32_t server_count;                             /* nodes of the network */
    const char **host_names;                           /* of the servers; NULL = they have numbers */
    uint32_t device_count;
    struct device *devices; /* owned by the arena, like the classes */
    uint32_t class_count;
    struct device_class *classes;
    double *speeds;               /* of the classes */
    struct device_class device;   /* as the file describes it */
    double node_rate_bytes_per_s; /* all transceivers of a server together */
    int64_t propagation_ps;
    int64_t io_latency_ps;          /* paid at each end */
    double inside_rate_bytes_per_s; /* between two devices of one server */
    int64_t inside_latency_ps;
    int64_t reconfiguration_ps; /* instead of the fabric's own; TOPOLOGY_AS_FABRIC = as that says */
    struct arena arena;         /* owns the texts */
};

/* What a topology file can have as its layout. */
extern const struct registry layouts;

/* Every key of a topology file, those of the fabrics and layouts included. Release with key_table_free. */
void topology_table(const struct registry *fabrics, struct key_table *table);

/* Reads a topology file. Fills *out on success only; topology_free releases what it owns. What the fabric needs of it,
 * fabric/fabrics.h checks. */
STATUS_MUST_USE enum status topology_load(const char *path, const struct registry *fabrics, struct topology *out,
                                          struct error *error);

/* The same from memory; file is named in messages. */
STATUS_MUST_USE enum status topology_parse(const char *text, size_t size, const char *file,
                                           const struct registry *fabrics, struct topology *out, struct error *error);
void topology_free(struct topology *topology);

static inline uint32_t topology_group(const struct topology *t, uint32_t server)
{
    return server / (uint32_t)(t->racks_per_group * t->servers_per_rack);
}

static inline uint32_t topology_rack(const struct topology *t, uint32_t server)
{
    return server / (uint32_t)t->servers_per_rack % (uint32_t)t->racks_per_group;
}

static inline uint32_t topology_place(const struct topology *t, uint32_t server)
{
    return server % (uint32_t)t->servers_per_rack;
}

/* The server of a device; in a grid they have the same numbers. */
static inline uint32_t topology_host(const struct topology *topology, uint32_t device)
{
    return topology->has_grid ? device : topology->devices[device].host;
}

static inline const struct device_class *topology_class(const struct topology *topology, uint32_t device)
{
    return &topology->classes[topology->has_grid ? 0 : topology->devices[device].class];
}

/* Writes the name of a server, "group-rack-place" in a grid, else its number or its machine's name; returns its length.
 */
int topology_name(const struct topology *topology, uint32_t server, char name[TOPOLOGY_NAME_BYTES]);

/* The same of a device: its server's, with its number in the server where that may have others: "3.0", "fast-1.2". */
int topology_device_name(const struct topology *topology, uint32_t device, char name[TOPOLOGY_NAME_BYTES]);

#endif
