/* Properties held here, of the tasks of a training step, split into parts (PAC-ML simulator, sections 1 to 3):
 *   - the published totals of the five models;
 *   - how many parts an op gets, double arithmetic included;
 *   - bytes of each dependency by hand, in both file orders; counts by hand;
 *   - on random graphs: indices agree with the links, sums do not depend on the degree. */
#include <CUnit/Basic.h>
#include <math.h>
#include <string.h>

#include "graph/models.h"
#include "graph/split.h"
#include "oracle.h"
#include "suites.h"

/* Published characteristics of the jobs (Parsonson et al., arXiv 2301.13799, and its simulator). */
static void test_published_totals(void)
{
    static const struct {
        const char *model;
        uint32_t ops, deps;
        double sequential_s, memory_bytes, dep_bytes;
    } published[] = {{"alexnet", 46, 47, 36061.15, 3046234440.0, 2422161416.0},
                     {"gnmt", 96, 117, 4470.80, 2368446976.0, 1027801088.0},
                     {"resnet18", 142, 159, 36668.35, 17258656072.0, 18733285384.0},
                     {"squeezenet1_0", 136, 153, 38000.15, 24962622792.0, 27910094856.0},
                     {"vgg16", 82, 83, 34525.35, 30625298760.0, 29467058184.0}};
    struct models models = {0};
    struct error error;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        uint32_t model = 0;
        CU_ASSERT_EQUAL_FATAL(models_find(&models, published[i].model, NULL, &model, &error), STATUS_OK);
        struct graph_totals sum = graph_sum(models.graphs[model]);
        CU_ASSERT_EQUAL(sum.tasks, published[i].ops);
        CU_ASSERT_EQUAL(sum.deps, published[i].deps);
        CU_ASSERT(fabs(50 * sum.sequential_ms - published[i].sequential_s) < 1e-6);
        CU_ASSERT_EQUAL(sum.memory_bytes, published[i].memory_bytes);
        CU_ASSERT_EQUAL(sum.dep_bytes, published[i].dep_bytes);
    }
    models_free(&models);
}

static void test_parts(void)
{
    CU_ASSERT_EQUAL(split_parts(0, 0.01, 16), 1);
    CU_ASSERT_EQUAL(split_parts(0.001, 0.01, 16), 2);
    CU_ASSERT_EQUAL(split_parts(0.01, 0.01, 16), 2);
    CU_ASSERT_EQUAL(split_parts(0.03, 0.01, 16), 4);
    CU_ASSERT_EQUAL(split_parts(0.05, 0.01, 16), 6);
    CU_ASSERT_EQUAL(split_parts(0.07, 0.01, 16), 8); /* 0.07 / 0.01 is above 7 in doubles */
    CU_ASSERT_EQUAL(split_parts(0.0801, 0.01, 16), 10);
    CU_ASSERT_EQUAL(split_parts(0.0801, 0.01, 8), 8);
    CU_ASSERT_EQUAL(split_parts(0.0801, 0.01, 1), 1);
    CU_ASSERT_EQUAL(split_parts(1e300, 0.01, 65536), 65536);
}

/* A chain 1 -> 2 -> 3 -> 4 of 1, 2, 4 and 1 parts, ops 2 and 3 in either order. */
static struct graph *make_chain(bool is_swapped)
{
    static const char *const ops[] = {
        "{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 0, \"backward_ms\": 1, \"activation_bytes\": 900, "
        "\"parameter_bytes\": 100}",
        "{\"id\": 2, \"kind\": \"b\", \"forward_ms\": 0.02, \"backward_ms\": 2, \"activation_bytes\": 600, "
        "\"parameter_bytes\": 0}",
        "{\"id\": 3, \"kind\": \"c\", \"forward_ms\": 0.04, \"backward_ms\": 4, \"activation_bytes\": 300, "
        "\"parameter_bytes\": 100}",
        "{\"id\": 4, \"kind\": \"d\", \"forward_ms\": 0, \"backward_ms\": 8, \"activation_bytes\": 0, "
        "\"parameter_bytes\": 200}"};
    char text[1024];
    struct graph *graph = NULL;
    struct error error;
    int length = snprintf(text, sizeof text,
                          "{\"format\": \"ocsim-model-1\", \"name\": \"chain\", \"device\": \"\", \"batch\": 0, "
                          "\"source\": \"\", \"ops\": [%s, %s, %s, %s], \"edges\": [[1, 2], [2, 3], [3, 4]]}",
                          ops[0], ops[is_swapped ? 2 : 1], ops[is_swapped ? 1 : 2], ops[3]);
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, (size_t)length, "chain.json", &graph, &error), STATUS_OK);
    return graph;
}

/* A link by the passes of its ends. */
enum link_kind { KIND_FORWARD, KIND_BACKWARD, KIND_JOIN, KIND_SYNC };

static enum link_kind kind_of(const struct task_graph *tasks, const struct task_link *link)
{
    bool from_backward = tasks->tasks[link->source].is_backward, to_backward = tasks->tasks[link->target].is_backward;
    if (link->pattern == LINK_SYNC)
        return KIND_SYNC;
    CU_ASSERT_EQUAL(link->pattern, LINK_ALL_TO_ALL);
    CU_ASSERT(to_backward || !from_backward);
    return from_backward ? KIND_BACKWARD : to_backward ? KIND_JOIN : KIND_FORWARD;
}

