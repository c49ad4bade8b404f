/* Properties of sim/graph's readers and writer:
 *   - every model written and read again is the same, bit by bit, and its file is in the standard layout;
 *   - the profiles, where they are at hand, import to exactly the files in models/;
 *   - every bad input is refused with its status, its place and a message that names the mistake;
 *   - `order` is Kahn's, first in first out; edges are kept by source in file order, then in line order;
 *   - `ocsim import` writes whole files or none and answers with the exit code of the trouble;
 *   - graphs of 100,000 ops are read.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/Basic.h>

#include "cli/cli.h"
#include "graph/graph.h"
#include "graph/graph_build.h"
#include "suites.h"

enum { MODELS = 14 };

static const struct {
    const char *name;
    uint32_t ops, edges;
    double steps50_ms;   /* 50 steps on one device; 0 = not published */
    double memory_bytes; /* of forward and backward ops together */
} models[MODELS] = {
    /* The five with times stand in the table of PAC-ML's set-up. */
    {"alexnet", 23, 23, 36061.15, 3046234440.0},
    {"densenet121", 429, 487, 0, 0},
    {"gnmt", 48, 58, 4470.80, 2368446976.0},
    {"gnmt_large", 96, 122, 0, 0},
    {"inception_v3", 326, 362, 0, 0},
    {"nasnetalarge", 1251, 1468, 0, 0},
    {"nasnetamobile", 921, 1078, 0, 0},
    {"resnet101", 347, 380, 0, 0},
    {"resnet18", 71, 79, 36668.35, 17258656072.0},
    {"resnet50", 177, 193, 0, 0},
    {"resnext101", 347, 380, 0, 0},
    {"resnext50", 177, 193, 0, 0},
    {"squeezenet1_0", 68, 76, 38000.15, 24962622792.0},
    {"vgg16", 41, 41, 34525.35, 30625298760.0},
};

static char *read_whole(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return NULL;
    char *text = NULL;
    size_t capacity = 0, length = 0, got;
    do {
        text = memory_grow(text, &capacity, length + 4097, 1);
        got = fread(text + length, 1, capacity - length - 1, stream);
        length += got;
    } while (got > 0);
    text[length] = '\0';
    fclose(stream);
    return text;
}

static bool are_same(const struct graph *a, const struct graph *b)
{
    bool is_same = a->op_count == b->op_count && a->edge_count == b->edge_count && a->last_op == b->last_op &&
                   a->batch == b->batch && strcmp(a->device, b->device) == 0 && strcmp(a->name, b->name) == 0 &&
                   strcmp(a->source, b->source) == 0;
    for (uint32_t i = 0; is_same && i < a->op_count; i++) {
        const struct graph_op *x = &a->ops[i], *y = &b->ops[i];
        is_same = x->id == y->id && strcmp(x->kind, y->kind) == 0 && memcmp(&x->forward_ms, &y->forward_ms, 8) == 0 &&
                  memcmp(&x->backward_ms, &y->backward_ms, 8) == 0 &&
                  memcmp(&x->activation_bytes, &y->activation_bytes, 8) == 0 &&
                  memcmp(&x->parameter_bytes, &y->parameter_bytes, 8) == 0 && a->order[i] == b->order[i];
    }
    return is_same && memcmp(a->edges, b->edges, a->edge_count * sizeof *a->edges) == 0;
}

static void test_models_round_trip(void)
{
    for (int i = 0; i < MODELS; i++) {
        char path[64];
        snprintf(path, sizeof path, "models/%s.json", models[i].name);
        struct graph *graph, *again;
        struct error error;
        CU_ASSERT_EQUAL_FATAL(graph_load(path, &graph, &error), STATUS_OK);
        CU_ASSERT_STRING_EQUAL(graph->name, models[i].name);
        CU_ASSERT_EQUAL(graph->op_count, models[i].ops);
        CU_ASSERT_EQUAL(graph->edge_count, models[i].edges);
        char *text = graph_to_json(graph);
        char *stored = read_whole(path);
        CU_ASSERT_STRING_EQUAL(text, stored);
        CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "again", &again, &error), STATUS_OK);
        CU_ASSERT(are_same(graph, again));
        free(stored);
        free(text);
        graph_free(again);
        graph_free(graph);
    }
}

