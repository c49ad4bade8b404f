/* Properties held here, of the sources themselves; run from the root of the repo:
 *   - a room includes, directly and indirectly, only its own headers and those its row in sim/README.md allows, and the
 *     arrows never lead back;
 *   - a header that is private to its room is included there alone;
 *   - functions of at most 41 lines, files of at most 600, rooms of at most 45 files, each opening with a comment or
 * its own header;
 *   - the name of a strategy or fabric stands in double quotes in one file, its own;
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

#include "cluster/beta.h"
#include "fabric/fabrics.h"
#include "input/file.h"
#include "partition/partition.h"
#include "place/place.h"
#include "schedule/schedule.h"
#include "suites.h"

enum { FILE_LIMIT_BYTES = 1 << 26, LONGEST_FUNCTION = 41, LONGEST_FILE = 600, LARGEST_ROOM = 45 };

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

enum { ROOMS_MAX = 40, ROOM_NAME_BYTES = 24 };

/* The table of rooms in sim/README.md: allowed[a][b] where room a may include headers of room b. */
static struct {
    char names[ROOMS_MAX][ROOM_NAME_BYTES];
    bool allowed[ROOMS_MAX][ROOMS_MAX];
    int count;
} house;

/* The room a path or header name begins with; -1 where it is none. */
static int room_of(const char *name)
{
    for (int room = 0; room < house.count; room++) {
        size_t length = strlen(house.names[room]);
        if (strncmp(name, house.names[room], length) == 0 && name[length] == '/')
            return room;
    }
    return -1;
}

/* Calls visit with what stands between back quotes in a line, one after the other. */
static void for_each_quoted(const char *line, void (*visit)(int row, int position, const char *name), int row)
{
    int position = 0;
    for (const char *start = strpbrk(line, "`\n"); start && *start == '`'; position++) {
        const char *end = strpbrk(start + 1, "`\n");
        char name[ROOM_NAME_BYTES + 2];
        CU_ASSERT_FATAL(end && *end == '`');
        snprintf(name, sizeof name, "%.*s", (int)(end - start - 1), start + 1);
        visit(row, position, name);
        start = strpbrk(end + 1, "`\n");
    }
}

static void add_room(int row, int position, const char *name)
{
    CU_ASSERT_FATAL(row == house.count && row < ROOMS_MAX && name[strlen(name) - 1] == '/');
    if (position == 0)
        snprintf(house.names[house.count++], ROOM_NAME_BYTES, "%.*s", (int)strlen(name) - 1, name);
}

static void add_arrow(int row, int position, const char *name)
{
    char folder[ROOM_NAME_BYTES + 2];
    (void)position;
    snprintf(folder, sizeof folder, "%.*s/", ROOM_NAME_BYTES, name);
    int room = room_of(folder);
    if (room < 0 || room >= row)
        fail("sim/README.md", 0, "a row names a room that does not stand above it");
    else
        for (int other = 0; other < house.count; other++)
            house.allowed[row][other] |= other == room || house.allowed[room][other];
}

/* Rows look like "| `room/` | what it knows | `other` `other` |"; rooms above a row are complete. */
static void test_table(void)
{
    char *text;
    size_t size;
    CU_ASSERT_EQUAL_FATAL(file_read("sim/README.md", FILE_LIMIT_BYTES, &text, &size, NULL), STATUS_OK);
    const char *at = strstr(text, "|---|---|---|\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    for (at = strchr(at, '\n') + 1; *at == '|'; at = strchr(at, '\n') + 1) {
        const char *last = strchr(at, '\n') - 1, *second = strchr(strchr(at + 1, '|') + 1, '|');
        CU_ASSERT_FATAL(*last == '|' && second < last);
        house.allowed[house.count][house.count] = true;
        char first[ROOM_NAME_BYTES + 8];
        snprintf(first, sizeof first, "%.*s\n", (int)(strchr(at + 1, '|') - at), at);
        for_each_quoted(first, add_room, house.count);
        for_each_quoted(second, add_arrow, house.count - 1);
    }
    free(text);
}

static bool may_include(int room, const char *header)
{
    int other = room_of(header);
    return room >= 0 && other >= 0 && house.allowed[room][other];
}

