/* A small folder of results for the suites of figures: two policies at two loads, with jobs. One suite uses it at a
 * time.
 *
 * Blocking rates at 10s: 0.1 0.2 0.3 of a_b and 0.5 0.5 0.8 of max, seeds 1 2 3; at 20s 0.4 of a_b, and a failed run.
 */
#ifndef TESTS_SAMPLE_FOLDER_H
#define TESTS_SAMPLE_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

/* To be given to CU_add_suite: makes the folder, and removes it with all that is in it. */
int sample_make(void);
int sample_remove(void);

/* Writes runs.csv, summary.json, the jobs of all runs, and a scenario without figures. */
void sample_fill(void);

/* The folder. Lives until sample_make is called again. */
const char *sample_root(void);

/* A path in the folder; lives until the next call. */
const char *sample_path(const char *name);
void sample_write(const char *name, const char *text);
bool sample_has(const char *name);

/* Returns owned: free. "" where there is no such file. */
char *sample_read(const char *name);

/* runs.csv anew, with its header; the caller closes it. A row begins "run,policy,load,seed,status". */
FILE *sample_open_runs(void);
void sample_write_row(FILE *file, const char *start, const char *rate);
void sample_write_one_run(const char *start, const char *rate);

/* summary.json, in which so many of three runs of max at 10s are done. */
void sample_write_summary(int done);

bool sample_has_gnuplot(void);

#endif
