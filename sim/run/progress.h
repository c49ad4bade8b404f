/* How far a sweep is, on stderr: one line rewritten at most 5 times per second on a terminal, a line per minute
 * elsewhere. Private to sim/run. Plain characters only, so NO_COLOR holds always. */
#ifndef RUN_PROGRESS_H
#define RUN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct progress {
    FILE *out; /* borrowed; NULL = say nothing */
    bool is_terminal, is_line_open;
    size_t done, total; /* runs, those done before included */
    size_t done_before;
    size_t workers;
    double start_s, shown_s;
};

/* Seconds on a clock that never goes back. */
double progress_now_s(void);

/* out NULL = quiet. */
void progress_start(struct progress *progress, FILE *out, size_t workers);

/* Shows the state if it is time to. */
void progress_show(struct progress *progress);

/* Wipes the line on a terminal, so that something else can be said. */
void progress_clear(struct progress *progress);

/* The line itself. now_s as progress_now_s. */
void progress_format(const struct progress *progress, double now_s, char *text, size_t size);

/* "6m12s", "3h05m", "12s", "0.35s". */
enum { PROGRESS_TIME_BYTES = 32 };
const char *progress_duration(double time_s, char text[PROGRESS_TIME_BYTES]);

#endif
