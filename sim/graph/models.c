#include "graph/models.h"

#include <stdlib.h>
#include <string.h>

#include "input/file.h"

enum status models_find(struct models *models, const char *name, const char *named_in, uint32_t *model,
                        struct error *error)
{
    for (uint32_t i = 0; i < models->count; i++)
        if (strcmp(models->names[i], name) == 0) {
            *model = i;
            return STATUS_OK;
        }
    const struct file_search search = {.folder = "models", .suffix = ".json", .named_in = named_in};
    const char *path;
    struct graph *graph;
    enum status status = file_find(&search, name, &models->arena, &path, error);
    if (status == STATUS_OK)
        status = graph_load(path, &graph, error);
    if (status != STATUS_OK)
        return error_wrap(error, "model %.100s", name);
    size_t names_capacity = models->capacity;
    models->graphs = memory_grow(models->graphs, &models->capacity, models->count + 1, sizeof *models->graphs);
    models->names = memory_grow(models->names, &names_capacity, models->count + 1, sizeof *models->names);
    models->graphs[models->count] = graph;
    models->names[models->count] = arena_text(&models->arena, name, strlen(name));
    *model = models->count++;
    return STATUS_OK;
}

void models_free(struct models *models)
{
    for (uint32_t i = 0; i < models->count; i++)
        graph_free(models->graphs[i]);
    free(models->graphs);
    free(models->names);
    arena_free(&models->arena);
    *models = (struct models){0};
}