/* Calls visit with each project header that a text includes. */
static void for_each_include(const char *text, void (*visit)(void *context, const char *header, int line),
                             void *context)
{
    static const char include[] = "#include \"";
    int line = 1;
    for (const char *at = text; at && *at; line++) {
        if (strncmp(at, include, sizeof include - 1) == 0) {
            char header[256];
            const char *name = at + sizeof include - 1;
            snprintf(header, sizeof header, "%.*s", (int)strcspn(name, "\""), name);
            visit(context, header, line);
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
}

/* A source whose headers are followed; seen holds those met already, one after the other. */
struct walk {
    const char *path;
    int room;
    char seen[200][64];
    int seen_count;
};

static char *read_header(const char *header)
{
    char path[300], *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "sim/%s", header);
    CU_ASSERT_EQUAL_FATAL(file_read(path, FILE_LIMIT_BYTES, &text, &size, NULL), STATUS_OK);
    return text;
}

static bool is_private(const char *header, const char *text)
{
    char mark[64];
    const char *end = strstr(text, "*/");
    snprintf(mark, sizeof mark, "rivate to sim/%.*s", (int)strcspn(header, "/"), header);
    const char *at = strstr(text, mark);
    return at && end && at < end;
}

static void follow(void *context, const char *header, int line)
{
    struct walk *walk = context;
    for (int i = 0; i < walk->seen_count; i++)
        if (strcmp(walk->seen[i], header) == 0)
            return;
    CU_ASSERT_FATAL(walk->seen_count < 200);
    snprintf(walk->seen[walk->seen_count++], sizeof walk->seen[0], "%s", header);
    if (!may_include(walk->room, header)) {
        fail(walk->path, line, "reaches a header of a room that its row in sim/README.md does not allow");
        return;
    }
    char *text = read_header(header);
    if (room_of(header) != walk->room && is_private(header, text))
        fail(walk->path, line, "reaches a header that is private to another room");
    for_each_include(text, follow, walk);
    free(text);
}

static void check_arrows(const char *path, const char *text)
{
    struct walk walk = {.path = path, .room = room_of(path + strlen("sim/"))};
    if (walk.room < 0)
        fail(path, 0, "a room that is not in the table of sim/README.md");
    else
        for_each_include(text, follow, &walk);
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
                fail(path, start, "a function of more than 41 lines");
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

static void test_room_sizes(void)
{
    for (int room = 0; room < house.count; room++) {
        glob_t found = {0};
        char pattern[ROOM_NAME_BYTES + 16];
        snprintf(pattern, sizeof pattern, "sim/%s/*", house.names[room]);
        if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > LARGEST_ROOM)
            fail(pattern, 0, "more than 45 files");
        globfree(&found);
    }
}

/* ---- names ---- */

static struct {
    const struct strategy *strategy;
    int files;
} sought;

static void count_quoted(const char *path, const char *text)
{
    char quoted[64];
    (void)path;
    snprintf(quoted, sizeof quoted, "\"%s\"", sought.strategy->name);
    sought.files += strstr(text, quoted) != NULL;
}

/* Does the name mean something else as well: another strategy, an all-reduce, a word of a key or of a file? */
static bool is_ambiguous(const char *name)
{
    static const char *const words[] = {"fixed", "max", "random",  "trace", "fifo", "ramp",
                                        "ring",  "B",   "uniform", "table", "grid", "machines"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static void test_names_once(void)
{
    static const struct registry *const registries[] = {&partitioners, &placers, &schedulers, &fabrics, &distributions};
    int checked = 0;
    for (size_t i = 0; i < sizeof registries / sizeof *registries; i++)
        for (size_t j = 0; j < registries[i]->count; j++) {
            sought.strategy = registries[i]->strategies[j];
            sought.files = 0;
            for_each_source(count_quoted);
            if (sought.files != 1 && !is_ambiguous(sought.strategy->name))
                fail(sought.strategy->name, 0, "its name stands in double quotes in more than one file");
            CU_ASSERT(sought.files > 0);
            checked += !is_ambiguous(sought.strategy->name);
        }
    CU_ASSERT(checked >= 15);
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
    bool may_look = strncmp(path, "sim/cli/", 8) == 0 || strncmp(path, "sim/run/", 8) == 0 ||
                    strcmp(path, "sim/results/manifest.c") == 0;
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
    CU_ASSERT(house.count >= 17);
    CU_ASSERT_EQUAL(room_of("engine/status.h"), 0);
    CU_ASSERT_EQUAL(room_of("engines/status.h"), -1);
    CU_ASSERT(may_include(room_of("cli/cli.h"), "engine/status.h"));
    CU_ASSERT(may_include(room_of("cluster/cluster.h"), "fabric/fabrics.h"));
    CU_ASSERT_FALSE(may_include(room_of("engine/clock.h"), "input/csv.h"));
    CU_ASSERT_FALSE(may_include(room_of("results/results.h"), "figures/figures.h"));
    CU_ASSERT_FALSE(may_include(room_of("partition/partition.h"), "place/place.h"));
    CU_ASSERT(is_private("step/x.h", "/* Ready ops. Private to sim/step. */"));
    CU_ASSERT_FALSE(is_private("step/x.h", "/* Ready ops. */ int x; /* Private to sim/step. */"));
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
    CU_ADD_TEST(suite, test_table); /* those below need what it reads */
    CU_ADD_TEST(suite, test_rules);
    CU_ADD_TEST(suite, test_arrows);
    CU_ADD_TEST(suite, test_lengths);
    CU_ADD_TEST(suite, test_room_sizes);
    CU_ADD_TEST(suite, test_names_once);
    CU_ADD_TEST(suite, test_openings);
    CU_ADD_TEST(suite, test_calls);
    CU_ADD_TEST(suite, test_sorts);
    CU_ADD_TEST(suite, test_no_machine_paths);
}
