/* The results folder: see claim.h. */
#include "run/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/results.h"
#include "input/file.h"

static const char mark[] = "# ocsim ";

enum { IDENTITY_LIMIT_BYTES = 64 * 1024 * 1024, OPEN_DIRECTORIES = 16, LOCK_TRIES = 150, LOCK_PAUSE_NS = 20000000 };

void claim_init(struct claim *claim, const char *path, const struct plan *plan, const struct inputs *inputs)
{
    size_t size = 0;
    *claim = (struct claim){.path = path, .lock = -1, .runs_lock = -1};
    FILE *stream = open_memstream(&claim->identity, &size);
    if (!stream)
        memory_exhausted(1, BUFSIZ);
    fprintf(stream, "%s" OCSIM_VERSION ", inputs %016" PRIx64 "\n", mark, inputs->fingerprint);
    keys_resolved(&plan->scenario->keys, stream);
    if (fclose(stream) != 0)
        memory_exhausted(1, BUFSIZ);
}

static const char *join_path(const struct claim *claim, const char *name, char path[RESULTS_PATH_BYTES])
{
    snprintf(path, RESULTS_PATH_BYTES, "%s/%s", claim->path, name);
    return path;
}

static enum status fail_on_folder(struct error *error, const char *path, const char *what)
{
    return error_set(error, STATUS_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool has_file(const struct claim *claim, const char *name)
{
    char path[RESULTS_PATH_BYTES];
    struct stat about;
    return lstat(join_path(claim, name, path), &about) == 0;
}

/* A folder that cannot be read counts as one with something in it. */
static bool has_runs(const struct claim *claim)
{
    char path[RESULTS_PATH_BYTES];
    DIR *directory = opendir(join_path(claim, "runs", path));
    if (!directory)
        return errno != ENOENT;
    int entries = 0;
    while (entries < 3 && readdir(directory))
        entries++;
    closedir(directory);
    return entries > 2; /* more than "." and ".." */
}

static enum status check_nameless(const struct claim *claim, struct error *error)
{
    if (!has_file(claim, "runs.csv") && !has_runs(claim))
        return STATUS_OK;
    return error_set(error, STATUS_USER,
                     "%s: holds runs but no scenario.yaml that says of which scenario; use another -o", claim->path);
}

static enum status check_identity(const struct claim *claim, struct error *error)
{
    char path[RESULTS_PATH_BYTES], *text;
    size_t size;
    if (!has_file(claim, "scenario.yaml"))
        return check_nameless(claim, error);
    TRY(file_read(join_path(claim, "scenario.yaml", path), IDENTITY_LIMIT_BYTES, &text, &size, error));
    enum status status = STATUS_OK;
    if (strncmp(text, mark, strlen(mark)) != 0)
        status = error_at(error, path, 0, 0, "was not written by `ocsim run`, which would replace it; use another -o");
    else if (!claim->is_fresh && strcmp(text, claim->identity) != 0)
        status = error_set(error, STATUS_USER, "%s: holds results of another scenario; use --fresh or another -o",
                           claim->path);
    free(text);
    return status;
}

enum status claim_check(const struct claim *claim, struct error *error)
{
    struct stat about;
    if (!claim->path[0])
        return error_set(error, STATUS_USER, "run: -o needs the name of a folder, e.g. -o results");
    if (strlen(claim->path) > RESULTS_PATH_BYTES - 2 * PLAN_NAME_BYTES - 64)
        return error_set(error, STATUS_IO, "the path of the results is too long: %.200s...", claim->path);
    if (stat(claim->path, &about) != 0)
        return errno == ENOENT ? STATUS_OK : fail_on_folder(error, claim->path, "cannot look into it");
    if (!S_ISDIR(about.st_mode))
        return error_set(error, STATUS_IO, "%s: expected a folder for the results, found a file; use another -o",
                         claim->path);
    return check_identity(claim, error);
}

/* ---- locks ---- */

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Workers of a process that was killed may live some instants longer and hold its lock: hence a few tries. Where the
 * file system has no locks, there is none. */
static enum status lock_folder(struct claim *claim, struct error *error)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    claim->lock = open_folder(claim->path);
    if (claim->lock < 0)
        return fail_on_folder(error, claim->path, "cannot open it");
    for (int tries = 0; flock(claim->lock, (claim->is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return STATUS_OK;
        if (tries == LOCK_TRIES)
            return error_set(error, STATUS_USER, "%s: another ocsim is writing into this folder; wait for it%s",
                             claim->path, claim->is_shared ? "" : ", or give both a --shard");
        nanosleep(&pause, NULL);
    }
    return STATUS_OK;
}

void claim_enter(struct claim *claim)
{
    if (claim->runs_lock >= 0)
        while (flock(claim->runs_lock, LOCK_EX) != 0 && errno == EINTR)
            continue;
}

void claim_leave(struct claim *claim)
{
    if (claim->runs_lock >= 0)
        flock(claim->runs_lock, LOCK_UN);
}

/* ---- making it ---- */

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

/* scenario.yaml goes last: until then the folder is known to be ocsim's, should this be cut off. */
static enum status clear_folder(const struct claim *claim, struct error *error)
{
    static const char *const names[] = {"manifest.json",     "runs.csv",     "summary.json", "report.html",
                                        "figures",           "runs",         "runs.csv.tmp", "summary.json.tmp",
                                        "manifest.json.tmp", "scenario.yaml"};
    char path[RESULTS_PATH_BYTES];
    if (!has_file(claim, "scenario.yaml"))
        return check_nameless(claim, error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_file(claim, names[i]) &&
            nftw(join_path(claim, names[i], path), remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS) != 0)
            return fail_on_folder(error, path, "cannot remove it");
    return STATUS_OK;
}

static enum status make_runs(struct claim *claim, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    TRY(file_make_directory(join_path(claim, "runs", path), error));
    claim->runs_lock = open_folder(path);
    return claim->runs_lock < 0 ? fail_on_folder(error, path, "cannot open it") : STATUS_OK;
}

static enum status write_identity(const struct claim *claim, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    struct file_writer *writer;
    if (has_file(claim, "scenario.yaml"))
        return STATUS_OK;
    TRY(file_create(join_path(claim, "scenario.yaml", path), &writer, error));
    file_append(writer, claim->identity, strlen(claim->identity));
    return file_finish(writer, error);
}

enum status claim_open(struct claim *claim, struct error *error)
{
    struct stat about;
    claim->is_made = stat(claim->path, &about) != 0;
    TRY(file_make_directory(claim->path, error));
    TRY(lock_folder(claim, error));
    TRY(claim_check(claim, error));
    if (claim->is_fresh)
        TRY(clear_folder(claim, error));
    TRY(make_runs(claim, error));
    claim_enter(claim);
    enum status status = claim_check(claim, error);
    if (status == STATUS_OK)
        status = write_identity(claim, error);
    claim_leave(claim);
    return status;
}

void claim_undo(const struct claim *claim)
{
    char path[RESULTS_PATH_BYTES];
    if (claim->is_shared || rmdir(join_path(claim, "runs", path)) != 0)
        return;
    unlink(join_path(claim, "manifest.json", path));
    unlink(join_path(claim, "scenario.yaml", path));
    if (claim->is_made)
        rmdir(claim->path);
}

void claim_close(struct claim *claim)
{
    if (claim->lock >= 0)
        close(claim->lock);
    if (claim->runs_lock >= 0)
        close(claim->runs_lock);
    free(claim->identity);
    *claim = (struct claim){.lock = -1, .runs_lock = -1};
}
