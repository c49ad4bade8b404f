/* Properties held here, of the sources themselves; run from the root of the repo:
 *   - a room includes only its own headers and those of rooms before it;
 *   - functions of at most 80 lines, files of at most 600, each opening with a comment or its own header;
 *   - nothing that would make a run depend on chance, on the day or on an unstable sort;
 *   - no path of somebody's machine in any file under version control.
 * The rules read text, not C: they lean on the layout that clang-format gives, where only a function's body opens with
 * a brace in the first column. */
#include <CUnit/Basic.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "suites.h"

enum { FILE_LIMIT_BYTES = 1 << 26, LONGEST_FUNCTION = 80, LONGEST_FILE = 600 };

static const char *const rooms[] = {"engine",   "input", "graph", "topology", "network",    "partition", "place",
                                    "schedule", "learn", "step",  "cluster",  "experiment", "cli"};
enum { ROOM_COUNT = sizeof rooms / sizeof *rooms };

/* Calls check with each source of the program. */
static void for_each_source(void (*check)(const char *path, const char *text))
{
    glob_t found = {0};
    CU_ASSERT_EQUAL_FATAL(glob("sim/*/*.c", 0, NULL, &found), 0);
    CU_ASSERT_EQUAL_FATAL(glob("sim/*/*.h", GLOB_APPEND, NULL, &found), 0);
    CU_ASSERT(found.gl_pathc > 80);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text;
        size_t size;
        struct error error;
        CU_ASSERT_EQUAL_FATAL(file_read(found.gl_pathv[i], FILE_LIMIT_BYTES, &text, &size, &error), STATUS_OK);
        check(found.gl_pathv[i], text);
        free(text);
    }
    globfree(&found);
}

static void fail(const char *path, int line, const char *what)
{
    printf("\n  %s:%d: %s\n", path, line, what);
    CU_FAIL("a rule of the house is broken");
}

/* ---- arrows between rooms ---- */

/* The place of a room in the order; -1 where the name is none. */
static int room_of(const char *name)
{
    for (int room = 0; room < ROOM_COUNT; room++) {
        size_t length = strlen(rooms[room]);
        if (strncmp(name, rooms[room], length) == 0 && name[length] == '/')
            return room;
    }
    return -1;
}

