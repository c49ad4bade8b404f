/* Paired differences between strategies that met the same jobs.
 *
 * Two runs are a pair when they differ in the strategy alone: same values of all
 * other axes and same seed, hence the same jobs (common random numbers). The
 * interval of the mean difference is narrower than that of two means apart.
 * O(runs log runs) plus O(runs * strategies).
 */
#include "experiment/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/statistics.h"

enum { STRATEGY_LIMIT = 12, ROW_LIMIT = 500 };

struct item {
    const struct folder *folder;
    size_t axis;     /* of the strategies, left out when groups are compared */
    size_t run;      /* its place in the folder */
    size_t strategy; /* in order of first appearance */
    size_t group;    /* the first run with the same other values */
};

static int others(const struct item *a, const struct item *b)
{
    const struct folder *folder = a->folder;
    for (size_t axis = 0; axis < folder->axis_count; axis++) {
        int order = axis == a->axis ? 0 : strcmp(folder->runs[a->run].texts[axis], folder->runs[b->run].texts[axis]);
        if (order)
            return order;
    }
    return 0;
}

static int others_total(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = others(a, b);
    return order ? order : a->run < b->run ? -1 : a->run > b->run;
}

static int group_total(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int64_t seed_a = a->folder->runs[a->run].seed, seed_b = b->folder->runs[b->run].seed;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->strategy != b->strategy)
        return a->strategy < b->strategy ? -1 : 1;
    if (seed_a != seed_b)
        return seed_a < seed_b ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

/* Numbers the values of an axis; how many there are, 0 = too many or one alone. */
static size_t number_strategies(const struct folder *folder, size_t axis, const char **names, size_t *numbers)
{
    size_t count = 0;
    for (size_t run = 0; run < folder->run_count; run++) {
        const char *text = folder->runs[run].texts[axis];
        size_t i = 0;
        while (i < count && strcmp(names[i], text) != 0)
            i++;
        if (i == STRATEGY_LIMIT)
            return 0;
        if (i == count)
            names[count++] = text;
        numbers[run] = i;
    }
    return count > 1 ? count : 0;
}

/* The axis that looks most like a choice of strategies, with its values numbered; false where there is none. */
static bool choose_axis(const struct folder *folder, size_t *axis, const char **names, size_t *numbers)
{
    static const char *const words[] = {"partition.strategy", "policy", "strategy", ""};
    for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
        for (size_t i = 0; i < folder->axis_count; i++) {
            if (strstr(folder->axes[i], words[word]) && number_strategies(folder, i, names, numbers)) {
                *axis = i;
                return true;
            }
        }
    }
    return false;
}

static struct item *sort_items(const struct folder *folder, size_t axis, const size_t *numbers)
{
    struct item *items = memory_alloc(folder->run_count, sizeof *items);
    for (size_t run = 0; run < folder->run_count; run++)
        items[run] = (struct item){folder, axis, run, numbers[run], run};
    qsort(items, folder->run_count, sizeof *items, others_total);
    for (size_t i = 1; i < folder->run_count; i++)
        if (others(&items[i - 1], &items[i]) == 0)
            items[i].group = items[i - 1].group;
    qsort(items, folder->run_count, sizeof *items, group_total);
    return items;
}

/* One stretch of items: the runs of one strategy in one group, by seed. */
struct stretch {
    const struct item *items;
    size_t count;
};

/* Room for as many pairs as the shorter stretch is long. */
static struct statistics_sample compare(struct stretch left, struct stretch right, double *lefts, double *rights)
{
    size_t i = 0, j = 0, count = 0;
    while (i < left.count && j < right.count) {
        const struct folder_run *a = &left.items[i].folder->runs[left.items[i].run];
        const struct folder_run *b = &right.items[j].folder->runs[right.items[j].run];
        double x = a->numbers[METRIC_BLOCKING_RATE], y = b->numbers[METRIC_BLOCKING_RATE];
        if (a->seed == b->seed && !isnan(x) && !isnan(y)) {
            lefts[count] = x;
            rights[count++] = y;
        }
        i += a->seed <= b->seed;
        j += a->seed >= b->seed;
    }
    return statistics_paired(lefts, rights, count);
}

