/* The models of a run: graphs loaded by name, each once. */
#ifndef GRAPH_MODELS_H
#define GRAPH_MODELS_H

#include "graph/graph.h"

struct models {
    uint32_t count;
    size_t capacity;
    struct graph **graphs; /* owned, in the order of loading */
    const char **names;    /* as asked for */
    struct arena arena;    /* owns the names */
};

/* The position of a model, loading it if need be. name is a name in the models folder or a path; named_in is the file
 * that names it (NULL = the command line). */
STATUS_MUST_USE enum status models_find(struct models *models, const char *name, const char *named_in, uint32_t *model,
                                        struct error *error);
void models_free(struct models *models);

#endif
