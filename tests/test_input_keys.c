/* Properties held here: a table of keys does what its rows say, whatever the table.
 *   - each type is stored in its C type, with its unit;
 *   - bounds are closed, or open where the row says so;
 *   - what is written for a value reads back as that value;
 *   - a needed key that is missing is named, even where nothing else makes it needed. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "input/keys.h"
#include "suites.h"

struct box {
    const char *name, *file;
    enum { MODE_SLOW, MODE_FAST } mode;
    struct choice shape;
    int64_t count, delay_ps;
    double share, life_s, rate_bytes_per_s, size_bytes;
    bool is_on;
    struct key_list colours;
    const struct yaml_node *rest;
};

struct round {
    int64_t radius;
};

static const struct key round_keys[] = {{.name = "shape.radius",
                                         .type = KEY_INTEGER,
                                         .offset = offsetof(struct round, radius),
                                         .default_text = "3",
                                         .when = "mode=fast",
                                         .doc = "A radius."}};
static const struct strategy circle = {.name = "circle", .doc = "round", STRATEGY_KEYS(round_keys, struct round)};
static const struct strategy ball = {.name = "ball", .doc = "rounder", STRATEGY_KEYS(round_keys, struct round)};
static const struct strategy square = {.name = "square", .doc = "not round"};
static const struct strategy *const shape_list[] = {&circle, &square, &ball};
static const struct registry shapes = {"shapes", shape_list, 3, &square};

static const struct key rows[] = {
    {.name = "shape",
     .type = KEY_STRATEGY,
     .offset = offsetof(struct box, shape),
     .registry = &shapes,
     .doc = "A shape."},
    {.name = "name", .type = KEY_TEXT, .offset = offsetof(struct box, name), .doc = "A name.", .is_needed = true},
    {.name = "file", .type = KEY_FILE, .offset = offsetof(struct box, file), .choices = "tests|.c", .doc = "A file."},
    {.name = "mode",
     .type = KEY_CHOICE,
     .offset = offsetof(struct box, mode),
     .default_text = "slow",
     .choices = "slow|fast",
     .doc = "A mode."},
    {.name = "link.count",
     .type = KEY_INTEGER,
     .offset = offsetof(struct box, count),
     .maximum = "<10",
     .doc = "A count."},
    {.name = "link.delay",
     .type = KEY_TIME,
     .offset = offsetof(struct box, delay_ps),
     .minimum = "1ns",
     .maximum = "1s",
     .default_text = "1us",
     .doc = "A delay."},
    {.name = "link.share",
     .type = KEY_NUMBER,
     .offset = offsetof(struct box, share),
     .minimum = ">-1",
     .doc = "A share."},
    {.name = "link.life", .type = KEY_SECONDS, .offset = offsetof(struct box, life_s), .doc = "A life."},
    {.name = "link.rate",
     .type = KEY_RATE,
     .offset = offsetof(struct box, rate_bytes_per_s),
     .default_text = "1.6TB/s",
     .minimum = ">0B/s",
     .when = "mode=fast",
     .doc = "A rate."},
    {.name = "link.size",
     .type = KEY_BYTES,
     .offset = offsetof(struct box, size_bytes),
     .default_text = "80GB",
     .doc = "A size."},
    {.name = "on", .type = KEY_BOOLEAN, .offset = offsetof(struct box, is_on), .doc = "A switch."},
    {.name = "colours",
     .type = KEY_LIST,
     .offset = offsetof(struct box, colours),
     .choices = "red|green",
     .doc = "Colours."},
    {.name = "rest", .type = KEY_NODE, .offset = offsetof(struct box, rest), .doc = "The rest."},
};
enum { COUNT = sizeof rows / sizeof *rows };

static struct key_table table; /* of rows, from set_up to tear_down */

static int set_up(void)
{
    key_table_init(&table, rows, COUNT);
    return 0;
}

static int tear_down(void)
{
    key_table_free(&table);
    return 0;
}

