/* The commands, and what they share.
 *
 * A command gets its own name as argv[0] and returns the exit code of the
 * program. Results go to stdout, everything for people to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/status.h"
#include "scenario/scenario.h"

int cli_check(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_plot(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_step(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_trace(int argc, char **argv);
int cli_man(int argc, char **argv);
int cli_completion(int argc, char **argv);
int cli_schema(int argc, char **argv);

/* One command. Its usage names every option it takes: completions are read from there, and a test compares it with the
 * command's own list. Words to choose from are written a|b|c, a value in capitals. */
struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage; /* what stands behind the name */
    const char *help;
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Prints "ocsim: file:line:column: message" on stderr. Returns the exit code of the error. */
int cli_fail(const struct error *error);

/* One option of a command: it takes a value (`-o DIR`, `--model=M`) or is a switch. Set one of the two targets. */
struct cli_option {
    const char *name;   /* "-o" or "--model" */
    const char **value; /* where the value goes, borrowed from argv */
    bool *is_given;     /* a switch */
};

/* What is left of a command line: names in order, and key=value overrides in order. The texts are borrowed from argv.
 */
struct cli_arguments {
    const char **names;
    size_t name_count;
    const char **overrides;
    size_t override_count;
};

/* Sorts the arguments behind argv[0]; "--" ends the options. An argument is an override when a key's characters (a-z,
 * 0-9, '.', '_') stand before its first '='. On success the caller owns the arrays: cli_arguments_free. */
STATUS_MUST_USE enum status cli_parse(int argc, char **argv, const struct cli_option *options, size_t option_count,
                                      struct cli_arguments *arguments, struct error *error);
void cli_arguments_free(struct cli_arguments *arguments);

#endif
