/* The table of commands, one entry each, and what is done for all of them. `ocsim --help`, the man pages and the
 * completions are made from the table. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "input/text.h"

const struct cli_command cli_commands[] = {
    {"run", cli_run, "SCENARIO [key=value ...] -o DIR [-j N] [--fresh] [--dry-run] [--shard I/N] [-q]",
     .help = "one run, or every run of the scenario's sweep", .uses_ranks = true},
    {"step", cli_step, "--model M --degree D --topology T [key=value ...] [--ops]",
     .help = "one training job on an empty cluster, as JSON"},
    {"plot", cli_plot, "DIR [--figure NAME] [--width column|page]",
     .help = "figures of finished runs as PDF, PNG and CSV, and a report",
     .expected = "one folder of results, e.g. ocsim plot results", .name_count = 1},
    {"check", cli_check, "SCENARIO [key=value ...]", .help = "parse and validate a scenario, nothing more",
     .expected = "one scenario file, e.g. ocsim check scenarios/tutorial/1-hello.yaml", .name_count = 1},
    {"compare", cli_compare, "DIR TABLE.csv [--markdown]", .help = "results beside published figures"},
    {"list", cli_list, "models|topologies|partitioners|placers|schedulers|fabrics|distributions|layouts",
     .help = "what there is to choose from", .expected = "one kind, e.g. ocsim list models", .name_count = 1},
    {"explain", cli_explain, "[KEY | --markdown]", .help = "what a scenario key means, its unit, range and default"},
    {"import", cli_import, "FILE [-o MODEL.json] [--name NAME] [--source TEXT] [--device TEXT] [--batch N]",
     .help = "turn a PipeDream graph.txt into a model file, checked"},
    {"trace", cli_trace, "SCENARIO [key=value ...] -o FILE [--window FROM,TO] [--job N] [--steps N] [--limit N]",
     .help =
         "the first run as a timeline for ui.perfetto.dev: jobs, their first step op by op, transfers, circuits that "
         "switch and light up, the queue",
     .expected = "one scenario file, e.g. ocsim trace scenarios/tutorial/1-hello.yaml -o trace.json", .name_count = 1},
    {"man", cli_man, "ocsim|scenario|topology|results|strategies [--markdown]",
     .help =
         "reference of commands, scenario keys, topology keys, result columns or strategies, as a man page or Markdown",
     .expected = "one page, e.g. ocsim man scenario | man -l -", .name_count = 1},
    {"schema", cli_schema, "", .help = "a JSON Schema of scenario files, for editors",
     .expected = "nothing more, e.g. ocsim schema > scenario.json"},
    {"completion", cli_completion, "bash|zsh|fish",
     .help = "a script that lets the shell complete commands, options and keys",
     .expected = "one shell, e.g. ocsim completion bash", .name_count = 1},
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

int cli_fail(const struct error *error)
{
    char text[sizeof error->file + sizeof error->message + 64];
    error_format(error, text, sizeof text);
    fflush(stdout);
    fprintf(stderr, "ocsim: %s\n", text);
    require(error->status != STATUS_OK);
    return (int)error->status;
}

static int refuse_command(const char *name)
{
    struct text_search search = {.word = name, .limit = 3};
    for (size_t i = 0; i < cli_command_count; i++)
        text_offer(&search, cli_commands[i].name);
    char shown[TEXT_SHOW_BYTES];
    struct error error = {0};
    error_set(&error, STATUS_USER, "unknown command '%s'; %s%s%s", text_show(name, shown),
              search.nearest ? "did you mean ocsim " : "`ocsim --help` lists the commands",
              search.nearest ? search.nearest : "", search.nearest ? "?" : "");
    return cli_fail(&error);
}

/* Are there as many names as the command takes, the right word first, and overrides only where they have an effect? */
static enum status check_names(struct cli_arguments *arguments, struct error *error)
{
    const struct cli_command *command = arguments->command;
    bool takes_keys = cli_find_word(command->usage, "key=value", strlen("key=value"));
    if (!command->expected)
        return STATUS_OK;
    if (arguments->name_count != command->name_count || (arguments->override_count && !takes_keys))
        return error_set(error, STATUS_USER, "%s: expected %s", command->name, command->expected);
    char words[128], choices[160], shown[TEXT_SHOW_BYTES];
    snprintf(words, sizeof words, "%.*s", (int)cli_words_length(command->usage), command->usage);
    if (*words)
        arguments->word = text_position(arguments->names[0], words);
    if (arguments->word < 0)
        return error_set(error, STATUS_USER, "%s: '%s' is not allowed; expected %s", command->name,
                         text_show(arguments->names[0], shown), text_alternatives(words, choices, sizeof choices));
    return STATUS_OK;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct error error = {0};
    struct ranks ranks = {.size = 1};
    struct cli_arguments arguments = {.command = command, .ranks = &ranks, .argc = argc, .argv = argv};
    if (command->uses_ranks)
        ranks_open(&ranks);
    int code = (int)cli_parse(&arguments, &error);
    if (code == STATUS_OK)
        code = (int)check_names(&arguments, &error);
    if (code == STATUS_OK)
        code = command->run(&arguments, &error);
    if (code != STATUS_OK && code == (int)error.status && ranks.rank == 0)
        cli_fail(&error);
    if (command->uses_ranks)
        ranks_close();
    cli_arguments_free(&arguments);
    return code;
}

int cli_command(int argc, char **argv)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *command = &cli_commands[i];
        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (argc < 2 || (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0))
            return run_command(command, argc, argv);
        printf("ocsim %s %s\n%s\n", command->name, command->usage, command->help);
        return STATUS_OK;
    }
    return refuse_command(argv[0]);
}