/* Bytes of the link of a kind between two ops, by their ids; -1 where there is none. */
static double bytes_of(const struct task_graph *tasks, enum link_kind kind, uint32_t source_id, uint32_t target_id)
{
    const struct graph *graph = tasks->graph;
    for (uint32_t l = 0; l < tasks->link_count; l++) {
        const struct task_link *link = &tasks->links[l];
        if (kind_of(tasks, link) == kind && graph->ops[tasks->tasks[link->source].op].id == source_id &&
            graph->ops[tasks->tasks[link->target].op].id == target_id)
            return link->bytes;
    }
    return -1;
}

static void check_chain(bool is_swapped, double both_split_bytes)
{
    struct graph *graph = make_chain(is_swapped);
    struct task_graph *tasks = oracle_split(graph, 16);
    CU_ASSERT_EQUAL(tasks->task_count, 8);
    CU_ASSERT_EQUAL(tasks->degree, 4);
    CU_ASSERT_EQUAL(task_graph_parts(tasks), 2 * (1 + 2 + 4 + 1));
    CU_ASSERT_EQUAL(tasks->dep_count, (2 + 8 + 4) + 1 + (4 + 8 + 2) + (2 + 12));
    CU_ASSERT_EQUAL(tasks->link_count, 3 + 1 + 3 + 2);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_FORWARD, 1, 2), 500);              /* M(parent) / k */
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_FORWARD, 2, 3), both_split_bytes); /* whoever was split later decides */
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_FORWARD, 3, 4), 50);               /* M(child) / k */
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_JOIN, 4, 4), 200);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_BACKWARD, 4, 3), 50);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_BACKWARD, 3, 2), both_split_bytes);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_BACKWARD, 2, 1), 500);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_SYNC, 2, 2), 300);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_SYNC, 3, 3), 100);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_SYNC, 1, 1), -1);
    CU_ASSERT_DOUBLE_EQUAL(tasks->sequential_ms, 15.06, 1e-12);
    task_graph_free(tasks);
    graph_free(graph);
}

static void test_bytes(void)
{
    check_chain(false, 600.0 / 2 / 4);
    check_chain(true, 400.0 / 4 / 2);
    task_graph_free(NULL);
}

/* A join between the parts of one op: the child counts as split later. */
static void test_split_join(void)
{
    static const char text[] =
        "{\"format\": \"ocsim-model-1\", \"name\": \"pair\", \"device\": \"\", \"batch\": 0, \"source\": \"\", "
        "\"ops\": "
        "[{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 0.02, \"backward_ms\": 1, \"activation_bytes\": 64, "
        "\"parameter_bytes\": 0}, {\"id\": 2, \"kind\": \"b\", \"forward_ms\": 0.04, \"backward_ms\": 1, "
        "\"activation_bytes\": 640, \"parameter_bytes\": 0}], \"edges\": [[1, 2]]}";
    struct graph *graph = NULL;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, sizeof text - 1, "pair.json", &graph, &error), STATUS_OK);
    struct task_graph *tasks = oracle_split(graph, 4);
    CU_ASSERT_EQUAL(bytes_of(tasks, KIND_JOIN, 2, 2), 640.0 / 4 / 4);
    CU_ASSERT_EQUAL(tasks->dep_count, 8 + 16 + 8 + 2 + 12);
    task_graph_free(tasks);
    graph_free(graph);
}

/* Out- and in-indices name each link once, at its own ends. */
static void check_indices(const struct task_graph *tasks)
{
    uint32_t out = 0;
    CU_ASSERT_EQUAL(tasks->task_count, 2 * tasks->graph->op_count);
    for (uint32_t task = 0; task < tasks->task_count; task++) {
        CU_ASSERT_EQUAL(tasks->order[tasks->position[task]], task);
        for (uint32_t i = 0; i < tasks->out_count[task]; i++, out++)
            CU_ASSERT_EQUAL(tasks->links[tasks->out_start[task] + i].source, task);
        for (uint32_t i = tasks->in_start[task]; i < tasks->in_start[task + 1]; i++)
            CU_ASSERT_EQUAL(tasks->links[tasks->in_link[i]].target, task);
    }
    CU_ASSERT_EQUAL(out, tasks->link_count);
    CU_ASSERT_EQUAL(tasks->in_start[tasks->task_count], tasks->link_count);
}

static void test_random_graphs(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)seed, seed % 2);
        uint32_t degree = 2 + 2 * (uint32_t)(seed % 8);
        struct task_graph *whole = oracle_split(graph, 1), *tasks = oracle_split(graph, degree);
        struct graph_totals sum = graph_sum(graph);
        CU_ASSERT_EQUAL(task_graph_parts(whole), sum.tasks);
        CU_ASSERT_EQUAL(whole->dep_count, sum.deps);
        CU_ASSERT_EQUAL(whole->sequential_ms, sum.sequential_ms);
        CU_ASSERT(oracle_is_near(tasks->sequential_ms, whole->sequential_ms, 1e-12));
        CU_ASSERT(tasks->degree <= degree);
        check_indices(whole);
        check_indices(tasks);
        task_graph_free(tasks);
        task_graph_free(whole);
        graph_free(graph);
    }
}

void suite_task_graph(void)
{
    CU_pSuite suite = CU_add_suite("task graph", NULL, NULL);
    CU_ADD_TEST(suite, test_published_totals);
    CU_ADD_TEST(suite, test_parts);
    CU_ADD_TEST(suite, test_bytes);
    CU_ADD_TEST(suite, test_split_join);
    CU_ADD_TEST(suite, test_random_graphs);
}
