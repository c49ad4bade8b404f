#include "oracle.h"

#include "fabric/fabrics.h"

#include <CUnit/Basic.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/units.h"
#include "strategies.h"

enum { TABLE_LIMIT_BYTES = 1 << 26 };

static const char *behind_comments(const char *text)
{
    while (*text == '#') {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : text + strlen(text);
    }
    return text;
}

struct csv *oracle_open(const char *path)
{
    char *text;
    size_t size;
    struct csv *csv;
    struct error error;
    if (access(path, R_OK) != 0)
        return NULL;
    CU_ASSERT_EQUAL_FATAL(file_read(path, TABLE_LIMIT_BYTES, &text, &size, &error), STATUS_OK);
    const char *table = behind_comments(text);
    CU_ASSERT_EQUAL_FATAL(csv_parse(table, size - (size_t)(table - text), path, &csv, &error), STATUS_OK);
    free(text);
    return csv;
}

bool oracle_next(struct csv *csv)
{
    bool has_row = false;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(csv_next(csv, &has_row, &error), STATUS_OK);
    return has_row;
}

const char *oracle_text(const struct csv *csv, const char *column)
{
    int at = csv_find_column(csv, column);
    CU_ASSERT_FATAL(at >= 0);
    return csv_field(csv, (size_t)at);
}

double oracle_number(const struct csv *csv, const char *column)
{
    double number = NAN;
    CU_ASSERT_EQUAL(units_number(oracle_text(csv, column), &number, NULL), STATUS_OK);
    return number;
}

bool oracle_is_near(double got, double want, double relative)
{
    bool is_near = fabs(got - want) <= relative * fmax(fabs(got), fabs(want));
    if (!is_near)
        printf("\n  got %.17g, expected %.17g within %g\n", got, want, relative);
    return is_near;
}

