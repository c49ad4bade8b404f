/* What exists and what it is called: servers in racks in communication groups, one device each.
 *
 * Server number = (group * racks + rack) * servers + place in rack, so that
 * ascending numbers are the order in which the published placer scans them.
 * Its name is "group-rack-place", e.g. 0-1-1.
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
enum { TOPOLOGY_RACK_MAX = 64, TOPOLOGY_NAME_BYTES = 36 };

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
    const char *fabric;                                /* "ramp", ... */
    int64_t groups, racks_per_group, servers_per_rack; /* of the grid of servers */
    uint32_t server_count;                             /* nodes of the network */
    uint32_t device_count;
    struct device *devices; /* owned by the arena, like the classes */
    uint32_t class_count;
    struct device_class *classes;
    double *speeds;               /* of the classes */
    struct device_class device;   /* as the file describes it */
    double node_rate_bytes_per_s; /* all transceivers of a server together */
    int64_t propagation_ps;
    int64_t io_latency_ps; /* paid at each end */
    /* Of the fabric in use; the others hold their defaults. */
    struct {
        int64_t reconfiguration_ps, slot_ps;
        int64_t planes; /* subnets side by side for each pair of groups and transmitter */
    } ramp;
    struct {
        int64_t switches;
        int64_t reconfiguration_ps;
        const char *scope; /* "port" or "switch" */
    } ocs;
    struct {
        int64_t wavelengths;  /* a fibre and direction carries */
        int64_t transceivers; /* pairs of micro-rings a server */
        int64_t reconfiguration_ps;
        const char *route; /* "shortest" or "first_fit" */
    } ring;
    struct {
        int64_t switches;
        int64_t slot_ps, dark_ps;
        bool is_two_hop, is_staggered;
    } rotor;
    struct {
        int64_t wavelengths; /* and ports of a grating */
        int64_t planes;      /* gratings side by side */
        int64_t reconfiguration_ps, slot_ps;
        const char *schedule; /* "on_demand" or "round_robin" */
    } awgr;
    struct {
        const char *graph; /* "ring", "torus" or "expander" */
        int64_t degree;
        int64_t dimensions; /* of the torus */
        int64_t reconfiguration_ps;
    } fixed; /* fabric "static", a word C keeps for itself */
    struct {
        double oversubscription;
        int64_t radix; /* servers below one edge switch */
    } packet;
    struct arena arena; /* owns the texts */
};

/* Every key of a topology file. Release with key_table_free. */
void topology_table(struct key_table *table);

/* Reads a topology file. Fills *out on success only; topology_free releases what it owns. */
STATUS_MUST_USE enum status topology_load(const char *path, struct topology *out, struct error *error);

/* The same from memory; file is named in messages. */
STATUS_MUST_USE enum status topology_parse(const char *text, size_t size, const char *file, struct topology *out,
                                           struct error *error);
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

static inline const struct device_class *topology_class(const struct topology *topology, uint32_t device)
{
    return &topology->classes[topology->devices[device].class];
}

/* Is it a grid of servers with one device each, all alike? Then devices are numbered as servers are. */
static inline bool topology_is_grid(const struct topology *topology)
{
    return topology->device_count == topology->server_count && topology->class_count == 1;
}

/* Writes the name of a server, "group-rack-place" in a grid; returns its length. */
int topology_name(const struct topology *topology, uint32_t server, char name[TOPOLOGY_NAME_BYTES]);

/* The same of a device: its server's, where that has no other. */
int topology_device_name(const struct topology *topology, uint32_t device, char name[TOPOLOGY_NAME_BYTES]);

#endif
