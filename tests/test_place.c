/* Properties held here, of blocks and placers (PAC-ML simulator, section 4):
 *   - the published lists of shapes; which degrees are legal on which cluster;
 *   - the first free block agrees with a plain search written from the text, on random occupancies and free memory;
 *   - a placement touches free servers only, gives every part a server of its own, leaves its scratch as it was;
 *   - beside a parent, or in the first block with memory; the compact placer stays inside degree-many servers. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "oracle.h"
#include "place/block.h"
#include "strategies.h"
#include "fabric/fabrics.h"
#include "suites.h"

static struct topology load(const char *path)
{
    struct topology topology;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology(path, &topology, &error), STATUS_OK);
    return topology;
}

/* ---- shapes ---- */

/* The shapes without repetitions, as text: a shape tried twice finds nothing new. */
static void list_shapes(const struct topology *t, uint32_t k, char *text, size_t size)
{
    struct block_walk walk = {.k = k};
    struct block_shape shape;
    size_t used = 0;
    text[0] = '\0';
    while (block_next(t, &walk, &shape)) {
        char one[64];
        snprintf(one, sizeof one, "(%lld,%lld,%lld)", (long long)shape.groups, (long long)shape.racks,
                 (long long)shape.servers);
        if (!strstr(text, one))
            used += (size_t)snprintf(text + used, size - used, "%s", one);
    }
}

static void test_published_shapes(void)
{
    static const struct {
        uint32_t k;
        const char *shapes;
    } published[] = {{1, "(1,1,1)(1,1,-1)"},
                     {2, "(2,1,1)(1,1,2)(1,2,1)(2,2,-1)"},
                     {4, "(2,2,1)(4,1,1)(2,1,2)(4,4,-1)"},
                     {6, "(3,1,2)(3,2,1)(6,6,-1)(6,1,1)"},
                     {8, "(2,2,2)(4,1,2)(4,2,1)(8,8,-1)(8,1,1)"},
                     {10, "(10,10,-1)(10,1,1)"},
                     {12, "(12,12,-1)(12,1,1)"},
                     {14, "(14,14,-1)(14,1,1)"},
                     {16, "(4,4,1)(16,16,-1)(16,1,1)"}};
    struct topology t = load("topologies/ramp-32.yaml");
    char text[512];
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        list_shapes(&t, published[i].k, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, published[i].shapes);
    }
    topology_free(&t);
}

static void test_legal_degrees(void)
{
    static const uint32_t published[] = {1, 2, 4, 6, 8, 16};
    struct topology t = load("topologies/ramp-32.yaml");
    uint32_t count, *legal = place_legal_degrees(&place_ramp_first_fit, &t, 16, &count);
    CU_ASSERT_EQUAL_FATAL(count, 6);
    CU_ASSERT_EQUAL(memcmp(legal, published, sizeof published), 0);
    free(legal);
    legal = place_legal_degrees(&place_ramp_first_fit, &t, 5, &count);
    CU_ASSERT_EQUAL(count, 3);
    free(legal);
    legal = place_legal_degrees(&place_ramp_first_fit, &t, 65536, &count);
    CU_ASSERT_EQUAL(legal[count - 1], 32);
    free(legal);
    CU_ASSERT(!block_is_legal(&t, 0));
    CU_ASSERT(!block_is_legal(&t, 3));
    topology_free(&t);
}

/* ---- the first free block ---- */

struct plain {
    const struct topology *t;
    const struct occupancy *occupancy;
    const double *free_bytes;
    double bytes;
    uint32_t k;
    uint32_t block[64];
};

static bool plain_fits(struct plain *plain)
{
    for (uint32_t i = 0; i < plain->k; i++)
        if (!occupancy_is_free(plain->occupancy, plain->block[i]) || plain->free_bytes[plain->block[i]] < plain->bytes)
            return false;
    return true;
}

/* All origins of one shape, as the text has it. */
static bool plain_try(struct plain *plain, int64_t c, int64_t r, int64_t s)
{
    const struct topology *t = plain->t;
    for (int64_t i = 0; i < t->groups - c + 1; i++)
        for (int64_t j = 0; j < t->racks_per_group - r + 1; j++)
            for (int64_t l = 0; l < t->servers_per_rack - s + 1; l++) {
                uint32_t used = 0;
                for (int64_t m = 0; s < 0 && m < plain->k; m++)
                    plain->block[used++] = (uint32_t)(((i + m) * t->racks_per_group + j + m) * t->servers_per_rack +
                                                      l % t->servers_per_rack);
                for (int64_t cc = 0; cc < c && s > 0; cc++)
                    for (int64_t rr = 0; rr < r; rr++)
                        for (int64_t ss = 0; ss < s; ss++)
                            plain->block[used++] =
                                (uint32_t)(((i + cc) % t->groups * t->racks_per_group + (j + rr) % t->racks_per_group) *
                                               t->servers_per_rack +
                                           (l + ss) % t->servers_per_rack);
                if (plain_fits(plain))
                    return true;
            }
    return false;
}