static void test_models_match_published_table(void)
{
    for (int i = 0; i < MODELS; i++) {
        if (models[i].steps50_ms == 0)
            continue;
        char path[64];
        snprintf(path, sizeof path, "models/%s.json", models[i].name);
        struct graph *graph;
        CU_ASSERT_EQUAL_FATAL(graph_load(path, &graph, NULL), STATUS_OK);
        double sum_ms = 0, memory_bytes = 0;
        for (uint32_t op = 0; op < graph->op_count; op++) {
            sum_ms += graph->ops[op].forward_ms + graph->ops[op].backward_ms;
            memory_bytes += 2 * (graph->ops[op].activation_bytes + graph->ops[op].parameter_bytes);
        }
        /* The table gives two decimals; bytes are whole numbers and must agree exactly. */
        CU_ASSERT_DOUBLE_EQUAL(50 * sum_ms, models[i].steps50_ms, 0.005);
        CU_ASSERT_EQUAL(memory_bytes, models[i].memory_bytes);
        graph_free(graph);
    }
}

static void test_profiles_import_to_models(void)
{
    for (int i = 0; i < MODELS; i++) {
        char path[96];
        snprintf(path, sizeof path, "../shared/data/pipedream/%s.txt", models[i].name);
        if (access(path, R_OK) != 0)
            continue; /* the profiles are not part of ocsim */
        struct graph *graph, *model;
        CU_ASSERT_EQUAL_FATAL(graph_load(path, &graph, NULL), STATUS_OK);
        snprintf(path, sizeof path, "models/%s.json", models[i].name);
        CU_ASSERT_EQUAL_FATAL(graph_load(path, &model, NULL), STATUS_OK);
        CU_ASSERT_STRING_EQUAL(graph->source, "PipeDream profile");
        graph->source = model->source;
        CU_ASSERT(are_same(graph, model));
        graph_free(graph);
        graph_free(model);
    }
}

