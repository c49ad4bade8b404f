/* ocsim import FILE [-o MODEL.json]: turns a PipeDream graph.txt into a model file.
 *
 * Without -o the model goes to stdout. With -o it is written beside its final
 * name, synced and renamed, so that a model file is there whole or not at all.
 * A model file is taken too: it comes out checked and in the standard layout.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"
#include "engine/status.h"
#include "graph/graph.h"

static const char USAGE[] =
    "usage: ocsim import FILE [-o MODEL.json] [--name NAME] [--source TEXT] [--device TEXT] [--batch N]\n"
    "Reads a PipeDream graph.txt (or a model file), checks it and writes it as a model file.\n"
    "  -o MODEL.json   where to write; without it the model goes to stdout\n"
    "  --name NAME     what the model is called; without it, after the file or its folder\n"
    "  --source TEXT   where the figures come from\n"
    "  --device TEXT   what the costs were measured on\n"
    "  --batch N       samples per step, a whole number from 1\n";

/* Texts are borrowed from argv; NULL and 0 = not given. */
struct options {
    const char *file, *output, *name, *source, *device;
    long long batch;
};

static enum status read_batch(const char *text, long long *out, struct error *error)
{
    char *end;
    errno = 0;
    long long batch = strtoll(text, &end, 10);
    if (end == text || *end || errno || batch < 1 || batch > 1LL << 53)
        return error_set(error, STATUS_USER, "--batch is '%.60s'; it must be a whole number from 1 to 2^53, e.g. 128",
                         text);
    *out = batch;
    return STATUS_OK;
}

static enum status read_option(struct options *options, const char *name, const char *value, struct error *error)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"-o", &options->output},
                 {"--name", &options->name},
                 {"--source", &options->source},
                 {"--device", &options->device}};
    bool is_batch = strcmp(name, "--batch") == 0;
    const char **text = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(name, texts[i].name) == 0)
            text = texts[i].text;
    if (!text && !is_batch)
        return error_set(error, STATUS_USER, "import has no option '%.60s'; see 'ocsim import --help'", name);
    if (text ? *text != NULL : options->batch != 0)
        return error_set(error, STATUS_USER, "option %s is given twice; remove one", name);
    if (!value)
        return error_set(error, STATUS_USER, "option %s needs a value; see 'ocsim import --help'", name);
    if (is_batch)
        return read_batch(value, &options->batch, error);
    if (*value == '\0' && (text == &options->output || text == &options->name))
        return error_set(error, STATUS_USER, "option %s is empty; leave it out or give it a value", name);
    *text = value;
    return STATUS_OK;
}

static enum status read_options(int argc, char **argv, struct options *options, struct error *error)
{
    enum status status = STATUS_OK;
    for (int i = 1; i < argc && status == STATUS_OK; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            status = read_option(options, argv[i], argv[i + 1], error);
            i++;
        } else if (options->file) {
            status = error_set(error, STATUS_USER, "import takes one file, got '%.200s' and '%.200s'", options->file,
                               argv[i]);
        } else {
            options->file = argv[i];
        }
    }
    if (status == STATUS_OK && !options->file)
        status = error_set(error, STATUS_USER, "import needs a file, e.g. ocsim import graph.txt -o models/mine.json");
    return status;
}

static enum status refuse_write(const char *path, struct error *error)
{
    return error_set(error, STATUS_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static enum status write_stream(FILE *stream, const char *path, const char *text, struct error *error)
{
    size_t length = strlen(text);
    if (fwrite(text, 1, length, stream) != length || fflush(stream) != 0)
        return refuse_write(path, error);
    return STATUS_OK;
}

static enum status write_file(const char *path, const char *text, struct error *error)
{
    size_t size = strlen(path) + sizeof ".tmp";
    char *temporary = memory_alloc(size, 1);
    snprintf(temporary, size, "%s.tmp", path);
    FILE *stream = fopen(temporary, "wb");
    enum status status = stream ? write_stream(stream, path, text, error) : refuse_write(path, error);
    if (stream) {
        if (status == STATUS_OK && fsync(fileno(stream)) != 0)
            status = refuse_write(path, error);
        if (fclose(stream) != 0 && status == STATUS_OK)
            status = refuse_write(path, error);
        if (status == STATUS_OK && rename(temporary, path) != 0)
            status = refuse_write(path, error);
        if (status != STATUS_OK)
            remove(temporary);
    }
    free(temporary);
    return status;
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

static enum status import(const struct options *options, struct error *error)
{
    struct graph *graph;
    enum status status = graph_load(options->file, &graph, error);
    if (status != STATUS_OK)
        return status;
    graph->name = options->name ? options->name : graph->name;
    graph->source = options->source ? options->source : graph->source;
    graph->device = options->device ? options->device : graph->device;
    graph->batch = options->batch ? options->batch : graph->batch;
    char *text = graph_to_json(graph);
    status = check_text(text, error);
    if (status == STATUS_OK)
        status =
            options->output ? write_file(options->output, text, error) : write_stream(stdout, "stdout", text, error);
    free(text);
    graph_free(graph);
    return status;
}

int cli_import(int argc, char **argv)
{
    struct options options = {.file = NULL};
    struct error error = {.status = STATUS_OK};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(USAGE, stdout);
            return STATUS_OK;
        }
    }
    enum status status = read_options(argc, argv, &options, &error);
    if (status == STATUS_OK)
        status = import(&options, &error);
    if (status != STATUS_OK) {
        char text[sizeof error.file + sizeof error.message + 32];
        error_format(&error, text, sizeof text);
        fprintf(stderr, "ocsim import: %s\n", text);
    }
    return (int)status;
}
