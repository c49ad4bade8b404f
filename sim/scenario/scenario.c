/* Scenario files: see scenario.h. The parsed files and the overrides are kept as "sources"; a scenario is what comes
 * out of applying them layer by layer, so a point of a sweep is the same work with one layer more. */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "input/text.h"

struct scenario_sources {
    struct arena arena;
    struct key_table table;
    struct yaml_tree trees[SCENARIO_CHAIN_LIMIT]; /* nearest first */
    const char *paths[SCENARIO_CHAIN_LIMIT];
    size_t count;
    const char **assignments; /* of the command line */
    size_t assignment_count;
    bool has_files; /* read from disk: the files it names are looked for */
};

static const char *const own_keys[] = {"extends", NULL};

static struct scenario_sources *sources_new(struct scenario_overrides overrides)
{
    struct scenario_sources *sources = memory_alloc(1, sizeof *sources);
    settings_table(&sources->table);
    sources->assignments = arena_alloc(&sources->arena, overrides.count, sizeof *sources->assignments);
    sources->assignment_count = overrides.count;
    for (size_t i = 0; i < overrides.count; i++)
        sources->assignments[i] =
            arena_text(&sources->arena, overrides.assignments[i], strlen(overrides.assignments[i]));
    return sources;
}

static void sources_free(struct scenario_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        yaml_tree_free(&sources->trees[i]);
    arena_free(&sources->arena);
    key_table_free(&sources->table);
    free(sources);
}

/* The node that names the parent; NULL = none. */
static const struct yaml_node *find_extends(const struct yaml_tree *tree)
{
    const struct yaml_node *extends = yaml_get(tree->root, "extends");
    return extends && !yaml_is_null(extends) ? extends : NULL;
}

/* Is the file one of those read already, whatever its name? */
static bool is_read_already(const struct scenario_sources *sources, const char *path)
{
    char *real = realpath(path, NULL);
    bool answer = false;
    for (size_t i = 0; real && i < sources->count && !answer; i++) {
        char *other = realpath(sources->paths[i], NULL);
        answer = other && strcmp(real, other) == 0;
        free(other);
    }
    free(real);
    return answer;
}

static enum status parent_path(struct scenario_sources *sources, const struct yaml_node *extends, const char **path,
                               struct error *error)
{
    if (extends->kind != YAML_SCALAR || !*extends->text)
        return yaml_error(error, extends, "extends: expected one file name, e.g. extends: base.yaml; found %s",
                          extends->kind == YAML_SCALAR ? "nothing" : yaml_kind_name(extends));
    size_t length = strlen(extends->text);
    const char *directory = file_directory(extends->file, &sources->arena);
    size_t size = strlen(directory) + 1 + length + 1;
    char *joined = arena_alloc(&sources->arena, size, 1);
    bool is_whole = extends->text[0] == '/';
    snprintf(joined, size, "%s%s%s", is_whole ? "" : directory, is_whole ? "" : "/", extends->text);
    if (is_read_already(sources, joined))
        return yaml_error(error, extends, "extends: %s leads back to itself", joined);
    if (sources->count == SCENARIO_CHAIN_LIMIT)
        return yaml_error(error, extends, "extends: a chain of more than %d files", SCENARIO_CHAIN_LIMIT);
    *path = joined;
    return STATUS_OK;
}

/* Reads path and its parents. */
static enum status read_chain(struct scenario_sources *sources, const char *path, struct error *error)
{
    const char *next = arena_text(&sources->arena, path, strlen(path));
    const struct yaml_node *extends = NULL;
    while (next) {
        struct yaml_tree *tree = &sources->trees[sources->count];
        enum status status = yaml_tree_load(next, tree, error);
        if (status == STATUS_USER && extends && error && error->line == 0) {
            /* The file is missing: the one to blame is the line that names it. */
            struct error inner = *error;
            yaml_error(error, extends, "extends: %s: %s", inner.file, inner.message);
        }
        if (status != STATUS_OK)
            return status;
        sources->paths[sources->count++] = next;
        next = NULL;
        extends = find_extends(tree);
        if (extends)
            TRY(parent_path(sources, extends, &next, error));
    }
    return STATUS_OK;
}

static enum status apply_sources(struct scenario *scenario, struct error *error)
{
    const struct scenario_sources *sources = scenario->sources;
    for (size_t i = sources->count; i > 0; i--)
        TRY(keys_read_tree(&scenario->keys, sources->trees[i - 1].root, own_keys, error));
    keys_open_layer(&scenario->keys);
    for (size_t i = 0; i < sources->assignment_count; i++)
        TRY(keys_override(&scenario->keys, sources->assignments[i], "command line", error));
    if (scenario->settings.extends)
        return error_set(error, STATUS_USER, "extends belongs into a scenario file, not on the command line");
    return STATUS_OK;
}

