/* The runner: see runner.h.
 *
 * Steps, each agreed on by all ranks before the next: the inputs are read and
 * checked; rank 0 prepares the folder and finds out what is done; each rank does
 * its share, in rounds where a rule decides how often a point is repeated; rank 0
 * collects. Nothing is written before everything that can be checked was.
 */
#include "run/runner.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "results/manifest.h"
#include "run/progress.h"
#include "results/results.h"
#include "run/claim.h"
#include "results/inputs.h"
#include "run/workers.h"
#include "run/messages.h"

struct runner {
    const struct plan *plan;
    const struct runner_options *options;
    struct inputs inputs;
    struct claim claim;
    struct arena arena;                 /* of the arrays below */
    bool *is_done, *is_mine, *is_tried; /* per run */
    double *values;                     /* per run: the metric of the stop rule; NULL = nothing is adaptive */
    size_t group;                       /* runs that one process answers for: all of a point with values, else one */
    size_t done_before;                 /* of mine */
    struct progress progress;
    struct workers_outcome outcome;
    size_t tried; /* runs begun here */
    struct timespec start;
};

static bool is_first_rank(const struct runner *runner)
{
    return runner->options->ranks->rank == 0;
}

/* All ranks go on, or none. */
static enum status agree_on(enum status status, struct error *error)
{
    int code = ranks_agree((int)status);
    if (code != STATUS_OK && status == STATUS_OK)
        return error_set(error, (enum status)code, "another rank failed");
    return status;
}

/* ---- what is done, and who does the rest ---- */

static void note_row(struct runner *runner, size_t run)
{
    struct results_row row = {0};
    runner->is_done[run] = results_read_row(runner->options->directory, runner->plan, run, &row);
    if (runner->values)
        runner->values[run] = runner->is_done[run] ? row.values[runner->plan->stop.metric] : NAN;
    results_row_free(&row);
}

/* Rank 0 looks; the others must not look for themselves, since the folder changes as soon as the first begins. */
static void find_done(struct runner *runner)
{
    size_t count = runner->plan->run_count;
    if (is_first_rank(runner))
        for (size_t run = 0; run < count; run++)
            note_row(runner, run);
    ranks_share(runner->is_done, count * sizeof *runner->is_done);
    if (runner->values)
        ranks_share(runner->values, count * sizeof *runner->values);
}

/* How many of the runs from first on count so far: see stop_rule_count. */
static size_t count_reached(const struct runner *runner, size_t first, size_t count, bool *is_settled)
{
    return stop_rule_count(&runner->plan->stop, count, runner->is_done + first,
                           runner->values ? runner->values + first : NULL, is_settled);
}

/* Shards take what the number of the group says; ranks take turns at what is left, since they know of each other. */
static void assign_runs(struct runner *runner)
{
    const struct runner_options *options = runner->options;
    size_t pending = 0, ranks = (size_t)options->ranks->size;
    for (size_t first = 0; first < runner->plan->run_count; first += runner->group) {
        bool is_mine = first / runner->group % (size_t)options->shard_count == (size_t)options->shard, is_settled;
        count_reached(runner, first, runner->group, &is_settled);
        if (is_mine && !is_settled)
            is_mine = pending++ % ranks == (size_t)options->ranks->rank;
        for (size_t run = first; run < first + runner->group; run++) {
            runner->is_mine[run] = is_mine;
            runner->done_before += is_mine && runner->is_done[run];
        }
    }
}

/* ---- doing it ---- */

/* First all repetitions that are asked for; once they are done, one more at a time until the rule holds. */
static size_t select_of_group(struct runner *runner, size_t first, size_t *list)
{
    size_t count = 0, least = runner->values ? runner->plan->stop.least : 1;
    bool is_settled;
    for (size_t run = first; run < first + least; run++)
        if (!runner->is_done[run] && !runner->is_tried[run])
            list[count++] = run;
    size_t reached = count_reached(runner, first, runner->group, &is_settled);
    if (count == 0 && !is_settled && reached < runner->group && !runner->is_tried[first + reached])
        list[count++] = first + reached;
    return count;
}

static size_t select_runs(struct runner *runner, size_t *list)
{
    size_t count = 0;
    for (size_t first = 0; first < runner->plan->run_count; first += runner->group)
        if (runner->is_mine[first])
            count += select_of_group(runner, first, list + count);
    return count;
}

