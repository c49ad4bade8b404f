#include "sweep.h"

#include <CUnit/Basic.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/hash.h"
#include "input/file.h"
#include "oracle.h"
#include "process.h"

const char sweep_small[] = "workload: {jobs: 20}\n"
                           "run: {horizon: 20000s}\n"
                           "sweep:\n"
                           "  strategy: {key: partition.strategy, values: [max, min_sufficient]}\n"
                           "  beta: {key: workload.beta, values: [A, D]}\n"
                           "  repeat: 3\n";

const char sweep_longer[] = "workload: {jobs: 20}\n"
                            "run: {horizon: 20000s}\n"
                            "sweep:\n"
                            "  strategy: {key: partition.strategy, values: [max, min_sufficient]}\n"
                            "  beta: {key: workload.beta, values: [A, B, C, D]}\n"
                            "  repeat: 10\n";

void sweep_open(struct sweep *sweep, const char *text)
{
    sweep->folder = oracle_folder();
    sweep->scenario = oracle_write(sweep->folder, "s.yaml", text);
    for (int i = 0; i < 4; i++)
        snprintf(sweep->paths[i], SWEEP_RESULTS_BYTES, "%s/%d", sweep->folder, i);
}

void sweep_close(struct sweep *sweep)
{
    oracle_remove(sweep->folder);
    free(sweep->folder);
    free(sweep->scenario);
}

void sweep_spoil(const char *folder, const char *name, const char *text)
{
    char *path = oracle_write(folder, name, text);
    free(path);
}

/* ---- folders as one number ---- */

static int is_counted(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
           strcmp(entry->d_name, "manifest.json") != 0;
}

uint64_t sweep_hash(const char *path)
{
    struct dirent **entries = NULL;
    uint64_t hash = 0;
    int count = scandir(path, &entries, is_counted, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[SWEEP_PATH_BYTES];
        snprintf(inner, sizeof inner, "%.200s/%.200s", path, entries[i]->d_name);
        hash = hash_pair(hash, hash_bytes(entries[i]->d_name, strlen(entries[i]->d_name)));
        char *text;
        size_t size;
        if (file_read(inner, SWEEP_FILE_LIMIT_BYTES, &text, &size, NULL) == STATUS_OK) {
            hash = hash_pair(hash, hash_bytes(text, size));
            free(text);
        } else {
            hash = hash_pair(hash, sweep_hash(inner));
        }
        free(entries[i]);
    }
    free(entries);
    return hash;
}

size_t sweep_count(const char *path, const char *ending)
{
    struct dirent **entries = NULL;
    size_t found = 0;
    int count = scandir(path, &entries, is_counted, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[SWEEP_PATH_BYTES];
        struct stat about;
        size_t length = strlen(entries[i]->d_name), tail = strlen(ending);
        snprintf(inner, sizeof inner, "%.200s/%.200s", path, entries[i]->d_name);
        if (stat(inner, &about) == 0 && S_ISDIR(about.st_mode))
            found += sweep_count(inner, ending);
        else
            found += length >= tail && strcmp(entries[i]->d_name + length - tail, ending) == 0;
        free(entries[i]);
    }
    free(entries);
    return found;
}

/* ---- processes ---- */

void sweep_expect(const struct sweep *sweep, const char *path, const char *option, const char *value, int code,
                  const char *words)
{
    const char *arguments[] = {"run", sweep->scenario, "-o", path, option, option ? value : NULL, NULL};
    struct process process;
    process_run(&process, arguments);
    CU_ASSERT_EQUAL(process.code, code);
    if (process.code != code || (words && !strstr(process.err, words)))
        printf("\n  code %d, said: %s\n  expected: %d, %s\n", process.code, process.err, code, words ? words : "");
    CU_ASSERT(!words || strstr(process.err, words));
    process_end(&process);
}

void sweep_run(const struct sweep *sweep, const char *path, const char *option, const char *value)
{
    sweep_expect(sweep, path, option, value, STATUS_OK, NULL);
}

pid_t sweep_start(const struct sweep *sweep, const char *path, const char *option, const char *value)
{
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child > 0)
        return child;
    alarm(PROCESS_LIMIT_S);
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    execl("./ocsim", "ocsim", "run", sweep->scenario, "-o", path, option, value, "-q", (char *)NULL);
    _exit(127);
}

int sweep_finish(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

void sweep_pause(double time_s)
{
    struct timespec pause = {(time_t)time_s, (long)(1e9 * (time_s - floor(time_s)))};
    nanosleep(&pause, NULL);
}

static bool has_ended(pid_t child)
{
    siginfo_t about = {0};
    return waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid == child;
}

bool sweep_wait(pid_t child, const char *folder, const char *name)
{
    while (!process_is_file(folder, name) && !has_ended(child))
        sweep_pause(0.0005);
    return !has_ended(child);
}