/* Every bad file of the corpora, with a fragment of what must be said. NULL = a good file. */
static const struct {
    const char *file;
    int line, column; /* 0 = any */
    const char *fragment;
} corpus[] = {
    {"model/bad_batch.json", 1, 56, "'batch' is 0.5"},
    {"model/binary.json", 1, 1, "byte 0x00 is not text"},
    {"model/blank.json", 1, 1, "empty"},
    {"model/byte_order_mark.json", 0, 0, NULL},
    {"model/cycle.json", 0, 0, "cycle of 2 ops: 3 -> 2 -> 3"},
    {"model/deep.json", 1, 1008, "more than 1000 deep"},
    {"model/deep_root.json", 1, 1, "is this a model file?"},
    {"model/diamond.json", 0, 0, NULL},
    {"model/duplicate_id.json", 1, 301, "id 1 is given twice (ops number 1 and 3"},
    {"model/duplicate_member.json", 1, 300, "member 'id' is given twice"},
    {"model/edge_duplicate.json", 1, 320, "edge 1 -> 2 is given twice"},
    {"model/edge_of_texts.json", 1, 312, "edge number 1 must be a list of two ids"},
    {"model/edge_of_three.json", 1, 312, "edge number 1 must be a list of two ids"},
    {"model/edge_self.json", 1, 312, "depend on itself"},
    {"model/edge_unknown.json", 1, 320, "no op with id 9"},
    {"model/empty.json", 1, 1, "empty"},
    {"model/empty_name.json", 1, 29, "'name' is empty"},
    {"model/escaped_nul.json", 0, 0, "\\u0000 is not allowed"},
    {"model/good.json", 0, 0, NULL},
    {"model/id_fraction.json", 1, 92, "'id' is 1.5"},
    {"model/id_too_large.json", 1, 92, "'id' is 4294967296"},
    {"model/id_zero.json", 1, 92, "'id' is 0;"},
    {"model/infinite.json", 1, 220, "op 2: forward_ms is '1e999'; it must be milliseconds from 0 to 1e12, e.g. 0.073"},
    {"model/long_cycle.json", 0, 0, "cycle of 20 ops: 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> ... -> 2"},
    {"model/minus_zero.json", 0, 0, NULL},
    {"model/missing_member.json", 1, 1, "member 'device' is missing"},
    {"model/nan.json", 1, 234, "not JSON, from 'NaN"},
    {"model/negative.json", 1, 237, "backward_ms is '-0.5'"},
    {"model/no_edges.json", 0, 0, NULL},
    {"model/no_ops.json", 0, 0, "has 0 ops"},
    {"model/no_time.json", 1, 91, "no op takes any time"},
    {"model/not_utf8.json", 0, 0, "byte 0xE9 is not text"},
    {"model/nul.json", 1, 41, "byte 0x00 is not text"},
    {"model/null_time.json", 1, 220, "'forward_ms' is null"},
    {"model/one_op.json", 0, 0, "has 1 op;"},
    {"model/op_is_number.json", 1, 196, "op number 2 is a number"},
    {"model/other_format.json", 1, 2, "'other-9'; this ocsim reads 'ocsim-model-1'"},
    {"model/sparse_ids.json", 0, 0, NULL},
    {"model/text_time.json", 1, 220, "'forward_ms' is a text"},
    {"model/too_large.json", 1, 255, "activation_bytes is '1e19'"},
    {"model/trailing.json", 2, 1, "more text behind the model"},
    {"model/truncated.json", 1, 151, "ends before the JSON does"},
    {"model/unknown_member.json", 1, 300, "unknown member 'forward'; did you mean 'forward_ms'?"},
    {"pipedream/binary.txt", 1, 1, "byte 0xFF is not text"},
    {"pipedream/blank.txt", 1, 1, "empty"},
    {"pipedream/blank_lines.txt", 0, 0, NULL},
    {"pipedream/byte_order_mark.txt", 0, 0, NULL},
    {"pipedream/crlf.txt", 0, 0, NULL},
    {"pipedream/cycle.txt", 2, 1, "cycle of 3 ops: 2 -> 3 -> 1 -> 2"},
    {"pipedream/duplicate_edge.txt", 0, 0, NULL},
    {"pipedream/duplicate_id.txt", 3, 1, "id 1 is given twice"},
    {"pipedream/edge_no_target.txt", 3, 11, "'' is no op"},
    {"pipedream/edge_self.txt", 3, 1, "depend on itself"},
    {"pipedream/edge_unknown.txt", 3, 1, "no op with id 3"},
    {"pipedream/edges_first.txt", 0, 0, NULL},
    {"pipedream/empty.txt", 1, 1, "empty"},
    {"pipedream/empty_list.txt", 2, 95, "activation_bytes is '[]'"},
    {"pipedream/good.txt", 0, 0, NULL},
    {"pipedream/hexadecimal.txt", 2, 43, "forward_ms is '0x10'"},
    {"pipedream/id_missing.txt", 1, 1, "'node' is no op"},
    {"pipedream/id_negative.txt", 1, 1, "'node-1' is no op"},
    {"pipedream/id_text.txt", 1, 1, "'op1' is no op"},
    {"pipedream/id_too_large.txt", 1, 1, "'node99999999999' is no op"},
    {"pipedream/id_zero.txt", 1, 1, "'node0' is no op"},
    {"pipedream/infinite.txt", 2, 43, "forward_ms is 'inf'"},
    {"pipedream/list.txt", 0, 0, NULL},
    {"pipedream/list_gap.txt", 2, 95, "'[1; ; 2]'"},
    {"pipedream/list_negative.txt", 2, 95, "'[5; -2]'"},
    {"pipedream/long_number.txt", 2, 43, "forward_ms is '1111"},
    {"pipedream/more_items.txt", 0, 0, NULL},
    {"pipedream/nan.txt", 2, 43, "forward_ms is 'nan'"},
    {"pipedream/negative.txt", 2, 43, "forward_ms is '-1'"},
    {"pipedream/no_equals.txt", 2, 16, "'1' should be cost number 1"},
    {"pipedream/no_last_newline.txt", 0, 0, NULL},
    {"pipedream/no_time.txt", 1, 1, "no op takes any time"},
    {"pipedream/nul.txt", 4, 1, "byte 0x00 is not text"},
    {"pipedream/one_field.txt", 1, 1, "'hello world' is neither an op"},
    {"pipedream/one_op.txt", 1, 1, "has 1 op;"},
    {"pipedream/only_edges.txt", 1, 1, "has 0 ops"},
    {"pipedream/overflow.txt", 2, 43, "forward_ms is '1e999'"},
    {"pipedream/sparse_ids.txt", 0, 0, NULL},
    {"pipedream/stage.txt", 0, 0, NULL},
    {"pipedream/tabs.txt", 0, 0, NULL},
    {"pipedream/three_costs.txt", 2, 29, "'' should be cost number 4"},
};

