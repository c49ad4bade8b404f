#include "topology/topology.h"

#include <stdio.h>
#include <string.h>

#include "topology/layout.h"

#define SETTINGS struct topology

static const struct key topology_keys[] = {
    {TEXT_KEY("title", title), .doc = "A name for the cluster.", .example = "RAMP, 32 servers"},
    {STRATEGY_KEY("layout", layout, &layouts), .doc = "Which servers and devices there are."},
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
    {RATE_KEY("inside.rate", inside_rate_bytes_per_s), .default_text = "300GB/s", .minimum = "1B/s",
     .maximum = "1000PB/s", .when = "layout=hosts|machines",
     .doc = "Between two devices of one server, each pair on its own."},
    {TIME_KEY("inside.latency", inside_latency_ps), .default_text = "1us", .minimum = "0ps", .maximum = "1000s",
     .when = "layout=hosts|machines", .doc = "Between two devices of one server."},
    {STRATEGY_KEY("fabric", fabric, NULL), .doc = "The kind of network."}, /* the last: topology_table adds the kinds */
};

enum { KEY_COUNT = sizeof topology_keys / sizeof *topology_keys };

void topology_table(const struct registry *fabrics, struct key_table *table)
{
    struct key rows[KEY_COUNT];
    memcpy(rows, topology_keys, sizeof rows);
    require(fabrics && fabrics->count > 0 && rows[KEY_COUNT - 1].type == KEY_STRATEGY);
    rows[KEY_COUNT - 1].registry = fabrics;
    key_table_init(table, rows, KEY_COUNT);
}

static const char *keep(struct topology *topology, const char *text)
{
    return arena_text(&topology->arena, text ? text : "", text ? strlen(text) : 0);
}

/* The settings of a fabric outlive the keys they were read with: numbers and choices as they are, texts copied. */
static const void *keep_settings(struct topology *topology, const struct choice *choice)
{
    const struct strategy *fabric = choice->strategy;
    if (!choice->settings)
        return NULL;
    char *kept =
        memcpy(arena_alloc(&topology->arena, 1, fabric->settings_bytes), choice->settings, fabric->settings_bytes);
    for (size_t i = 0; i < fabric->key_count; i++) {
        const struct key *key = &fabric->keys[i];
        require(key->type != KEY_LIST && key->type != KEY_NODE && key->type != KEY_STRATEGY);
        if (key->type == KEY_TEXT || key->type == KEY_FILE)
            *(const char **)(void *)(kept + key->offset) = keep(topology, *(const char **)(void *)(kept + key->offset));
    }
    return kept;
}

/* Takes the tree. */
static enum status build_topology(struct yaml_tree *tree, const char *path, const struct registry *fabrics,
                                  struct topology *out, struct error *error)
{
    struct topology topology = {.reconfiguration_ps = TOPOLOGY_AS_FABRIC};
    struct key_table table;
    struct keys keys;
    topology_table(fabrics, &table);
    keys_init(&keys, &table, &topology);
    enum status status = keys_read_tree(&keys, tree->root, NULL, error);
    if (status == STATUS_OK)
        status = keys_check(&keys, error);
    if (status == STATUS_OK)
        status = ((const struct layout *)topology.layout.strategy)->build(topology.layout.settings, &topology, error);
    /* What is missing, or too much, stands nowhere: the file is all there is to name. */
    if (status != STATUS_OK && error && !error->file[0])
        snprintf(error->file, sizeof error->file, "%s", path);
    if (status == STATUS_OK) {
        require(topology.device_count >= topology.server_count && topology.class_count > 0);
        topology.title = keep(&topology, topology.title);
        topology.fabric.settings = keep_settings(&topology, &topology.fabric);
        topology.device.name = keep(&topology, topology.device.name);
        for (uint32_t class = 0; class < topology.class_count; class ++)
            topology.classes[class].name = keep(&topology, topology.classes[class].name);
        topology.layout.settings = NULL; /* used up */
        *out = topology;
    } else {
        arena_free(&topology.arena);
    }
    keys_free(&keys);
    key_table_free(&table);
    yaml_tree_free(tree);
    return status;
}

enum status topology_load(const char *path, const struct registry *fabrics, struct topology *out, struct error *error)
{
    struct yaml_tree tree = {0};
    TRY(yaml_tree_load(path, &tree, error));
    return build_topology(&tree, path, fabrics, out, error);
}

enum status topology_parse(const char *text, size_t size, const char *file, const struct registry *fabrics,
                           struct topology *out, struct error *error)
{
    struct yaml_tree tree = {0};
    TRY(yaml_tree_parse(text, size, file, &tree, error));
    return build_topology(&tree, file, fabrics, out, error);
}

void topology_free(struct topology *topology)
{
    arena_free(&topology->arena);
}

int topology_name(const struct topology *topology, uint32_t server, char name[TOPOLOGY_NAME_BYTES])
{
    require(server < topology->server_count);
    if (topology->host_names)
        return snprintf(name, TOPOLOGY_NAME_BYTES, "%s", topology->host_names[server]);
    if (!topology->has_grid)
        return snprintf(name, TOPOLOGY_NAME_BYTES, "%u", server);
    return snprintf(name, TOPOLOGY_NAME_BYTES, "%u-%u-%u", topology_group(topology, server),
                    topology_rack(topology, server), topology_place(topology, server));
}

int topology_device_name(const struct topology *topology, uint32_t device, char name[TOPOLOGY_NAME_BYTES])
{
    require(device < topology->device_count);
    uint32_t host = topology->devices[device].host, first = device;
    int length = topology_name(topology, host, name);
    if (topology->has_grid)
        return length;
    while (first > 0 && topology->devices[first - 1].host == host) /* devices of a host stand together */
        first--;
    return length + snprintf(name + length, (size_t)(TOPOLOGY_NAME_BYTES - length), ".%u", device - first);
}
