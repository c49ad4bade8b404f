/* ocsim list KIND: one name per line. Files are those file_find would find; strategies and fabrics come from their
 * registries, each with what it does. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "input/file.h"
#include "input/text.h"
#include "fabric/fabrics.h"

struct kind {
    const char *name;
    const char *folder, *suffix; /* of data files */
};

static const struct kind file_kinds[] = {{"models", "models", ".json"}, {"topologies", "topologies", ".yaml"}};

static const struct registry *const registries[] = {&partitioners, &placers, &schedulers, &fabrics, &distributions};

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

static void list_registry(const struct registry *registry)
{
    for (size_t i = 0; i < registry->count; i++)
        printf("%-15s %s\n", registry->strategies[i]->name, registry->strategies[i]->doc);
}

static enum status list(const char *name, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    for (size_t i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++)
        if (strcmp(name, file_kinds[i].name) == 0)
            return list_files(&file_kinds[i], error);
    for (size_t i = 0; i < sizeof registries / sizeof *registries; i++)
        if (strcmp(name, registries[i]->kind) == 0) {
            list_registry(registries[i]);
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
