/* Properties held here: what people read says what the program does.
 *   - a command asks for every option that its usage names;
 *   - man pages, schema and completions hold every command, key and column;
 *   - the glossary has the columns of the files, in their order;
 *   - the schema's patterns take what the table gives as default and example, and no bare number;
 *   - tables in the documentation are what the program prints;
 *   - every scenario that comes with ocsim is right, and the tutorials run. */
#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <ftw.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "cluster/columns.h"
#include "input/file.h"
#include "suites.h"

static const char output[] = "build/test-help.txt";
static const char folder[] = "build/test-help";

/* Runs a command with what it prints for programs in a file. The text is owned by the caller. */
static char *capture(int expected, const char *const *arguments)
{
    char *argv[16], *text = NULL;
    int argc = 0;
    size_t size;
    for (; arguments[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)arguments[argc];
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    CU_ASSERT_PTR_NOT_NULL_FATAL(freopen(output, "w", stdout));
    int code = cli_command(argc, argv);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    if (code != expected)
        printf("\n  %s %s: exit code %d\n", argv[0], argc > 1 ? argv[1] : "", code);
    CU_ASSERT_EQUAL(code, expected);
    CU_ASSERT_EQUAL_FATAL(file_read(output, (size_t)1 << 24, &text, &size, NULL), STATUS_OK);
    unlink(output);
    return text;
}

static char *page(const char *name, const char *option)
{
    const char *const arguments[] = {"man", name, option, NULL};
    return capture(STATUS_OK, arguments);
}

static char *script(const char *shell)
{
    const char *const arguments[] = {"completion", shell, NULL};
    return capture(STATUS_OK, arguments);
}

static void expect(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void expect(const char *text, const char *format, ...)
{
    char wanted[500];
    va_list list;
    va_start(list, format);
    vsnprintf(wanted, sizeof wanted, format, list);
    va_end(list);
    bool is_there = strstr(text, wanted) != NULL;
    if (!is_there)
        printf("\n  missing: %s\n", wanted);
    CU_ASSERT(is_there);
}

/* ---- commands ---- */

/* An option that is asked for and not in the usage is a bug that stops the program; the other way round is seen here.
 */
static void check_options_of(const struct cli_command *command)
{
    char path[100], *text;
    size_t size;
    snprintf(path, sizeof path, "sim/cli/%s.c", command->name);
    CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &text, &size, NULL), STATUS_OK);
    for (const char *at = strchr(command->usage, '-'); at; at = strchr(at, '-')) {
        size_t length = strcspn(at, " ]");
        expect(text, "(arguments, \"%.*s\"", (int)length, at);
        at += length;
    }
    free(text);
}

static void test_usage(void)
{
    for (size_t i = 0; i < cli_command_count; i++)
        check_options_of(&cli_commands[i]);
}

static void test_commands_everywhere(void)
{
    char *man = page("ocsim", NULL), *markdown = page("ocsim", "--markdown");
    char *bash = script("bash"), *zsh = script("zsh"), *fish = script("fish");
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *name = cli_commands[i].name;
        expect(man, ".B ocsim %s\n", name);
        expect(markdown, "| `ocsim %s", name);
        expect(bash, "    %s) words='", name);
        expect(zsh, "    (%s)\n", name);
        expect(fish, "-f -a %s -d '", name);
    }
    expect(bash, "trace) words=' -o --window --job --steps --limit --help'");
    expect(fish, "'__fish_seen_subcommand_from trace' -l window -r\n");
    expect(fish, "'__fish_seen_subcommand_from step' -l ops\n");
    free(man);
    free(markdown);
    free(bash);
    free(zsh);
    free(fish);
}

/* ---- keys ---- */

