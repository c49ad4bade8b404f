/* ocsim list KIND: one name a line. Files are those file_find would find; strategies come from the table of keys,
 * fabrics from their registry. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "input/file.h"
#include "input/text.h"
#include "network/fabric.h"

struct kind {
    const char *name;
    const char *folder, *suffix; /* of data files */
    const char *key;             /* or the key whose choices are listed */
};

static const struct kind kinds[] = {
    {"models", "models", ".json", NULL},
    {"topologies", "topologies", ".yaml", NULL},
    {"partitioners", NULL, NULL, "partition.strategy"},
    {"placers", NULL, NULL, "place.strategy"},
    {"schedulers", NULL, NULL, "schedule.strategy"},
    {"fabrics", NULL, NULL, NULL}, /* from their registry */
    {"distributions", NULL, NULL, "workload.beta"},
};

struct names {
    struct arena arena;
    const char **items;
    size_t count, capacity;
};

static void add_files(struct names *names, const char *folder, const char *suffix)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        size_t length = strlen(entry->d_name), tail = strlen(suffix);
        if (entry->d_name[0] == '.' || length <= tail || strcmp(entry->d_name + length - tail, suffix) != 0)
            continue;
        names->items = memory_grow(names->items, &names->capacity, names->count + 1, sizeof *names->items);
        names->items[names->count++] = arena_text(&names->arena, entry->d_name, length - tail);
    }
    closedir(directory);
}

/* Equal names are the same line, so their order does not show. */
static int by_name_total(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static enum status list_files(const struct kind *kind, struct error *error)
{
    struct names names = {0};
    for (int i = 0; i < 3; i++)
        add_files(&names, file_data_folder(kind->folder, i, &names.arena), kind->suffix);
    if (names.count)
        qsort(names.items, names.count, sizeof *names.items, by_name_total);
    for (size_t i = 0; i < names.count; i++) {
        if (i == 0 || strcmp(names.items[i - 1], names.items[i]) != 0)
            puts(names.items[i]);
    }
    enum status status = STATUS_OK;
    if (!names.count)
        status =
            error_set(error, STATUS_USER, "no %s found; they are looked for in %s/ here, beside the program and in %s",
                      kind->name, kind->folder, file_data_folder(kind->folder, 2, &names.arena));
    free(names.items);
    arena_free(&names.arena);
    return status;
}

static void list_fabrics(void)
{
    for (size_t i = 0; fabric_at(i); i++)
        puts(fabric_at(i)->name);
}

static void list_choices(const char *name)
{
    int key = keys_find(settings_keys, settings_key_count, name);
    require(key >= 0);
    for (const char *at = settings_keys[key].choices; at;) {
        const char *end = strchr(at, '|');
        printf("%.*s\n", end ? (int)(end - at) : (int)strlen(at), at);
        at = end ? end + 1 : NULL;
    }
}

static enum status list(const char *name, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(name, kinds[i].name) != 0)
            continue;
        if (kinds[i].folder)
            return list_files(&kinds[i], error);
        if (kinds[i].key)
            list_choices(kinds[i].key);
        else
            list_fabrics();
        return STATUS_OK;
    }
    return error_set(
        error, STATUS_USER,
        "list: '%s' is not allowed; expected models, topologies, partitioners, placers, schedulers, fabrics "
        "or distributions",
        text_show(name, shown));
}

int cli_list(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    if (cli_parse(argc, argv, NULL, 0, &arguments, &error) != STATUS_OK)
        return cli_fail(&error);
    enum status status;
    if (arguments.name_count == 1 && !arguments.override_count)
        status = list(arguments.names[0], &error);
    else
        status = error_set(&error, STATUS_USER, "list: expected one kind, e.g. ocsim list models");
    cli_arguments_free(&arguments);
    return status == STATUS_OK ? STATUS_OK : cli_fail(&error);
}
