/* A scenario to try values on: see plan_probe.h. The scenario's values are kept as small trees, read from the texts
 * that keys_value_text promises to read back. */
#include "scenario/plan_probe.h"

#include <stdlib.h>
#include <string.h>

static const struct yaml_node null_node = {
    .kind = YAML_SCALAR, .is_plain = true, .file = "", .text = "null", .weight = 1};

static void read_own_value(struct plan_probe *probe, const struct scenario *scenario, size_t key)
{
    struct arena arena = {0};
    const char *text = keys_value_text(&scenario->keys, key, &arena);
    if (*text) {
        enum status status = yaml_value_parse(text, strlen(text), "scenario", &probe->trees[key], NULL);
        require(status == STATUS_OK);
    }
    arena_free(&arena);
}

void plan_probe_init(struct plan_probe *probe, const struct scenario *scenario)
{
    require(probe && scenario);
    *probe = (struct plan_probe){.table = scenario->keys.table};
    probe->trees = memory_alloc(probe->table->count, sizeof *probe->trees);
    for (size_t key = 0; key < probe->table->count; key++) {
        if (probe->table->rows[key].type != KEY_NODE)
            read_own_value(probe, scenario, key);
    }
    plan_probe_restart(probe);
}

void plan_probe_free(struct plan_probe *probe)
{
    keys_free(&probe->keys);
    for (size_t key = 0; key < probe->table->count; key++)
        yaml_tree_free(&probe->trees[key]);
    free(probe->trees);
}

void plan_probe_restart(struct plan_probe *probe)
{
    keys_free(&probe->keys);
    probe->settings = (struct settings){0};
    keys_init(&probe->keys, probe->table, &probe->settings);
    keys_open_layer(&probe->keys);
    for (size_t key = 0; key < probe->table->count; key++) {
        if (probe->trees[key].root)
            plan_probe_reset(probe, key);
    }
    probe->set_count = 0;
}

void plan_probe_reset(struct plan_probe *probe, size_t key)
{
    require(key < probe->table->count);
    const struct yaml_node *own = probe->trees[key].root;
    enum status status = keys_set(&probe->keys, probe->table->rows[key].name, own ? own : &null_node, NULL);
    require(status == STATUS_OK);
    probe->set_count++;
}

enum status plan_probe_set(struct plan_probe *probe, size_t key, const struct yaml_node *value, struct error *error)
{
    require(key < probe->table->count && value);
    probe->set_count++;
    return keys_set(&probe->keys, probe->table->rows[key].name, value, error);
}
