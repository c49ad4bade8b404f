/* ocsim step --model M --degree D --topology T [key=value ...]: one training job on an empty cluster, as JSON.
 *
 * --ops adds every op's device and the stretches of time it ran, of one step. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cluster/deployer.h"
#include "cluster/columns.h"
#include "scenario/simulation.h"
#include "input/text.h"
#include "input/units.h"

/* One stretch, merged with the one before where the op just went on. */
struct stretch {
    uint32_t task, part, device;
    double start_s, end_s;
};

struct recorder {
    struct stretch *stretches;
    size_t count, capacity;
    const struct task_graph *tasks;
    size_t *last; /* per part of each task: its newest stretch + 1, 0 = none */
};

static void record(void *context, uint32_t task, uint32_t part, uint32_t device, double start_s, double end_s)
{
    struct recorder *recorder = context;
    size_t *last = &recorder->last[recorder->tasks->part_start[task] + part];
    if (*last && recorder->stretches[*last - 1].end_s == start_s) {
        recorder->stretches[*last - 1].end_s = end_s;
        return;
    }
    recorder->stretches =
        memory_grow(recorder->stretches, &recorder->capacity, recorder->count + 1, sizeof *recorder->stretches);
    recorder->stretches[recorder->count++] = (struct stretch){task, part, device, start_s, end_s};
    *last = recorder->count;
}

static int stretch_total(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->start_s < b->start_s ? -1 : a->start_s > b->start_s;
}

static void print_ops(const struct topology *topology, struct recorder *recorder)
{
    const struct stretch *at = recorder->stretches, *end = at + recorder->count;
    qsort(recorder->stretches, recorder->count, sizeof *at, stretch_total);
    printf(",\n  \"op_times\": [");
    for (const struct stretch *first = at; at < end; first = at) {
        char name[TOPOLOGY_NAME_BYTES], start[UNITS_TEXT_BYTES], stop[UNITS_TEXT_BYTES];
        uint32_t op = recorder->tasks->tasks[at->task].op;
        topology_device_name(topology, at->device, name);
        printf("%s\n    {\"op\": %" PRIu32 ", \"pass\": \"%s\", \"part\": %" PRIu32
               ", \"device\": \"%s\", \"times_s\": [",
               first == recorder->stretches ? "" : ",", recorder->tasks->graph->ops[op].id,
               task_pass_name(recorder->tasks, at->task), at->part, name);
        for (; at < end && at->task == first->task && at->part == first->part; at++) {
            units_format_number(at->start_s, start);
            units_format_number(at->end_s, stop);
            printf("%s[%s, %s]", at == first ? "" : ", ", start, stop);
        }
        printf("]}");
    }
    printf("\n  ]");
}

