/* Loads model files whole, lets their first character choose the reader, and frees graphs. O(file). */
#include "graph/graph.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"

enum { FILE_BYTES_MAX = 256 * 1024 * 1024 };

/* A byte order mark and blanks may stand before the brace. */
static bool is_json(const char *text, size_t length)
{
    size_t at = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
        at++;
    return at < length && text[at] == '{';
}

enum status graph_load(const char *path, struct graph **out, struct error *error)
{
    require(path && out);
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(path, FILE_BYTES_MAX, &text, &length, error);
    if (status != STATUS_OK)
        return status;
    status = is_json(text, length) ? graph_read_json(text, length, path, out, error)
                                   : graph_read_pipedream(text, length, path, out, error);
    free(text);
    return status;
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    arena_free(&graph->arena);
    free(graph);
}
