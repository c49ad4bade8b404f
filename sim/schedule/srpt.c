/* Shortest remaining processing time, as published (PAC-ML simulator, sections 7.2 and 7.3): by full cost, fixed for
 * the whole step; among equals the one placed later goes first. */
#include "schedule/schedule.h"

#include <stdlib.h>

#include "engine/memory.h"

/* Longest first, equals as placed: the position in this order is the rank. */
static int longest_first_total(const void *left, const void *right, void *cost_by_candidate)
{
    const double *cost = cost_by_candidate;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (cost[a] != cost[b])
        return cost[a] > cost[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void rank_shortest(const struct schedule_request *request, uint32_t *rank)
{
    uint32_t count = request->count, *sorted = memory_alloc(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof *sorted, longest_first_total, (void *)(uintptr_t)request->cost);
    for (uint32_t position = 0; position < count; position++)
        rank[sorted[position]] = position;
    free(sorted);
}

const struct scheduler schedule_srpt = {
    .strategy = {.name = "srpt",
                 .doc = "published: the shortest goes first and pre-empts; among equals the one placed later"},
    .rank = rank_shortest,
};
