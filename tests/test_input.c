/* Properties held here: what people write is read exactly or refused with the place and the reason.
 *   - units: decimal values are exact, overflow and every malformed text is refused, text reads back as its value;
 *   - YAML: places are right, every limit and every refused construct is told, bombs fail at once;
 *   - CSV: RFC 4180, with the line of each mistake;
 *   - files: a writer is all or nothing, failures carry the right status;
 *   - names: the nearest one is found. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/memory.h"
#include "input/csv.h"
#include "input/file.h"
#include "input/text.h"
#include "input/units.h"
#include "input/yaml.h"
#include "suites.h"

/* A mistake and what must be said about it. */
struct mistake {
    const char *text, *said;
    int line, column;
};

static bool is_said(const struct error *error, const char *text)
{
    bool answer = strstr(error->message, text) != NULL;
    if (!answer)
        printf("\n  said: %s\n  expected: %s\n", error->message, text);
    return answer;
}

static void test_times(void)
{
    static const struct {
        const char *text;
        int64_t time_ps;
    } cases[] = {{"50ns", 50000},
                 {"1000s", 1000000000000000},
                 {"1.5ms", 1500000000},
                 {"0.1ns", 100},
                 {"0.001ns", 1},
                 {"1ps", 1},
                 {"2min", 120000000000000},
                 {"1h", 3600000000000000},
                 {"106d", 9158400000000000000},
                 {"1e-12s", 1},
                 {"1e3 ms", 1000000000000},
                 {"+3us", 3000000},
                 {"-3us", -3000000},
                 {"0s", 0},
                 {"0.000ps", 0},
                 {"000007.100ns", 7100},
                 {"9223372.036854775807s", INT64_MAX},
                 {"0.0000000000000000000000000000000000001e37ps", 1},
                 {"1e-5d", 864000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t time_ps = -1;
        CU_ASSERT_EQUAL(units_time_ps(cases[i].text, &time_ps, NULL), STATUS_OK);
        CU_ASSERT_EQUAL(time_ps, cases[i].time_ps);
    }
}

static void test_time_mistakes(void)
{
    static const struct mistake cases[] = {{.text = "1000", .said = "missing unit; expected ps, ns, us, ms, s, min"},
                                           {.text = "0", .said = "missing unit"},
                                           {.text = "5 sec", .said = "unknown unit"},
                                           {.text = "5S", .said = "unknown unit"},
                                           {.text = "5  s", .said = "unknown unit"},
                                           {.text = "5s ", .said = "unknown unit"},
                                           {.text = "0x5s", .said = "unknown unit"},
                                           {.text = "1es", .said = "unknown unit"},
                                           {.text = "s", .said = "not a number"},
                                           {.text = "", .said = "not a number"},
                                           {.text = ".s", .said = "not a number"},
                                           {.text = "nan", .said = "not a number"},
                                           {.text = "infs", .said = "not a number"},
                                           {.text = "--5s", .said = "not a number"},
                                           {.text = "0.5ps", .said = "finer than a picosecond"},
                                           {.text = "1e-13s", .said = "finer than a picosecond"},
                                           {.text = "9223372.036854775808s", .said = "too long a time"},
                                           {.text = "107d", .said = "too long a time"},
                                           {.text = "1e99999s", .said = "too long a time"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t time_ps = 42;
        struct error error = {0};
        CU_ASSERT_EQUAL(units_time_ps(cases[i].text, &time_ps, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, cases[i].said));
        CU_ASSERT_EQUAL(time_ps, 42);
    }
    char many[80] = "0.";
    memset(many + 2, '7', 65);
    strcpy(many + 67, "s");
    int64_t time_ps = 42;
    struct error error = {0};
    CU_ASSERT_EQUAL(units_time_ps(many, &time_ps, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "more than 64 digits"));
}

typedef enum status read_double(const char *text, double *value, struct error *error);

static void test_doubles(void)
{
    static const struct {
        read_double *read;
        const char *text;
        double value;
    } cases[] = {{units_time_s, "1e9s", 1e9},
                 {units_time_s, "0.1us", 1e-7},
                 {units_time_s, "0.3ps", 3e-13},
                 {units_time_s, "0.7min", 42},
                 {units_time_s, "0.1d", 8640},
                 {units_rate, "1.6TB/s", 1.6e12},
                 {units_rate, "400Gbit/s", 5e10},
                 {units_rate, "12.5GB/s", 1.25e10},
                 {units_rate, "1bit/s", 0.125},
                 {units_rate, "0.3Gbit/s", 37500000},
                 {units_size, "80GB", 8e10},
                 {units_size, "4GiB", 4294967296.0},
                 {units_size, "0.5KiB", 512},
                 {units_size, "1 B", 1},
                 {units_size, "9PiB", 10133099161583616.0},
                 {units_number, "-1.5e-3", -0.0015},
                 {units_number, "5.", 5},
                 {units_number, ".5", 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        CU_ASSERT_EQUAL(cases[i].read(cases[i].text, &value, NULL), STATUS_OK);
        CU_ASSERT(value == cases[i].value);
    }
    static const struct {
        read_double *read;
        const char *text, *said;
    } wrong[] = {{units_rate, "5", "missing unit; expected B/s"},
                 {units_rate, "5GB", "unknown unit"},
                 {units_rate, "400Gbps", "unknown unit"},
                 {units_size, "5", "missing unit; expected B,"},
                 {units_size, "5KB", "unknown unit"},
                 {units_number, "1s", "plain number"},
                 {units_number, "0x10", "plain number"},
                 {units_number, "inf", "not a number"},
                 {units_number, "1e400", "too large"},
                 {units_number, "1e-400", "too small"},
                 {units_time_s, "1e308d", "too large"},
                 {units_number, "1,5", "plain number"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value = 42;
        struct error error = {0};
        CU_ASSERT_EQUAL(wrong[i].read(wrong[i].text, &value, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, wrong[i].said));
        CU_ASSERT_EQUAL(value, 42);
    }
}

static void test_integers(void)
{
    int64_t value = 0;
    CU_ASSERT_EQUAL(units_integer("9223372036854775807", &value, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(value, INT64_MAX);
    CU_ASSERT_EQUAL(units_integer("1e6", &value, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(value, 1000000);
    CU_ASSERT_EQUAL(units_integer("-0", &value, NULL), STATUS_OK);
    CU_ASSERT_EQUAL(value, 0);
    static const struct mistake cases[] = {{.text = "9223372036854775808", .said = "too large"},
                                           {.text = "1.5", .said = "whole number"},
                                           {.text = "1e-1", .said = "whole number"},
                                           {.text = "12x", .said = "plain number"},
                                           {.text = "1 2", .said = "plain number"},
                                           {.text = "1_000", .said = "plain number"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        CU_ASSERT_EQUAL(units_integer(cases[i].text, &value, &error), STATUS_USER);
        CU_ASSERT(is_said(&error, cases[i].said));
    }
}

static void test_formats(void)
{
    char text[UNITS_TEXT_BYTES];
    units_format_time_ps(10000000, text);
    CU_ASSERT_STRING_EQUAL(text, "10us");
    units_format_time_ps(0, text);
    CU_ASSERT_STRING_EQUAL(text, "0s");
    units_format_time_s(1e6, text);
    CU_ASSERT_STRING_EQUAL(text, "1000000s");
    units_format_rate(1.6e12, text);
    CU_ASSERT_STRING_EQUAL(text, "1.6TB/s");
    units_format_size(8e10, text);
    CU_ASSERT_STRING_EQUAL(text, "80GB");
    /* A walk through many magnitudes: what is written reads back as the same value. */
    uint64_t state = 12345;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = ldexp((double)(state >> 11), (int)(state % 200) - 150), back = 0;
        int64_t time_ps = (int64_t)(state >> 1) >> (i % 50), back_ps = -1;
        units_format_rate(value, text);
        CU_ASSERT_FATAL(units_rate(text, &back, NULL) == STATUS_OK && back == value);
        units_format_time_s(value, text);
        CU_ASSERT_FATAL(units_time_s(text, &back, NULL) == STATUS_OK && back == value);
        units_format_number(-value, text);
        CU_ASSERT_FATAL(units_number(text, &back, NULL) == STATUS_OK && back == -value);
        units_format_time_ps(time_ps, text);
        CU_ASSERT_FATAL(units_time_ps(text, &back_ps, NULL) == STATUS_OK && back_ps == time_ps);
    }
}

static void test_yaml_tree(void)
{
    static const char text[] = "\xef\xbb\xbf# a comment\na: 1\nb:\n  - x\n  - 'y z'\nc: &k {d: ''}\ne: *k\n";
    struct yaml_tree tree = {0};
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(yaml_tree_parse(text, sizeof text - 1, "f.yaml", &tree, &error), STATUS_OK);
    const struct yaml_node *b = yaml_get(tree.root, "b"), *c = yaml_get(tree.root, "c"), *e = yaml_get(tree.root, "e");
    CU_ASSERT_EQUAL_FATAL(tree.root->count, 4);
    CU_ASSERT_EQUAL(b->count, 2);
    CU_ASSERT_STRING_EQUAL(b->items[1]->text, "y z");
    CU_ASSERT_EQUAL(b->items[1]->line, 5);
    CU_ASSERT_EQUAL(b->items[1]->column, 5);
    CU_ASSERT(!b->items[1]->is_plain && b->items[0]->is_plain);
    CU_ASSERT_STRING_EQUAL(yaml_get(c, "d")->text, "");
    CU_ASSERT_PTR_EQUAL(yaml_get(e, "d"), yaml_get(c, "d"));
    CU_ASSERT_EQUAL(e->line, 7);
    CU_ASSERT_EQUAL(e->weight, 3);
    CU_ASSERT_PTR_NULL(yaml_get(tree.root, "nothing"));
    yaml_tree_free(&tree);
    CU_ASSERT_EQUAL(yaml_value_parse("[a, {b: 2}]", 11, "command line", &tree, &error), STATUS_OK);
    CU_ASSERT_EQUAL(tree.root->kind, YAML_SEQUENCE);
    CU_ASSERT_EQUAL(tree.root->line, 0);
    yaml_tree_free(&tree);
}

static void expect_yaml_mistake(const char *text, size_t size, const char *said, int line, int column)
{
    struct yaml_tree tree = {0};
    struct error error = {0};
    CU_ASSERT_EQUAL(yaml_tree_parse(text, size, "f.yaml", &tree, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, said));
    CU_ASSERT_STRING_EQUAL(error.file, "f.yaml");
    CU_ASSERT_EQUAL(error.line, line);
    CU_ASSERT_EQUAL(error.column, column);
    CU_ASSERT_PTR_NULL(tree.root);
}

static void test_yaml_mistakes(void)
{
    static const struct mistake cases[] = {{"a: 1\nb: 2\na: 3\n", "duplicate key 'a'; its first place is line 1", 3, 1},
                                           {"a: !!int 1\n", "tags (!...) are not read", 1, 4},
                                           {"a: !x [1]\n", "tags (!...) are not read", 1, 4},
                                           {"a: &x {b: 1}\nc:\n  <<: *x\n", "merge keys (<<)", 3, 3},
                                           {"a: 1\n---\nb: 1\n", "a second document begins", 2, 1},
                                           {"? [a]\n: 1\n", "a key must be plain text, found a list", 1, 3},
                                           {"", "nothing in the file", 1, 1},
                                           {"# only\n", "nothing in the file", 2, 1},
                                           {"- a\n", "the top level must be keys and values", 1, 1},
                                           {"hello\n", "found text", 1, 1},
                                           {"a: 1\nb: \xff\n", "not a text file in UTF-8", 2, 4},
                                           {"a: \x01\n", "not a text file in UTF-8", 1, 4},
                                           {"a: \"x\\0\"\n", "NUL character inside", 1, 4},
                                           {"a: [1\n", "not valid YAML", 2, 1},
                                           {"a: *b\n", "alias *b: no anchor", 1, 4},
                                           {"a: &b [*b]\n", "alias *b: no anchor", 1, 8},
                                           {"\tx: 1\n", "not valid YAML", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_yaml_mistake(cases[i].text, strlen(cases[i].text), cases[i].said, cases[i].line, cases[i].column);
    expect_yaml_mistake("a: 1\nb\0: 2\n", 12, "not a text file in UTF-8", 2, 2);
    expect_yaml_mistake("\xff\xfe"
                        "a\0",
                        4, "not a text file in UTF-8", 1, 1);
}

static void append(char **text, size_t *used, size_t *capacity, const char *more)
{
    *text = memory_grow(*text, capacity, *used + strlen(more) + 1, 1);
    memcpy(*text + *used, more, strlen(more) + 1);
    *used += strlen(more);
}

static void test_yaml_limits(void)
{
    struct yaml_tree tree = {0};
    struct error error = {0};
    char deep[5100] = "a: ";
    memset(deep + 3, '[', 5000);
    expect_yaml_mistake(deep, strlen(deep), "nested too deeply; at most 64", 1, 67);
    /* Nine levels of ten aliases: 10^9 nodes in 300 bytes. */
    char bomb[2000] = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n", line[200];
    for (int i = 1; i < 9; i++) {
        int used = snprintf(line, sizeof line, "a%d: &a%d [*a%d", i, i, i - 1);
        for (int j = 1; j < 10; j++)
            used += snprintf(line + used, sizeof line - (size_t)used, ",*a%d", i - 1);
        snprintf(line + used, sizeof line - (size_t)used, "]\n");
        strcat(bomb, line);
    }
    CU_ASSERT_EQUAL(yaml_tree_parse(bomb, strlen(bomb), "f.yaml", &tree, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "too many nodes"));
    CU_ASSERT_EQUAL(error.line, 6);
    /* One long text behind many aliases: few nodes, many bytes. */
    char *text = NULL;
    size_t used = 0, capacity = 0;
    append(&text, &used, &capacity, "a: [&x \"");
    for (int i = 0; i < 1000; i++)
        append(&text, &used, &capacity, "0123456789012345678901234567890123456789012345678901234567890123");
    append(&text, &used, &capacity, "\"");
    for (int i = 0; i < 1000; i++)
        append(&text, &used, &capacity, ",*x");
    append(&text, &used, &capacity, "]\n");
    CU_ASSERT_EQUAL(yaml_tree_parse(text, used, "f.yaml", &tree, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "too many nodes"));
    free(text);
    char *large = memory_alloc(YAML_FILE_LIMIT_BYTES + 1, 1);
    memset(large, ' ', YAML_FILE_LIMIT_BYTES + 1);
    expect_yaml_mistake(large, YAML_FILE_LIMIT_BYTES + 1, "at most 16 MiB", 0, 0);
    free(large);
}

static void test_yaml_depth_through_alias(void)
{
    char text[400] = "a: &a ";
    size_t used = strlen(text);
    memset(text + used, '[', 40);
    memset(text + used + 40, ']', 40);
    strcpy(text + used + 80, "\nb: ");
    used = strlen(text);
    memset(text + used, '[', 30);
    strcpy(text + used + 30, "*a");
    memset(text + used + 32, ']', 30);
    expect_yaml_mistake(text, strlen(text), "nested too deeply", 2, 34);
}

/* Anything n * n would take these for minutes. */
static void test_many_anchors(void)
{
    char *text = NULL;
    size_t used = 0, capacity = 0;
    append(&text, &used, &capacity, "a: [");
    for (int i = 0; i < 80000; i++) {
        char item[64];
        snprintf(item, sizeof item, "&n%d x,*n%d,\n", i, i / 2);
        append(&text, &used, &capacity, item);
    }
    append(&text, &used, &capacity, "]");
    struct yaml_tree tree = {0};
    CU_ASSERT_EQUAL(yaml_tree_parse(text, used, "f.yaml", &tree, NULL), STATUS_OK);
    yaml_tree_free(&tree);
    free(text);
}

static void test_csv_rows(void)
{
    static const char text[] = "\xef\xbb\xbfjob,\"a \"\"b\"\"\",c\r\n1,\"x,\ny\",\r\n\r\n2,z,\"\"\n3,,w";
    static const char *const expected[3][3] = {{"1", "x,\ny", ""}, {"2", "z", ""}, {"3", "", "w"}};
    static const int lines[] = {2, 5, 6};
    struct csv *csv = NULL;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(csv_parse(text, sizeof text - 1, "f.csv", &csv, &error), STATUS_OK);
    CU_ASSERT_EQUAL(csv_column_count(csv), 3);
    CU_ASSERT_EQUAL(csv_find_column(csv, "a \"b\""), 1);
    CU_ASSERT_EQUAL(csv_find_column(csv, "d"), -1);
    bool has_row = false;
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(csv_next(csv, &has_row, &error), STATUS_OK);
        CU_ASSERT_FATAL(has_row);
        CU_ASSERT_EQUAL(csv_line(csv), lines[i]);
        for (size_t j = 0; j < 3; j++)
            CU_ASSERT_STRING_EQUAL(csv_field(csv, j), expected[i][j]);
    }
    CU_ASSERT_EQUAL(csv_error(csv, 2, &error, "bad %d", 7), STATUS_USER);
    CU_ASSERT_STRING_EQUAL(error.message, "c: bad 7");
    CU_ASSERT_EQUAL(error.line, 6);
    CU_ASSERT_EQUAL(csv_next(csv, &has_row, &error), STATUS_OK);
    CU_ASSERT(!has_row);
    size_t column = 9;
    CU_ASSERT_EQUAL(csv_need_column(csv, "beta", &column, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "no column 'beta'; the columns are: job, a \"b\", c"));
    csv_close(csv);
}

/* The first mistake in the text, whether in the header or in a row. */
static void expect_csv_mistake(const char *text, size_t size, const char *said, int line)
{
    struct csv *csv = NULL;
    struct error error = {0};
    bool has_row = true;
    enum status status = csv_parse(text, size, "f.csv", &csv, &error);
    while (status == STATUS_OK && has_row)
        status = csv_next(csv, &has_row, &error);
    CU_ASSERT_EQUAL(status, STATUS_USER);
    CU_ASSERT(is_said(&error, said));
    CU_ASSERT_EQUAL(error.line, line);
    csv_close(csv);
}

static void test_csv_mistakes(void)
{
    static const struct mistake cases[] = {
        {.text = "", .said = "nothing in the file", .line = 1},
        {.text = "\n\n", .said = "nothing in the file", .line = 1},
        {.text = "a,b\n1,2\n3\n", .said = "1 fields where the header has 2", .line = 3},
        {.text = "a\n1,2\n", .said = "2 fields where", .line = 2},
        {.text = "a,b,a\n", .said = "column 'a' is there twice", .line = 1},
        {.text = "a,\n", .said = "column 2 has no name", .line = 1},
        {.text = "a\n\"x\ny\n", .said = "never closed", .line = 2},
        {.text = "a\n\"x\"y\n", .said = "behind a closing quote", .line = 2},
        {.text = "a\nx\"y\"\n", .said = "middle of a field", .line = 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_csv_mistake(cases[i].text, strlen(cases[i].text), cases[i].said, cases[i].line);
    expect_csv_mistake("a\n1\n2\0\n", 8, "NUL byte", 3);
    size_t size = 1 << 20;
    char *text = memory_alloc(size, 1);
    memset(text, 'x', size);
    memcpy(text, "a\n", 2);
    expect_csv_mistake(text, size, "a row of more than 65536 bytes", 2);
    memset(text, ',', size);
    expect_csv_mistake(text, size, "more than 1024 fields", 1);
    free(text);
}

/* A folder of its own for a test; freed and removed by drop_folder. */
static char *new_folder(void)
{
    mkdir("build", 0777);
    char *path = memory_text("build/test_input_XXXXXX", 23);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
    return path;
}

static const char *in_folder(const char *folder, const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void drop_folder(char *folder)
{
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* also proves that nothing was left behind */
    free(folder);
}

static void test_write_and_read(void)
{
    char *folder = new_folder();
    struct error error = {0};
    struct file_writer *writer = NULL;
    CU_ASSERT_EQUAL_FATAL(file_create(in_folder(folder, "x"), &writer, &error), STATUS_OK);
    for (int i = 0; i < 50000; i++)
        file_printf(writer, "%d\n", i);
    char *large = memory_alloc(200001, 1);
    memset(large, 'z', 200000);
    file_append(writer, large, 100000);
    file_printf(writer, "%s", large);
    csv_write(writer, "a,\"b\"");
    csv_write(writer, "plain");
    CU_ASSERT_NOT_EQUAL(access(in_folder(folder, "x"), F_OK), 0);
    CU_ASSERT_EQUAL(file_finish(writer, &error), STATUS_OK);
    char *text = NULL;
    size_t size = 0;
    CU_ASSERT_EQUAL_FATAL(file_read(in_folder(folder, "x"), 1 << 20, &text, &size, &error), STATUS_OK);
    CU_ASSERT_EQUAL(size, 288890 + 300000 + 9 + 5);
    CU_ASSERT_EQUAL(strlen(text), size);
    CU_ASSERT_EQUAL(strncmp(text, "0\n1\n2\n", 6), 0);
    CU_ASSERT_STRING_EQUAL(text + size - 14, "\"a,\"\"b\"\"\"plain");
    free(text);
    CU_ASSERT_EQUAL(file_read(in_folder(folder, "x"), 1000, &text, &size, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "too large; at most 1000 bytes"));
    free(large);
    unlink(in_folder(folder, "x"));
    drop_folder(folder);
}

static void test_write_failures(void)
{
    char *folder = new_folder();
    struct error error = {0};
    struct file_writer *writer = NULL;
    CU_ASSERT_EQUAL(file_create("build/no/such/folder", &writer, &error), STATUS_IO);
    CU_ASSERT(is_said(&error, "No such file or directory"));
    /* A full disk: the temporary name leads to a device that takes nothing. */
    CU_ASSERT_EQUAL(symlink("/dev/full", in_folder(folder, "y.tmp")), 0);
    CU_ASSERT_EQUAL_FATAL(file_create(in_folder(folder, "y"), &writer, &error), STATUS_OK);
    for (int i = 0; i < 100000; i++)
        file_append(writer, "hello", 5);
    CU_ASSERT_EQUAL(file_finish(writer, &error), STATUS_IO);
    CU_ASSERT(is_said(&error, "No space left on device"));
    CU_ASSERT_STRING_EQUAL(error.file, in_folder(folder, "y"));
    CU_ASSERT_NOT_EQUAL(access(in_folder(folder, "y"), F_OK), 0);
    /* The old file stays when a new one is abandoned or cannot be named. */
    CU_ASSERT_EQUAL_FATAL(file_create(in_folder(folder, "z"), &writer, &error), STATUS_OK);
    file_abandon(writer);
    file_abandon(NULL);
    CU_ASSERT_EQUAL(file_make_directory(in_folder(folder, "d"), &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(file_create(in_folder(folder, "d"), &writer, &error), STATUS_OK);
    CU_ASSERT_EQUAL(file_finish(writer, &error), STATUS_IO);
    CU_ASSERT(is_said(&error, "Is a directory"));
    rmdir(in_folder(folder, "d"));
    drop_folder(folder);
}

static void test_read_failures(void)
{
    char *text = NULL;
    size_t size = 0;
    struct error error = {0};
    CU_ASSERT_EQUAL(file_read("build/no_such_file", 10, &text, &size, &error), STATUS_USER);
    CU_ASSERT_STRING_EQUAL(error.file, "build/no_such_file");
    CU_ASSERT(is_said(&error, "no such file; check the name"));
    CU_ASSERT_EQUAL(file_read("tests", 10, &text, &size, &error), STATUS_IO);
    CU_ASSERT(is_said(&error, "Is a directory"));
    CU_ASSERT_EQUAL(file_make_directory("tests/main.c/x", &error), STATUS_IO);
    struct yaml_tree tree = {0};
    CU_ASSERT_EQUAL(yaml_tree_load("tests", &tree, &error), STATUS_IO);
    struct csv *csv = NULL;
    CU_ASSERT_EQUAL(csv_open("build/no_such_file", &csv, &error), STATUS_USER);
}

static void test_find(void)
{
    struct arena arena = {0};
    struct error error = {0};
    const char *path = NULL;
    struct file_search search = {.folder = "tests", .suffix = ".c", .named_in = NULL};
    CU_ASSERT_EQUAL(file_find(&search, "tests/main.c", &arena, &path, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(path, "tests/main.c");
    CU_ASSERT_EQUAL(file_find(&search, "main", &arena, &path, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(path, "tests/main.c");
    search.named_in = "sim/cli/main.c";
    CU_ASSERT_EQUAL(file_find(&search, "main", &arena, &path, &error), STATUS_OK);
    CU_ASSERT_STRING_EQUAL(path, "sim/cli/main.c");
    CU_ASSERT_EQUAL(file_find(&search, "tests", &arena, &path, &error), STATUS_USER);
    CU_ASSERT(is_said(&error, "no such file: 'tests'; looked beside"));
    CU_ASSERT_EQUAL(file_find(&search, "/main", &arena, &path, &error), STATUS_USER);
    CU_ASSERT_EQUAL(file_find(&search, "", &arena, &path, &error), STATUS_USER);
    CU_ASSERT_STRING_EQUAL(file_directory("a/b/c", &arena), "a/b");
    CU_ASSERT_STRING_EQUAL(file_directory("c", &arena), ".");
    CU_ASSERT_STRING_EQUAL(file_directory("/c", &arena), "/");
    arena_free(&arena);
}

static void test_texts(void)
{
    char shown[TEXT_SHOW_BYTES], list[40];
    CU_ASSERT_STRING_EQUAL(text_show("a\033[31m\n", shown), "a?[31m?");
    const char *cut = text_show("0123456789012345678901234567890123456789012345678901234567890", shown);
    CU_ASSERT_STRING_EQUAL(cut, "012345678901234567890123456789012345678901234567...");
    CU_ASSERT_EQUAL(text_distance("", "abc"), 3);
    CU_ASSERT_EQUAL(text_distance("kitten", "sitting"), 3);
    CU_ASSERT_EQUAL(text_distance("beat", "beta"), 1);
    CU_ASSERT_STRING_EQUAL(text_alternatives("a|b|c", list, sizeof list), "a, b or c");
    CU_ASSERT(text_position("b", "a|b|c") == 1 && text_position("a|b", "a|b|c") < 0 && text_position("", "a|b") < 0);
}

static void test_hints(void)
{
    char hint[TEXT_HINT_BYTES], list[8] = "";
    struct text_search search = {.word = "blocking_rat", .limit = 3};
    CU_ASSERT_STRING_EQUAL(text_hint(search.nearest, hint), "");
    text_offer(&search, "jct_s");
    CU_ASSERT_PTR_NULL(search.nearest);
    text_offer(&search, "blocking_ra");
    text_offer(&search, "blocking_rate"); /* as near: the first stays */
    CU_ASSERT_STRING_EQUAL(text_hint(search.nearest, hint), "; did you mean blocking_ra?");
    for (int i = 0; i < 5; i++)
        text_append(list, sizeof list, "%s%d", i ? ", " : "", i);
    CU_ASSERT_STRING_EQUAL(list, "0, 1, 2"); /* cut off where it is full */
    struct text_builder builder = {0};
    text_clear(&builder);
    CU_ASSERT_STRING_EQUAL(builder.text, "");
    for (int i = 0; i < 100; i++)
        text_build(&builder, "%s%d", i ? "," : "", i % 10);
    CU_ASSERT_EQUAL(builder.used, 199);
    CU_ASSERT_EQUAL(strlen(builder.text), 199);
    free(builder.text);
}

void suite_input(void)
{
    CU_pSuite suite = CU_add_suite("input", NULL, NULL);
    CU_ADD_TEST(suite, test_times);
    CU_ADD_TEST(suite, test_time_mistakes);
    CU_ADD_TEST(suite, test_doubles);
    CU_ADD_TEST(suite, test_integers);
    CU_ADD_TEST(suite, test_formats);
    CU_ADD_TEST(suite, test_yaml_tree);
    CU_ADD_TEST(suite, test_yaml_mistakes);
    CU_ADD_TEST(suite, test_yaml_limits);
    CU_ADD_TEST(suite, test_yaml_depth_through_alias);
    CU_ADD_TEST(suite, test_many_anchors);
    CU_ADD_TEST(suite, test_csv_rows);
    CU_ADD_TEST(suite, test_csv_mistakes);
    CU_ADD_TEST(suite, test_write_and_read);
    CU_ADD_TEST(suite, test_write_failures);
    CU_ADD_TEST(suite, test_read_failures);
    CU_ADD_TEST(suite, test_find);
    CU_ADD_TEST(suite, test_texts);
    CU_ADD_TEST(suite, test_hints);
}