static void check_refused(const char *path, const struct error *error, int line, int column, const char *fragment)
{
    bool is_right = error->status == STATUS_USER && strcmp(error->file, path) == 0 &&
                    strstr(error->message, fragment) && (line == 0 || error->line == line) &&
                    (column == 0 || error->column == column) && error->line >= 1 && error->column >= 1;
    CU_ASSERT(is_right);
    if (!is_right)
        printf("\n    %s:%d:%d: %s", error->file, error->line, error->column, error->message);
}

static void test_corpus_answers(void)
{
    for (size_t i = 0; i < sizeof corpus / sizeof corpus[0]; i++) {
        char path[96];
        snprintf(path, sizeof path, "tests/fuzz/corpus/%s", corpus[i].file);
        struct graph *graph = NULL;
        struct error error = {.status = STATUS_OK};
        enum status status = graph_load(path, &graph, &error);
        CU_ASSERT_EQUAL(status, corpus[i].fragment ? STATUS_USER : STATUS_OK);
        if (corpus[i].fragment)
            check_refused(path, &error, corpus[i].line, corpus[i].column, corpus[i].fragment);
        CU_ASSERT((graph == NULL) == (status != STATUS_OK));
        graph_free(graph);
    }
}

static void test_file_troubles(void)
{
    struct graph *graph = NULL;
    struct error error;
    CU_ASSERT_EQUAL(graph_load("models/no_such_model.json", &graph, &error), STATUS_USER);
    CU_ASSERT_STRING_EQUAL(error.file, "models/no_such_model.json");
    CU_ASSERT_EQUAL(graph_load("models/alexnet.json/x", &graph, &error), STATUS_USER);
    CU_ASSERT_EQUAL(graph_load("models", &graph, &error), STATUS_IO);
    char text[1600];
    error_format(&error, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, strerror(EISDIR)));
    CU_ASSERT_PTR_NULL(graph);
    CU_ASSERT_EQUAL(graph_load("models", &graph, NULL), STATUS_IO);
}

static void test_long_line_is_refused(void)
{
    size_t length = 1024 * 1024;
    char *line = memory_alloc(length + 1, 1);
    memset(line, 'x', length);
    struct graph *graph;
    struct error error;
    CU_ASSERT_EQUAL(graph_read_pipedream(line, length, "long", &graph, &error), STATUS_USER);
    check_refused("long", &error, 1, 1, "a line of 1048576 bytes; at most 65536");
    free(line);
}

static void test_long_text_is_refused(void)
{
    struct graph *graph;
    struct error error;
    char *good = read_whole("tests/fuzz/corpus/model/good.json");
    size_t length = strlen(good), more = 70000;
    char *text = memory_alloc(length + more + 1, 1);
    size_t at = (size_t)(strstr(good, "Op\"") - good);
    memcpy(text, good, at);
    memset(text + at, 'x', more);
    memcpy(text + at + more, good + at, length - at);
    CU_ASSERT_EQUAL(graph_read_json(text, length + more, "long", &graph, &error), STATUS_USER);
    check_refused("long", &error, 1, 0, "'kind' is a text of 70002 bytes");
    free(text);
    free(good);
}

