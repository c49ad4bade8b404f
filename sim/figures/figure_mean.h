/* The mean of one point of a figure, and its interval over seeds.
 *
 * A point may stand for runs that differ in keys the figure does not show, such
 * as four distributions of beta. They are no repetitions: taken for some, they
 * would make the interval as wide as the settings differ. So jobs are averaged
 * within a run, runs within a seed, and the interval is over seeds. Only seeds
 * count that have every hidden combination the point has at all, so that no mean
 * leans to the settings that happen to be there.
 *
 * O(1) a row, O(runs log runs) at the end, O(runs) memory.
 */
#ifndef FIGURES_FIGURE_MEAN_H
#define FIGURES_FIGURE_MEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/statistics.h"

struct figure_observation {
    size_t run;
    int64_t seed;
    size_t hidden;  /* number of the combination of values that are not shown */
    double sum;     /* of the run's rows */
    uint64_t count; /* of the run's rows */
};

/* Zero-initialise. */
struct figure_mean {
    struct figure_observation *list;
    size_t count, capacity;
};

/* Adds a row; rows of one run come together. Of the observation only run, seed and hidden are read. Is the run new? */
bool figure_mean_add(struct figure_mean *mean, const struct figure_observation *of, double value);

/* One observation for each complete seed, in the order of the seeds. Reorders the list: nothing is added after. */
struct statistics_sample figure_mean_close(struct figure_mean *mean);
void figure_mean_free(struct figure_mean *mean);

#endif
