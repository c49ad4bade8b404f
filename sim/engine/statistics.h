/* Statistics: what a run measures.
 *
 * A counter is a plain uint64_t of its owner and needs no code. Here: means over
 * time, kept as exact integer integrals; samples, by Welford's recurrence;
 * quantiles and Student intervals through GSL. Adding is O(1); quantiles take a
 * sorted array. Nothing here allocates.
 */
#ifndef ENGINE_STATISTICS_H
#define ENGINE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"

/* 63 bits of time times 63 bits of value, summed over time, stay below 127 bits. */
__extension__ typedef __int128 statistics_wide;

/* A level that changes at instants (devices busy, jobs waiting): its mean over time is exact up to the last division.
 */
struct statistics_level {
    statistics_wide area; /* sum of value * ticks up to since */
    int64_t value;
    int64_t max;
    sim_time start;
    sim_time since; /* of the last change */
};

void statistics_level_start(struct statistics_level *level, sim_time now, int64_t value);

/* now is required not to go back. */
void statistics_level_set(struct statistics_level *level, sim_time now, int64_t value);
void statistics_level_add(struct statistics_level *level, sim_time now, int64_t change);

/* The integral of the level in ticks, from its start to now. */
statistics_wide statistics_level_area(const struct statistics_level *level, sim_time now);

/* The mean from its start to now; the current value when no time has passed. */
double statistics_level_mean(const struct statistics_level *level, sim_time now);

/* Zero-initialise before use. */
struct statistics_sample {
    uint64_t count;
    double mean;
    double square_sum; /* of the deviations from the mean */
    double min, max;   /* of no meaning while count is 0 */
};

void statistics_sample_add(struct statistics_sample *sample, double value);

/* NaN while there is nothing to take a mean of. */
double statistics_sample_mean(const struct statistics_sample *sample);

/* Unbiased (divided by count - 1); NaN below two values. */
double statistics_sample_variance(const struct statistics_sample *sample);
double statistics_sample_deviation(const struct statistics_sample *sample);

/* Half the width of the 95 % Student confidence interval of the mean; NaN below two values. */
double statistics_sample_half_width(const struct statistics_sample *sample);

/* Sorts in place, ascending; NaN is not allowed. */
void statistics_sort(double *values, size_t count);

/* The quantile at fraction (0 to 1) of an ascending array, by linear interpolation at rank fraction * (count - 1), as
 * numpy does by default; NaN when count is 0. Borrows values. */
double statistics_quantile(const double *sorted, size_t count, double fraction);

/* Differences left[i] - right[i] of two strategies that saw the same chances, whose interval is narrower than the
 * difference of two intervals. Borrows both. */
struct statistics_sample statistics_paired(const double *left, const double *right, size_t count);

#endif