static void test_keys_everywhere(void)
{
    char *man = page("scenario", NULL), *markdown = page("scenario", "--markdown");
    char *bash = script("bash"), *zsh = script("zsh"), *fish = script("fish");
    struct key_table table;
    settings_table(&table);
    for (size_t i = 0; i < table.count; i++) {
        const struct key *key = &table.rows[i];
        expect(man, ".TP\n.B %s\n", key->name);
        expect(markdown, "| `%s` |", key->name);
        expect(bash, "%s=", key->name);
        expect(zsh, "%s", key->name);
        expect(fish, "%s=", key->name);
    }
    expect(bash, "partition.strategy) words='fixed max ");
    expect(zsh, "(run.jobs_file) compadd -- true false ;;");
    expect(fish, "partition.strategy=max ");
    free(man);
    free(markdown);
    free(bash);
    free(zsh);
    free(fish);
    key_table_free(&table);
}

/* A line that opens with a dot is a request; only those we mean may be there. */
static void test_roff(void)
{
    static const char *const names[] = {"ocsim", "scenario", "topology", "results"};
    static const char requests[] = ".TH .SH .TP .PP .nf .fi .br .B .BR ";
    for (size_t i = 0; i < 4; i++) {
        char *text = page(names[i], NULL);
        CU_ASSERT_EQUAL(strncmp(text, ".TH ocsim", 9), 0);
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
            char request[8];
            CU_ASSERT_NOT_EQUAL(*line, '\'');
            snprintf(request, sizeof request, "%.*s ", (int)strcspn(line, " \n"), line);
            if (*line == '.')
                CU_ASSERT_PTR_NOT_NULL(strstr(requests, request));
        }
        free(text);
    }
}

/* ---- the schema ---- */