/* Models are a list, into which keys_find_files does not look. Defaults need no place in a file to blame. */
static enum status find_models(const struct scenario *scenario, struct error *error)
{
    const struct file_search search = {.folder = "models", .suffix = ".json"};
    const struct key_list *models = &scenario->settings.workload.models;
    size_t key = keys_named(&scenario->keys, "workload.models");
    struct arena arena = {0};
    enum status status = STATUS_OK;
    if (!keys_is_set(&scenario->keys, key) || !keys_is_effective(&scenario->keys, key))
        return STATUS_OK;
    for (size_t i = 0; i < models->count && status == STATUS_OK; i++) {
        const char *path;
        struct error why;
        status = file_find(&search, models->items[i], &arena, &path, &why);
        if (status != STATUS_OK)
            keys_error(&scenario->keys, key, error, "%s", why.message);
    }
    arena_free(&arena);
    return status;
}

/* What can only be said of a run, once every value is in. */
static enum status check_run(struct scenario *scenario, struct error *error)
{
    TRY(keys_check(&scenario->keys, error));
    TRY(settings_check(&scenario->keys, &scenario->settings, error));
    if (!scenario->sources->has_files)
        return STATUS_OK;
    TRY(keys_find_files(&scenario->keys, error));
    return find_models(scenario, error);
}

static struct scenario *scenario_new(struct scenario_sources *sources, bool owns_sources)
{
    struct scenario *scenario = memory_alloc(1, sizeof *scenario);
    scenario->sources = sources;
    scenario->owns_sources = owns_sources;
    keys_init(&scenario->keys, &sources->table, &scenario->settings);
    return scenario;
}

/* Sources, then the settings of a point as one more layer. With a sweep only its runs can be checked. */
static enum status fill_scenario(struct scenario *scenario, const struct scenario_point *points, size_t point_count,
                                 struct error *error)
{
    TRY(apply_sources(scenario, error));
    keys_open_layer(&scenario->keys);
    for (size_t i = 0; i < point_count; i++)
        TRY(keys_set(&scenario->keys, points[i].key, points[i].value, error));
    return scenario->owns_sources && scenario->settings.sweep ? STATUS_OK : check_run(scenario, error);
}

/* Takes the scenario: hands it out where all went well. */
static enum status hand_out(struct scenario *made, enum status status, struct scenario **scenario)
{
    if (status == STATUS_OK)
        *scenario = made;
    else
        scenario_free(made);
    return status;
}

enum status scenario_load(const char *path, struct scenario_overrides overrides, struct scenario **scenario,
                          struct error *error)
{
    require(scenario);
    struct scenario *made = scenario_new(sources_new(overrides), true);
    made->sources->has_files = true;
    enum status status = path ? read_chain(made->sources, path, error) : STATUS_OK;
    return hand_out(made, status == STATUS_OK ? fill_scenario(made, NULL, 0, error) : status, scenario);
}

static enum status parse_source(struct scenario_sources *sources, const char *text, size_t size, const char *file,
                                struct error *error)
{
    sources->paths[0] = arena_text(&sources->arena, file, strlen(file));
    TRY(yaml_tree_parse(text, size, file, &sources->trees[0], error));
    sources->count = 1;
    const struct yaml_node *extends = find_extends(&sources->trees[0]);
    return extends ? yaml_error(error, extends, "extends: a scenario without a file has no parents") : STATUS_OK;
}

enum status scenario_parse(const char *text, size_t size, const char *file, struct scenario_overrides overrides,
                           struct scenario **scenario, struct error *error)
{
    require(text && file && scenario);
    struct scenario *made = scenario_new(sources_new(overrides), true);
    enum status status = parse_source(made->sources, text, size, file, error);
    return hand_out(made, status == STATUS_OK ? fill_scenario(made, NULL, 0, error) : status, scenario);
}

enum status scenario_variant(const struct scenario *base, const struct scenario_point *points, size_t point_count,
                             struct scenario **variant, struct error *error)
{
    require(base && variant && (points || !point_count));
    struct scenario *made = scenario_new(base->sources, false);
    TRY(hand_out(made, fill_scenario(made, points, point_count, error), variant));
    made->settings.sweep = NULL;
    return STATUS_OK;
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    keys_free(&scenario->keys);
    if (scenario->owns_sources)
        sources_free(scenario->sources);
    free(scenario);
}

size_t scenario_file_count(const struct scenario *scenario)
{
    return scenario->sources->count;
}

const char *scenario_file(const struct scenario *scenario, size_t i)
{
    require(i < scenario->sources->count);
    return scenario->sources->paths[i];
}
