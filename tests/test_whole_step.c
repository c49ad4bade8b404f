/* Properties held here, of models that are a whole step as they stand, and of memory that is needed only for a while:
 *   - "pass" is read, refused where it is another word, written where it is not the usual one, and reads back;
 *   - such a graph has a task for each op, one device takes the sum of their times, on every fabric and as published;
 *   - unsplit on two devices, a chain takes its ops and its transfers, by hand; the published formulas refuse parts
 * that pass one to one;
 *   - split, like goes to like: half the bytes, as many transfers as parts, none on the same devices; where the parts
 *     differ everything is dealt out anew;
 *   - temporary bytes are read, written, need room, and are not sent. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_world.h"
#include "strategies.h"
#include "suites.h"
#include "figures.h"

static const char usual_ops[] =
    "[{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 0.1, \"backward_ms\": 0.2, \"activation_bytes\": 1000000, "
    "\"parameter_bytes\": 500}, {\"id\": 2, \"kind\": \"b\", \"forward_ms\": 0.3, \"backward_ms\": 0, "
    "\"activation_bytes\": 2000000, \"parameter_bytes\": 0}, {\"id\": 3, \"kind\": \"c\", \"forward_ms\": 0.4, "
    "\"backward_ms\": 0, \"activation_bytes\": 4000, \"parameter_bytes\": 0}]";

static enum status read_model(const char *pass, const char *ops, struct graph **graph, struct error *error)
{
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "{\"format\": \"ocsim-model-1\", \"name\": \"m\", \"device\": \"\", \"batch\": 0, "
                          "\"source\": \"\", %s\"ops\": %s, \"edges\": [[1, 2], [2, 3]]}",
                          pass, ops);
    CU_ASSERT_FATAL(length < (int)sizeof text);
    return graph_read_json(text, (size_t)length, "m.json", graph, error);
}

/* A chain of three ops: 0.3, 0.3 and 0.4 ms; 1 MB and 2 MB on its links. */
static struct graph *whole_chain(void)
{
    struct graph *graph = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(read_model("\"pass\": \"whole\", ", usual_ops, &graph, &error), STATUS_OK);
    return graph;
}

/* ---- files ---- */

static void check_written(const char *pass, bool is_whole)
{
    struct graph *graph = NULL, *again = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(read_model(pass, usual_ops, &graph, &error), STATUS_OK);
    CU_ASSERT_EQUAL(graph->is_whole_step, is_whole);
    char *text = graph_to_json(graph);
    CU_ASSERT_EQUAL(strstr(text, "\"pass\": \"whole\"") != NULL, is_whole);
    CU_ASSERT_EQUAL(strstr(text, "pass") != NULL, is_whole); /* the usual one is not said */
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "again", &again, &error), STATUS_OK);
    CU_ASSERT_EQUAL(again->is_whole_step, is_whole);
    char *text_again = graph_to_json(again);
    CU_ASSERT_STRING_EQUAL(text, text_again);
    free(text);
    free(text_again);
    graph_free(graph);
    graph_free(again);
}

static void test_pass(void)
{
    static const char *const refused[][2] = {{"\"pass\": \"both\", ", "'pass' is 'both'; it must be \"forward\""},
                                             {"\"pass\": \"Whole\", ", "'pass' is 'Whole'"},
                                             {"\"pass\": \"\", ", "'pass' is ''"},
                                             {"\"pass\": 1, ", "'pass' is a number; it must be a text"},
                                             {"\"pass\": \"whole\", \"pass\": \"whole\", ", "'pass' is given twice"},
                                             {"\"passes\": \"whole\", ", "did you mean 'pass'"}};
    check_written("", false);
    check_written("\"pass\": \"forward\", ", false);
    check_written("\"pass\": \"whole\", ", true);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct graph *graph = NULL;
        struct error error = {0};
        CU_ASSERT_EQUAL(read_model(refused[i][0], usual_ops, &graph, &error), STATUS_USER);
        if (!strstr(error.message, refused[i][1]))
            printf("\n  said: %s\n", error.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, refused[i][1]));
        CU_ASSERT_EQUAL(error.line, 1);
        CU_ASSERT_PTR_NULL(graph);
    }
}