/* The property of a key: by its whole name, or nested part by part. */
static const cJSON *find_property(const cJSON *schema, const char *name, bool is_nested)
{
    const cJSON *properties = cJSON_GetObjectItem(schema, "properties");
    const char *dot = is_nested ? strchr(name, '.') : NULL;
    if (!dot)
        return cJSON_GetObjectItemCaseSensitive(properties, name);
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
    return find_property(cJSON_GetObjectItemCaseSensitive(properties, part), dot + 1, true);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    CU_ASSERT_EQUAL_FATAL(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool answer = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return answer;
}

static void check_property(const struct key *key, const cJSON *property)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(property);
    const cJSON *form = cJSON_GetArrayItem(cJSON_GetObjectItem(property, "anyOf"), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(form);
    expect(cJSON_GetStringValue(cJSON_GetObjectItem(property, "description")), "%s", key->doc);
    const char *pattern = cJSON_GetStringValue(cJSON_GetObjectItem(form, "pattern"));
    bool has_unit =
        key->type == KEY_TIME || key->type == KEY_SECONDS || key->type == KEY_RATE || key->type == KEY_BYTES;
    CU_ASSERT_EQUAL(pattern != NULL, has_unit);
    if (pattern) {
        CU_ASSERT(!key->default_text || matches(pattern, key->default_text));
        CU_ASSERT(!key->example || matches(pattern, key->example));
        CU_ASSERT(!matches(pattern, "5"));
        CU_ASSERT(!matches(pattern, "5 parsecs"));
    }
    if (key->type == KEY_CHOICE) {
        const cJSON *words = cJSON_GetObjectItem(form, "enum"), *word;
        bool has_default = !key->default_text;
        cJSON_ArrayForEach(word, words) has_default |=
            key->default_text && strcmp(word->valuestring, key->default_text) == 0;
        CU_ASSERT(has_default);
    }
}

static void test_schema(void)
{
    const char *const arguments[] = {"schema", NULL}, *const wrong[] = {"schema", "x", NULL};
    char *text = capture(STATUS_OK, arguments);
    cJSON *schema = cJSON_Parse(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    struct key_table table;
    settings_table(&table);
    for (size_t i = 0; i < table.count; i++) {
        check_property(&table.rows[i], find_property(schema, table.rows[i].name, false));
        check_property(&table.rows[i], find_property(schema, table.rows[i].name, true));
    }
    key_table_free(&table);
    const cJSON *seed = find_property(schema, "run.seed", true);
    const cJSON *form = cJSON_GetArrayItem(cJSON_GetObjectItem(seed, "anyOf"), 0);
    CU_ASSERT_EQUAL(cJSON_GetNumberValue(cJSON_GetObjectItem(form, "minimum")), 0);
    CU_ASSERT_STRING_EQUAL(cJSON_GetStringValue(cJSON_GetObjectItem(form, "type")), "integer");
    const cJSON *load = find_property(schema, "workload.load", true);
    form = cJSON_GetArrayItem(cJSON_GetObjectItem(load, "anyOf"), 0);
    CU_ASSERT_PTR_NOT_NULL(cJSON_GetObjectItem(form, "exclusiveMinimum"));
    CU_ASSERT(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
    cJSON_Delete(schema);
    free(text);
    free(capture(STATUS_USER, wrong));
}

/* ---- completion at work ---- */

/* What bash offers for these words, on one line. */
static void check_bash(const char *words, const char *expected)
{
    static const char path[] = "build/test-help.sh";
    struct file_writer *writer;
    char *text = script("bash"), *answer;
    size_t size;
    CU_ASSERT_EQUAL_FATAL(file_create(path, &writer, NULL), STATUS_OK);
    file_printf(writer,
                "%s\nCOMP_WORDS=(%s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ocsim\necho \"${COMPREPLY[*]}\"\n", text,
                words);
    CU_ASSERT_EQUAL_FATAL(file_finish(writer, NULL), STATUS_OK);
    free(text);
    CU_ASSERT_EQUAL(system("bash build/test-help.sh > build/test-help.txt 2>&1"), 0);
    CU_ASSERT_EQUAL_FATAL(file_read(output, 1 << 20, &answer, &size, NULL), STATUS_OK);
    answer[strcspn(answer, "\n")] = '\0';
    CU_ASSERT_STRING_EQUAL(answer, expected);
    free(answer);
    unlink(path);
    unlink(output);
}

static void test_bash(void)
{
    check_bash("ocsim tra", "trace");
    check_bash("ocsim run x.yaml admission.pa", "admission.patience=");
    check_bash("ocsim run x.yaml admission.policy '='", "instant queue");
    check_bash("ocsim run x.yaml admission.policy '=' q", "queue");
    check_bash("ocsim run --f", "--fresh");
    check_bash("ocsim check scenarios/tutorial/1", "scenarios/tutorial/1-hello.yaml");
    check_bash("ocsim completion z", "zsh");
    check_bash("ocsim explain run.se", "run.seed");
}

static void test_refusals(void)
{
    static const char *const wrong[][3] = {{"man", "ls", NULL}, {"man", NULL}, {"man", "--bogus", NULL}};
    static const char *const shells[][3] = {{"completion", "tcsh", NULL}, {"completion", NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        free(capture(STATUS_USER, wrong[i]));
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        free(capture(STATUS_USER, shells[i]));
}

/* ---- columns ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void check_header(const char *name, const char *swept, column_list *column_at)
{
    char path[200], *text, *line = NULL;
    size_t size, length = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &text, &size, NULL), STATUS_OK);
    text[strcspn(text, "\n")] = '\0';
    FILE *stream = open_memstream(&line, &length);
    const struct column *column;
    for (size_t i = 0; (column = column_at(i)); i++)
        fprintf(stream, "%s%s", i ? "," : "", strcmp(column->name, COLUMN_SWEPT) == 0 ? swept : column->name);
    fclose(stream);
    if (strcmp(text, line) != 0)
        printf("\n  %s has   %s\n  glossary %s (sim/cluster/columns.c)\n", name, text, line);
    CU_ASSERT_STRING_EQUAL(text, line);
    free(line);
    free(text);
}

static void test_columns(void)
{
    const char *const arguments[] = {"run",
                                     "scenarios/tutorial/1-hello.yaml",
                                     "run.horizon=20000s",
                                     "sweep={s: {key: partition.strategy, values: [max, random]}}",
                                     "-q",
                                     "-o",
                                     folder,
                                     NULL};
    remove_folder();
    free(capture(STATUS_OK, arguments));
    check_header("runs.csv", "partition.strategy", column_of_runs);
    check_header("runs/0000/jobs.csv", "", column_of_jobs);
    remove_folder();
    char *man = page("results", NULL), *markdown = page("results", "--markdown");
    const struct column *column;
    for (size_t i = 0; (column = column_of_jobs(i)); i++) {
        expect(man, ".B %s\n", column->name);
        expect(markdown, "| `%s` | %s | %s |", column->name, column->unit, column->meaning);
    }
    free(man);
    free(markdown);
}

/* Tables in the documentation are those of the code. */
static void test_documentation(void)
{
    static const struct {
        const char *path, *page;
    } tables[] = {{"scenarios/README.md", "results"},
                  {"scenarios/README.md", "strategies"},
                  {"topologies/README.md", "topology"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *table = page(tables[i].page, "--markdown"), *text;
        size_t size;
        CU_ASSERT_EQUAL_FATAL(file_read(tables[i].path, 1 << 20, &text, &size, NULL), STATUS_OK);
        if (!strstr(text, table))
            printf("\n  %s: put in what `ocsim man %s --markdown` prints\n", tables[i].path, tables[i].page);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, table));
        free(text);
        free(table);
    }
}

/* ---- scenarios ---- */

static int check_scenario(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)place;
    size_t length = strlen(path);
    if (kind != FTW_F || length < 5 || strcmp(path + length - 5, ".yaml") != 0)
        return 0;
    const char *const arguments[] = {"check", path, NULL};
    char *text = capture(STATUS_OK, arguments);
    expect(text, "%s: fine, ", path);
    free(text);
    return 0;
}

static void test_scenarios(void)
{
    CU_ASSERT_EQUAL(nftw("scenarios", check_scenario, 16, FTW_PHYS), 0);
}

static void test_tutorials(void)
{
    static const struct {
        const char *path, *horizon;
    } tutorials[] = {{"scenarios/tutorial/1-hello.yaml", "run.horizon=20000s"},
                     {"scenarios/tutorial/2-sweep.yaml", "run.horizon=20000s"},
                     {"scenarios/tutorial/3-own-question.yaml", "run.horizon=150s"}};
    for (size_t i = 0; i < sizeof tutorials / sizeof *tutorials; i++) {
        const char *const arguments[] = {"run", tutorials[i].path, tutorials[i].horizon, "-q", "-o", folder, NULL};
        char path[100], *text;
        size_t size, rows = 0;
        remove_folder();
        free(capture(STATUS_OK, arguments));
        snprintf(path, sizeof path, "%s/runs.csv", folder);
        CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &text, &size, NULL), STATUS_OK);
        for (const char *at = text; *at; at++)
            rows += *at == '\n';
        CU_ASSERT_EQUAL(rows, i == 0 ? 2 : i == 1 ? 46 : 25);
        free(text);
    }
    remove_folder();
}

void suite_help(void)
{
    CU_pSuite suite = CU_add_suite("help", NULL, NULL);
    CU_add_test(suite, "usages name all options", test_usage);
    CU_add_test(suite, "commands are everywhere", test_commands_everywhere);
    CU_add_test(suite, "keys are everywhere", test_keys_everywhere);
    CU_add_test(suite, "roff without accidents", test_roff);
    CU_add_test(suite, "the schema", test_schema);
    CU_add_test(suite, "bash completes", test_bash);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "columns", test_columns);
    CU_add_test(suite, "tables in the documentation", test_documentation);
    CU_add_test(suite, "every scenario is right", test_scenarios);
    CU_add_test(suite, "tutorials run", test_tutorials);
}
