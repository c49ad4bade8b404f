/* Loads model files whole, lets their first character choose the reader, and frees graphs.
 *
 * A missing file is the user's mistake (a wrong name); a file that is there but
 * cannot be read is a failure of input and output. O(file).
 */
#include "graph/graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 * 1024 * 1024, FIRST_BYTES = 64 * 1024 };

static enum status refuse_open(const char *path, int problem, struct error *error)
{
    if (problem == ENOENT || problem == ENOTDIR)
        return error_at(error, path, 0, 0,
                        "no such model file; give the path of one, e.g. models/alexnet.json ('ocsim list models' names "
                        "those that come with ocsim)");
    return error_set(error, STATUS_IO, "%s: cannot be opened: %s", path, strerror(problem));
}

/* Text gets the file's bytes, owned. Grows as it reads, because pipes have no size to ask for. */
static enum status read_stream(FILE *stream, const char *path, char **out, size_t *out_length, struct error *error)
{
    char *text = NULL;
    size_t capacity = 0, length = 0, got;
    do {
        text = memory_grow(text, &capacity, length + FIRST_BYTES, 1);
        errno = 0;
        got = fread(text + length, 1, capacity - length, stream);
        length += got;
    } while (got > 0 && length <= FILE_BYTES_MAX);
    if (ferror(stream)) {
        int problem = errno;
        free(text);
        return error_set(error, STATUS_IO, "%s: cannot be read: %s", path, strerror(problem ? problem : EIO));
    }
    if (length > FILE_BYTES_MAX) {
        free(text);
        return error_at(error, path, 0, 0, "the file is larger than %d MiB, the most a model file may have; is it one?",
                        FILE_BYTES_MAX / (1024 * 1024));
    }
    *out = text;
    *out_length = length;
    return STATUS_OK;
}

static int is_json(const char *text, size_t length)
{
    size_t at = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
        at++;
    return at < length && text[at] == '{';
}

enum status graph_load(const char *path, struct graph **out, struct error *error)
{
    require(path && out);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return refuse_open(path, errno, error);
    char *text = NULL;
    size_t length = 0;
    enum status status = read_stream(stream, path, &text, &length, error);
    fclose(stream);
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