/* ---- tasks ---- */

static void test_tasks(void)
{
    struct graph *graph = whole_chain();
    struct task_graph *tasks = oracle_split(graph, 1);
    struct graph_totals sum = graph_sum(graph);
    CU_ASSERT_EQUAL(tasks->task_count, 3);
    CU_ASSERT_EQUAL(tasks->link_count, 2);
    CU_ASSERT_EQUAL(tasks->dep_count, 2);
    CU_ASSERT_DOUBLE_EQUAL(tasks->sequential_ms, 1.0, 1e-15);
    CU_ASSERT_EQUAL(sum.tasks, 3);
    CU_ASSERT_EQUAL(sum.deps, 2);
    CU_ASSERT_DOUBLE_EQUAL(sum.sequential_ms, 1.0, 1e-15);
    CU_ASSERT_EQUAL(sum.memory_bytes, 3004500);
    CU_ASSERT_EQUAL(sum.dep_bytes, 3000000); /* what ops put out, not what they keep */
    for (uint32_t task = 0; task < 3; task++) {
        CU_ASSERT(!tasks->tasks[task].is_backward);
        CU_ASSERT_STRING_EQUAL(task_pass_name(tasks, task), "whole");
    }
    CU_ASSERT_EQUAL(tasks->links[0].bytes, 1000000);
    CU_ASSERT_EQUAL(tasks->links[1].bytes, 2000000);
    task_graph_free(tasks);
    graph_free(graph);
}

/* The same links, seen from a graph whose ops get these parts. */
static struct task_graph *in_parts(const struct graph *graph, uint32_t first, uint32_t second, uint32_t third)
{
    const uint32_t parts[] = {first, second, third};
    return task_graph_create(graph, &(struct task_options){.parts = parts});
}

static void test_parts(void)
{
    struct graph *graph = whole_chain();
    struct task_graph *alike = in_parts(graph, 2, 2, 2), *unlike = in_parts(graph, 2, 4, 1);
    CU_ASSERT_EQUAL(task_graph_parts(alike), 6);
    CU_ASSERT_EQUAL(alike->link_count, 2); /* nothing is synchronised */
    CU_ASSERT_EQUAL(alike->dep_count, 2 + 2);
    CU_ASSERT_EQUAL(alike->links[0].pattern, LINK_ONE_TO_ONE);
    CU_ASSERT_EQUAL(alike->links[0].bytes, 500000);
    CU_ASSERT_EQUAL(task_part_ms(alike, 0, 0), (0.1 + 0.2) / 2);
    CU_ASSERT_EQUAL(unlike->dep_count, 2 * 4 + 4 * 1);
    for (uint32_t link = 0; link < 2; link++) {
        CU_ASSERT_EQUAL(unlike->links[link].pattern, LINK_ALL_TO_ALL);
        CU_ASSERT_EQUAL(unlike->links[link].bytes, unlike->links[link].source == 0 ? 125000 : 500000);
    }
    task_graph_free(alike);
    task_graph_free(unlike);
    graph_free(graph);
}

/* ---- steps ---- */

static struct step_result publish(struct job_world *job, const struct topology *topology)
{
    struct step_input input = job_world_input(job, topology);
    struct step_result step = {0};
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, NULL, &step, &error), STATUS_OK);
    return step;
}

static void check_one_device(struct job_world *job, const struct topology *topology)
{
    struct circuit_options options = job_world_options(2);
    struct step_result step = job_world_step(job, topology, &options), published = publish(job, topology);
    double sum_s = job->tasks->sequential_ms * 1e-3;
    CU_ASSERT(oracle_is_near(step.step.total_s, sum_s, 1e-9));
    CU_ASSERT(oracle_is_near(published.step.total_s, sum_s, 1e-9));
    CU_ASSERT_EQUAL(step.flows, 0);
    CU_ASSERT_EQUAL(published.flows, 0);
    CU_ASSERT_EQUAL(step.step.part_s[TIME_COMM], 0);
}

