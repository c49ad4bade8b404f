#include "topology/topology.h"

#include <stdio.h>
#include <string.h>

#include "input/keys.h"

#define AT(field) .offset = offsetof(struct topology, field)

/* The keys of a topology file. */
static const struct key table[] = {
    {.name = "title", .type = KEY_TEXT, AT(title), .doc = "A name for the cluster.", .example = "RAMP, 32 servers"},
    {.name = "fabric",
     .type = KEY_CHOICE,
     AT(fabric),
     .default_text = "ramp",
     .choices = "ramp",
     .doc = "The kind of optical network."},
    {.name = "groups",
     .type = KEY_INTEGER,
     AT(groups),
     .minimum = "1",
     .maximum = "1024",
     .doc = "Communication groups; a server has one transceiver for each.",
     .example = "4",
     .is_needed = true},
    {.name = "racks_per_group",
     .type = KEY_INTEGER,
     AT(racks),
     .minimum = "1",
     .maximum = "1024",
     .doc = "Racks a group, at most as many as groups.",
     .example = "4",
     .is_needed = true},
    {.name = "servers_per_rack",
     .type = KEY_INTEGER,
     AT(servers),
     .minimum = "1",
     .maximum = "64",
     .doc = "Servers a rack: one wavelength each.",
     .example = "2",
     .is_needed = true},
    {.name = "device.name", .type = KEY_TEXT, AT(device_name), .doc = "The device in each server.", .example = "A100"},
    {.name = "device.memory",
     .type = KEY_BYTES,
     AT(device_memory_bytes),
     .default_text = "80GB",
     .minimum = ">0B",
     .doc = "Memory of a device."},
    {.name = "device.memory_rate",
     .type = KEY_RATE,
     AT(device_memory_rate_bytes_per_s),
     .default_text = "2TB/s",
     .minimum = ">0B/s",
     .doc = "How fast a device reads its memory: bounds reductions."},
    {.name = "device.peak",
     .type = KEY_NUMBER,
     AT(device_peak_per_s),
     .default_text = "130e12",
     .minimum = ">0",
     .doc = "Operations per second of a device, at most: bounds reductions."},
    {.name = "node_rate",
     .type = KEY_RATE,
     AT(node_rate_bytes_per_s),
     .default_text = "1.6TB/s",
     .minimum = ">0B/s",
     .doc = "What a server sends over all its transceivers together."},
    {.name = "propagation",
     .type = KEY_TIME,
     AT(propagation_ps),
     .default_text = "50ns",
     .minimum = "0ps",
     .doc = "Time of flight between two servers."},
    {.name = "io_latency",
     .type = KEY_TIME,
     AT(io_latency_ps),
     .default_text = "100ns",
     .minimum = "0ps",
     .doc = "Between device memory and transceiver, paid at each end."},
};
enum { KEY_COUNT = sizeof table / sizeof *table };

/* What the published formulas need (PAC-ML simulator, section 6): a subgroup of d members has groups / (d - 1)
 * transceivers a pair, and that must not be none. */
static enum status check(struct topology *topology, const char *path, struct error *error)
{
    int64_t x = topology->groups, deep = (topology->servers + x - 1) / x;
    if (topology->racks > x)
        return error_at(error, path, 0, 0,
                        "racks_per_group is %lld, groups is %lld: RAMP has at most as many racks a group as groups",
                        (long long)topology->racks, (long long)x);
    if (deep > x + 1)
        return error_at(error, path, 0, 0,
                        "servers_per_rack is %lld: with %lld groups RAMP can serve at most %lld servers a rack",
                        (long long)topology->servers, (long long)x, (long long)(x * (x + 1)));
    topology->server_count = (uint32_t)(x * topology->racks * topology->servers);
    return STATUS_OK;
}

static const char *keep(struct topology *topology, const char *text)
{
    return arena_text(&topology->arena, text ? text : "", text ? strlen(text) : 0);
}

enum status topology_load(const char *path, struct topology *out, struct error *error)
{
    struct topology topology = {0};
    struct yaml_tree tree = {0};
    struct keys keys;
    enum status status = yaml_tree_load(path, &tree, error);
    if (status != STATUS_OK)
        return status;
    keys_init(&keys, table, KEY_COUNT, &topology);
    status = keys_read_tree(&keys, tree.root, NULL, error);
    if (status == STATUS_OK)
        status = keys_check(&keys, error);
    if (status == STATUS_OK)
        status = check(&topology, path, error);
    if (status == STATUS_OK) {
        topology.title = keep(&topology, topology.title);
        topology.fabric = keep(&topology, topology.fabric);
        topology.device_name = keep(&topology, topology.device_name);
        *out = topology;
    }
    keys_free(&keys);
    yaml_tree_free(&tree);
    return status;
}

void topology_free(struct topology *topology)
{
    arena_free(&topology->arena);
}

int topology_name(const struct topology *topology, uint32_t server, char name[TOPOLOGY_NAME_BYTES])
{
    return snprintf(name, TOPOLOGY_NAME_BYTES, "%u-%u-%u", topology_group(topology, server),
                    topology_rack(topology, server), topology_place(topology, server));
}
