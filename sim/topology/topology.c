#include "topology/topology.h"

#include <stdio.h>
#include <string.h>

#include "input/keys.h"

#define SETTINGS struct topology

static const struct key topology_keys[] = {
    {TEXT_KEY("title", title), .doc = "A name for the cluster.", .example = "RAMP, 32 servers"},
    {TEXT_KEY("fabric", fabric), .choices = "ramp|ocs|ring|rotor|awgr|static|packet", .default_text = "ramp",
     .doc = "The kind of network: ramp, ocs, ring, rotor, awgr and static are optical, packet is the electrical "
            "baseline."},
    {INTEGER_KEY("groups", groups), .minimum = "1", .maximum = "1024",
     .doc = "Communication groups; with fabric ramp a server has one transceiver for each.", .example = "4",
     .is_needed = true},
    {INTEGER_KEY("racks_per_group", racks_per_group), .minimum = "1", .maximum = "1024",
     .doc = "Racks a group; with fabric ramp at most as many as groups.", .example = "4", .is_needed = true},
    {INTEGER_KEY("servers_per_rack", servers_per_rack), .minimum = "1", .maximum = "64",
     .doc = "Servers a rack; with fabric ramp one wavelength each.", .example = "2", .is_needed = true},
    {TEXT_KEY("device.name", device.name), .doc = "The device in each server.", .example = "A100"},
    {BYTES_KEY("device.memory", device.memory_bytes), .default_text = "80GB", .minimum = ">0B",
     .doc = "Memory of a device."},
    {RATE_KEY("device.memory_rate", device.memory_rate_bytes_per_s), .default_text = "2TB/s", .minimum = ">0B/s",
     .doc = "How fast a device reads its memory: bounds reductions."},
    {NUMBER_KEY("device.peak", device.peak_per_s), .default_text = "130e12", .minimum = ">0",
     .doc = "Operations per second of a device, at most: bounds reductions."},
    {RATE_KEY("node_rate", node_rate_bytes_per_s), .default_text = "1.6TB/s", .minimum = ">0B/s",
     .doc = "What a server sends over all its transceivers together."},
    {TIME_KEY("propagation", propagation_ps), .default_text = "50ns", .minimum = "0ps",
     .doc = "Time of flight between two servers."},
    {TIME_KEY("io_latency", io_latency_ps), .default_text = "100ns", .minimum = "0ps",
     .doc = "Between device memory and transceiver, paid at each end."},
    {TIME_KEY("ramp.reconfiguration", ramp.reconfiguration_ps), .default_text = "1ns", .minimum = "0ps",
     .when = "fabric=ramp",
     .doc = "To tune a transmitter and a receiver to each other. The default is unverified against RAMP's paper."},
    {TIME_KEY("ramp.slot", ramp.slot_ps), .default_text = "20ns", .minimum = "0ps", .when = "fabric=ramp",
     .doc = "Payloads take whole slots; 0ps = not slotted. The default is unverified against RAMP's paper."},
    {INTEGER_KEY("ramp.planes", ramp.planes), .default_text = "1", .minimum = "1", .maximum = "1024",
     .when = "fabric=ramp",
     .doc = "Subnets side by side for each pair of groups and transmitter. Racks of the target group take turns on "
            "them: with as many planes as racks, the most there can be, servers of different racks never collide on a "
            "wavelength."},
    {INTEGER_KEY("ocs.switches", ocs.switches), .default_text = "4", .minimum = "1", .maximum = "1024",
     .when = "fabric=ocs",
     .doc = "Circuit switches side by side; a server has one port on each, with its share of node_rate."},
    {TIME_KEY("ocs.reconfiguration", ocs.reconfiguration_ps), .default_text = "10ms", .minimum = "0ps",
     .when = "fabric=ocs",
     .doc = "To connect two ports. 10ms: 3D MEMS (unverified); 2D MEMS 11.5us (Mordia); SiP-ML's public simulator "
            "sweeps 20us to 3000us."},
    {TEXT_KEY("ocs.scope", ocs.scope), .choices = "port|switch", .default_text = "port", .when = "fabric=ocs",
     .doc = "What is dark while a circuit is set up: its two ports, or the whole switch (all-stop)."},
    {INTEGER_KEY("ring.wavelengths", ring.wavelengths), .default_text = "64", .minimum = "1", .maximum = "4096",
     .when = "fabric=ring",
     .doc = "Wavelengths on each fibre of the ring, in each direction; each carries its share of node_rate."},
    {INTEGER_KEY("ring.transceivers", ring.transceivers), .default_text = "64", .minimum = "1", .maximum = "4096",
     .when = "fabric=ring", .doc = "Micro-rings of a server that send, and as many that receive."},
    {TIME_KEY("ring.reconfiguration", ring.reconfiguration_ps), .default_text = "25us", .minimum = "0ps",
     .when = "fabric=ring", .doc = "To tune two micro-rings. The default is unverified (SiP-ML)."},
    {TEXT_KEY("ring.route", ring.route), .choices = "shortest|first_fit", .default_text = "shortest",
     .when = "fabric=ring",
     .doc = "The shorter arc only, or the first that has a free wavelength, the shorter one tried first."},
    {INTEGER_KEY("rotor.switches", rotor.switches), .default_text = "4", .minimum = "1", .maximum = "1024",
     .when = "fabric=rotor",
     .doc = "Rotor switches side by side; a server has one port on each, with its share of node_rate."},
    {TIME_KEY("rotor.slot", rotor.slot_ps), .default_text = "90us", .minimum = ">0ps", .when = "fabric=rotor",
     .doc = "How long a matching is lit. 90us lit and 10us dark: 90 % duty (RotorNet reports 20us and 90 %, Opera 10us "
            "and 98 %; both unverified)."},
    {TIME_KEY("rotor.dark", rotor.dark_ps), .default_text = "10us", .minimum = "0ps", .when = "fabric=rotor",
     .doc = "To turn to the next matching; the switch is dark."},
    {BOOLEAN_KEY("rotor.two_hop", rotor.is_two_hop), .default_text = "false", .when = "fabric=rotor",
     .doc = "Traffic may detour through one intermediate server."},
    {BOOLEAN_KEY("rotor.staggered", rotor.is_staggered), .default_text = "false", .when = "fabric=rotor",
     .doc = "The switches turn one after the other, not all at once (Opera)."},
    {TEXT_KEY("awgr.schedule", awgr.schedule), .choices = "on_demand|round_robin", .default_text = "on_demand",
     .when = "fabric=awgr",
     .doc =
         "Circuits are set up on request, or transmitters step through all other servers by the clock, one slot each "
         "and dark for the reconfiguration in between (Sirius), with a transceiver a plane and gratings that have a "
         "port for every server."},
    {INTEGER_KEY("awgr.wavelengths", awgr.wavelengths), .default_text = "100", .minimum = "1", .maximum = "4096",
     .when = "fabric=awgr&awgr.schedule=on_demand",
     .doc = "Ports and wavelengths of a grating. A server has a transceiver for each block of so many servers. 100: "
            "the gratings of Sirius (unverified)."},
    {INTEGER_KEY("awgr.planes", awgr.planes), .default_text = "1", .minimum = "1", .maximum = "1024",
     .when = "fabric=awgr", .doc = "Gratings side by side for each pair of blocks, each with transceivers of its own."},
    {TIME_KEY("awgr.reconfiguration", awgr.reconfiguration_ps), .default_text = "3840ps", .minimum = "0ps",
     .when = "fabric=awgr",
     .doc = "To tune a transmitter; with round_robin the dark time after every slot. 3.84ns: Sirius."},
    {TIME_KEY("awgr.slot", awgr.slot_ps), .default_text = "100ns", .minimum = "0ps", .when = "fabric=awgr",
     .doc = "Payloads take whole slots; 0ps = not slotted. With round_robin how long a transmitter stays at a target, "
            "more than 0ps. The default is unverified (Sirius)."},
    {TEXT_KEY("static.graph", fixed.graph), .choices = "ring|torus|expander", .default_text = "torus",
     .when = "fabric=static",
     .doc = "The fixed graph over a job's servers: rings of different strides, a torus, or a random regular graph."},
    {INTEGER_KEY("static.degree", fixed.degree), .default_text = "4", .minimum = "1", .maximum = "64",
     .when = "fabric=static&static.graph=ring|expander",
     .doc = "Links of a server, each with its share of node_rate. A job of n servers uses at most n - 1 of them."},
    {INTEGER_KEY("static.dimensions", fixed.dimensions), .default_text = "3", .minimum = "1", .maximum = "3",
     .when = "fabric=static&static.graph=torus",
     .doc = "Of the torus, whose sides are as equal as a job's servers allow; a slice of TPU v4 has 3. "
            "A server has two links a dimension."},
    {TIME_KEY("static.reconfiguration", fixed.reconfiguration_ps), .default_text = "10ms", .minimum = "0ps",
     .when = "fabric=static",
     .doc = "Paid once a job, to connect its servers. 10ms: a circuit switch; a patch panel takes minutes "
            "(unverified, TopoOpt)."},
    {NUMBER_KEY("packet.oversubscription", packet.oversubscription), .default_text = "1", .minimum = "1",
     .when = "fabric=packet", .doc = "Rate into an edge switch from its servers over its rate towards the core."},
    {INTEGER_KEY("packet.radix", packet.radix), .default_text = "8", .minimum = "1", .maximum = "1024",
     .when = "fabric=packet", .doc = "Servers below one edge switch of the fat tree."},
};

