/* When a point of a sweep has been repeated often enough.
 *
 * The rule looks at repetitions 0, 1, 2, ... in this order and stops at the
 * first count at which the 95 % Student interval of the metric is narrow
 * enough. So the answer depends on the rows alone, not on which worker did
 * which run first, and repetitions behind it do not count even if they are done.
 */
#ifndef RESULTS_STOP_RULE_H
#define RESULTS_STOP_RULE_H

#include "scenario/plan.h"

/* What is known of each run: is it done, and what is the metric of the rule (NaN = no value). Borrows both. */
struct runner_stop_known {
    const bool *is_done;
    const double *values; /* NULL where the plan has no rule */
};

/* Behind the last run of the point that begins at first. O(repetitions). */
size_t runner_stop_point_end(const struct plan *plan, size_t first);

/* How many repetitions of the point [first, end) count so far. *is_settled: no further one is needed. O(repetitions) */
size_t runner_stop_count(const struct plan *plan, size_t first, size_t end, struct runner_stop_known known,
                         bool *is_settled);

/* The metric the rule looks at; METRIC_COUNT where the plan has no rule. */
int runner_stop_metric(const struct plan *plan);

#endif
