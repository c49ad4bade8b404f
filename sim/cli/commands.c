/* The table of commands: one line each. `ocsim --help`, the man pages and the completions are made from it. */
#include "cli/cli.h"

const struct cli_command cli_commands[] = {
    {"run", cli_run, "SCENARIO [key=value ...] -o DIR [-j N] [--fresh] [--dry-run] [--shard I/N] [-q]",
     "one run, or every run of the scenario's sweep"},
    {"step", cli_step, "--model M --degree D --topology T [key=value ...] [--ops]",
     "one training job on an empty cluster, as JSON"},
    {"plot", cli_plot, "DIR [--figure NAME] [--width column|page]",
     "figures of finished runs as PDF, PNG and CSV, and a report"},
    {"check", cli_check, "SCENARIO [key=value ...]", "parse and validate a scenario, nothing more"},
    {"compare", cli_compare, "DIR TABLE.csv [--markdown]", "results beside published figures"},
    {"list", cli_list, "models|topologies|partitioners|placers|schedulers|fabrics|distributions",
     "what there is to choose from"},
    {"explain", cli_explain, "[KEY | --markdown]", "what a scenario key means, its unit, range and default"},
    {"import", cli_import, "FILE [-o MODEL.json] [--name NAME] [--source TEXT] [--device TEXT] [--batch N]",
     "turn a PipeDream graph.txt into a model file, checked"},
    {"trace", cli_trace, "SCENARIO [key=value ...] -o FILE [--window FROM,TO] [--job N] [--steps N] [--limit N]",
     "the first run as a timeline for ui.perfetto.dev: jobs, their first step op by op, transfers, circuits that "
     "switch and light up, the queue"},
    {"man", cli_man, "ocsim|scenario|topology|results [--markdown]",
     "reference of commands, scenario keys, topology keys or result columns, as a man page or Markdown"},
    {"schema", cli_schema, "", "a JSON Schema of scenario files, for editors"},
    {"completion", cli_completion, "bash|zsh|fish", "a script that lets the shell complete commands, options and keys"},
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;
