/* What the runner tells people. Private to sim/run. */
#ifndef RUN_MESSAGES_H
#define RUN_MESSAGES_H

#include <stdio.h>

#include "results/manifest.h"

/* One line per run: its number, the values of the axes, its seed and how it stands. */
void messages_print_planned(FILE *out, const struct plan *plan, size_t run, const char *state);

/* A table of one run. wall_s 0 = it was done before. */
void messages_print_run(FILE *out, const struct results_row *row, double wall_s);

/* What was done, and where the results are. */
void messages_print_totals(FILE *out, const struct manifest *manifest);

#endif