static void check_arrows(const char *path, const char *text)
{
    static const char include[] = "#include \"";
    int own = room_of(path + strlen("sim/")), line = 1;
    if (own < 0)
        fail(path, 0, "a room that is not in the order");
    for (const char *at = text; at && *at; line++) {
        if (strncmp(at, include, sizeof include - 1) == 0) {
            int other = room_of(at + sizeof include - 1);
            if (other < 0 || other > own)
                fail(path, line, "includes a header of a room behind its own");
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
}

static void test_arrows(void)
{
    for_each_source(check_arrows);
}

/* ---- lengths ---- */

static void check_lengths(const char *path, const char *text)
{
    int line = 1, start = 0;
    for (const char *at = text; at && *at; line++) {
        if (strncmp(at, "{\n", 2) == 0)
            start = line;
        if (start && strncmp(at, "}\n", 2) == 0) {
            if (line - start > LONGEST_FUNCTION)
                fail(path, start, "a function of more than 80 lines");
            start = 0;
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (line - 1 > LONGEST_FILE)
        fail(path, line - 1, "more than 600 lines");
}

static void test_lengths(void)
{
    for_each_source(check_lengths);
}

/* A header opens with what it is; a source with that or with its own header, where it stands. */
static void check_opening(const char *path, const char *text)
{
    char own[256];
    snprintf(own, sizeof own, "#include \"%.*sh\"", (int)strlen(path) - 5, path + 4);
    if (strncmp(text, "/*", 2) != 0 && strncmp(text, own, strlen(own)) != 0)
        fail(path, 1, "opens neither with a comment nor with its own header");
}

static void test_openings(void)
{
    for_each_source(check_opening);
}

/* ---- determinism ---- */

/* The next call of the function in the text; NULL behind the last one. */
static const char *next_call(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool is_start = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.');
        if (is_start && at[length] == '(')
            return at;
    }
    return NULL;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static void check_calls(const char *path, const char *text)
{
    static const char *const never[] = {"rand", "srand", "random", "drand48", "alloca", "gets"};
    static const char *const by_the_clock[] = {"time", "gettimeofday", "clock_gettime", "clock"};
    bool may_look = strncmp(path, "sim/cli/", 8) == 0 || strncmp(path, "sim/experiment/", 15) == 0;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        const char *call = next_call(text, never[i]);
        if (call)
            fail(path, line_of(text, call), never[i]);
    }
    for (size_t i = 0; i < sizeof by_the_clock / sizeof *by_the_clock && !may_look; i++) {
        const char *call = next_call(text, by_the_clock[i]);
        if (call)
            fail(path, line_of(text, call), by_the_clock[i]);
    }
}

static void test_calls(void)
{
    for_each_source(check_calls);
}

/* A comparator says by its name that no two different elements are equal to it. */
static void check_sorts(const char *path, const char *text)
{
    static const char *const sorts[] = {"qsort", "qsort_r"};
    for (size_t i = 0; i < 2; i++)
        for (const char *at = next_call(text, sorts[i]); at; at = next_call(at + 1, sorts[i])) {
            const char *end = strchr(at, ';'), *total = strstr(at, "_total");
            if (!end || !total || total > end)
                fail(path, line_of(text, at), "a sort whose comparator is not named ..._total");
        }
}

static void test_sorts(void)
{
    for_each_source(check_sorts);
}

/* The rules must be able to fail. */
static void test_rules(void)
{
    CU_ASSERT_PTR_NOT_NULL(next_call("x = rand();", "rand"));
    CU_ASSERT_PTR_NOT_NULL(next_call("rand()", "rand"));
    CU_ASSERT_PTR_NULL(next_call("x = operand(1); rand = 1;", "rand"));
    CU_ASSERT_EQUAL(room_of("engine/status.h"), 0);
    CU_ASSERT(room_of("cli/cli.h") > room_of("experiment/plan.h"));
    CU_ASSERT_EQUAL(room_of("engines/status.h"), -1);
    static const char text[] = "a\nb\nc";
    CU_ASSERT_EQUAL(line_of(text, text + 4), 3);
}

/* ---- files under version control ---- */

/* Written in pieces, so that this file may be read as well. */
static const char *const machine_paths[] = {"/wo"
                                            "rk/",
                                            "/ro"
                                            "ot/",
                                            "/tm"
                                            "p/",
                                            "/ho"
                                            "me/"};

static void check_file(const char *path)
{
    char *text;
    size_t size;
    if (file_read(path, FILE_LIMIT_BYTES, &text, &size, NULL) != STATUS_OK)
        return; /* deleted, not yet told to version control */
    for (size_t i = 0; i < sizeof machine_paths / sizeof *machine_paths; i++) {
        const char *at = memmem(text, size, machine_paths[i], strlen(machine_paths[i]));
        /* A path may contain the word as a folder of its own: only the root counts. */
        if (at && (at == text || !(isalnum((unsigned char)at[-1]) || strchr("._-", at[-1]))))
            fail(path, line_of(text, at), "a path of a machine");
    }
    free(text);
}

static void test_no_machine_paths(void)
{
    char path[512];
    int files = 0;
    FILE *list = popen("git ls-files 2>&1", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\n")] = '\0';
        check_file(path);
        files++;
    }
    int code = pclose(list);
    CU_ASSERT(code != 0 || files > 100); /* a copy without its history has nothing to check */
}

void suite_house(void)
{
    CU_pSuite suite = CU_add_suite("house", NULL, NULL);
    CU_ADD_TEST(suite, test_rules);
    CU_ADD_TEST(suite, test_arrows);
    CU_ADD_TEST(suite, test_lengths);
    CU_ADD_TEST(suite, test_openings);
    CU_ADD_TEST(suite, test_calls);
    CU_ADD_TEST(suite, test_sorts);
    CU_ADD_TEST(suite, test_no_machine_paths);
}
