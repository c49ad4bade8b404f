/* summary.json: for each point of the sweep the mean of every metric over its repetitions, with the 95 % Student
 * interval and the quantiles. Private to sim/results. */
#ifndef RESULTS_SUMMARY_H
#define RESULTS_SUMMARY_H

#include "results/results.h"

STATUS_MUST_USE enum status summary_write(const char *directory, const struct plan *plan,
                                          const struct results_row *rows, struct error *error);

#endif