static bool plain_search(struct plain *plain)
{
    const struct topology *t = plain->t;
    int64_t k = plain->k;
    for (int64_t i = 1; i <= k; i++) {
        if (k % i)
            continue;
        int64_t p0 = k / i, root = (int64_t)sqrt((double)p0);
        if (root * root == p0 && root <= t->groups && root <= t->racks_per_group && i <= t->servers_per_rack &&
            plain_try(plain, root, root, i))
            return true;
        if (p0 <= t->groups && p0 <= t->racks_per_group && i <= t->servers_per_rack &&
            (plain_try(plain, p0, 1, i) || plain_try(plain, p0, i, 1)))
            return true;
    }
    return plain_try(plain, k, k, -1) || plain_try(plain, k, 1, 1);
}

/* One random state of the cluster: some servers taken, some short of memory. */
static void compare_searches(const struct topology *t, uint64_t seed)
{
    struct random_stream *random = random_open(seed, "occupancy", 0);
    double *free_bytes = memory_alloc(t->server_count, sizeof *free_bytes);
    struct occupancy occupancy;
    uint64_t load = random_below(random, 100);
    occupancy_init(&occupancy, t);
    for (uint32_t server = 0; server < t->server_count; server++) {
        free_bytes[server] = random_below(random, 20) ? 80e9 : 1e9;
        if (random_below(random, 100) < load)
            occupancy_take(&occupancy, &server, 1);
    }
    for (uint32_t k = 1; k <= 16; k += k == 1 ? 1 : 2) {
        uint32_t block[64];
        struct plain plain = {.t = t, .occupancy = &occupancy, .free_bytes = free_bytes, .bytes = 2e9, .k = k};
        bool is_found = block_search(&occupancy, free_bytes, 2e9, k, block);
        CU_ASSERT_EQUAL_FATAL(is_found, plain_search(&plain));
        if (is_found)
            CU_ASSERT_EQUAL(memcmp(block, plain.block, k * sizeof *block), 0);
    }
    occupancy_fini(&occupancy);
    free(free_bytes);
    random_close(random);
}

static void test_first_block(void)
{
    static const char *const files[] = {"topologies/ramp-8.yaml", "topologies/ramp-32.yaml", "topologies/ramp-64.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct topology t = load(files[i]);
        for (uint64_t seed = 0; seed < 150; seed++)
            compare_searches(&t, seed);
        topology_free(&t);
    }
}

/* ---- placers ---- */

struct stage {
    struct topology topology;
    struct occupancy occupancy;
    struct place_scratch scratch;
    struct deployment deployment;
};

static void stage_open(struct stage *stage)
{
    *stage = (struct stage){.topology = load("topologies/ramp-32.yaml")};
    occupancy_init(&stage->occupancy, &stage->topology);
    place_scratch_init(&stage->scratch, &stage->topology);
}

static void stage_close(struct stage *stage)
{
    deployment_free(&stage->deployment);
    place_scratch_fini(&stage->scratch);
    occupancy_fini(&stage->occupancy);
    topology_free(&stage->topology);
}

static bool stage_place(struct stage *stage, const struct placer *placer, const struct task_graph *tasks)
{
    return oracle_place(placer, tasks, &stage->occupancy, &stage->scratch, &stage->deployment);
}

static void check_placement(const struct stage *stage, const struct task_graph *tasks)
{
    const struct deployment *deployment = &stage->deployment;
    bool is_used[32] = {false};
    CU_ASSERT_EQUAL(deployment->op_count, tasks->graph->op_count);
    for (uint32_t i = 0; i < deployment->used_count; i++)
        is_used[deployment->used[i]] = true;
    for (uint32_t op = 0; op < deployment->op_count; op++) {
        struct device_list at = deployment->lists[deployment->list_of_op[op]];
        uint32_t seen = 0;
        CU_ASSERT_EQUAL(at.count, tasks->parts[op]);
        for (uint32_t part = 0; part < at.count; part++) {
            uint32_t server = deployment->devices[at.start + part];
            CU_ASSERT(occupancy_is_free(&stage->occupancy, server) && is_used[server]);
            CU_ASSERT(!(seen >> server & 1));
            seen |= UINT32_C(1) << server;
        }
    }
    for (uint32_t server = 0; server < 32; server++)
        CU_ASSERT(stage->scratch.free_bytes[server] == 80e9 && !stage->scratch.is_used[server]);
}

static void test_random_placements(void)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct stage stage;
        stage_open(&stage);
        struct random_stream *random = random_open(seed, "place", 0);
        for (uint32_t server = 0; server < 32; server++)
            if (random_below(random, 3) == 0)
                occupancy_take(&stage.occupancy, &server, 1);
        struct graph *graph = oracle_random_graph(seed, 30, seed % 2);
        struct task_graph *tasks = oracle_split(graph, 2 + 2 * (uint32_t)(seed % 4));
        for (size_t i = 0; i < placers.count; i++)
            if (stage_place(&stage, (const struct placer *)placers.strategies[i], tasks))
                check_placement(&stage, tasks);
        if (stage_place(&stage, &place_ramp_compact, tasks))
            CU_ASSERT(stage.deployment.used_count <= tasks->degree);
        random_close(random);
        task_graph_free(tasks);
        graph_free(graph);
        stage_close(&stage);
    }
}

