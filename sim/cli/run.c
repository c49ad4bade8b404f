/* ocsim run SCENARIO [key=value ...] -o DIR [-j N] [--fresh] [--dry-run] [--shard I/N] [-q]: one run, or every run of
 * the scenario's sweep. Shards count from 0, as the tasks of a Slurm array do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "figures/figures.h"
#include "run/runner.h"
#include "input/text.h"
#include "input/units.h"

static enum status read_jobs(const char *text, int64_t *jobs, struct error *error)
{
    if (units_integer(text, jobs, NULL) != STATUS_OK || *jobs < 1 || *jobs > 1024)
        return error_set(error, STATUS_USER, "run: -j '%.40s': expected a number of processes from 1 to 1024", text);
    return STATUS_OK;
}

/* "3/16": part 3 of the parts 0 to 15. */
static enum status read_shard(const char *text, struct runner_options *options, struct error *error)
{
    char shard[24], shown[TEXT_SHOW_BYTES];
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : 0;
    bool is_good = slash && length < sizeof shard;
    if (is_good) {
        memcpy(shard, text, length);
        shard[length] = '\0';
        is_good = units_integer(shard, &options->shard, NULL) == STATUS_OK &&
                  units_integer(slash + 1, &options->shard_count, NULL) == STATUS_OK && options->shard >= 0 &&
                  options->shard < options->shard_count;
    }
    if (!is_good)
        return error_set(error, STATUS_USER, "run: --shard '%s': expected I/N with I from 0 to N-1, e.g. --shard 0/16",
                         text_show(text, shown));
    return STATUS_OK;
}

/* The command line as a shell would take it; returned owned. */
static char *join_arguments(int argc, char **argv)
{
    struct text_builder line = {0};
    text_build(&line, "ocsim");
    for (int i = 0; i < argc; i++) {
        bool is_plain = *argv[i] && !strpbrk(argv[i], " \t\n'\"\\$`&|;<>()[]{}*?!#~");
        text_build(&line, is_plain ? " " : " '");
        for (const char *at = argv[i]; *at; at++)
            text_build(&line, *at == '\'' ? "'\\''" : "%c", *at);
        text_build(&line, is_plain ? "" : "'");
    }
    return line.text;
}

static enum status load(const struct cli_arguments *arguments, struct cli_scenario *loaded, struct error *error)
{
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "run: expected one scenario file, e.g. ocsim run scenarios/tutorial/1-hello.yaml -o results");
    enum status status = cli_scenario_load(arguments, loaded, error);
    return status == STATUS_OK ? figures_check(loaded->plan, error) : status;
}

/* Returns the exit code. A scenario that only some ranks can read must not leave the others waiting. */
static int run(const struct cli_arguments *arguments, const struct runner_options *options, struct error *error)
{
    struct cli_scenario loaded = {0};
    int signal = 0;
    enum status status = load(arguments, &loaded, error);
    bool is_loaded = status == STATUS_OK;
    if (ranks_agree((int)status) != STATUS_OK && is_loaded)
        status = error_set(error, STATUS_USER, "another rank cannot read the scenario");
    else if (is_loaded)
        status = runner_run(loaded.plan, options, &signal, error);
    cli_scenario_free(&loaded);
    if (!signal)
        return status;
    fputs("ocsim: stopped; what is done is kept, the same command goes on from there\n", stderr);
    return 128 + signal;
}

int cli_run(const struct cli_arguments *arguments, struct error *error)
{
    struct runner_options options = {.directory = cli_value(arguments, "-o", "results"),
                                     .ranks = arguments->ranks,
                                     .is_fresh = cli_is_given(arguments, "--fresh"),
                                     .is_dry = cli_is_given(arguments, "--dry-run"),
                                     .is_quiet = cli_is_given(arguments, "-q")};
    enum status status = read_jobs(cli_value(arguments, "-j", "1"), &options.jobs, error);
    if (status == STATUS_OK)
        status = read_shard(cli_value(arguments, "--shard", "0/1"), &options, error);
    if (status != STATUS_OK)
        return status;
    char *command_line = join_arguments(arguments->argc, arguments->argv);
    options.command_line = command_line;
    int code = run(arguments, &options, error);
    free(command_line);
    return code;
}
