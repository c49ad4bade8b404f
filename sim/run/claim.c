/* The results folder: see runner_folder.h. */
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

void runner_folder_init(struct runner_folder *folder, const char *path, const struct plan *plan,
                        const struct inputs *inputs)
{
    size_t size = 0;
    *folder = (struct runner_folder){.path = path, .lock = -1, .runs_lock = -1};
    FILE *stream = open_memstream(&folder->identity, &size);
    if (!stream)
        memory_exhausted(1, BUFSIZ);
    fprintf(stream, "%s" OCSIM_VERSION ", inputs %016" PRIx64 "\n", mark, inputs->fingerprint);
    keys_resolved(&plan->scenario->keys, stream);
    if (fclose(stream) != 0)
        memory_exhausted(1, BUFSIZ);
}

static const char *join(const struct runner_folder *folder, const char *name, char path[RESULTS_PATH_BYTES])
{
    snprintf(path, RESULTS_PATH_BYTES, "%s/%s", folder->path, name);
    return path;
}

static enum status fail_io(struct error *error, const char *path, const char *what)
{
    return error_set(error, STATUS_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool has(const struct runner_folder *folder, const char *name)
{
    char path[RESULTS_PATH_BYTES];
    struct stat about;
    return lstat(join(folder, name, path), &about) == 0;
}

/* A folder that cannot be read counts as one with something in it. */
static bool has_runs(const struct runner_folder *folder)
{
    char path[RESULTS_PATH_BYTES];
    DIR *directory = opendir(join(folder, "runs", path));
    if (!directory)
        return errno != ENOENT;
    int entries = 0;
    while (entries < 3 && readdir(directory))
        entries++;
    closedir(directory);
    return entries > 2; /* more than "." and ".." */
}

static enum status check_nameless(const struct runner_folder *folder, struct error *error)
{
    if (!has(folder, "runs.csv") && !has_runs(folder))
        return STATUS_OK;
    return error_set(error, STATUS_USER,
                     "%s: holds runs but no scenario.yaml that says of which scenario; use another -o", folder->path);
}

static enum status check_identity(const struct runner_folder *folder, struct error *error)
{
    char path[RESULTS_PATH_BYTES], *text;
    size_t size;
    if (!has(folder, "scenario.yaml"))
        return check_nameless(folder, error);
    enum status status = file_read(join(folder, "scenario.yaml", path), IDENTITY_LIMIT_BYTES, &text, &size, error);
    if (status != STATUS_OK)
        return status;
    if (strncmp(text, mark, strlen(mark)) != 0)
        status = error_at(error, path, 0, 0, "was not written by `ocsim run`, which would replace it; use another -o");
    else if (!folder->is_fresh && strcmp(text, folder->identity) != 0)
        status = error_set(error, STATUS_USER, "%s: holds results of another scenario; use --fresh or another -o",
                           folder->path);
    free(text);
    return status;
}

enum status runner_folder_check(const struct runner_folder *folder, struct error *error)
{
    struct stat about;
    if (!folder->path[0])
        return error_set(error, STATUS_USER, "run: -o needs the name of a folder, e.g. -o results");
    if (strlen(folder->path) > RESULTS_PATH_BYTES - 2 * PLAN_NAME_BYTES - 64)
        return error_set(error, STATUS_IO, "the path of the results is too long: %.200s...", folder->path);
    if (stat(folder->path, &about) != 0)
        return errno == ENOENT ? STATUS_OK : fail_io(error, folder->path, "cannot look into it");
    if (!S_ISDIR(about.st_mode))
        return error_set(error, STATUS_IO, "%s: expected a folder for the results, found a file; use another -o",
                         folder->path);
    return check_identity(folder, error);
}

/* ---- locks ---- */

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Workers of a process that was killed may live some instants longer and hold its lock: hence a few tries. Where the
 * file system has no locks, there is none. */
static enum status lock_folder(struct runner_folder *folder, struct error *error)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    folder->lock = open_folder(folder->path);
    if (folder->lock < 0)
        return fail_io(error, folder->path, "cannot open it");
    for (int tries = 0; flock(folder->lock, (folder->is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return STATUS_OK;
        if (tries == LOCK_TRIES)
            return error_set(error, STATUS_USER, "%s: another ocsim is writing into this folder; wait for it%s",
                             folder->path, folder->is_shared ? "" : ", or give both a --shard");
        nanosleep(&pause, NULL);
    }
    return STATUS_OK;
}

void runner_folder_enter(struct runner_folder *folder)
{
    if (folder->runs_lock >= 0)
        while (flock(folder->runs_lock, LOCK_EX) != 0 && errno == EINTR)
            continue;
}

void runner_folder_leave(struct runner_folder *folder)
{
    if (folder->runs_lock >= 0)
        flock(folder->runs_lock, LOCK_UN);
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
static enum status clear(const struct runner_folder *folder, struct error *error)
{
    static const char *const names[] = {"manifest.json",     "runs.csv",     "summary.json", "report.html",
                                        "figures",           "runs",         "runs.csv.tmp", "summary.json.tmp",
                                        "manifest.json.tmp", "scenario.yaml"};
    char path[RESULTS_PATH_BYTES];
    if (!has(folder, "scenario.yaml"))
        return check_nameless(folder, error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has(folder, names[i]) &&
            nftw(join(folder, names[i], path), remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS) != 0)
            return fail_io(error, path, "cannot remove it");
    return STATUS_OK;
}

static enum status make_runs(struct runner_folder *folder, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    enum status status = file_make_directory(join(folder, "runs", path), error);
    if (status != STATUS_OK)
        return status;
    folder->runs_lock = open_folder(path);
    return folder->runs_lock < 0 ? fail_io(error, path, "cannot open it") : STATUS_OK;
}

static enum status write_identity(const struct runner_folder *folder, struct error *error)
{
    char path[RESULTS_PATH_BYTES];
    struct file_writer *writer;
    if (has(folder, "scenario.yaml"))
        return STATUS_OK;
    enum status status = file_create(join(folder, "scenario.yaml", path), &writer, error);
    if (status != STATUS_OK)
        return status;
    file_append(writer, folder->identity, strlen(folder->identity));
    return file_finish(writer, error);
}

enum status runner_folder_open(struct runner_folder *folder, struct error *error)
{
    struct stat about;
    folder->is_made = stat(folder->path, &about) != 0;
    enum status status = file_make_directory(folder->path, error);
    if (status == STATUS_OK)
        status = lock_folder(folder, error);
    if (status == STATUS_OK)
        status = runner_folder_check(folder, error);
    if (status == STATUS_OK && folder->is_fresh)
        status = clear(folder, error);
    if (status == STATUS_OK)
        status = make_runs(folder, error);
    if (status != STATUS_OK)
        return status;
    runner_folder_enter(folder);
    status = runner_folder_check(folder, error);
    if (status == STATUS_OK)
        status = write_identity(folder, error);
    runner_folder_leave(folder);
    return status;
}

void runner_folder_forget(const struct runner_folder *folder)
{
    char path[RESULTS_PATH_BYTES];
    if (folder->is_shared || rmdir(join(folder, "runs", path)) != 0)
        return;
    unlink(join(folder, "manifest.json", path));
    unlink(join(folder, "scenario.yaml", path));
    if (folder->is_made)
        rmdir(folder->path);
}

void runner_folder_close(struct runner_folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    if (folder->runs_lock >= 0)
        close(folder->runs_lock);
    free(folder->identity);
    *folder = (struct runner_folder){.lock = -1, .runs_lock = -1};
}
