/* How often a point of a sweep is run.
 *
 *   repeat: 10
 *   stop_when: {metric: blocking_rate, relative_half_width: 0.05, max_repeat: 50}
 *
 * Without stop_when every point is run `repeat` times. With it, the rule looks
 * at repetitions 0, 1, 2, ... in this order and stops at the first count, not
 * below `repeat`, at which the 95 % Student interval of the metric is narrow
 * enough. So the answer depends on the rows alone, not on which worker did which
 * run first, and repetitions behind it do not count even if they are done.
 */
#ifndef SCENARIO_STOP_RULE_H
#define SCENARIO_STOP_RULE_H

#include "cluster/metrics.h"
#include "input/yaml.h"

struct stop_rule {
    uint32_t least, most; /* repetitions: `most` are planned; the same without stop_when */
    bool is_adaptive;     /* stop_when is there */
    enum metric metric;   /* that it looks at, where there is one */
    double relative_half_width;
};

/* Reads `repeat` and `stop_when` of a sweep, which is a mapping. */
STATUS_MUST_USE enum status stop_rule_read(const struct yaml_node *sweep, struct stop_rule *rule, struct error *error);

/* Are so many repetitions, with this mean and half-width of the metric, enough? NaN = no value. */
bool stop_rule_is_met(const struct stop_rule *rule, size_t done, double mean, double half_width);

/* How many of a point's count repetitions count so far, by which of them are done and their values of the metric (NaN =
 * no value; NULL where nothing is adaptive). *is_settled: no further one is needed. O(count). */
size_t stop_rule_count(const struct stop_rule *rule, size_t count, const bool *is_done, const double *values,
                       bool *is_settled);

#endif