void oracle_strip(const char *from, const char *to)
{
    char *text;
    size_t size;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(file_read(from, TABLE_LIMIT_BYTES, &text, &size, &error), STATUS_OK);
    FILE *file = fopen(to, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(behind_comments(text), file);
    CU_ASSERT_EQUAL(fclose(file), 0);
    free(text);
}

/* ---- one job ---- */

struct task_graph *oracle_split(const struct graph *graph, uint32_t degree)
{
    return split_create(graph, &(struct split_rule){0.01, degree, TRAFFIC_PUBLISHED}, NULL, 0);
}

bool oracle_place(const struct placer *placer, const struct task_graph *tasks, const struct occupancy *occupancy,
                  struct place_scratch *scratch, struct deployment *deployment)
{
    const struct place_request request = {.tasks = tasks, .occupancy = occupancy, .scratch = scratch};
    return placer->place(&request, deployment);
}

static enum status step_observed(struct deployment *deployment, const struct topology *topology,
                                 const struct step_observer *observer, struct step_result *step)
{
    struct error error = {0};
    const struct step_input input = {.deployment = deployment, .topology = topology, .unit_s = 1, .observer = observer};
    rank_by(&schedule_srpt, topology, 1, deployment);
    return step_run(&input, 1, NULL, step, &error);
}

enum status oracle_step(struct deployment *deployment, const struct topology *topology, struct step_result *step)
{
    return step_observed(deployment, topology, NULL, step);
}

bool oracle_job_run(struct oracle_job *job, const char *model, uint32_t degree, const char *topology,
                    const struct placer *placer, const struct step_observer *observer)
{
    struct occupancy occupancy;
    struct place_scratch scratch;
    struct error error;
    uint32_t position;
    *job = (struct oracle_job){0};
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology(topology, &job->topology, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(models_find(&job->models, model, NULL, &position, &error), STATUS_OK);
    job->graph = job->models.graphs[position];
    job->tasks = oracle_split(job->graph, degree);
    occupancy_init(&occupancy, &job->topology);
    place_scratch_init(&scratch, &job->topology);
    bool is_placed = oracle_place(placer, job->tasks, &occupancy, &scratch, &job->deployment);
    if (is_placed)
        CU_ASSERT_EQUAL_FATAL(step_observed(&job->deployment, &job->topology, observer, &job->step), STATUS_OK);
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
    return is_placed;
}

void oracle_job_end(struct oracle_job *job)
{
    deployment_free(&job->deployment);
    task_graph_free(job->tasks);
    models_free(&job->models);
    topology_free(&job->topology);
}

static int server_total(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

char *oracle_names(const struct topology *topology, uint32_t *servers, uint32_t count)
{
    char *names = memory_alloc((size_t)count + 1, TOPOLOGY_NAME_BYTES + 1), *at = names;
    qsort(servers, count, sizeof *servers, server_total);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            *at++ = ' ';
        at += topology_name(topology, servers[i], at);
    }
    return names;
}

/* ---- runs ---- */

void oracle_world_open(struct oracle_world *world, const char *const *assignments)
{
    struct error error = {0};
    struct scenario_overrides overrides = {assignments, 0};
    while (assignments[overrides.count])
        overrides.count++;
    enum status status = scenario_load(NULL, overrides, &world->scenario, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    status = simulation_open(&world->world, &world->scenario->settings, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

void oracle_world_close(struct oracle_world *world)
{
    simulation_close(&world->world);
    scenario_free(world->scenario);
}

void oracle_run(const char *const *assignments, struct cluster_result *result)
{
    struct oracle_world world;
    struct error error = {0};
    oracle_world_open(&world, assignments);
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, result, &error), STATUS_OK);
    oracle_world_close(&world);
}

/* ---- random graphs ---- */

/* One or two parents, none of them the same twice; without other sinks every op but the first hangs on the one before.
 */
static void write_parents(FILE *file, struct random_stream *random, uint32_t op, bool has_sinks, bool *is_first)
{
    uint32_t near = op < 6 ? op : 6;
    uint32_t first = has_sinks ? op - 1 - (uint32_t)random_below(random, near) : op - 1;
    uint32_t second = op - 1 - (uint32_t)random_below(random, near);
    fprintf(file, "%s[%u, %u]", *is_first ? "" : ", ", first + 1, op + 1);
    if (second != first)
        fprintf(file, ", [%u, %u]", second + 1, op + 1);
    *is_first = false;
}

/* One draw a statement: the order of arguments is the compiler's. */
static void write_op(FILE *file, struct random_stream *random, uint32_t op)
{
    bool is_free = random_below(random, 8) == 0;
    double forward_ms = is_free ? 0 : 0.12 * random_uniform(random);
    double backward_ms = 0.2 * random_uniform(random);
    unsigned activation_bytes = (unsigned)random_below(random, 100000000);
    unsigned parameter_bytes = (unsigned)random_below(random, 1000000);
    fprintf(file,
            "%s{\"id\": %u, \"kind\": \"op\", \"forward_ms\": %.6f, \"backward_ms\": %.6f, \"activation_bytes\": %u, "
            "\"parameter_bytes\": %u}",
            op ? ", " : "", op + 1, forward_ms, backward_ms, activation_bytes, parameter_bytes);
}

struct graph *oracle_random_graph(uint64_t seed, uint32_t op_count, bool has_sinks)
{
    char *text = NULL;
    size_t size = 0;
    struct graph *graph = NULL;
    struct error error = {0};
    FILE *file = open_memstream(&text, &size);
    struct random_stream *random = random_open(seed, "random graph", 0);
    bool is_first = true;
    fprintf(file, "{\"format\": \"ocsim-model-1\", \"name\": \"random\", \"device\": \"\", \"batch\": 0, \"source\": "
                  "\"\", \"ops\": [");
    for (uint32_t op = 0; op < op_count; op++)
        write_op(file, random, op);
    fprintf(file, "], \"edges\": [");
    for (uint32_t op = 1; op < op_count; op++)
        write_parents(file, random, op, has_sinks, &is_first);
    fprintf(file, "]}");
    fclose(file);
    random_close(random);
    enum status status = graph_read_json(text, size, "random.json", &graph, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    free(text);
    return graph;
}

/* ---- files ---- */

char *oracle_folder(void)
{
    static const char pattern[] = "build/tests_XXXXXX";
    char *path = memory_text(pattern, sizeof pattern - 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void oracle_remove(const char *path)
{
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

char *oracle_write(const char *folder, const char *name, const char *text)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = memory_alloc(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
    return path;
}