static int device_total(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void print_number(const char *name, double value)
{
    char text[UNITS_TEXT_BYTES];
    units_format_number(value, text);
    printf(",\n  \"%s\": %s", name, text);
}

static void print_devices(const struct topology *topology, struct deployment *deployment)
{
    qsort(deployment->used, deployment->used_count, sizeof *deployment->used, device_total);
    printf(",\n  \"devices\": %" PRIu32 ",\n  \"device_list\": [", deployment->used_count);
    for (uint32_t i = 0; i < deployment->used_count; i++) {
        char name[TOPOLOGY_NAME_BYTES];
        topology_device_name(topology, deployment->used[i], name);
        printf("%s\"%s\"", i ? ", " : "", name);
    }
    printf("]");
}

/* Which algorithms the all-reduces of a step took, and how often. */
static void print_all_reduces(const struct step_result *step)
{
    const char *separator = "";
    printf(",\n  \"all_reduces\": {");
    for (int i = 0; i < COLLECTIVE_ALGORITHMS; i++)
        if (step->all_reduces[i]) {
            printf("%s\"%s\": %" PRIu32, separator, collective_name((enum collective_algorithm)i),
                   step->all_reduces[i]);
            separator = ", ";
        }
    printf("}");
}

/* What was asked for. */
struct step_request {
    const struct settings *settings;
    const struct graph *graph;
    uint32_t degree;
    bool with_ops;
};

/* What a job's columns say, as far as one alone has them. */
static enum status fill_record(const struct settings *settings, const struct topology *topology,
                               const struct deployment *deployment, const struct step_result *step,
                               struct job_record *job, struct error *error)
{
    struct circuit_options circuit = simulation_circuit(settings);
    struct energy energy;
    *job = (struct job_record){.time = step_times(step, settings->workload.steps)};
    if (settings->network.model != NETWORK_CIRCUIT)
        return STATUS_OK;
    enum status status = energy_open(&energy, &settings->energy, topology, &circuit.network, error);
    job->energy_j = energy_j(&energy, energy_power_w(&energy, deployment->used, deployment->used_count),
                             job->time.total_s, (double)settings->workload.steps * step->bytes);
    energy_close(&energy);
    return status;
}

static enum status print_result(const struct step_request *request, const struct topology *topology,
                                struct deployment *deployment, const struct step_result *step, struct error *error)
{
    const struct settings *settings = request->settings;
    const struct task_graph *tasks = deployment->tasks;
    struct job_record job;
    TRY(fill_record(settings, topology, deployment, step, &job, error));
    double sequential_s = (double)settings->workload.steps * (tasks->sequential_ms * simulation_unit_s(settings));
    cJSON *name = cJSON_CreateString(tasks->graph->name);
    char *quoted = name ? cJSON_PrintUnformatted(name) : NULL;
    if (!quoted)
        memory_exhausted(1, strlen(tasks->graph->name));
    printf("{\n  \"model\": %s,\n  \"degree\": %" PRIu32 ",\n  \"degree_used\": %" PRIu32, quoted, request->degree,
           tasks->degree);
    free(quoted);
    cJSON_Delete(name);
    printf(",\n  \"ops\": %" PRIu64 ",\n  \"deps\": %" PRIu64 ",\n  \"flows\": %" PRIu64, task_graph_parts(tasks),
           tasks->dep_count, step->flows);
    print_devices(topology, deployment);
    print_number("sequential_s", sequential_s);
    print_number("step_s", step->step.total_s);
    bool is_circuit = settings->network.model == NETWORK_CIRCUIT;
    for (int column = JOB_JCT; column < JOB_FILE_COLUMNS; column++) {
        const struct job_column_row *row = &job_columns[column];
        if (row->kind == COLUMN_NUMBER && (is_circuit || row->given != GIVEN_ON_CIRCUITS))
            print_number(row->column.name, job_number(&job, (enum job_column)column));
    }
    print_number("speedup", job.time.total_s > 0 ? sequential_s / job.time.total_s : 0);
    if (is_circuit)
        print_all_reduces(step);
    printf(",\n  \"events\": %" PRIu64 ",\n  \"trace_hash\": \"%016" PRIx64 "\"", step->events, step->trace_hash);
    return STATUS_OK;
}

/* Says why a job finds no devices even on an empty cluster. */
static enum status refuse_placement(const struct step_request *request, const struct placer *placer,
                                    const struct task_graph *tasks, const struct topology *topology,
                                    struct error *error)
{
    const struct graph *graph = tasks->graph;
    for (uint32_t op = 0; op < graph->op_count; op++)
        if (!placer->is_legal(topology, tasks->parts[op]))
            return error_set(
                error, STATUS_USER,
                "step: model %.100s at degree %" PRIu32 ": op %" PRIu32 " takes %g ms and is split into "
                "%" PRIu32 " parts, which have no block shape on this cluster; use another degree or another "
                "partition.quantum",
                graph->name, request->degree, graph->ops[op].id, graph->ops[op].forward_ms, tasks->parts[op]);
    return error_set(error, STATUS_USER,
                     "step: model %.100s at degree %" PRIu32
                     " finds no servers with enough memory on an empty cluster; "
                     "use a higher degree or devices with more memory",
                     graph->name, request->degree);
}

/* Partitioned as asked for, placed and scheduled as the settings say. */
static enum status deploy_on_empty(const struct step_request *request, const struct task_graph *tasks,
                                   struct deployer *deployer, struct deployment *deployment, struct error *error)
{
    const struct settings *settings = request->settings;
    const struct topology *topology = deployer->topology;
    struct occupancy occupancy;
    struct split_rule rule = {simulation_quantum_ms(settings), request->degree, simulation_traffic(settings)};
    TRY(cluster_check_fit(tasks->graph, topology, &rule, error));
    occupancy_init(&occupancy, topology);
    bool is_placed = deployer_place(deployer, tasks, &occupancy, deployment);
    occupancy_fini(&occupancy);
    if (!is_placed)
        return refuse_placement(request, deployer_placer(deployer), tasks, topology, error);
    deployer_rank(deployer, deployment);
    return deployer_check(deployer, deployment, error);
}

static enum status run_step(const struct step_request *request, struct error *error)
{
    const struct settings *settings = request->settings;
    struct topology topology;
    struct deployment deployment = {0};
    struct step_result result;
    TRY(simulation_topology(settings, &topology, error));
    struct deployer deployer;
    enum status status = deployer_open(&deployer, &topology, settings->place.strategy, settings->schedule.strategy,
                                       simulation_unit_s(settings), error);
    struct split_rule rule = {simulation_quantum_ms(settings), request->degree, simulation_traffic(settings)};
    struct task_graph *tasks = split_create(request->graph, &rule, topology.speeds, topology.class_count);
    struct recorder recorder = {.tasks = tasks};
    struct step_observer observer = {.ran = record, .context = &recorder};
    struct circuit_options circuit = simulation_circuit(settings);
    struct step_input input = {.deployment = &deployment,
                               .topology = &topology,
                               .unit_s = simulation_unit_s(settings),
                               .observer = request->with_ops ? &observer : NULL};
    recorder.last = memory_alloc((size_t)task_graph_parts(tasks), sizeof *recorder.last);
    if (status == STATUS_OK)
        status = deploy_on_empty(request, tasks, &deployer, &deployment, error);
    if (status == STATUS_OK)
        status = step_run(&input, 1, settings->network.model == NETWORK_CIRCUIT ? &circuit : NULL, &result, error);
    if (status == STATUS_OK)
        status = print_result(request, &topology, &deployment, &result, error);
    if (status == STATUS_OK) {
        if (request->with_ops)
            print_ops(&topology, &recorder);
        printf("\n}\n");
    }
    free(recorder.last);
    free(recorder.stretches);
    deployment_free(&deployment);
    task_graph_free(tasks);
    deployer_close(&deployer);
    topology_free(&topology);
    return status;
}

static enum status read_degree(const char *text, uint32_t *degree, struct error *error)
{
    int64_t value;
    if (units_integer(text, &value, error) != STATUS_OK || value < 1 || value > 65536 || (value > 1 && value % 2))
        return error_set(error, STATUS_USER, "step: --degree '%.40s': expected 1 or an even number up to 65536, e.g. 4",
                         text);
    *degree = (uint32_t)value;
    return STATUS_OK;
}

int cli_step(const struct cli_arguments *arguments, struct error *error)
{
    const char *model = cli_value(arguments, "--model", NULL), *degree = cli_value(arguments, "--degree", NULL);
    const char *topology = cli_value(arguments, "--topology", NULL);
    struct step_request request = {.with_ops = cli_is_given(arguments, "--ops")};
    if (!model || !degree || arguments->name_count)
        return error_set(error, STATUS_USER,
                         "step: expected --model M --degree D --topology T, e.g. ocsim step --model alexnet --degree 4 "
                         "--topology topologies/ramp-32.yaml");
    enum status status = read_degree(degree, &request.degree, error);
    if (status != STATUS_OK)
        return status;
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    struct text_builder topology_key = {0};
    struct scenario *scenario = NULL;
    struct models models = {0};
    uint32_t position = 0;
    if (topology) {
        text_build(&topology_key, "topology=%s", topology);
        arguments->overrides[overrides.count++] = topology_key.text;
    }
    status = scenario_load(NULL, overrides, &scenario, error);
    if (status == STATUS_OK)
        status = models_find(&models, model, NULL, &position, error);
    if (status == STATUS_OK) {
        request.settings = &scenario->settings;
        request.graph = models.graphs[position];
        status = run_step(&request, error);
    }
    models_free(&models);
    scenario_free(scenario);
    free(topology_key.text);
    return status;
}