static void do_runs(struct runner *runner)
{
    const struct plan *plan = runner->plan;
    size_t *list = memory_alloc(plan->run_count, sizeof *list), count;
    struct workers_task task = {.plan = plan,
                                .directory = runner->options->directory,
                                .runs = list,
                                .workers = (size_t)runner->options->jobs,
                                .progress = &runner->progress};
    runner->progress.done = runner->progress.done_before = runner->done_before;
    while (!runner->outcome.signal && !runner->outcome.is_disk_bad && (count = select_runs(runner, list)) > 0) {
        task.count = count;
        runner->tried += count;
        runner->progress.total = runner->progress.done + count;
        workers_run(&task, &runner->outcome);
        for (size_t i = 0; i < count && runner->values; i++)
            note_row(runner, list[i]);
        for (size_t i = 0; i < count; i++)
            runner->is_tried[list[i]] = true;
    }
    progress_clear(&runner->progress);
    free(list);
}

static enum status check_outcome(const struct runner *runner, struct error *error)
{
    const struct workers_outcome *outcome = &runner->outcome;
    char name[PLAN_NAME_BYTES];
    if (outcome->failed == 0 && outcome->done < runner->tried)
        return error_set(error, STATUS_BUG, "%zu runs were lost with their worker; the same command does them",
                         runner->tried - outcome->done);
    if (outcome->failed == 0)
        return STATUS_OK;
    *error = outcome->first;
    if (runner->plan->run_count == 1)
        return error->status;
    plan_name(runner->plan, outcome->first_run, name);
    return error_wrap(error, "%zu run%s failed, the first is run %s", outcome->failed, outcome->failed == 1 ? "" : "s",
                      name);
}

/* ---- at the end ---- */

static void print_totals(const struct manifest *manifest)
{
    struct results_row row = {0};
    if (manifest->plan->run_count == 1 && results_read_row(manifest->directory, manifest->plan, 0, &row))
        messages_print_run(stderr, &row, manifest->done_now ? manifest->wall_s : 0);
    results_row_free(&row);
    messages_print_totals(stderr, manifest);
}

static enum status collect_results(struct runner *runner, size_t done_now, size_t failed, struct error *error)
{
    const struct runner_options *options = runner->options;
    struct manifest manifest = {.directory = options->directory,
                                .command_line = options->command_line,
                                .plan = runner->plan,
                                .inputs = &runner->inputs,
                                .start = runner->start,
                                .workers = (size_t)options->jobs,
                                .ranks = (size_t)options->ranks->size,
                                .done_now = done_now,
                                .done_before = runner->done_before,
                                .failed = failed};
    claim_enter(&runner->claim);
    enum status status = results_collect(options->directory, runner->plan, &manifest.totals, error);
    manifest.wall_s = progress_now_s() - runner->progress.start_s;
    if (status == STATUS_OK && manifest.totals.runs > 0)
        status = manifest_write(&manifest, error);
    claim_leave(&runner->claim);
    if (status == STATUS_OK && manifest.totals.runs == 0)
        claim_undo(&runner->claim);
    else if (status == STATUS_OK && !options->is_quiet)
        print_totals(&manifest);
    return status;
}

/* The first trouble is the one told: collecting goes on after a failed run, but does not hide it. */
static enum status finish_runs(struct runner *runner, struct error *error)
{
    struct error later = {0};
    enum status status = check_outcome(runner, error), collected = STATUS_OK;
    size_t done_now = ranks_sum(runner->outcome.done), failed = ranks_sum(runner->outcome.failed);
    if (is_first_rank(runner))
        collected = collect_results(runner, done_now, failed, &later);
    if (status == STATUS_OK && collected != STATUS_OK) {
        *error = later;
        status = collected;
    }
    return agree_on(status, error);
}

/* ---- only looking ---- */

static const char *state_of(const struct runner *runner, size_t run, size_t reached, bool is_settled)
{
    if (run >= reached && is_settled)
        return "not needed";
    if (runner->is_done[run])
        return "done";
    return runner->plan->runs[run].repetition < runner->plan->stop.least ? "to do" : "if needed";
}

static void list_runs(struct runner *runner)
{
    const struct plan *plan = runner->plan;
    size_t listed = 0, done = 0;
    for (size_t first = 0; first < plan->run_count; first += plan->stop.most) {
        bool is_settled;
        size_t end = first + plan->stop.most;
        size_t reached = first + count_reached(runner, first, plan->stop.most, &is_settled);
        for (size_t run = first; run < end; run++) {
            if (!runner->is_mine[run])
                continue;
            messages_print_planned(stdout, plan, run, state_of(runner, run, reached, is_settled));
            listed++;
            done += runner->is_done[run];
        }
    }
    printf("%zu run%s: %zu done, %zu to do%s\n", listed, listed == 1 ? "" : "s", done, listed - done,
           runner->values ? " at most" : "");
}

