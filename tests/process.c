#include "process.h"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/memory.h"

enum { ARGUMENT_LIMIT = 32 };

struct how {
    unsigned long file_bytes; /* 0 = no limit */
    const char *output;       /* NULL = a pipe */
};

static char *read_all(FILE *file)
{
    size_t size = 0, capacity = 0, got;
    char *text = memory_grow(NULL, &capacity, 4096, 1);
    rewind(file);
    while ((got = fread(text + size, 1, capacity - size - 1, file)) > 0) {
        size += got;
        text = memory_grow(text, &capacity, size + 4096, 1);
    }
    text[size] = '\0';
    fclose(file);
    return text;
}

static void become_ocsim(const char *const *arguments, const struct how *how, int out, int err)
{
    const char *argv[ARGUMENT_LIMIT] = {"./ocsim"};
    for (int i = 0; arguments[i] && i + 2 < ARGUMENT_LIMIT; i++)
        argv[i + 1] = arguments[i];
    int target = how->output ? open(how->output, O_WRONLY) : out;
    if (how->file_bytes) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){how->file_bytes, how->file_bytes});
    }
    alarm(PROCESS_LIMIT_S);
    dup2(target, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv("./ocsim", (char *const *)(const void *)argv);
    _exit(127);
}

static void run(struct process *process, const char *const *arguments, const struct how *how)
{
    int state = 0;
    FILE *out = tmpfile(), *err = tmpfile();
    *process = (struct process){0};
    if (access("./ocsim", X_OK) != 0)
        CU_FAIL_FATAL("no ./ocsim here: run make build first, from the root of the repo");
    CU_ASSERT_FATAL(out && err);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0)
        become_ocsim(arguments, how, fileno(out), fileno(err));
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &state, 0), child);
    process->code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    process->out = read_all(out);
    process->err = read_all(err);
}

void process_run(struct process *process, const char *const *arguments)
{
    run(process, arguments, &(struct how){0});
}

void process_run_small(struct process *process, const char *const *arguments, unsigned long file_bytes)
{
    run(process, arguments, &(struct how){.file_bytes = file_bytes});
}

void process_run_into(struct process *process, const char *const *arguments, const char *output)
{
    run(process, arguments, &(struct how){.output = output});
}

void process_end(struct process *process)
{
    free(process->out);
    free(process->err);
}

bool process_is_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}
