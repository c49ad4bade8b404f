/* Runs ./ocsim as people do: a process, its exit code and what it said. */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include <stdbool.h>

/* A program that hangs is ended, however slow and busy the machine is: this long no test takes anywhere. */
enum { PROCESS_LIMIT_S = 600 };

struct process {
    int code; /* 128 + signal where one ended it */
    char *out, *err;
};

/* Runs ./ocsim with these arguments, NULL at the end; ten minutes at most. Fails the test where there is no ./ocsim in
 * the current folder. process_end must follow. */
void process_run(struct process *process, const char *const *arguments);
void process_end(struct process *process);

/* The same with files of at most this many bytes, so that writing fails as on a full disk. */
void process_run_small(struct process *process, const char *const *arguments, unsigned long file_bytes);

/* The same with standard output sent to this file. */
void process_run_into(struct process *process, const char *const *arguments, const char *output);

bool process_is_file(const char *folder, const char *name);

#endif