static void list_only(struct runner *runner)
{
    if (!runner->options->is_fresh)
        find_done(runner);
    assign_runs(runner);
    if (is_first_rank(runner))
        list_runs(runner);
}

/* ---- all of it ---- */

/* With the signals that stop it blocked: see workers.c for when they are let in. */
static enum status run_claimed(struct runner *runner, int *signal, struct error *error)
{
    TRY(agree_on(is_first_rank(runner) ? claim_open(&runner->claim, error) : STATUS_OK, error));
    find_done(runner);
    assign_runs(runner);
    do_runs(runner);
    *signal = runner->outcome.signal;
    return runner->outcome.signal ? STATUS_OK : finish_runs(runner, error);
}

/* What is done stays, nothing is half written: there is nothing to tidy up. */
static void stop_now(int signal)
{
    static const char text[] = "\nocsim: stopped; what is done is kept, the same command goes on from there\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(128 + signal);
}

static enum status run_guarded(struct runner *runner, int *signal, struct error *error)
{
    struct sigaction stop = {.sa_handler = stop_now}, before_int, before_term;
    sigset_t stops, before;
    workers_stop_signals(&stops);
    sigprocmask(SIG_BLOCK, &stops, &before);
    sigaction(SIGINT, &stop, &before_int);
    sigaction(SIGTERM, &stop, &before_term);
    enum status status = run_claimed(runner, signal, error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    return status;
}

static enum status check_options(const struct runner_options *options, struct error *error)
{
    require(options->shard_count >= 1 && options->shard >= 0 && options->shard < options->shard_count);
    require(options->jobs >= 1 && options->ranks);
    if (options->is_fresh && options->shard_count > 1)
        return error_set(error, STATUS_USER,
                         "run: --fresh would remove what other shards did; use another -o, or --fresh without --shard");
    if (options->jobs > 1 && options->ranks->size > 1)
        return error_set(error, STATUS_USER, "run: ranks are the workers; leave -j out and start more ranks");
    return STATUS_OK;
}

static void open_runner(struct runner *runner, const struct plan *plan, const struct runner_options *options)
{
    *runner = (struct runner){.plan = plan, .options = options};
    clock_gettime(CLOCK_REALTIME, &runner->start);
    bool is_told = !options->is_quiet && options->ranks->rank == 0 && plan->run_count > 1;
    progress_start(&runner->progress, is_told ? stderr : NULL, (size_t)options->jobs * (size_t)options->ranks->size);
    runner->is_done = arena_alloc(&runner->arena, plan->run_count, sizeof *runner->is_done);
    runner->is_mine = arena_alloc(&runner->arena, plan->run_count, sizeof *runner->is_mine);
    runner->is_tried = arena_alloc(&runner->arena, plan->run_count, sizeof *runner->is_tried);
    if (plan->stop.is_adaptive)
        runner->values = arena_alloc(&runner->arena, plan->run_count, sizeof *runner->values);
    runner->group = plan->stop.is_adaptive ? plan->stop.most : 1;
    require(plan->run_count % plan->stop.most == 0);
}

enum status runner_run(const struct plan *plan, const struct runner_options *options, int *signal, struct error *error)
{
    struct runner runner;
    require(plan && plan->run_count > 0 && options && signal);
    TRY(check_options(options, error));
    open_runner(&runner, plan, options);
    *signal = 0;
    enum status status = agree_on(inputs_gather(plan, &runner.inputs, error), error);
    if (status == STATUS_OK) {
        claim_init(&runner.claim, options->directory, plan, &runner.inputs);
        runner.claim.is_fresh = options->is_fresh;
        runner.claim.is_shared = options->shard_count > 1;
        status = agree_on(is_first_rank(&runner) ? claim_check(&runner.claim, error) : STATUS_OK, error);
        if (status == STATUS_OK && options->is_dry)
            list_only(&runner);
        else if (status == STATUS_OK)
            status = run_guarded(&runner, signal, error);
        claim_close(&runner.claim);
    }
    inputs_free(&runner.inputs);
    arena_free(&runner.arena);
    return status;
}
