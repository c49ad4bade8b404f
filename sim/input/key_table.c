#include "input/key_table.h"

#include <stdio.h>
#include <string.h>

#include "input/keys.h"

/* "a|b|c" of a registry. */
static const char *join_names(struct key_table *table, const struct registry *registry)
{
    size_t bytes = 0;
    for (size_t i = 0; i < registry->count; i++)
        bytes += strlen(registry->strategies[i]->name) + 1;
    char *joined = arena_alloc(&table->arena, bytes, 1), *at = joined;
    for (size_t i = 0; i < registry->count; i++)
        at += sprintf(at, "%s%s", i ? "|" : "", registry->strategies[i]->name);
    return joined;
}

/* "selector's when&selector=a|b&own when", of all strategies that have these keys. */
static const char *owned_when(struct key_table *table, const struct key *selector, const struct key *keys,
                              const char *own)
{
    char text[400];
    const char *outer = selector->when;
    int used = snprintf(text, sizeof text, "%s%s%s=", outer ? outer : "", outer ? "&" : "", selector->name),
        first = used;
    for (size_t i = 0; i < selector->registry->count; i++) {
        const struct strategy *strategy = selector->registry->strategies[i];
        if (strategy->keys == keys)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", used > first ? "|" : "", strategy->name);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", own ? "&" : "", own ? own : "");
    require((size_t)used < sizeof text);
    return arena_text(&table->arena, text, (size_t)used);
}

static void add_row(struct key_table *table, const struct key *key)
{
    require(key_table_find(table, key->name) < 0 && key->doc);
    table->rows[table->count++] = *key;
}

static void add_owned_rows(struct key_table *table, const struct key *selector, const struct strategy *strategy,
                           size_t block)
{
    table->block_bytes[block] = strategy->settings_bytes;
    for (size_t i = 0; i < strategy->key_count; i++) {
        struct key row = strategy->keys[i];
        row.block = block;
        row.when = owned_when(table, selector, strategy->keys, row.when);
        add_row(table, &row);
    }
}

/* The block of a strategy that has the same keys as this one and stands before it; 0 = none. */
static size_t shared_block(const struct registry *registry, const size_t *blocks, size_t strategy)
{
    for (size_t i = 0; i < strategy; i++)
        if (registry->strategies[i]->keys == registry->strategies[strategy]->keys)
            return blocks[i];
    return 0;
}

static void add_selector(struct key_table *table, const struct key *key)
{
    const struct registry *registry = key->registry;
    size_t *blocks = arena_alloc(&table->arena, registry->count, sizeof *blocks);
    struct key row = *key;
    row.choices = join_names(table, registry);
    row.default_text = registry->standard->name;
    row.strategy_blocks = blocks;
    add_row(table, &row);
    for (size_t i = 0; i < registry->count; i++) {
        if (registry->strategies[i]->key_count == 0)
            continue;
        blocks[i] = shared_block(registry, blocks, i);
        if (blocks[i])
            continue;
        blocks[i] = table->block_count++;
        add_owned_rows(table, &row, registry->strategies[i], blocks[i]);
    }
}

void key_table_init(struct key_table *table, const struct key *keys, size_t count)
{
    require(table && keys && count > 0);
    *table = (struct key_table){.block_count = 1};
    size_t most_rows = count, most_blocks = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; keys[i].registry && j < keys[i].registry->count; j++) {
            most_rows += keys[i].registry->strategies[j]->key_count;
            most_blocks++;
        }
    table->rows = arena_alloc(&table->arena, most_rows, sizeof *table->rows);
    table->block_bytes = arena_alloc(&table->arena, most_blocks, sizeof *table->block_bytes);
    for (size_t i = 0; i < count; i++)
        if (keys[i].registry)
            add_selector(table, &keys[i]);
        else
            add_row(table, &keys[i]);
    require(table->count <= most_rows && table->block_count <= most_blocks);
}

void key_table_free(struct key_table *table)
{
    arena_free(&table->arena);
    *table = (struct key_table){0};
}

int key_table_find(const struct key_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return (int)i;
    return -1;
}
