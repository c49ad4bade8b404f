/* Sums for the run's measures; quantiles and Student's distribution come from GSL. */
#include "engine/statistics.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "engine/status.h"

void statistics_level_start(struct statistics_level *level, sim_time now, int64_t value)
{
    *level = (struct statistics_level){.value = value, .max = value, .start = now, .since = now};
}

statistics_wide statistics_level_area(const struct statistics_level *level, sim_time now)
{
    require(now >= level->since);
    return level->area + (statistics_wide)level->value * (now - level->since);
}

void statistics_level_set(struct statistics_level *level, sim_time now, int64_t value)
{
    level->area = statistics_level_area(level, now);
    level->since = now;
    level->value = value;
    if (value > level->max)
        level->max = value;
}

void statistics_level_add(struct statistics_level *level, sim_time now, int64_t change)
{
    int64_t value;
    bool overflows = __builtin_add_overflow(level->value, change, &value);
    require(!overflows);
    statistics_level_set(level, now, value);
}

double statistics_level_mean(const struct statistics_level *level, sim_time now)
{
    if (now == level->start)
        return (double)level->value;
    return (double)statistics_level_area(level, now) / (double)(now - level->start);
}

void statistics_sample_add(struct statistics_sample *sample, double value)
{
    require(!isnan(value));
    bool is_first = sample->count++ == 0;
    double deviation = value - sample->mean;
    sample->mean += deviation / (double)sample->count;
    sample->square_sum += deviation * (value - sample->mean);
    if (is_first || value < sample->min)
        sample->min = value;
    if (is_first || value > sample->max)
        sample->max = value;
}

double statistics_sample_mean(const struct statistics_sample *sample)
{
    return sample->count ? sample->mean : NAN;
}

double statistics_sample_variance(const struct statistics_sample *sample)
{
    return sample->count > 1 ? sample->square_sum / (double)(sample->count - 1) : NAN;
}

double statistics_sample_deviation(const struct statistics_sample *sample)
{
    return sqrt(statistics_sample_variance(sample));
}

double statistics_sample_half_width(const struct statistics_sample *sample)
{
    if (sample->count < 2)
        return NAN;
    double count = (double)sample->count;
    return gsl_cdf_tdist_Pinv(0.975, count - 1) * statistics_sample_deviation(sample) / sqrt(count);
}

void statistics_sort(double *values, size_t count)
{
    require(values || !count);
    gsl_sort(values, 1, count);
}

double statistics_quantile(const double *sorted, size_t count, double fraction)
{
    require(fraction >= 0 && fraction <= 1);
    return count ? gsl_stats_quantile_from_sorted_data(sorted, 1, count, fraction) : NAN;
}

struct statistics_sample statistics_paired(const double *left, const double *right, size_t count)
{
    struct statistics_sample sample = {0};
    for (size_t i = 0; i < count; i++)
        statistics_sample_add(&sample, left[i] - right[i]);
    return sample;
}
