/* A list of unlike machines: each entry describes some that are alike, with devices of a class of their own. */
#include <stdio.h>
#include <string.h>

#include "engine/intern.h"
#include "input/text.h"
#include "topology/layout.h"

enum { NAME_LONGEST = TOPOLOGY_NAME_BYTES - 24 }; /* of an entry: numbers follow it */

struct machines {
    const struct yaml_node *list;
};

#define SETTINGS struct machines
static const struct key machines_keys[] = {
    {NODE_KEY("machines", list),
     .doc = "A list of machines; each entry has a name and may have count, devices, site, device, speed, memory, "
            "memory_rate and peak.",
     .example = "[{name: fast, count: 2, devices: 4, speed: 2, memory: 32GB}, {name: slow}]", .is_needed = true},
};

/* One entry of the list. */
struct machine {
    const char *name;
    int64_t count, devices, site;
    struct device_class class;
};

#undef SETTINGS
#define SETTINGS struct machine
static const struct key machine_keys[] = {
    {TEXT_KEY("name", name), .doc = "What these machines are called.", .example = "fast"},
    {INTEGER_KEY("count", count), .default_text = "1", .minimum = "1", .maximum = "65536",
     .doc = "How many of them there are."},
    {INTEGER_KEY("devices", devices), .default_text = "1", .minimum = "1", .maximum = "1024",
     .doc = "Devices in each of them."},
    {INTEGER_KEY("site", site), .default_text = "0", .minimum = "0", .maximum = "65535", .doc = "Where they stand."},
    {TEXT_KEY("device", class.name), .doc = "The device in each of them.", .example = "V100"},
    {NUMBER_KEY("speed", class.speed), .default_text = "1", .minimum = ">0",
     .doc = "How many times faster than profiled an op runs."},
    {BYTES_KEY("memory", class.memory_bytes), .minimum = ">0B", .doc = "Memory of a device; else device.memory.",
     .example = "16GB"},
    {RATE_KEY("memory_rate", class.memory_rate_bytes_per_s), .minimum = ">0B/s",
     .doc = "How fast a device reads its memory; else device.memory_rate.", .example = "900GB/s"},
    {NUMBER_KEY("peak", class.peak_per_s), .minimum = ">0", .doc = "Operations per second; else device.peak.",
     .example = "15e12"},
};

/* Names go into lists separated by spaces, and into tables. */
static enum status check_name(const struct yaml_node *node, const char *name, struct error *error)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    char shown[TEXT_SHOW_BYTES];
    size_t length = strlen(name);
    if (length == 0 || length > NAME_LONGEST || strspn(name, letters) < length)
        return yaml_error(error, node, "machines: '%s' is no name; expected letters, digits, _ and -, at most %d",
                          text_show(name, shown), NAME_LONGEST);
    return STATUS_OK;
}

/* What an entry leaves out is as the topology says for all devices. */
static void complete_class(struct device_class *class, const struct device_class *standard, struct arena *arena)
{
    const char *name = class->name ? class->name : standard->name ? standard->name : "";
    class->name = arena_text(arena, name, strlen(name));
    class->memory_bytes = class->memory_bytes > 0 ? class->memory_bytes : standard->memory_bytes;
    class->memory_rate_bytes_per_s =
        class->memory_rate_bytes_per_s > 0 ? class->memory_rate_bytes_per_s : standard->memory_rate_bytes_per_s;
    class->peak_per_s = class->peak_per_s > 0 ? class->peak_per_s : standard->peak_per_s;
}

