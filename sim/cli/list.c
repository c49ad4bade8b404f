/* ocsim list KIND: one name per line. Files are those file_find would find; strategies and fabrics come from their
 * registries, each with what it does. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "input/file.h"
#include "fabric/fabrics.h"

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

static enum status list_files(const char *folder, const char *suffix, struct error *error)
{
    struct names names = {0};
    for (int i = 0; i < 3; i++)
        add_files(&names, file_data_folder(folder, i, &names.arena), suffix);
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
                      folder, folder, file_data_folder(folder, 2, &names.arena));
    free(names.items);
    arena_free(&names.arena);
    return status;
}

const struct registry *const cli_registries[] = {&partitioners,  &placers, &schedulers, &fabrics,
                                                 &distributions, &layouts, NULL};

int cli_list(const struct cli_arguments *arguments, struct error *error)
{
    /* in the order of the usage: files, then registries */
    static const char *const suffixes[] = {".json", ".yaml"};
    if (arguments->word < 2)
        return list_files(arguments->names[0], suffixes[arguments->word], error);
    const struct registry *registry = cli_registries[arguments->word - 2];
    for (size_t i = 0; i < registry->count; i++)
        printf("%-15s %s\n", registry->strategies[i]->name, registry->strategies[i]->doc);
    return STATUS_OK;
}