void topology_table(struct key_table *table)
{
    key_table_init(table, topology_keys, sizeof topology_keys / sizeof *topology_keys);
}

/* What the published formulas need (PAC-ML simulator, section 6): a subgroup of d members has groups / (d - 1)
 * transceivers a pair, and that must not be none. */
static enum status check(struct topology *topology, const char *path, struct error *error)
{
    int64_t x = topology->groups, deep = (topology->servers_per_rack + x - 1) / x;
    topology->server_count = (uint32_t)(x * topology->racks_per_group * topology->servers_per_rack);
    if (strcmp(topology->fabric, "ramp") != 0)
        return STATUS_OK;
    if (topology->racks_per_group > x)
        return error_at(error, path, 0, 0,
                        "racks_per_group is %lld, groups is %lld: RAMP has at most as many racks a group as groups",
                        (long long)topology->racks_per_group, (long long)x);
    if (deep > x + 1)
        return error_at(error, path, 0, 0,
                        "servers_per_rack is %lld: with %lld groups RAMP can serve at most %lld servers a rack",
                        (long long)topology->servers_per_rack, (long long)x, (long long)(x * (x + 1)));
    if (topology->ramp.planes > topology->racks_per_group)
        return error_at(error, path, 0, 0,
                        "ramp.planes is %lld, racks_per_group is %lld: a plane serves a rack at least, so more would "
                        "stay dark",
                        (long long)topology->ramp.planes, (long long)topology->racks_per_group);
    return STATUS_OK;
}

