/* Means over seeds: see figure_mean.h. */
#include "figures/figure_mean.h"

#include <stdlib.h>

#include "engine/memory.h"

bool figure_mean_add(struct figure_mean *mean, const struct figure_observation *of, double value)
{
    require(mean && of);
    bool is_new = !mean->count || mean->list[mean->count - 1].run != of->run;
    if (is_new) {
        mean->list = memory_grow(mean->list, &mean->capacity, mean->count + 1, sizeof *mean->list);
        mean->list[mean->count++] = (struct figure_observation){.run = of->run, .seed = of->seed, .hidden = of->hidden};
    }
    mean->list[mean->count - 1].sum += value;
    mean->list[mean->count - 1].count++;
    return is_new;
}

static int hidden_total(const void *left, const void *right)
{
    const struct figure_observation *a = left, *b = right;
    if (a->hidden != b->hidden)
        return a->hidden < b->hidden ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

static int seed_total(const void *left, const void *right)
{
    const struct figure_observation *a = left, *b = right;
    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return hidden_total(left, right);
}

static size_t count_hidden(const struct figure_observation *list, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += !i || list[i].hidden != list[i - 1].hidden;
    return distinct;
}

/* The mean over combinations of the mean over the runs of each; the list is of one seed and sorted. */
static double mean_of_seed(const struct figure_observation *list, size_t count)
{
    struct statistics_sample combinations = {0};
    for (size_t first = 0, end; first < count; first = end) {
        struct statistics_sample runs = {0};
        for (end = first; end < count && list[end].hidden == list[first].hidden; end++)
            statistics_sample_add(&runs, list[end].sum / (double)list[end].count);
        statistics_sample_add(&combinations, statistics_sample_mean(&runs));
    }
    return statistics_sample_mean(&combinations);
}

struct statistics_sample figure_mean_close(struct figure_mean *mean)
{
    struct statistics_sample seeds = {0};
    require(mean && mean->count > 0);
    qsort(mean->list, mean->count, sizeof *mean->list, hidden_total);
    size_t complete = count_hidden(mean->list, mean->count);
    qsort(mean->list, mean->count, sizeof *mean->list, seed_total);
    for (size_t first = 0, end; first < mean->count; first = end) {
        for (end = first; end < mean->count && mean->list[end].seed == mean->list[first].seed;)
            end++;
        if (count_hidden(mean->list + first, end - first) == complete)
            statistics_sample_add(&seeds, mean_of_seed(mean->list + first, end - first));
    }
    return seeds;
}

void figure_mean_free(struct figure_mean *mean)
{
    require(mean);
    free(mean->list);
    *mean = (struct figure_mean){0};
}
