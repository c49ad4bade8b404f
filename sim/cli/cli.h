/* The commands, and what they share.
 *
 * A command gets its arguments sorted and answers the exit code of the program;
 * where that is a status other than STATUS_OK, the error says why and is told
 * for it. Results go to stdout, everything for people to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/status.h"
#include "run/ranks.h"
#include "scenario/plan.h"

struct cli_arguments;

typedef int cli_action(const struct cli_arguments *arguments, struct error *error);
cli_action cli_check, cli_compare, cli_completion, cli_explain, cli_import, cli_list, cli_man, cli_plot, cli_run,
    cli_schema, cli_step, cli_trace;

/* One command. Its usage says all about its arguments: options, with a value behind them or without (switches), and
 * key=value where it takes overrides. Where it begins with words to choose from, a|b|c, the first name must be one. */
struct cli_command {
    const char *name;
    cli_action *run;
    const char *usage; /* what stands behind the name */
    const char *help;
    const char *expected; /* said where other than name_count names are given; NULL = the command looks itself */
    size_t name_count;
    bool uses_ranks; /* it runs on all ranks of an MPI job, and only the first tells errors */
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Runs the command argv[0]: parses, checks, tells its error. Returns the exit code. */
int cli_command(int argc, char **argv);

/* Prints "ocsim: file:line:column: message" on stderr. Returns the exit code of the error. */
int cli_fail(const struct error *error);

/* An option as it was given. */
struct cli_option {
    const char *name;  /* in the usage */
    const char *value; /* borrowed from argv; "" for a switch */
};

/* A sorted command line: names, key=value overrides and options, each in order. The texts are borrowed from argv. */
struct cli_arguments {
    const struct cli_command *command;
    const struct ranks *ranks;
    int argc;
    char **argv; /* argv[0] is the command */
    const char **names;
    size_t name_count;
    const char **overrides; /* with room for one more */
    size_t override_count;
    struct cli_option *options;
    size_t option_count;
    int word; /* the first name's position among the words of the usage */
};

/* Sorts the arguments behind argv[0]; "--" ends the options. An argument is an override when a key's characters (a-z,
 * 0-9, '.', '_') stand before its first '='. Command, argc and argv must be set; cli_arguments_free must follow in
 * either case. */
STATUS_MUST_USE enum status cli_parse(struct cli_arguments *arguments, struct error *error);
void cli_arguments_free(struct cli_arguments *arguments);

/* The value of an option that the usage names; otherwise where it is not given. */
const char *cli_value(const struct cli_arguments *arguments, const char *option, const char *otherwise);
bool cli_is_given(const struct cli_arguments *arguments, const char *option);

/* Where a usage has this word, its first length bytes; NULL where it has not. */
const char *cli_find_word(const char *usage, const char *word, size_t length);

/* Bytes of the words to choose from, models|topologies, that a usage begins with; 0 = none. */
size_t cli_words_length(const char *usage);

/* The scenario of the first name and the overrides, and its plan. Zero-initialise; free it also after failure. */
struct cli_scenario {
    struct scenario *scenario;
    struct plan *plan;
};
STATUS_MUST_USE enum status cli_scenario_load(const struct cli_arguments *arguments, struct cli_scenario *loaded,
                                              struct error *error);
void cli_scenario_free(struct cli_scenario *loaded);

/* Every registry of strategies, in the order of the usage of `ocsim list`; NULL behind the last. */
extern const struct registry *const cli_registries[];

#endif
