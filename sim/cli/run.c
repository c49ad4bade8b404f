/* ocsim run SCENARIO [key=value ...] -o DIR [-j N] [--fresh] [--dry-run] [--shard I/N] [-q]: one run, or every run of
 * the scenario's sweep. Shards count from 0, as the tasks of a Slurm array do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "figures/figures.h"
#include "engine/memory.h"
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
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        memory_exhausted(1, BUFSIZ);
    fputs("ocsim", stream);
    for (int i = 0; i < argc; i++) {
        bool is_plain = *argv[i] && !strpbrk(argv[i], " \t\n'\"\\$`&|;<>()[]{}*?!#~");
        fputs(is_plain ? " " : " '", stream);
        for (const char *at = argv[i]; *at; at++)
            if (*at == '\'')
                fputs("'\\''", stream);
            else
                fputc(*at, stream);
        fputs(is_plain ? "" : "'", stream);
    }
    if (fclose(stream) != 0)
        memory_exhausted(1, BUFSIZ);
    return text;
}

/* `-j2` is what everybody types; the option reader takes `-j 2` and `-j=2`. Returned owned, with its texts in arena. */
static char **split_jobs(int argc, char **argv, struct arena *arena)
{
    char **split = memory_alloc((size_t)argc + 1, sizeof *split);
    for (int i = 0; i < argc; i++) {
        size_t size = strlen(argv[i]) + 2;
        split[i] = argv[i];
        if (strncmp(argv[i], "-j", 2) != 0 || argv[i][2] < '0' || argv[i][2] > '9')
            continue;
        split[i] = arena_alloc(arena, size, 1);
        snprintf(split[i], size, "-j=%s", argv[i] + 2);
    }
    return split;
}

static enum status load(const struct cli_arguments *arguments, struct scenario **scenario, struct plan **plan,
                        struct error *error)
{
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    if (arguments->name_count != 1)
        return error_set(error, STATUS_USER,
                         "run: expected one scenario file, e.g. ocsim run scenarios/tutorial/1-hello.yaml -o results");
    enum status status = scenario_load(arguments->names[0], overrides, scenario, error);
    if (status != STATUS_OK)
        return status;
    status = plan_create(*scenario, plan, error);
    if (status == STATUS_OK) {
        status = figures_check(*plan, error);
        if (status != STATUS_OK)
            plan_free(*plan);
    }
    if (status != STATUS_OK)
        scenario_free(*scenario);
    return status;
}

/* Returns the exit code. A scenario that only some ranks can read must not leave the others waiting. */
static int run(const struct cli_arguments *arguments, const struct runner_options *options)
{
    struct error error = {0};
    struct scenario *scenario;
    struct plan *plan;
    int signal = 0;
    enum status status = load(arguments, &scenario, &plan, &error);
    bool is_loaded = status == STATUS_OK;
    if (ranks_agree((int)status) != STATUS_OK && is_loaded)
        status = error_set(&error, STATUS_USER, "another rank cannot read the scenario");
    else if (is_loaded)
        status = runner_run(plan, options, &signal, &error);
    if (is_loaded) {
        plan_free(plan);
        scenario_free(scenario);
    }
    if (signal) {
        fputs("ocsim: stopped; what is done is kept, the same command goes on from there\n", stderr);
        return 128 + signal;
    }
    if (status != STATUS_OK && options->ranks->rank == 0)
        cli_fail(&error);
    return (int)status;
}

/* Returns the exit code. */
static int parse_and_run(int argc, char **argv, const char *command_line)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    struct ranks ranks;
    const char *jobs = "1", *shard = "0/1";
    struct runner_options options = {.directory = "results", .ranks = &ranks, .command_line = command_line};
    const struct cli_option known[] = {{.name = "-o", .value = &options.directory},
                                       {.name = "-j", .value = &jobs},
                                       {.name = "--shard", .value = &shard},
                                       {.name = "--fresh", .is_given = &options.is_fresh},
                                       {.name = "--dry-run", .is_given = &options.is_dry},
                                       {.name = "-q", .is_given = &options.is_quiet}};
    enum status status = cli_parse(argc, argv, known, sizeof known / sizeof *known, &arguments, &error);
    if (status == STATUS_OK)
        status = read_jobs(jobs, &options.jobs, &error);
    if (status == STATUS_OK)
        status = read_shard(shard, &options, &error);
    ranks_open(&ranks);
    int code = (int)status;
    if (status == STATUS_OK)
        code = run(&arguments, &options);
    else if (ranks.rank == 0)
        cli_fail(&error);
    ranks_close();
    cli_arguments_free(&arguments);
    return code;
}

int cli_run(int argc, char **argv)
{
    struct arena arena = {0};
    char **split = split_jobs(argc, argv, &arena), *command_line = join_arguments(argc, argv);
    int code = parse_and_run(argc, split, command_line);
    free(command_line);
    free(split);
    arena_free(&arena);
    return code;
}