static void test_op_limit(void)
{
    struct graph_builder builder;
    struct error error;
    const struct graph_built_op op = {.op = {.kind = "", .id = 1, .forward_ms = 1}};
    CU_ASSERT_EQUAL(graph_build_start(&builder, (struct graph_span){"x", 1}, "many", &error), STATUS_OK);
    CU_ASSERT_EQUAL(builder.op_limit, 10000000);
    builder.op_limit = 3; /* the real limit would take a file beyond the largest one allowed */
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(graph_build_add_op(&builder, op, &error), STATUS_OK);
    CU_ASSERT_EQUAL(graph_build_add_op(&builder, op, &error), STATUS_USER);
    check_refused("many", &error, 1, 1, "more than 3 ops");
    graph_build_end(&builder);
}

static struct graph *read_profile(const char *text)
{
    struct graph *graph = NULL;
    struct error error;
    enum status status = graph_read_pipedream(text, strlen(text), "profiles/tiny/graph.txt", &graph, &error);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    return graph;
}

#define NODE(id) "node" id " -- k" id " -- f=0.1, b=0.2, a=[1; 2.5; 3], p=4\n"
#define EDGE(from, to) "\tnode" from " -- node" to "\n"

static void test_order_is_kahn(void)
{
    /* Roots 5 and 2 in file order. Taking 5 readies 9, then 1 (edge order); 3 waits for both roots. */
    struct graph *graph = read_profile(NODE("3") NODE("5") NODE("1") NODE("2") NODE("9") EDGE("1", "3") EDGE("2", "3")
                                           EDGE("5", "9") EDGE("5", "1") EDGE("5", "9"));
    const uint32_t ids[] = {5, 2, 9, 1, 3};
    const uint32_t edges[][2] = {{5, 9}, {5, 1}, {1, 3}, {2, 3}};
    CU_ASSERT_STRING_EQUAL(graph->name, "tiny");
    CU_ASSERT_EQUAL_FATAL(graph->op_count, 5);
    CU_ASSERT_EQUAL_FATAL(graph->edge_count, 4);
    CU_ASSERT_EQUAL(graph->last_op, 4);
    CU_ASSERT_EQUAL(graph->ops[0].activation_bytes, 6.5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(graph->ops[graph->order[i]].id, ids[i]);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(graph->ops[graph->edges[i].source].id, edges[i][0]);
        CU_ASSERT_EQUAL(graph->ops[graph->edges[i].target].id, edges[i][1]);
    }
    CU_ASSERT_EQUAL(graph->in_start[1] - graph->in_start[0], 2); /* op 3 comes from 1, then from 2 */
    CU_ASSERT_EQUAL(graph->in_edge[0], 2);
    CU_ASSERT_EQUAL(graph->in_edge[1], 3);
    graph_free(graph);
}

static void test_diamond_waits_for_last_parent(void)
{
    struct graph *graph = read_profile(NODE("1") NODE("2") NODE("3") NODE("4") NODE("5") EDGE("1", "4") EDGE("1", "3")
                                           EDGE("1", "2") EDGE("2", "4") EDGE("3", "5"));
    const uint32_t ids[] = {1, 3, 2, 5, 4};
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(graph->ops[graph->order[i]].id, ids[i]);
    graph_free(graph);
}

/* Numbers that need all 17 digits, the smallest and the largest allowed. */
static void test_numbers_round_trip(void)
{
    const double values[] = {0.1 + 0.2, 5e-324, 1e12, 1.0 / 3, 2.2250738585072014e-308, 123456789.12345679, 1e-7, 0};
    struct graph *graph = read_profile(NODE("1") NODE("2") EDGE("1", "2"));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        graph->ops[0].forward_ms = values[i];
        char *text = graph_to_json(graph);
        struct graph *again;
        CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "x", &again, NULL), STATUS_OK);
        CU_ASSERT_EQUAL(memcmp(&again->ops[0].forward_ms, &values[i], sizeof values[i]), 0);
        free(text);
        graph_free(again);
    }
    graph_free(graph);
}