/* A random graph taken for a whole step, and the chain. */
static void test_one_device(void)
{
    static const uint32_t alone[] = {7};
    struct random_stream *random = random_open(1, "placements", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct job_world job;
            struct graph *graph = seed ? oracle_random_graph(seed, 20, seed % 2) : whole_chain();
            graph->is_whole_step = true;
            job_world_put_randomly(&job, graph, &topology, random, alone, 1);
            CU_ASSERT_EQUAL(job.tasks->task_count, graph->op_count);
            check_one_device(&job, &topology);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* There and back, each over a circuit of its own. */
static void test_two_devices(void)
{
    static const uint32_t servers[] = {0, 5, 0};
    struct topology topology;
    struct job_world job;
    struct circuit_options options = job_world_options(1);
    job_world_topology("ocs", &topology);
    job_world_put(&job, whole_chain(), &topology, servers);
    struct step_result step = job_world_step(&job, &topology, &options);
    double rate = topology.node_rate_bytes_per_s / (double)*figure_whole(&topology, "ocs.switches");
    double latency_s = (double)(topology.propagation_ps + 2 * topology.io_latency_ps) * 1e-12;
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMP], 1e-3, 1e-9));
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMM], 2 * latency_s + 3e6 / rate, 1e-6));
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_RECONFIG],
                             2 * (double)*figure_whole(&topology, "ocs.reconfiguration") * 1e-12, 1e-9));
    CU_ASSERT(oracle_is_near(job_world_sum_s(&step.step), step.step.total_s, 1e-13));
    CU_ASSERT_EQUAL(step.flows, 2);
    topology_free(&topology);
    job_world_topology("ramp", &topology);
    struct step_result published = publish(&job, &topology);
    CU_ASSERT(oracle_is_near(published.step.total_s, 1e-3 + 2 * 250e-9 + 3e6 / 4e11, 1e-12)); /* section 6 */
    CU_ASSERT_EQUAL(published.flows, 2);
    job_world_end(&job);
    topology_free(&topology);
}

/* ---- parts on circuits ---- */

/* Takes tasks; ops on these devices, as many as they have parts. */
static void put_parts(struct job_world *job, struct graph *graph, struct task_graph *tasks,
                      const struct topology *topology, const uint32_t devices[][2])
{
    struct place_scratch scratch;
    *job = (struct job_world){.graph = graph, .tasks = tasks};
    const struct place_request request = {.tasks = tasks, .scratch = &scratch};
    place_scratch_init(&scratch, topology);
    deployment_start(&job->deployment, tasks);
    for (uint32_t op = 0; op < graph->op_count; op++)
        place_assign(&request, &job->deployment, op,
                     place_add_list(&request, &job->deployment, devices[op], tasks->parts[op]));
    place_end(&request, &job->deployment);
    place_scratch_fini(&scratch);
}

/* What was sent, by link. */
struct sent {
    uint32_t flew[2];
};

static void count_flight(void *context, uint32_t link, double start_s, double end_s)
{
    struct sent *sent = context;
    (void)start_s;
    (void)end_s;
    sent->flew[link]++;
}

static struct step_result step_parts(struct job_world *job, const struct topology *topology, struct sent *sent)
{
    const struct step_observer observer = {.flew = count_flight, .context = sent};
    struct circuit_options options = job_world_options(1);
    struct step_input input = job_world_input(job, topology);
    struct step_result step = {0};
    struct error error = {0};
    input.observer = &observer;
    *sent = (struct sent){0};
    CU_ASSERT_EQUAL_FATAL(deployment_check(&job->deployment, topology, true, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, &options, &step, &error), STATUS_OK);
    return step;
}

