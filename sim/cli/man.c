/* ocsim man ocsim|scenario|topology|results [--markdown]: reference pages, made from the tables of commands, keys and
 * columns.
 *
 * Without --markdown a page is roff for man(1): `ocsim man ocsim | man -l -`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "fabric/fabrics.h"
#include "engine/memory.h"
#include "cluster/columns.h"
#include "topology/topology.h"

/* ---- roff ---- */

/* Text as it is: roff takes a backslash, and a dot or a quote that opens a line, for its own. */
static void put_roff(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool is_first = at == text || at[-1] == '\n';
        if (is_first && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else
            putchar(*at);
    }
}

static void put_line(const char *text)
{
    put_roff(text);
    putchar('\n');
}

static void put_title(const char *name, int section, const char *what)
{
    printf(".TH %s %d \"\" \"ocsim %s\"\n.SH NAME\n", name, section, OCSIM_VERSION);
    put_roff(name);
    fputs(" \\- ", stdout);
    put_line(what);
}

static void put_section(const char *title, const char *text)
{
    printf(".SH %s\n", title);
    put_line(text);
}

static void put_paragraph(const char *text)
{
    puts(".PP");
    put_line(text);
}

/* Opens an entry of a list: a term. What it means follows. */
static void put_term(const char *term)
{
    fputs(".TP\n.B ", stdout);
    put_line(term);
}

static void put_entries(const char *const (*entries)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_term(entries[i][0]);
        put_line(entries[i][1]);
    }
}

/* ---- ocsim(1) ---- */

static void man_ocsim(void)
{
    put_title("ocsim", 1, "simulates datacenters whose network is made of optical circuits");
    puts(".SH SYNOPSIS");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf(".B ocsim %s\n", cli_commands[i].name);
        put_roff(cli_commands[i].usage);
        puts(*cli_commands[i].usage ? "\n.br" : ".br");
    }
    put_section("DESCRIPTION",
                "Deep-learning jobs arrive, are split, placed and scheduled on devices that optical circuits connect, "
                "and end in time or are blocked. A scenario file says which jobs, which cluster and which strategies; "
                "its sweep says what to vary. Results go to standard output or to files, everything for people to "
                "standard error.");
    put_paragraph("key=value overrides any key of the scenario; the last one wins.");
    puts(".SH COMMANDS");
    for (size_t i = 0; i < cli_command_count; i++) {
        char term[64];
        snprintf(term, sizeof term, "ocsim %s", cli_commands[i].name);
        put_term(term);
        put_line(cli_commands[i].help);
    }
    puts(".SH EXIT STATUS");
    static const char *const codes[][2] = {{"0", "fine"},
                                           {"1", "the simulated model cannot go on, or figures are out of tolerance"},
                                           {"2", "the input is wrong"},
                                           {"3", "out of memory"},
                                           {"4", "input or output failed"},
                                           {"70", "a bug in ocsim"}};
    put_entries(codes, sizeof codes / sizeof *codes);
    puts(".SH SEE ALSO\n.BR ocsim-scenario (5),\n.BR ocsim-topology (5),\n.BR ocsim-results (5)");
}

static void markdown_ocsim(void)
{
    puts("| Command | What it does |\n|---|---|");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("| `ocsim %s", cli_commands[i].name);
        if (*cli_commands[i].usage)
            putchar(' ');
        for (const char *at = cli_commands[i].usage; *at; at++)
            printf(*at == '|' ? "\\%c" : "%c", *at); /* a bar would end the cell */
        printf("` | %s |\n", cli_commands[i].help);
    }
}

/* ---- ocsim-scenario(5) ---- */

/* What `ocsim explain` says, without the key's name in front. */
static void put_key(const struct key *key)
{
    struct text_builder text = {0};
    keys_explain(key, &text);
    put_term(key->name);
    const char *line = text.text + strlen(key->name) + 1;
    while (*line) {
        line += strspn(line, " ");
        size_t length = strcspn(line, "\n");
        char *part = memory_text(line, length);
        put_roff(part);
        puts("\n.br");
        free(part);
        line += length + (line[length] != '\0');
    }
    free(text.text);
}

static void put_keys(void (*make)(struct key_table *))
{
    struct key_table table;
    make(&table);
    for (size_t i = 0; i < table.count; i++)
        put_key(&table.rows[i]);
    key_table_free(&table);
}

static void man_scenario(void)
{
    put_title("ocsim-scenario", 5, "scenario files of ocsim");
    put_section(
        "DESCRIPTION",
        "A scenario is a YAML file of the keys below. Keys with dots may be nested: `run: {seed: 1}` and "
        "`run.seed: 1` are the same. What is not given has its default. Values with a dimension carry their unit "
        "(50ns, 1.6TB/s, 80GB, 1000s); a bare number is refused there. Unknown keys, keys given twice and keys "
        "without effect are errors. `key: null` takes a key back to its default.");
    put_paragraph("`ocsim check FILE` says what is wrong with a file; `ocsim schema` gives a JSON Schema for editors.");
    put_paragraph("Values come in layers, and later ones win: defaults, the files named by `extends`, the file itself, "
                  "key=value on the command line, the point of a sweep.");
    put_section("SWEEPS",
                "Each axis names a key and its values; all combinations are run. Repetitions differ in their seed, and "
                "all points see the same jobs.");
    puts(".PP\n.nf");
    put_line("sweep:\n"
             "  strategy: {key: partition.strategy, values: [max, random], label: \"strategy\"}\n"
             "  load:     {key: workload.interarrival, range: [500s, 2000s, 500s]}   first, last, step\n"
             "  tick:     {key: run.tick, log_range: [1ps, 1ns, 4]}                  first, last, how many\n"
             "  policy:   {values: [{label: four, partition.max_degree: 4, schedule.strategy: fifo}]}\n"
             "  zip: [[strategy, load]]       axes that advance together\n"
             "  where: \"load <= 1000 or strategy != random\"\n"
             "  repeat: 10\n"
             "  stop_when: {metric: blocking_rate, relative_half_width: 0.05, max_repeat: 50}");
    puts(".fi");
    puts(".SH KEYS");
    put_keys(settings_table);
    puts(".SH SEE ALSO\n.BR ocsim (1),\n.BR ocsim-results (5)");
}

