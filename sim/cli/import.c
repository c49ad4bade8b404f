/* ocsim import FILE [-o MODEL.json]: turns a PipeDream graph.txt into a model file.
 *
 * Without -o the model goes to stdout. With -o it is there whole or not at all
 * (input/file.h). A model file is taken too: it comes out checked and in the
 * standard layout.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "input/file.h"
#include "input/text.h"

static enum status read_batch(const char *text, int64_t *out, struct error *error)
{
    char *end;
    errno = 0;
    long long batch = strtoll(text, &end, 10);
    char shown[TEXT_SHOW_BYTES];
    if (end == text || *end || errno || batch < 1 || batch > 1LL << 53)
        return error_set(error, STATUS_USER,
                         "import: --batch is '%s'; it must be a whole number from 1 to 2^53, e.g. 128",
                         text_show(text, shown));
    *out = batch;
    return STATUS_OK;
}

static enum status check_arguments(const struct cli_arguments *arguments, struct error *error)
{
    if (arguments->override_count)
        return error_set(error, STATUS_USER,
                         "import: key=value has no effect here; for a file of such a name write ./ "
                         "before it");
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "import: expected one file, got %zu; e.g. ocsim import graph.txt -o models/mine.json",
                         arguments->name_count);
    if (!*cli_value(arguments, "-o", "-"))
        return error_set(error, STATUS_USER, "import: -o is empty; give a file, e.g. -o models/mine.json");
    return STATUS_OK;
}

/* Puts what the command line says in place of what the file says. */
static enum status describe(struct graph *graph, const struct cli_arguments *arguments, struct error *error)
{
    const char *batch = cli_value(arguments, "--batch", NULL);
    graph->name = cli_value(arguments, "--name", graph->name);
    graph->source = cli_value(arguments, "--source", graph->source);
    graph->device = cli_value(arguments, "--device", graph->device);
    return batch ? read_batch(batch, &graph->batch, error) : STATUS_OK;
}

/* Names from the command line may hold bytes that no model file may, so what is to be written is read once before. */
static enum status check_text(const char *text, struct error *error)
{
    struct graph *graph;
    enum status status = graph_read_json(text, strlen(text), "the new model", &graph, error);
    if (status == STATUS_OK)
        graph_free(graph);
    return status;
}

static enum status write_text(const char *path, const char *text, struct error *error)
{
    if (!path) {
        fputs(text, stdout); /* main tells when stdout fails */
        return STATUS_OK;
    }
    struct file_writer *writer;
    enum status status = file_create(path, &writer, error);
    if (status != STATUS_OK)
        return status;
    file_append(writer, text, strlen(text));
    return file_finish(writer, error);
}

int cli_import(const struct cli_arguments *arguments, struct error *error)
{
    struct graph *graph;
    enum status status = check_arguments(arguments, error);
    if (status == STATUS_OK)
        status = graph_load(arguments->names[0], &graph, error);
    if (status != STATUS_OK)
        return status;
    status = describe(graph, arguments, error);
    char *text = graph_to_json(graph);
    if (status == STATUS_OK)
        status = check_text(text, error);
    if (status == STATUS_OK)
        status = write_text(cli_value(arguments, "-o", NULL), text, error);
    free(text);
    graph_free(graph);
    return status;
}