static const char *keep(struct topology *topology, const char *text)
{
    return arena_text(&topology->arena, text ? text : "", text ? strlen(text) : 0);
}

/* One device in each server, all alike. */
static void fill_devices(struct topology *topology)
{
    topology->device_count = topology->server_count;
    topology->devices = arena_alloc(&topology->arena, topology->device_count, sizeof *topology->devices);
    topology->class_count = 1;
    topology->classes = arena_alloc(&topology->arena, 1, sizeof *topology->classes);
    topology->classes[0] = topology->device;
    topology->classes[0].speed = 1;
    topology->speeds = arena_alloc(&topology->arena, 1, sizeof *topology->speeds);
    topology->speeds[0] = 1;
    for (uint32_t device = 0; device < topology->device_count; device++)
        topology->devices[device] = (struct device){.host = device, .site = topology_group(topology, device)};
}

/* Takes the tree. */
static enum status build(struct yaml_tree *tree, const char *path, struct topology *out, struct error *error)
{
    struct topology topology = {0};
    struct key_table table;
    struct keys keys;
    topology_table(&table);
    keys_init(&keys, &table, &topology);
    enum status status = keys_read_tree(&keys, tree->root, NULL, error);
    if (status == STATUS_OK) {
        status = keys_check(&keys, error);
        /* A key that is missing stands nowhere: the file is all there is to name. */
        if (status != STATUS_OK && error && !error->file[0])
            snprintf(error->file, sizeof error->file, "%s", path);
    }
    if (status == STATUS_OK)
        status = check(&topology, path, error);
    if (status == STATUS_OK) {
        topology.title = keep(&topology, topology.title);
        topology.fabric = keep(&topology, topology.fabric);
        topology.device.name = keep(&topology, topology.device.name);
        topology.ocs.scope = keep(&topology, topology.ocs.scope);
        topology.ring.route = keep(&topology, topology.ring.route);
        topology.fixed.graph = keep(&topology, topology.fixed.graph);
        topology.awgr.schedule = keep(&topology, topology.awgr.schedule);
        fill_devices(&topology);
        *out = topology;
    }
    keys_free(&keys);
    key_table_free(&table);
    yaml_tree_free(tree);
    return status;
}

enum status topology_load(const char *path, struct topology *out, struct error *error)
{
    struct yaml_tree tree = {0};
    enum status status = yaml_tree_load(path, &tree, error);
    return status == STATUS_OK ? build(&tree, path, out, error) : status;
}

enum status topology_parse(const char *text, size_t size, const char *file, struct topology *out, struct error *error)
{
    struct yaml_tree tree = {0};
    enum status status = yaml_tree_parse(text, size, file, &tree, error);
    return status == STATUS_OK ? build(&tree, file, out, error) : status;
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

int topology_device_name(const struct topology *topology, uint32_t device, char name[TOPOLOGY_NAME_BYTES])
{
    require(device < topology->device_count);
    return topology_name(topology, topology->devices[device].host, name);
}