/* -0 becomes 0 (its sign would turn up in sums and files); a backslash before u0000 is a text like any other. */
static void test_odd_but_good_values(void)
{
    struct graph *graph;
    struct error error;
    CU_ASSERT_EQUAL_FATAL(graph_load("tests/fuzz/corpus/model/minus_zero.json", &graph, &error), STATUS_OK);
    CU_ASSERT_FALSE(signbit(graph->ops[1].backward_ms));
    graph_free(graph);
    graph = read_profile(NODE("1") NODE("2") EDGE("1", "2"));
    graph->ops[0].kind = "a\\u0000\"\t\xC3\xA9";
    char *text = graph_to_json(graph);
    struct graph *again;
    CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "x", &again, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(again->ops[0].kind, graph->ops[0].kind);
    free(text);
    graph_free(again);
    graph_free(graph);
}

/* A model of n ops; op i feeds i + 1 and, with random, two later ones. Ids are far apart when sparse. */
static char *big_model(uint32_t n, uint32_t stride, bool is_random)
{
    size_t capacity = 0, used = 0;
    char *text = memory_grow(NULL, &capacity, (size_t)n * 240 + 256, 1);
    uint64_t state = 12345;
    used += (size_t)sprintf(text, "{\"format\": \"ocsim-model-1\", \"name\": \"big\", \"device\": \"\", \"batch\": 0, "
                                  "\"source\": \"\", \"ops\": [");
    for (uint32_t i = 0; i < n; i++)
        used += (size_t)sprintf(text + used,
                                "%s{\"id\": %u, \"kind\": \"k\", \"forward_ms\": 1, \"backward_ms\": 1, "
                                "\"activation_bytes\": 8, \"parameter_bytes\": 8}",
                                i ? ",\n" : "", (i + 1) * stride);
    used += (size_t)sprintf(text + used, "], \"edges\": [");
    for (uint32_t i = 0; i + 1 < n; i++) {
        used += (size_t)sprintf(text + used, "%s[%u, %u]", i ? "," : "", (i + 1) * stride, (i + 2) * stride);
        for (int extra = 0; is_random && extra < 2 && i + 4 < n; extra++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            /* The two halves of what lies beyond i + 1: never the same edge twice. */
            uint32_t half = (n - i - 2) / 2;
            uint32_t target = i + 2 + (uint32_t)extra * half + (uint32_t)((state >> 33) % half);
            used += (size_t)sprintf(text + used, ",[%u, %u]", (i + 1) * stride, (target + 1) * stride);
        }
    }
    sprintf(text + used, "]}");
    return text;
}

/* Anything n * n would take these for minutes. */
static void test_large_graphs(void)
{
    const uint32_t n = 100000;
    for (int is_random = 0; is_random <= 1; is_random++) {
        char *text = big_model(n, 40000, is_random);
        struct graph *graph;
        struct error error;
        CU_ASSERT_EQUAL_FATAL(graph_read_json(text, strlen(text), "big", &graph, &error), STATUS_OK);
        CU_ASSERT_EQUAL(graph->op_count, n);
        CU_ASSERT(graph->edge_count >= n - 1);
        graph_free(graph);
        free(text);
    }
}

static void test_large_cycle_is_named(void)
{
    uint32_t n = 100000;
    char *text = big_model(n, 1, false);
    char *end = strrchr(text, ']');
    sprintf(end, ",[%u, 1]]}", n);
    struct graph *graph;
    struct error error;
    CU_ASSERT_EQUAL(graph_read_json(text, strlen(text), "big", &graph, &error), STATUS_USER);
    check_refused("big", &error, 0, 0, "cycle of 100000 ops: 2 -> 3 -> 4");
    free(text);
}