static enum status read_machine(const struct yaml_node *node, const struct device_class *standard, struct arena *arena,
                                struct machine *machine, struct error *error)
{
    struct key_table table;
    struct keys keys;
    if (node->kind != YAML_MAPPING)
        return yaml_error(error, node, "machines: expected {name: ..., count: ...}, found %s", yaml_kind_name(node));
    key_table_init(&table, machine_keys, sizeof machine_keys / sizeof *machine_keys);
    keys_init(&keys, &table, machine);
    enum status status = keys_read_tree(&keys, node, NULL, error);
    if (status == STATUS_OK && !machine->name)
        status = yaml_error(error, node, "machines: name is missing; e.g. name: fast");
    if (status == STATUS_OK)
        status = check_name(node, machine->name, error);
    if (status == STATUS_OK) {
        machine->name = arena_text(arena, machine->name, strlen(machine->name));
        complete_class(&machine->class, standard, arena);
    }
    keys_free(&keys);
    key_table_free(&table);
    return status;
}

/* "fast" where there is one of them, "fast-0", "fast-1" and so on where there are more; false where it is taken. */
static bool name_machine(struct topology *topology, struct intern *names, const struct machine *machine, int64_t number,
                         uint32_t host)
{
    char name[TOPOLOGY_NAME_BYTES];
    int length = machine->count == 1 ? snprintf(name, sizeof name, "%s", machine->name)
                                     : snprintf(name, sizeof name, "%s-%lld", machine->name, (long long)number);
    topology->host_names[host] = arena_text(&topology->arena, name, (size_t)length);
    return intern_number(names, name, (size_t)length) == host;
}

/* Devices that are alike are of one class, whatever the machines are called. */
static uint32_t find_class(struct topology *topology, struct intern *classes, const struct device_class *class)
{
    char key[400];
    int length = snprintf(key, sizeof key, "%.200s %.17g %.17g %.17g %.17g", class->name, class->speed,
                          class->memory_bytes, class->memory_rate_bytes_per_s, class->peak_per_s);
    size_t number = intern_number(classes, key, (size_t)length);
    topology->classes[number] = *class;
    topology->speeds[number] = class->speed;
    topology->class_count = (uint32_t)classes->count;
    return (uint32_t)number;
}

static enum status fill_machines(struct topology *topology, const struct machine *entries, const struct yaml_node *list,
                                 struct error *error)
{
    struct intern names = {0}, classes = {0};
    enum status status = STATUS_OK;
    uint32_t host = 0, device = 0;
    topology->host_names = arena_alloc(&topology->arena, topology->server_count, sizeof *topology->host_names);
    for (size_t entry = 0; entry < list->count; entry++) {
        const struct machine *machine = &entries[entry];
        uint32_t class = find_class(topology, &classes, &machine->class);
        for (int64_t i = 0; i < machine->count && status == STATUS_OK; i++, host++) {
            if (!name_machine(topology, &names, machine, i, host))
                status =
                    yaml_error(error, list->items[entry], "machines: two are called %s", topology->host_names[host]);
            for (int64_t j = 0; j < machine->devices; j++)
                topology->devices[device++] = (struct device){host, (uint32_t)machine->site, class};
        }
    }
    intern_free(&names);
    intern_free(&classes);
    return status;
}

static enum status build_machines(const void *settings, struct topology *topology, struct error *error)
{
    const struct yaml_node *list = ((const struct machines *)settings)->list;
    if (list->kind != YAML_SEQUENCE || list->count == 0)
        return yaml_error(error, list, "machines: expected a list of machines, e.g. [{name: fast, count: 2}]");
    struct machine *entries = arena_alloc(&topology->arena, list->count, sizeof *entries);
    uint64_t servers = 0, devices = 0;
    for (size_t i = 0; i < list->count; i++) {
        TRY(read_machine(list->items[i], &topology->device, &topology->arena, &entries[i], error));
        servers += (uint64_t)entries[i].count;
        devices += (uint64_t)(entries[i].count * entries[i].devices);
        TRY(layout_check_size(devices, error));
    }
    layout_allocate(topology, servers, devices, (uint32_t)list->count);
    return fill_machines(topology, entries, list, error);
}

const struct layout layout_machines = {
    .strategy = {.name = "machines",
                 .doc = "a list of unlike machines, each with devices of its own class",
                 STRATEGY_KEYS(machines_keys, struct machines)},
    .build = build_machines,
};
