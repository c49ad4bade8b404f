/* Runs in processes: see workers.h.
 *
 * Signals are never handled while a file is written, so none is left half done:
 * in this process they are blocked meanwhile, and workers have them blocked for
 * good and are ended by their parent, which knows what each was at and removes
 * its temporary files. No handler touches any state.
 */
#include "run/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/results.h"
#include "scenario/simulation.h"

enum { TOLD_FAILURES = 10, POLL_MS = 200 };

/* ---- one run ---- */

void workers_stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

static enum status do_run(const struct workers_task *task, size_t run, struct error *error)
{
    struct scenario *settings;
    struct simulation simulation;
    struct cluster_result result;
    sigset_t stops, before;
    TRY(plan_settings(task->plan, run, &settings, error));
    enum status status = simulation_open(&simulation, &settings->settings, error);
    if (status == STATUS_OK)
        status = cluster_run(&simulation.cluster, &result, error);
    if (status == STATUS_OK) {
        workers_stop_signals(&stops);
        sigprocmask(SIG_BLOCK, &stops, &before);
        status = results_write_run(task->directory, task->plan, run, &settings->settings, &simulation.cluster, &result,
                                   error);
        sigprocmask(SIG_SETMASK, &before, NULL);
        cluster_result_free(&result);
    }
    simulation_close(&simulation);
    scenario_free(settings);
    return status;
}

/* ---- what became of it ---- */

static void note_done(const struct workers_task *task, struct workers_outcome *outcome, size_t done)
{
    task->progress->done += done - outcome->done;
    outcome->done = done;
    progress_show(task->progress);
}

/* A single run is reported by the caller. */
static void note_failure(const struct workers_task *task, struct workers_outcome *outcome, size_t run,
                         const struct error *error)
{
    char name[PLAN_NAME_BYTES], text[sizeof error->file + sizeof error->message + 64];
    require(error->status != STATUS_OK);
    if (outcome->failed == 0 || run < outcome->first_run) {
        outcome->first_run = run;
        outcome->first = *error;
    }
    outcome->is_disk_bad |= error->status == STATUS_IO;
    if (outcome->failed++ >= TOLD_FAILURES || task->plan->run_count == 1)
        return;
    plan_name(task->plan, run, name);
    error_format(error, text, sizeof text);
    progress_clear(task->progress);
    fprintf(stderr, "ocsim: run %s: %s\n", name, text);
}

