/* Groups of racks of servers with one device each, all alike: the clusters of RAMP. */
#include "topology/layout.h"

struct grid {
    int64_t groups, racks_per_group, servers_per_rack;
};

#define SETTINGS struct grid
static const struct key grid_keys[] = {
    {INTEGER_KEY("groups", groups), .minimum = "1", .maximum = "1024",
     .doc = "Communication groups; with fabric ramp a server has one transceiver for each.", .example = "4",
     .is_needed = true},
    {INTEGER_KEY("racks_per_group", racks_per_group), .minimum = "1", .maximum = "1024",
     .doc = "Racks of a group; with fabric ramp at most as many as groups.", .example = "4", .is_needed = true},
    {INTEGER_KEY("servers_per_rack", servers_per_rack), .minimum = "1", .maximum = "64",
     .doc = "Servers of a rack; with fabric ramp one wavelength each.", .example = "2", .is_needed = true},
};

static enum status build_grid(const void *settings, struct topology *topology, struct error *error)
{
    const struct grid *grid = settings;
    uint64_t servers = (uint64_t)(grid->groups * grid->racks_per_group * grid->servers_per_rack);
    (void)error; /* the ranges of its keys keep it small enough */
    require(grid->servers_per_rack <= TOPOLOGY_RACK_MAX);
    layout_allocate(topology, servers, servers, 1);
    topology->has_grid = true;
    topology->groups = grid->groups;
    topology->racks_per_group = grid->racks_per_group;
    topology->servers_per_rack = grid->servers_per_rack;
    for (uint32_t device = 0; device < topology->device_count; device++)
        topology->devices[device] = (struct device){.host = device, .site = topology_group(topology, device)};
    return STATUS_OK;
}

const struct layout layout_grid = {
    .strategy = {.name = "grid",
                 .doc = "groups of racks of servers, one device each, all alike",
                 STRATEGY_KEYS(grid_keys, struct grid)},
    .build = build_grid,
};