static enum status fill(const char *text, struct yaml_tree *tree, struct keys *keys, struct box *box,
                        struct error *error)
{
    *tree = (struct yaml_tree){0};
    keys_init(keys, &table, box);
    enum status status = yaml_tree_parse(text, strlen(text), "box.yaml", tree, error);
    if (status == STATUS_OK)
        status = keys_read_tree(keys, tree->root, NULL, error);
    if (status == STATUS_OK)
        status = keys_check(keys, error);
    return status;
}

static void drop(struct yaml_tree *tree, struct keys *keys)
{
    keys_free(keys);
    yaml_tree_free(tree);
}

static const char everything[] = "name: x\nfile: main\nmode: fast\n"
                                 "link: {count: 9, delay: 1s, share: -0.5, life: 1e9s, rate: 400Gbit/s, size: 4GiB}\n"
                                 "on: true\ncolours: red, green\nrest: {a: [1, ~]}\n";

static void test_types(void)
{
    struct box box;
    struct keys keys;
    struct yaml_tree tree;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(fill(everything, &tree, &keys, &box, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(box.name, "x");
    CU_ASSERT_EQUAL(keys_find_files(&keys, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(box.file, "tests/main.c");
    CU_ASSERT_EQUAL(box.mode, MODE_FAST);
    CU_ASSERT_PTR_EQUAL(box.shape.strategy, &square);
    CU_ASSERT_PTR_NULL(box.shape.settings);
    CU_ASSERT_EQUAL(box.count, 9);
    CU_ASSERT_EQUAL(box.delay_ps, 1000000000000);
    CU_ASSERT_EQUAL(box.share, -0.5);
    CU_ASSERT_EQUAL(box.life_s, 1e9);
    CU_ASSERT_EQUAL(box.rate_bytes_per_s, 5e10);
    CU_ASSERT_EQUAL(box.size_bytes, 4294967296.0);
    CU_ASSERT(box.is_on);
    CU_ASSERT_EQUAL_FATAL(box.colours.count, 2);
    CU_ASSERT_STRING_EQUAL(box.colours.items[1], "green");
    CU_ASSERT_EQUAL(yaml_get(box.rest, "a")->count, 2);
    drop(&tree, &keys);
}

static char *resolved(const struct keys *keys)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    keys_resolved(keys, stream);
    fclose(stream);
    return text;
}

static void test_resolved_list(void)
{
    struct box box;
    struct keys keys;
    struct yaml_tree tree;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(fill(everything, &tree, &keys, &box, &error), STATUS_OK);
    char *text = resolved(&keys);
    CU_ASSERT_STRING_EQUAL(text, "shape: square\nshape.radius: null\nname: x\nfile: main\nmode: fast\nlink.count: "
                                 "9\nlink.delay: 1s\nlink.share: -0.5\n"
                                 "link.life: 1000000000s\nlink.rate: 50GB/s\nlink.size: 4.294967296GB\non: true\n"
                                 "colours: [red, green]\nrest: {a: [1, null]}\n");
    free(text);
    drop(&tree, &keys);
    CU_ASSERT_EQUAL_FATAL(fill("name: 'null'\n", &tree, &keys, &box, &error), STATUS_OK);
    text = resolved(&keys);
    CU_ASSERT_STRING_EQUAL(
        text,
        "shape: square\nshape.radius: null\nname: \"null\"\nfile: null\nmode: slow\nlink.count: null\nlink.delay: 1us\n"
        "link.share: null\nlink.life: null\nlink.rate: null\nlink.size: 80GB\non: null\n"
        "colours: null\nrest: null\n");
    free(text);
    drop(&tree, &keys);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *said;
        int line;
    } cases[] = {{"on: true\n", "name is missing", 0},
                 {"name: x\nlink.count: 10\n", "allowed: less than 10", 2},
                 {"name: x\nlink.share: -1\n", "allowed: more than -1", 2},
                 {"name: x\nlink.delay: 999ps\n", "allowed: at least 1ns and at most 1s", 2},
                 {"name: x\nlink.delay: 1.000001s\n", "allowed: at least 1ns and at most 1s", 2},
                 {"name: x\nlink.rate: 1GB/s\n", "has no effect with mode: slow (the default)", 2},
                 {"name: x\nmode: fast\nlink.rate: 100\n", "missing unit; expected B/s", 3},
                 {"name: x\nlink.size: 5\n", "missing unit; expected B,", 2},
                 {"name: x\nlink.size: '-'\n", "not a number", 2},
                 {"name: x\ncolours: [red, blue]\n", "'blue' is not allowed; expected red or green", 2},
                 {"name: x\nlink: {sped: 1}\n", "unknown key 'link.sped'", 2},
                 {"name: x\non: 1\n", "expected true or false", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct box box;
        struct keys keys;
        struct yaml_tree tree;
        struct error error = {0};
        CU_ASSERT_EQUAL(fill(cases[i].text, &tree, &keys, &box, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
        if (!strstr(error.message, cases[i].said))
            printf("\n  said: %s\n  expected: %s\n", error.message, cases[i].said);
        CU_ASSERT_EQUAL(error.line, cases[i].line);
        drop(&tree, &keys);
    }
}

/* A mistake in one key must leave that key as it was. */
static void test_nothing_stored_on_failure(void)
{
    struct box box;
    struct keys keys;
    struct error error = {0};
    keys_init(&keys, &table, &box);
    keys_open_layer(&keys);
    CU_ASSERT_EQUAL(keys_override(&keys, "link.delay=5us", "command line", &error), STATUS_OK);
    CU_ASSERT_EQUAL(keys_override(&keys, "link.delay=2s", "command line", &error), STATUS_USER);
    CU_ASSERT_EQUAL(box.delay_ps, 5000000);
    CU_ASSERT_EQUAL(keys_override(&keys, "link.delay=null", "command line", &error), STATUS_OK);
    CU_ASSERT_EQUAL(box.delay_ps, 1000000);
    keys_free(&keys);
}

/* The keys of strategies: a block of settings of their own, shared by strategies with the same keys; refused where none
 * of these is chosen. */
static void test_strategies(void)
{
    static const char *const good[] = {"name: x\nmode: fast\nshape: circle\nshape.radius: 7\n",
                                       "name: x\nmode: fast\nshape: ball\nshape.radius: 7\n"};
    static const char *const wrong[] = {"name: x\nmode: fast\nshape: square\nshape.radius: 7\n",
                                        "name: x\nmode: slow\nshape: ball\nshape.radius: 7\n",
                                        "name: x\nshape: cube\n"};
    static const char *const says[] = {"it counts only with shape: circle or ball", "it counts only with mode: fast",
                                       "expected circle, square or ball"};
    struct box box;
    struct keys keys;
    struct yaml_tree tree;
    struct error error = {0};
    CU_ASSERT_EQUAL(table.count, COUNT + 1);
    CU_ASSERT_EQUAL(table.block_count, 2);
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(fill(good[i], &tree, &keys, &box, &error), STATUS_OK);
        CU_ASSERT_EQUAL(((const struct round *)box.shape.settings)->radius, 7);
        drop(&tree, &keys);
    }
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(fill(wrong[i], &tree, &keys, &box, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says[i]));
        drop(&tree, &keys);
    }
}

static void test_explanations(void)
{
    struct text_builder text = {0};
    for (size_t i = 0; i < table.count; i++)
        keys_explain(&table.rows[i], &text);
    keys_explain_all(&table, false, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "name: text\n  A name.\n  default: not set\n  needed:  always\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "link.rate: a rate with its unit (B/s, kB/s,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "  effect:  only with mode: fast\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, "  allowed: red or green\n"));
    free(text.text);
}

void suite_input_keys(void)
{
    CU_pSuite suite = CU_add_suite("input: keys", set_up, tear_down);
    CU_ADD_TEST(suite, test_strategies);
    CU_ADD_TEST(suite, test_types);
    CU_ADD_TEST(suite, test_resolved_list);
    CU_ADD_TEST(suite, test_refusals);
    CU_ADD_TEST(suite, test_nothing_stored_on_failure);
    CU_ADD_TEST(suite, test_explanations);
}
