/* The manifest: see manifest.h. O(bytes of the result files), which are read back for their hashes. */
#include "results/manifest.h"

#include <cjson/cJSON.h>
#include <gnu/libc-version.h>
#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <yaml.h>

#include "engine/hash.h"
#include "input/file.h"

#ifndef OCSIM_COMMIT
#define OCSIM_COMMIT "unknown"
#endif

/* Beyond this many runs their files are told as one hash: a list would outgrow the results. */
enum { LISTED_RUNS = 10000 };

static void add_hash(cJSON *object, const char *name, uint64_t hash)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    cJSON_AddStringToObject(object, name, text);
}

static void add_moment(cJSON *object, const char *name, struct timespec moment)
{
    char text[40];
    struct tm parts;
    gmtime_r(&moment.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    cJSON_AddStringToObject(object, name, text);
}

static void add_program(cJSON *root)
{
#ifdef __clang__
    const char *compiler = __VERSION__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    cJSON *program = cJSON_AddObjectToObject(root, "program");
    cJSON_AddStringToObject(program, "name", "ocsim");
    cJSON_AddStringToObject(program, "version", OCSIM_VERSION);
    cJSON_AddStringToObject(program, "commit", OCSIM_COMMIT);
    cJSON_AddStringToObject(program, "compiler", compiler);
    cJSON_AddStringToObject(program, "flags", OCSIM_FLAGS);
    cJSON *libraries = cJSON_AddObjectToObject(program, "libraries");
    cJSON_AddStringToObject(libraries, "libc", gnu_get_libc_version());
    cJSON_AddStringToObject(libraries, "gsl", gsl_version);
    cJSON_AddStringToObject(libraries, "libyaml", yaml_get_version_string());
    cJSON_AddStringToObject(libraries, "cjson", cJSON_Version());
}

static void add_scenario(cJSON *root, const struct plan *plan)
{
    struct arena arena = {0};
    cJSON *scenario = cJSON_AddObjectToObject(root, "scenario");
    const struct key_table *table = plan->scenario->keys.table;
    for (size_t key = 0; key < table->count; key++) {
        const char *text = keys_value_text(&plan->scenario->keys, key, &arena);
        if (*text)
            cJSON_AddStringToObject(scenario, table->rows[key].name, text);
    }
    arena_free(&arena);
}

static void add_file(cJSON *array, const struct inputs_file *file, const char *path)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "path", path);
    if (file->kind)
        cJSON_AddStringToObject(object, "kind", file->kind);
    cJSON_AddNumberToObject(object, "size_bytes", (double)file->size_bytes);
    cJSON_AddNumberToObject(object, "lines", (double)file->rows);
    add_hash(object, "hash", file->hash);
    cJSON_AddItemToArray(array, object);
}