/* A cluster without a free server, or with less than a block. */
static void test_no_room(void)
{
    struct stage stage;
    stage_open(&stage);
    struct graph *graph = oracle_random_graph(1, 20, false);
    struct task_graph *tasks = oracle_split(graph, 2);
    for (uint32_t server = 0; server < 31; server++)
        occupancy_take(&stage.occupancy, &server, 1);
    for (size_t i = 0; i < placers.count; i++)
        CU_ASSERT(!stage_place(&stage, (const struct placer *)placers.strategies[i], tasks));
    for (uint32_t server = 0; server < 32; server++)
        CU_ASSERT_EQUAL(stage.scratch.free_bytes[server], 80e9);
    CU_ASSERT_EQUAL(stage.occupancy.free_count, 1);
    task_graph_free(tasks);
    graph_free(graph);
    stage_close(&stage);
}

/* A chain of ops of 50 GB fills a device with each: the next goes to the next server. The compact placer has one only.
 */
static void test_memory(void)
{
    static const char text[] =
        "{\"format\": \"ocsim-model-1\", \"name\": \"big\", \"device\": \"\", \"batch\": 0, \"source\": \"\", \"ops\": "
        "[{\"id\": 1, \"kind\": \"a\", \"forward_ms\": 1, \"backward_ms\": 1, \"activation_bytes\": 5e10, "
        "\"parameter_bytes\": 0}, {\"id\": 2, \"kind\": \"b\", \"forward_ms\": 1, \"backward_ms\": 1, "
        "\"activation_bytes\": 5e10, \"parameter_bytes\": 0}], \"edges\": [[1, 2]]}";
    struct stage stage;
    struct graph *graph = NULL;
    struct error error;
    stage_open(&stage);
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, sizeof text - 1, "big.json", &graph, &error), STATUS_OK);
    struct task_graph *tasks = oracle_split(graph, 1);
    CU_ASSERT_FATAL(stage_place(&stage, &place_ramp_first_fit, tasks));
    CU_ASSERT_EQUAL(stage.deployment.used_count, 2);
    CU_ASSERT_EQUAL(stage.deployment.used[0], 0);
    CU_ASSERT_EQUAL(stage.deployment.used[1], 1);
    check_placement(&stage, tasks);
    CU_ASSERT(!stage_place(&stage, &place_ramp_compact, tasks));
    CU_ASSERT_EQUAL(cluster_check_fit(graph, &stage.topology, &(struct split_rule){0.01, 1, TRAFFIC_PUBLISHED}, &error),
                    STATUS_OK);
    stage.topology.classes[0].memory_bytes = 4e10;
    CU_ASSERT_EQUAL(cluster_check_fit(graph, &stage.topology, &(struct split_rule){0.01, 1, TRAFFIC_PUBLISHED}, &error),
                    STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "op 1 needs 50 GB"));
    CU_ASSERT_EQUAL(cluster_check_fit(graph, &stage.topology, &(struct split_rule){0.01, 2, TRAFFIC_PUBLISHED}, &error),
                    STATUS_OK);
    task_graph_free(tasks);
    graph_free(graph);
    stage_close(&stage);
}

/* The largest cluster: racks of many servers, one word each. */
static void test_large_cluster(void)
{
    struct topology t = load("topologies/ramp-65536.yaml");
    struct occupancy occupancy;
    struct place_scratch scratch;
    uint32_t block[16];
    occupancy_init(&occupancy, &t);
    place_scratch_init(&scratch, &t);
    CU_ASSERT_EQUAL(occupancy.free_count, 65536);
    for (uint32_t server = 0; server < 65536; server++)
        if (server != 65000)
            occupancy_take(&occupancy, &server, 1);
    CU_ASSERT(block_search(&occupancy, scratch.free_bytes, 1, 1, block));
    CU_ASSERT_EQUAL(block[0], 65000);
    CU_ASSERT(!block_search(&occupancy, scratch.free_bytes, 1, 2, block));
    place_scratch_fini(&scratch);
    occupancy_fini(&occupancy);
    topology_free(&t);
}

void suite_place(void)
{
    CU_pSuite suite = CU_add_suite("place", NULL, NULL);
    CU_ADD_TEST(suite, test_published_shapes);
    CU_ADD_TEST(suite, test_legal_degrees);
    CU_ADD_TEST(suite, test_first_block);
    CU_ADD_TEST(suite, test_random_placements);
    CU_ADD_TEST(suite, test_no_room);
    CU_ADD_TEST(suite, test_memory);
    CU_ADD_TEST(suite, test_large_cluster);
}