/* The exit code of an import, its messages kept off the terminal and left in text. */
static int import_quietly(char **arguments, char *text, size_t size)
{
    int count = 0;
    while (arguments[count])
        count++;
    FILE *kept = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    fflush(stderr);
    int terminal = dup(STDERR_FILENO);
    dup2(fileno(kept), STDERR_FILENO);
    int code = cli_command(count, arguments);
    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    rewind(kept);
    text[fread(text, 1, size - 1, kept)] = '\0';
    fclose(kept);
    return code;
}

static void test_import(void)
{
    char folder[] = "build/import-XXXXXX", output[64], left[64], text[2048];
    mkdir("build", 0777);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/tiny.json", folder);
    snprintf(left, sizeof left, "%s/tiny.json.tmp", folder);
    char profile[] = "tests/fuzz/corpus/pipedream/list.txt", bad[] = "tests/fuzz/corpus/pipedream/cycle.txt";
    char nowhere[] = "build/no/such/folder/x.json", o[] = "-o", name[] = "--name", batch[] = "--batch";
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", bad, o, output, NULL}, text, sizeof text), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "cycle.txt:2:1: the edges run in a cycle"));
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, o, output, name, "\xFF", NULL}, text, sizeof text), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "byte 0xFF is not text"));
    CU_ASSERT_NOT_EQUAL(access(output, F_OK), 0);
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, o, nowhere, NULL}, text, sizeof text), 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, nowhere));
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, batch, "0", NULL}, text, sizeof text), 2);
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, batch, NULL}, text, sizeof text), 2);
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, "--nmae", "x", NULL}, text, sizeof text), 2);
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", profile, bad, NULL}, text, sizeof text), 2);
    CU_ASSERT_EQUAL(import_quietly((char *[]){"import", NULL}, text, sizeof text), 2);
    char *good[] = {"import", profile, o, output, name, "tiny", batch, "128", "--device", "V100", NULL};
    CU_ASSERT_EQUAL(import_quietly(good, text, sizeof text), 0);
    CU_ASSERT_STRING_EQUAL(text, "");
    struct graph *graph;
    CU_ASSERT_EQUAL_FATAL(graph_load(output, &graph, NULL), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(graph->name, "tiny");
    CU_ASSERT_STRING_EQUAL(graph->device, "V100");
    CU_ASSERT_EQUAL(graph->batch, 128);
    CU_ASSERT_EQUAL(graph->ops[1].activation_bytes, 6553600);
    graph_free(graph);
    CU_ASSERT_NOT_EQUAL(access(left, F_OK), 0);
    CU_ASSERT_EQUAL(remove(output), 0);
    CU_ASSERT_EQUAL(remove(folder), 0);
}

void suite_graph(void)
{
    CU_pSuite suite = CU_add_suite("graph", NULL, NULL);
    CU_add_test(suite, "the 14 models survive writing and reading", test_models_round_trip);
    CU_add_test(suite, "five models match the published table", test_models_match_published_table);
    CU_add_test(suite, "the profiles import to the models", test_profiles_import_to_models);
    CU_add_test(suite, "every stored input gets its answer", test_corpus_answers);
    CU_add_test(suite, "files that cannot be read", test_file_troubles);
    CU_add_test(suite, "a line of 1 MiB is refused", test_long_line_is_refused);
    CU_add_test(suite, "a text too long is refused", test_long_text_is_refused);
    CU_add_test(suite, "too many ops are refused", test_op_limit);
    CU_add_test(suite, "order is Kahn's, first in first out", test_order_is_kahn);
    CU_add_test(suite, "a diamond waits for its last parent", test_diamond_waits_for_last_parent);
    CU_add_test(suite, "numbers read back bit by bit", test_numbers_round_trip);
    CU_add_test(suite, "odd but good values", test_odd_but_good_values);
    CU_add_test(suite, "import writes a model or says why not", test_import);
    CU_add_test(suite, "100,000 ops read in linear time", test_large_graphs);
    CU_add_test(suite, "a cycle of 100,000 ops is named", test_large_cycle_is_named);
}
