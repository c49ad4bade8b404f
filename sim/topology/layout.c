#include "topology/layout.h"

/* One line per layout. */
#define LAYOUTS(_, type)                                                                                               \
    _(type, layout_grid)                                                                                               \
    _(type, layout_hosts)                                                                                              \
    _(type, layout_machines)
REGISTRY(layouts, struct layout, LAYOUTS, layout_grid)

enum status layout_check_size(uint64_t devices, struct error *error)
{
    const uint64_t most = UINT64_C(1) << 26; /* 1024 groups of 1024 racks of 64 servers */
    if (devices <= most)
        return STATUS_OK;
    return error_set(error, STATUS_USER, "%llu devices are too many; at most %llu can be simulated",
                     (unsigned long long)devices, (unsigned long long)most);
}

void layout_allocate(struct topology *topology, uint64_t servers, uint64_t devices, uint32_t classes)
{
    require(servers > 0 && servers <= devices && devices <= UINT32_MAX && classes > 0);
    topology->server_count = (uint32_t)servers;
    topology->device_count = (uint32_t)devices;
    topology->class_count = classes;
    topology->groups = topology->racks_per_group = 1;
    topology->servers_per_rack = (int64_t)servers;
    topology->devices = arena_alloc(&topology->arena, devices, sizeof *topology->devices);
    topology->classes = arena_alloc(&topology->arena, classes, sizeof *topology->classes);
    topology->speeds = arena_alloc(&topology->arena, classes, sizeof *topology->speeds);
    for (uint32_t class = 0; class < classes; class ++) {
        topology->classes[class] = topology->device;
        topology->speeds[class] = topology->classes[class].speed = 1;
    }
}