static int seed_total(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Each once: points share the seeds of their repetitions. */
static void add_seeds(cJSON *root, const struct plan *plan)
{
    cJSON *array = cJSON_AddArrayToObject(root, "seeds");
    int64_t *seeds = memory_alloc(plan->run_count, sizeof *seeds);
    for (size_t run = 0; run < plan->run_count; run++)
        seeds[run] = plan->runs[run].seed;
    qsort(seeds, plan->run_count, sizeof *seeds, seed_total);
    for (size_t i = 0; i < plan->run_count; i++) {
        char digits[24];
        if (i > 0 && seeds[i] == seeds[i - 1])
            continue;
        snprintf(digits, sizeof digits, "%" PRId64, seeds[i]);
        cJSON_AddItemToArray(array, cJSON_CreateRaw(digits));
    }
    free(seeds);
}

/* ---- outputs ---- */

struct outputs {
    cJSON *array;
    const struct manifest *manifest;
    uint64_t fold; /* of the run files */
};

static void add_output(struct outputs *outputs, const char *name)
{
    char path[RESULTS_PATH_BYTES];
    struct inputs_file file = {0};
    snprintf(path, sizeof path, "%s/%s", outputs->manifest->directory, name);
    if (inputs_describe(path, &file, NULL) == STATUS_OK)
        add_file(outputs->array, &file, name);
}

static void add_run_output(struct outputs *outputs, size_t run, const char *name)
{
    const struct manifest *manifest = outputs->manifest;
    char path[RESULTS_PATH_BYTES];
    struct inputs_file file = {0};
    if (results_path(manifest->directory, manifest->plan, run, name, path, NULL) != STATUS_OK ||
        inputs_describe(path, &file, NULL) != STATUS_OK)
        return;
    outputs->fold = hash_pair(outputs->fold, file.hash);
    if (manifest->plan->run_count <= LISTED_RUNS)
        add_file(outputs->array, &file, path + strlen(manifest->directory) + 1);
}

static void add_outputs(cJSON *root, const struct manifest *manifest)
{
    struct outputs outputs = {.array = cJSON_AddArrayToObject(root, "outputs"), .manifest = manifest};
    add_output(&outputs, "scenario.yaml");
    add_output(&outputs, "runs.csv");
    add_output(&outputs, "summary.json");
    for (size_t run = 0; run < manifest->plan->run_count; run++) {
        add_run_output(&outputs, run, "run.csv");
        add_run_output(&outputs, run, "jobs.csv");
    }
    add_hash(root, "run_files_hash", outputs.fold);
}

/* ---- this time ---- */

static double peak_bytes(int who)
{
    struct rusage usage;
    return getrusage(who, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

static void add_invocation(cJSON *root, const struct manifest *manifest)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    double own = peak_bytes(RUSAGE_SELF), worker = peak_bytes(RUSAGE_CHILDREN);
    cJSON_AddStringToObject(root, "command_line", manifest->command_line ? manifest->command_line : "");
    add_moment(root, "start_utc", manifest->start);
    add_moment(root, "end_utc", end);
    cJSON_AddNumberToObject(root, "wall_s", manifest->wall_s);
    cJSON_AddNumberToObject(root, "peak_memory_bytes", own > worker ? own : worker);
    cJSON_AddNumberToObject(root, "workers", (double)manifest->workers);
    cJSON_AddNumberToObject(root, "ranks", (double)manifest->ranks);
    cJSON_AddNumberToObject(root, "runs_planned", (double)manifest->plan->run_count);
    cJSON_AddNumberToObject(root, "runs_done", (double)manifest->done_now);
    cJSON_AddNumberToObject(root, "runs_skipped", (double)manifest->done_before);
    cJSON_AddNumberToObject(root, "runs_failed", (double)manifest->failed);
    cJSON_AddNumberToObject(root, "rows", (double)manifest->totals.runs);
    cJSON_AddNumberToObject(root, "events", (double)manifest->totals.events);
}

static cJSON *describe_experiment(const struct manifest *manifest)
{
    cJSON *root = cJSON_CreateObject();
    if (!root)
        memory_exhausted(1, sizeof *root);
    add_program(root);
    add_invocation(root, manifest);
    add_seeds(root, manifest->plan);
    add_scenario(root, manifest->plan);
    cJSON *inputs = cJSON_AddArrayToObject(root, "inputs");
    for (size_t i = 0; i < manifest->inputs->count; i++)
        add_file(inputs, &manifest->inputs->files[i], manifest->inputs->files[i].path);
    add_outputs(root, manifest);
    return root;
}

enum status manifest_write(const struct manifest *manifest, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    struct file_writer *writer;
    snprintf(path, sizeof path, "%s/manifest.json", manifest->directory);
    TRY(file_create(path, &writer, error));
    cJSON *root = describe_experiment(manifest);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        memory_exhausted(1, 1);
    file_append(writer, text, strlen(text));
    file_append(writer, "\n", 1);
    free(text);
    return file_finish(writer, error);
}
