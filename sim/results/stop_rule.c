/* The rule by which a point stops repeating: see runner_stop.h. */
#include "results/stop_rule.h"

#include <math.h>
#include <string.h>

#include "cluster/metrics.h"
#include "engine/statistics.h"

size_t runner_stop_point_end(const struct plan *plan, size_t first)
{
    require(first < plan->run_count);
    size_t end = first + 1;
    while (end < plan->run_count && plan->runs[end].point == plan->runs[first].point)
        end++;
    return end;
}

int runner_stop_metric(const struct plan *plan)
{
    int metric = 0;
    if (!plan->stop.metric)
        return METRIC_COUNT;
    while (metric < METRIC_COUNT && strcmp(metric_name((enum metric)metric), plan->stop.metric) != 0)
        metric++;
    require(metric < METRIC_COUNT);
    return metric;
}

/* Below two values there is no interval; a mean of exactly zero is met only by a width of zero. */
static bool is_narrow(const struct plan *plan, const struct statistics_sample *sample)
{
    double half_width = statistics_sample_half_width(sample);
    return !isnan(half_width) && half_width <= plan->stop.relative_half_width * fabs(statistics_sample_mean(sample));
}

/* A point that misses one of its first repetitions still shows those it has. */
static size_t count_shown(const struct plan *plan, size_t first, size_t end, size_t reached)
{
    size_t least = plan->repeat < end - first ? plan->repeat : end - first;
    return reached > least ? reached : least;
}

size_t runner_stop_count(const struct plan *plan, size_t first, size_t end, struct runner_stop_known known,
                         bool *is_settled)
{
    require(first < end && end <= plan->run_count && known.is_done);
    struct statistics_sample sample = {0};
    size_t count = 0;
    *is_settled = true;
    for (size_t run = first; run < end; run++) {
        if (!known.is_done[run]) {
            *is_settled = false;
            break;
        }
        count++;
        if (!plan->stop.metric)
            continue;
        if (!isnan(known.values[run]))
            statistics_sample_add(&sample, known.values[run]);
        if (count >= plan->repeat && is_narrow(plan, &sample))
            return count;
    }
    return plan->stop.metric ? count_shown(plan, first, end, count) : end - first;
}