static void test_one_to_one(void)
{
    static const uint32_t moving[][2] = {{0, 5}, {10, 15}, {15, 10}}, staying[][2] = {{0, 5}, {0, 5}, {0, 5}};
    struct topology topology;
    struct job_world job;
    struct sent sent;
    struct step_result step, published = {.flows = 77};
    struct error error = {0};
    job_world_topology("ocs", &topology);
    struct graph *graph = whole_chain();
    put_parts(&job, graph, in_parts(graph, 2, 2, 2), &topology, moving);
    step = step_parts(&job, &topology, &sent);
    CU_ASSERT_EQUAL(step.flows, 4); /* a pair to a pair, and crosswise */
    CU_ASSERT(sent.flew[0] == 1 && sent.flew[1] == 1);
    double rate = topology.node_rate_bytes_per_s / (double)*figure_whole(&topology, "ocs.switches");
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMP], 0.5e-3, 1e-9));
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_PAYLOAD], 1.5e6 / rate, 1e-6)); /* both halves side by side */
    struct step_input input = job_world_input(&job, &topology);
    CU_ASSERT_EQUAL(step_run(&input, 1, NULL, &published, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "model m passes its parts one to one"));
    CU_ASSERT_EQUAL(published.flows, 77);
    job_world_end(&job);
    graph = whole_chain();
    put_parts(&job, graph, in_parts(graph, 2, 2, 2), &topology, staying);
    step = step_parts(&job, &topology, &sent);
    CU_ASSERT_EQUAL(step.flows, 0);
    CU_ASSERT(oracle_is_near(step.step.total_s, 0.5e-3, 1e-9));
    job_world_end(&job);
    topology_free(&topology);
}

/* Two parts, one, two: gathered and dealt out. */
static void test_dealt_out(void)
{
    static const uint32_t devices[][2] = {{0, 5}, {10}, {15, 20}};
    struct topology topology;
    struct job_world job;
    struct sent sent;
    job_world_topology("ocs", &topology);
    struct graph *graph = whole_chain();
    put_parts(&job, graph, in_parts(graph, 2, 1, 2), &topology, devices);
    struct step_result step = step_parts(&job, &topology, &sent);
    CU_ASSERT_EQUAL(step.flows, 4);
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMP], 0.15e-3 + 0.3e-3 + 0.2e-3, 1e-9));
    job_world_end(&job);
    topology_free(&topology);
}

/* A whole-step model goes through the usual split and the placers. */
static void test_split_and_placed(void)
{
    for (size_t i = 0; i < placers.count; i++) {
        struct topology topology;
        struct job_world job;
        struct sent sent;
        job_world_topology("ocs", &topology);
        job_world_split(&job, whole_chain(), &topology, 2, (const struct placer *)placers.strategies[i]);
        CU_ASSERT_EQUAL(job.tasks->degree, 2);
        struct step_result step = step_parts(&job, &topology, &sent);
        CU_ASSERT_EQUAL(job.deployment.used_count, 2);
        CU_ASSERT(oracle_is_near(step.step.total_s, 0.5e-3, 1e-9));
        job_world_end(&job);
        topology_free(&topology);
    }
}

/* ---- temporary bytes ---- */

static const char big_ops[] =
    "[{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 1, \"backward_ms\": 0, \"activation_bytes\": 1000000, "
    "\"parameter_bytes\": 0, \"temporary_bytes\": 50000000000}, {\"id\": 2, \"kind\": \"b\", \"forward_ms\": 1, "
    "\"backward_ms\": 0, \"activation_bytes\": 1000000, \"parameter_bytes\": 0, \"temporary_bytes\": 20000000000}, "
    "{\"id\": 3, \"kind\": \"c\", \"forward_ms\": 1, \"backward_ms\": 0, \"activation_bytes\": 1000000, "
    "\"parameter_bytes\": 0, \"temporary_bytes\": 20000000000}]";

