/* A sweep in a folder of its own, run as people run it, and its results as one number. Shared by the runner's suites.
 */
#ifndef TESTS_SWEEP_H
#define TESTS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SWEEP_RESULTS_BYTES = 128, SWEEP_PATH_BYTES = 512, SWEEP_FILE_LIMIT_BYTES = 1 << 24 };

/* 12 runs, and 80. */
extern const char sweep_small[], sweep_longer[];

/* A folder for one test, with a scenario in it. */
struct sweep {
    char *folder, *scenario;            /* owned */
    char paths[4][SWEEP_RESULTS_BYTES]; /* of results: folder/0 to folder/3 */
};

/* Writes text into s.yaml. sweep_close must follow, which removes the folder. */
void sweep_open(struct sweep *sweep, const char *text);
void sweep_close(struct sweep *sweep);

/* Writes a file. */
void sweep_spoil(const char *folder, const char *name, const char *text);

/* Names and bytes of everything under path but manifest.json. */
uint64_t sweep_hash(const char *path);

/* Files under path whose name ends like this. */
size_t sweep_count(const char *path, const char *ending);

/* Runs `ocsim run SCENARIO -o path option value` and checks the exit code; words must be in what it says on stderr.
 * option, value and words may be NULL. */
void sweep_expect(const struct sweep *sweep, const char *path, const char *option, const char *value, int code,
                  const char *words);
void sweep_run(const struct sweep *sweep, const char *path, const char *option, const char *value);

/* The same without waiting, quietly, option and value needed; ten minutes at most. */
pid_t sweep_start(const struct sweep *sweep, const char *path, const char *option, const char *value);

/* Waits for it; the exit code, or 128 + the signal. */
int sweep_finish(pid_t child);

/* Until the file is there or the child has ended, which sweep_finish still has to be told: true where it is there and
 * the child lives. */
bool sweep_wait(pid_t child, const char *folder, const char *name);
void sweep_pause(double time_s);

#endif