/* ---- ocsim-topology(5) ---- */

static void man_topology(void)
{
    put_title("ocsim-topology", 5, "topology files of ocsim");
    put_section(
        "DESCRIPTION",
        "A topology is a YAML file of the keys below: which devices there are, in which servers, and which fabric "
        "connects the servers. Scenarios name it with the key topology. Keys of a layout or fabric that is not in use "
        "are errors.");
    puts(".SH KEYS");
    put_keys(fabric_topology_table);
    puts(".SH SEE ALSO\n.BR ocsim (1),\n.BR ocsim-scenario (5)");
}

/* ---- ocsim-results(5) ---- */

static void put_columns(const char *file, column_list *column_at)
{
    const struct column *column;
    fputs(".SH COLUMNS OF ", stdout);
    put_line(file);
    for (size_t i = 0; (column = column_at(i)); i++) {
        put_term(column->name);
        put_roff(column->meaning);
        if (*column->unit) {
            fputs(" Unit: ", stdout);
            put_roff(column->unit);
            putchar('.');
        }
        putchar('\n');
    }
}

static void man_results(void)
{
    put_title("ocsim-results", 5, "result files of ocsim run");
    puts(".SH FILES");
    static const char *const files[][2] = {
        {"runs.csv", "One row per run."},
        {"runs/RUN/jobs.csv", "One row per job of that run, unless run.jobs_file is false."},
        {"summary.json", "Means, confidence intervals and quantiles of each point of the sweep."},
        {"manifest.json", "What made the results: program, inputs with their hashes, seeds, the resolved scenario."}};
    put_entries(files, sizeof files / sizeof *files);
    put_paragraph("A file is written under a temporary name and renamed when it is whole. A run that has its files is "
                  "not run again; --fresh starts anew. Empty fields: there is nothing to take the mean of.");
    put_columns("runs.csv", column_of_runs);
    put_columns("jobs.csv", column_of_jobs);
    puts(".SH SEE ALSO\n.BR ocsim (1),\n.BR ocsim-scenario (5)");
}

static void markdown_columns(const char *file, column_list *column_at)
{
    const struct column *column;
    printf("| Column of `%s` | Unit | Meaning |\n|---|---|---|\n", file);
    for (size_t i = 0; (column = column_at(i)); i++)
        printf("| `%s` | %s | %s |\n", column->name, column->unit, column->meaning);
}

static void markdown_results(void)
{
    markdown_columns("runs.csv", column_of_runs);
    putchar('\n');
    markdown_columns("jobs.csv", column_of_jobs);
}

static void markdown_keys(void (*make)(struct key_table *))
{
    struct key_table table;
    struct text_builder text = {0};
    make(&table);
    keys_explain_all(&table, true, &text);
    fputs(text.text, stdout);
    free(text.text);
    key_table_free(&table);
}

/* ---- ocsim-strategies(7) ---- */

static void man_strategies(void)
{
    put_title("ocsim-strategies", 7, "what scenarios and topologies of ocsim can choose from");
    for (size_t i = 0; cli_registries[i]; i++) {
        fputs(".SH ", stdout);
        put_line(cli_registries[i]->kind);
        for (size_t j = 0; j < cli_registries[i]->count; j++) {
            put_term(cli_registries[i]->strategies[j]->name);
            put_line(cli_registries[i]->strategies[j]->doc);
        }
    }
    puts(".SH SEE ALSO\n.BR ocsim-scenario (5),\n.BR ocsim-topology (5)");
}

static void markdown_strategies(void)
{
    puts("| Kind | Name | What it does | Its keys |\n|---|---|---|---|");
    for (size_t i = 0; cli_registries[i]; i++)
        for (size_t j = 0; j < cli_registries[i]->count; j++) {
            const struct strategy *strategy = cli_registries[i]->strategies[j];
            printf("| %s | `%s` | %s |", j ? "" : cli_registries[i]->kind, strategy->name, strategy->doc);
            for (size_t k = 0; k < strategy->key_count; k++)
                printf("%s `%s`", k ? "," : "", strategy->keys[k].name);
            puts(" |");
        }
}

/* ---- the command ---- */

int cli_man(const struct cli_arguments *arguments, struct error *error)
{
    (void)error;
    static const struct {
        void (*roff)(void), (*markdown)(void);
        void (*keys)(struct key_table *);           /* Markdown of a page that is all keys */
    } pages[] = {{man_ocsim, markdown_ocsim, NULL}, /* in the order of the usage */
                 {man_scenario, NULL, settings_table},
                 {man_topology, NULL, fabric_topology_table},
                 {man_results, markdown_results, NULL},
                 {man_strategies, markdown_strategies, NULL}};
    if (!cli_is_given(arguments, "--markdown"))
        pages[arguments->word].roff();
    else if (pages[arguments->word].keys)
        markdown_keys(pages[arguments->word].keys);
    else
        pages[arguments->word].markdown();
    return STATUS_OK;
}
