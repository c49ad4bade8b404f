/* The files an experiment reads: see inputs.h. */
#include "results/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/hash.h"
#include "scenario/simulation.h"
#include "input/file.h"

static enum status fail_io(struct error *error, const char *path)
{
    return error_set(error, STATUS_IO, "%s: cannot read it: %s", path, strerror(errno));
}

static uint64_t count_lines(const char *bytes, size_t size)
{
    uint64_t lines = 0;
    for (const char *at = bytes, *end = bytes + size; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

/* Mapped, not read: jobs.csv of a long stream need not fit into memory. */
enum status inputs_describe(const char *path, struct inputs_file *file, struct error *error)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail_io(error, path);
    enum status status = fstat(descriptor, &about) == 0 ? STATUS_OK : fail_io(error, path);
    if (status == STATUS_OK && !S_ISREG(about.st_mode))
        status = error_at(error, path, 0, 0, "expected a plain file: ocsim reads it more than once");
    size_t size = status == STATUS_OK ? (size_t)about.st_size : 0;
    char *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
    if (size && bytes == MAP_FAILED)
        status = fail_io(error, path);
    close(descriptor);
    if (status != STATUS_OK)
        return status;
    file->size_bytes = size;
    file->rows = size ? count_lines(bytes, size) : 0;
    file->hash = hash_bytes(bytes, size);
    if (size)
        munmap(bytes, size);
    return STATUS_OK;
}

/* ---- the set of files ---- */

/* Adds a file unless it is known. */
static enum status add_input(struct inputs *inputs, const char *kind, const char *path, bool *is_new,
                             struct error *error)
{
    struct inputs_file file = {.kind = kind};
    size_t known = inputs->paths.count;
    if (intern_number(&inputs->paths, path, strlen(path)) < known)
        return STATUS_OK;
    TRY(inputs_describe(path, &file, error));
    file.path = arena_text(&inputs->arena, path, strlen(path));
    inputs->files = memory_grow(inputs->files, &inputs->capacity, inputs->count + 1, sizeof *inputs->files);
    inputs->files[inputs->count++] = file;
    inputs->fingerprint = hash_pair(inputs->fingerprint, file.hash);
    *is_new = true;
    return STATUS_OK;
}

static enum status add_model(struct inputs *inputs, const char *name, const char *named_in, bool *is_new,
                             struct error *error)
{
    const struct file_search search = {.folder = "models", .suffix = ".json", .named_in = named_in};
    struct arena arena = {0};
    const char *path;
    enum status status = file_find(&search, name, &arena, &path, error);
    if (status == STATUS_OK)
        status = add_input(inputs, "model", path, is_new, error);
    else
        status = error_wrap(error, "model %.100s", name);
    arena_free(&arena);
    return status;
}

/* ---- the runs ---- */

static void fold_settings(struct inputs *inputs, const struct scenario *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        memory_exhausted(1, BUFSIZ);
    keys_resolved(&run->keys, stream);
    if (fclose(stream) != 0)
        memory_exhausted(1, BUFSIZ);
    inputs->fingerprint = hash_pair(inputs->fingerprint, hash_bytes(text, size));
    free(text);
}

/* The files named by keys of a run, whatever keys there are. */
static enum status add_named(struct inputs *inputs, const struct scenario *run, bool *is_new, struct error *error)
{
    const struct key_table *table = run->keys.table;
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].type != KEY_FILE || !keys_is_effective(&run->keys, i))
            continue;
        const char *path = keys_path(&run->keys, i);
        if (path)
            TRY(add_input(inputs, table->rows[i].name, path, is_new, error));
    }
    const struct key_list *models = &run->settings.workload.models;
    for (size_t i = 0; i < models->count && !run->settings.workload.trace; i++)
        TRY(add_model(inputs, models->items[i], NULL, is_new, error));
    return STATUS_OK;
}

/* Builds the run to see that it can be built; a trace names its models only once it is read. */
static enum status try_world(struct inputs *inputs, const struct settings *settings, struct error *error)
{
    struct simulation simulation;
    bool is_new;
    enum status status = simulation_open(&simulation, settings, error);
    if (settings->workload.trace)
        for (uint32_t i = 0; i < simulation.models.count && status == STATUS_OK; i++)
            status = add_model(inputs, simulation.models.names[i], settings->workload.trace, &is_new, error);
    simulation_close(&simulation);
    return status;
}

static enum status gather_run(struct inputs *inputs, const struct plan *plan, size_t number, struct error *error)
{
    struct scenario *run;
    bool is_new = number == 0;
    TRY(plan_settings(plan, number, &run, error));
    fold_settings(inputs, run);
    enum status status = add_named(inputs, run, &is_new, error);
    if (status == STATUS_OK && is_new)
        status = try_world(inputs, &run->settings, error);
    scenario_free(run);
    return status;
}

/* For the manifest; what the files say is in the settings already. A pipe is gone once read and has no hash. */
static void add_scenario_files(struct inputs *inputs, const struct scenario *scenario)
{
    uint64_t fingerprint = inputs->fingerprint;
    bool is_new;
    for (size_t i = 0; i < scenario_file_count(scenario); i++)
        add_input(inputs, "scenario", scenario_file(scenario, i), &is_new, NULL);
    inputs->fingerprint = fingerprint;
}

enum status inputs_gather(const struct plan *plan, struct inputs *inputs, struct error *error)
{
    *inputs = (struct inputs){0};
    for (size_t run = 0; run < plan->run_count; run++) {
        if (run > 0 && plan->runs[run].point == plan->runs[run - 1].point)
            continue; /* repetitions differ in the seed alone, which the plan decides */
        TRY(gather_run(inputs, plan, run, error));
    }
    add_scenario_files(inputs, plan->scenario);
    return STATUS_OK;
}

void inputs_free(struct inputs *inputs)
{
    free(inputs->files);
    intern_free(&inputs->paths);
    arena_free(&inputs->arena);
    *inputs = (struct inputs){0};
}