static void test_temporary_bytes(void)
{
    struct graph *graph = NULL, *again = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(read_model("", big_ops, &graph, &error), STATUS_OK);
    CU_ASSERT_EQUAL(graph->ops[0].temporary_bytes, 5e10);
    CU_ASSERT_EQUAL(graph_op_bytes(&graph->ops[0]), 5e10 + 1e6);
    char *text = graph_to_json(graph);
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "again", &again, &error), STATUS_OK);
    for (uint32_t op = 0; op < 3; op++)
        CU_ASSERT_EQUAL(again->ops[op].temporary_bytes, graph->ops[op].temporary_bytes);
    struct task_graph *tasks = oracle_split(graph, 1);
    for (uint32_t link = 0; link < tasks->link_count; link++)
        CU_ASSERT_EQUAL(tasks->links[link].bytes, 1e6); /* none of it is sent */
    CU_ASSERT_EQUAL(task_graph_op_bytes(tasks, 0), 5e10 + 1e6);
    task_graph_free(tasks);
    free(text);
    graph_free(again);
    graph_free(graph);
    CU_ASSERT_EQUAL(read_model("",
                               "[{\"id\": 1, \"kind\": \"\", \"forward_ms\": 1, \"backward_ms\": 1, "
                               "\"activation_bytes\": 1, \"parameter_bytes\": 1, \"temporary_bytes\": -1}]",
                               &graph, &error),
                    STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "temporary_bytes"));
}

/* 50, 20 and 20 GB do not fit into 80 GB: the third op goes elsewhere, and one device is too few. */
static void test_temporary_room(void)
{
    struct topology topology;
    struct occupancy occupancy;
    struct place_scratch scratch;
    struct deployment deployment = {0};
    struct graph *graph = NULL;
    struct error error = {0};
    job_world_topology("ramp", &topology);
    occupancy_init(&occupancy, &topology);
    place_scratch_init(&scratch, &topology);
    CU_ASSERT_EQUAL_FATAL(read_model("", big_ops, &graph, &error), STATUS_OK);
    struct task_graph *tasks = oracle_split(graph, 1);
    CU_ASSERT_FATAL(oracle_place(&place_ramp_first_fit, tasks, &occupancy, &scratch, &deployment));
    CU_ASSERT_EQUAL(deployment.used_count, 2);
    CU_ASSERT_EQUAL(deployment_check(&deployment, &topology, true, &error), STATUS_OK);
    CU_ASSERT(!oracle_place(&place_ramp_compact, tasks, &occupancy, &scratch, &deployment));
    topology.classes[0].memory_bytes = 4.9e10;
    CU_ASSERT_EQUAL(cluster_check_fit(graph, &topology, &(struct split_rule){0.01, 1, TRAFFIC_PUBLISHED}, &error),
                    STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "op 1 needs 50 GB"));
    task_graph_free(tasks);
    for (uint32_t op = 0; op < 3; op++)
        graph->ops[op].temporary_bytes = 0;
    CU_ASSERT_EQUAL(cluster_check_fit(graph, &topology, &(struct split_rule){0.01, 1, TRAFFIC_PUBLISHED}, &error),
                    STATUS_OK);
    tasks = oracle_split(graph, 1);
    CU_ASSERT(oracle_place(&place_ramp_compact, tasks, &occupancy, &scratch, &deployment));
    deployment_free(&deployment);
    task_graph_free(tasks);
    graph_free(graph);
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
    topology_free(&topology);
}

void suite_whole_step(void)
{
    CU_pSuite suite = CU_add_suite("whole step", NULL, NULL);
    CU_ADD_TEST(suite, test_pass);
    CU_ADD_TEST(suite, test_tasks);
    CU_ADD_TEST(suite, test_parts);
    CU_ADD_TEST(suite, test_one_device);
    CU_ADD_TEST(suite, test_two_devices);
    CU_ADD_TEST(suite, test_one_to_one);
    CU_ADD_TEST(suite, test_dealt_out);
    CU_ADD_TEST(suite, test_split_and_placed);
    CU_ADD_TEST(suite, test_temporary_bytes);
    CU_ADD_TEST(suite, test_temporary_room);
}
