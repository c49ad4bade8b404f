/* Servers with several devices each, all alike: fast links inside a server, the fabric between servers. */
#include "topology/layout.h"

struct hosts {
    int64_t count, devices;
};

#define SETTINGS struct hosts
static const struct key hosts_keys[] = {
    {INTEGER_KEY("hosts.count", count), .minimum = "1", .maximum = "65536", .doc = "How many servers there are.",
     .example = "8", .is_needed = true},
    {INTEGER_KEY("hosts.devices", devices), .default_text = "8", .minimum = "1", .maximum = "1024",
     .doc = "Devices in each server."},
};

static enum status build_hosts(const void *settings, struct topology *topology, struct error *error)
{
    const struct hosts *hosts = settings;
    uint64_t devices = (uint64_t)(hosts->count * hosts->devices);
    TRY(layout_check_size(devices, error));
    layout_allocate(topology, (uint64_t)hosts->count, devices, 1);
    for (uint32_t device = 0; device < topology->device_count; device++)
        topology->devices[device].host = device / (uint32_t)hosts->devices;
    return STATUS_OK;
}

const struct layout layout_hosts = {
    .strategy = {.name = "hosts",
                 .doc = "servers with several devices each, all alike",
                 STRATEGY_KEYS(hosts_keys, struct hosts)},
    .build = build_hosts,
};