/* The caller has the stop signals blocked; here they are let through, except while a result is written. */
static void run_in_process(const struct workers_task *task, struct workers_outcome *outcome)
{
    sigset_t stops, before;
    workers_stop_signals(&stops);
    sigprocmask(SIG_UNBLOCK, &stops, &before);
    for (size_t i = 0; i < task->count && !outcome->is_disk_bad; i++) {
        struct error error = {0};
        if (do_run(task, task->runs[i], &error) == STATUS_OK)
            note_done(task, outcome, outcome->done + 1);
        else
            note_failure(task, outcome, task->runs[i], &error);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- workers ---- */

/* In memory that all processes share. */
struct shared {
    atomic_size_t next; /* position in task->runs to hand out next */
    atomic_size_t done;
    atomic_bool is_stopped;    /* hand out no more */
    atomic_size_t positions[]; /* per worker: what it is at, plus one; 0 = nothing */
};

struct message {
    size_t run;
    struct error error;
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message must reach the pipe in one piece");

struct workers {
    const struct workers_task *task;
    struct workers_outcome *outcome;
    struct shared *shared;
    size_t shared_bytes;
    pid_t *pids; /* 0 = gone */
    size_t size, alive;
    size_t done_before; /* of the outcome, when the workers began */
    int messages[2];    /* a pipe */
    int signals;        /* a signalfd */
    sigset_t mask_before;
};

static void do_as_worker(const struct workers *workers, size_t worker)
{
    const struct workers_task *task = workers->task;
    struct shared *shared = workers->shared;
    for (;;) {
        size_t position = atomic_fetch_add(&shared->next, 1);
        if (position >= task->count || atomic_load(&shared->is_stopped))
            return;
        atomic_store(&shared->positions[worker], position + 1);
        struct message message = {.run = task->runs[position]};
        if (do_run(task, message.run, &message.error) == STATUS_OK) {
            atomic_fetch_add(&shared->done, 1);
        } else {
            if (message.error.status == STATUS_IO)
                atomic_store(&shared->is_stopped, true);
            ssize_t written = write(workers->messages[1], &message, sizeof message);
            if (written != (ssize_t)sizeof message)
                exit((int)message.error.status); /* the parent sees the exit code at least */
        }
        atomic_store(&shared->positions[worker], 0);
    }
}

/* A worker must not outlive its parent: the next ocsim would find it writing. */
static void start_worker(struct workers *workers, size_t worker)
{
    pid_t parent = getpid();
    atomic_store(&workers->shared->positions[worker], 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(STATUS_BUG);
        do_as_worker(workers, worker);
        exit(STATUS_OK);
    }
    workers->pids[worker] = pid > 0 ? pid : 0;
    workers->alive += pid > 0;
}

static void read_messages(struct workers *workers)
{
    struct message message;
    while (read(workers->messages[0], &message, sizeof message) == (ssize_t)sizeof message)
        note_failure(workers->task, workers->outcome, message.run, &message.error);
}

static void describe_exit(int how, struct error *error)
{
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        error_set(error, STATUS_MEMORY, "its process was killed, as the system does when memory runs out");
    else if (WIFSIGNALED(how))
        error_set(error, STATUS_BUG, "its process died: %s; please report it", strsignal(WTERMSIG(how)));
    else
        error_set(error, WEXITSTATUS(how) == STATUS_MEMORY ? STATUS_MEMORY : STATUS_BUG,
                  "its process ended with code %d", WEXITSTATUS(how));
}

/* It may have died just behind the last step of its run, which then is done. */
static void note_lost_run(struct workers *workers, size_t run, int how)
{
    const struct workers_task *task = workers->task;
    struct results_row row = {0};
    struct error error;
    bool is_done = results_read_row(task->directory, task->plan, run, &row);
    results_row_free(&row);
    results_remove_temporaries(task->directory, task->plan, run);
    describe_exit(how, &error);
    if (!is_done)
        note_failure(task, workers->outcome, run, &error);
}

static void on_worker_exit(struct workers *workers, size_t worker, int how)
{
    struct shared *shared = workers->shared;
    size_t position = atomic_load(&shared->positions[worker]);
    workers->pids[worker] = 0;
    workers->alive--;
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return;
    if (position > 0)
        note_lost_run(workers, workers->task->runs[position - 1], how);
    if (atomic_load(&shared->next) < workers->task->count && !atomic_load(&shared->is_stopped))
        start_worker(workers, worker);
}

static void collect_exits(struct workers *workers)
{
    for (size_t worker = 0; worker < workers->size; worker++) {
        int how;
        if (workers->pids[worker] > 0 && waitpid(workers->pids[worker], &how, WNOHANG) == workers->pids[worker])
            on_worker_exit(workers, worker, how);
    }
}

/* Ends all workers at once and removes what they had half written. */
static void stop_workers(struct workers *workers)
{
    for (size_t worker = 0; worker < workers->size; worker++)
        if (workers->pids[worker] > 0)
            kill(workers->pids[worker], SIGKILL);
    for (size_t worker = 0; worker < workers->size; worker++) {
        if (workers->pids[worker] <= 0)
            continue;
        while (waitpid(workers->pids[worker], NULL, 0) < 0 && errno == EINTR)
            continue;
        workers->pids[worker] = 0;
        size_t position = atomic_load(&workers->shared->positions[worker]);
        if (position > 0)
            results_remove_temporaries(workers->task->directory, workers->task->plan,
                                       workers->task->runs[position - 1]);
    }
    workers->alive = 0;
}

static void read_signals(struct workers *workers)
{
    struct signalfd_siginfo info;
    while (read(workers->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            workers->outcome->signal = (int)info.ssi_signo;
}

static void watch_workers(struct workers *workers)
{
    struct pollfd sources[] = {{.fd = workers->signals, .events = POLLIN},
                               {.fd = workers->messages[0], .events = POLLIN}};
    while (workers->alive > 0) {
        poll(sources, sizeof sources / sizeof *sources, POLL_MS);
        read_signals(workers);
        read_messages(workers);
        note_done(workers->task, workers->outcome, workers->done_before + atomic_load(&workers->shared->done));
        if (workers->outcome->signal)
            stop_workers(workers);
        else
            collect_exits(workers);
    }
    read_messages(workers);
    note_done(workers->task, workers->outcome, workers->done_before + atomic_load(&workers->shared->done));
}

static bool open_workers(struct workers *workers)
{
    sigset_t mask;
    workers->shared_bytes = sizeof *workers->shared + workers->size * sizeof workers->shared->positions[0];
    workers->shared = mmap(NULL, workers->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (workers->shared == MAP_FAILED)
        memory_exhausted(1, workers->shared_bytes);
    workers->pids = memory_alloc(workers->size, sizeof *workers->pids);
    workers->done_before = workers->outcome->done;
    workers_stop_signals(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, &workers->mask_before);
    workers->signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    bool has_pipe = pipe2(workers->messages, O_CLOEXEC) == 0;
    if (has_pipe)
        fcntl(workers->messages[0], F_SETFL, O_NONBLOCK);
    else
        workers->messages[0] = workers->messages[1] = -1;
    return workers->signals >= 0 && has_pipe;
}

static void close_workers(struct workers *workers)
{
    for (int end = 0; end < 2; end++)
        if (workers->messages[end] >= 0)
            close(workers->messages[end]);
    if (workers->signals >= 0)
        close(workers->signals);
    sigprocmask(SIG_SETMASK, &workers->mask_before, NULL);
    munmap(workers->shared, workers->shared_bytes);
    free(workers->pids);
}

static void run_in_workers(const struct workers_task *task, struct workers_outcome *outcome)
{
    struct workers workers = {.task = task, .outcome = outcome, .size = task->workers};
    struct error error;
    bool is_open = open_workers(&workers);
    for (size_t worker = 0; is_open && worker < workers.size; worker++)
        start_worker(&workers, worker);
    if (workers.alive == 0) {
        error_set(&error, STATUS_IO, "cannot start worker processes: %s; use a smaller -j", strerror(errno));
        note_failure(task, outcome, task->runs[0], &error);
    }
    watch_workers(&workers);
    close_workers(&workers);
}

void workers_run(const struct workers_task *task, struct workers_outcome *outcome)
{
    struct workers_task limited = *task;
    require(task->workers >= 1 && task->progress);
    if (limited.workers > task->count)
        limited.workers = task->count;
    /* A single worker behind a -j above one still runs apart, so that signals and deaths are met alike. */
    if (task->workers == 1)
        run_in_process(&limited, outcome);
    else if (task->count > 0)
        run_in_workers(&limited, outcome);
}