static void put_others(struct file_writer *writer, const struct item *item)
{
    for (size_t axis = 0; axis < item->folder->axis_count; axis++) {
        if (axis == item->axis)
            continue;
        file_printf(writer, "<td>");
        report_escape(writer, item->folder->runs[item->run].texts[axis]);
        file_printf(writer, "</td>");
    }
}

static void put_difference(struct file_writer *writer, const struct item *left, const struct item *right,
                           const char *const *names, const struct statistics_sample *sample)
{
    double half_width = statistics_sample_half_width(sample);
    bool is_clear = fabs(sample->mean) > half_width;
    file_printf(writer, "<tr>");
    put_others(writer, left);
    file_printf(writer, "<td>");
    report_escape(writer, names[left->strategy]);
    file_printf(writer, "</td><td>");
    report_escape(writer, names[right->strategy]);
    file_printf(writer, "</td><td class=n>%s%+.4f%s</td><td class=n>", is_clear ? "<b>" : "", sample->mean,
                is_clear ? "</b>" : "");
    if (isnan(half_width))
        file_printf(writer, "&ndash;");
    else
        file_printf(writer, "&plusmn; %.4f", half_width);
    file_printf(writer, "</td><td class=n>%llu</td></tr>\n", (unsigned long long)sample->count);
}

/* All pairs of strategies in the group [first, end). Returns the rows written. */
static size_t put_group(struct file_writer *writer, const struct item *first, const struct item *end,
                        const char *const *names, double *room)
{
    struct stretch stretches[STRATEGY_LIMIT] = {0};
    size_t rows = 0;
    for (const struct item *item = first; item < end; item++) {
        struct stretch *stretch = &stretches[item->strategy];
        stretch->items = stretch->count ? stretch->items : item;
        stretch->count++;
    }
    for (size_t i = 0; i < STRATEGY_LIMIT; i++) {
        for (size_t j = i + 1; j < STRATEGY_LIMIT; j++) {
            if (!stretches[i].count || !stretches[j].count)
                continue;
            struct statistics_sample sample = compare(stretches[i], stretches[j], room, room + (end - first));
            if (!sample.count)
                continue;
            put_difference(writer, stretches[i].items, stretches[j].items, names, &sample);
            rows++;
        }
    }
    return rows;
}

static void put_head(struct file_writer *writer, const struct folder *folder, size_t strategy_axis)
{
    file_printf(writer,
                "<h2>Differences on the same jobs</h2>\n<p>Blocking rate of the first minus that of the second, "
                "run by run with the same seed and hence the same jobs: mean and 95&nbsp;%% Student interval. "
                "Bold: the interval leaves out zero.</p>\n<div class=wide><table><thead><tr>");
    for (size_t axis = 0; axis < folder->axis_count; axis++) {
        if (axis == strategy_axis)
            continue;
        file_printf(writer, "<th>");
        report_escape(writer, folder->axes[axis]);
        file_printf(writer, "</th>");
    }
    file_printf(writer, "<th>first</th><th>second</th><th class=n>difference</th><th class=n>95&nbsp;%%</th>"
                        "<th class=n>pairs</th></tr></thead><tbody>\n");
}

void report_pairs(struct file_writer *writer, const struct folder *folder)
{
    const char *names[STRATEGY_LIMIT];
    size_t *numbers = memory_alloc(folder->run_count, sizeof *numbers), axis, rows = 0;
    if (choose_axis(folder, &axis, names, numbers)) {
        struct item *items = sort_items(folder, axis, numbers);
        double *room = memory_alloc(2 * folder->run_count, sizeof *room);
        put_head(writer, folder, axis);
        for (size_t first = 0, end; first < folder->run_count && rows < ROW_LIMIT; first = end) {
            for (end = first + 1; end < folder->run_count && items[end].group == items[first].group;)
                end++;
            rows += put_group(writer, items + first, items + end, names, room);
        }
        file_printf(writer, "</tbody></table></div>\n");
        if (rows >= ROW_LIMIT)
            file_printf(writer, "<p>Only the first %zu rows are shown.</p>\n", rows);
        free(room);
        free(items);
    }
    free(numbers);
}
