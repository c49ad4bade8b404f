/* Paired differences between strategies, fabrics and whatever else has names.
 *
 * Two runs are a pair when they differ in one axis alone: same values of all
 * other axes and same seed, hence the same draws (common random numbers). The
 * interval of the mean difference is narrower than that of two means apart.
 * Axes of names are compared each on its own; where there are none, the first
 * axis with few values. O(runs log runs) plus O(runs * values) per axis.
 */
#include "figures/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/intern.h"
#include "engine/statistics.h"
#include "input/text.h"

enum {
    STRATEGY_LIMIT = 12,
    ROW_LIMIT = 200,  /* shown, per axis */
    CHANCE_ROWS = 20, /* from here on one bold row is expected from chance */
};

struct item {
    const struct result_run *run;
    size_t strategy; /* in order of first appearance */
    size_t group;    /* of runs with the same other values, in order of first appearance */
};

static int group_total(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->strategy != b->strategy)
        return a->strategy < b->strategy ? -1 : 1;
    if (a->run->seed != b->run->seed)
        return a->run->seed < b->run->seed ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

/* Numbers the values of an axis (numbers may be NULL); how many there are, 0 = too many or one alone. */
static size_t number_strategies(const struct result_reader *folder, size_t axis, const char **names, size_t *numbers)
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
        if (numbers)
            numbers[run] = i;
    }
    return count > 1 ? count : 0;
}

/* Is the axis a choice between names, rather than a quantity? Runs in which it has no effect do not tell. */
static bool is_text_axis(const struct result_reader *folder, size_t axis)
{
    double value;
    const char *unit;
    for (size_t run = 0; run < folder->run_count; run++) {
        const char *text = folder->runs[run].texts[axis];
        if (*text && !figure_columns_quantity(text, &value, &unit))
            return true;
    }
    return false;
}

/* Marks the axes to compare; how many there are. */
static size_t choose_axes(const struct result_reader *folder, bool *is_compared)
{
    const char *names[STRATEGY_LIMIT];
    size_t count = 0;
    for (size_t axis = 0; axis < folder->axis_count; axis++) {
        is_compared[axis] = is_text_axis(folder, axis) && number_strategies(folder, axis, names, NULL);
        count += is_compared[axis];
    }
    for (size_t axis = 0; axis < folder->axis_count && !count; axis++)
        count += is_compared[axis] = number_strategies(folder, axis, names, NULL) > 0;
    return count;
}

static struct item *sort_items(const struct result_reader *folder, size_t axis, const size_t *numbers)
{
    struct item *items = memory_alloc(folder->run_count, sizeof *items);
    struct text_builder others = {0};
    struct intern groups = {0};
    for (size_t i = 0; i < folder->run_count; i++) {
        const struct result_run *run = &folder->runs[i];
        text_clear(&others);
        for (size_t other = 0; other < folder->axis_count; other++)
            text_build(&others, "%s\x1f", other == axis ? "" : run->texts[other]);
        items[i] = (struct item){run, numbers[i], intern_number(&groups, others.text, others.used)};
    }
    qsort(items, folder->run_count, sizeof *items, group_total);
    intern_free(&groups);
    free(others.text);
    return items;
}

/* One stretch of items: the runs of one strategy in one group, by seed. */
struct stretch {
    const struct item *items;
    size_t count;
};

/* Room for as many pairs as the shorter stretch is long. */
static struct statistics_sample compare_pairs(struct stretch left, struct stretch right, double *lefts, double *rights)
{
    size_t i = 0, j = 0, count = 0;
    while (i < left.count && j < right.count) {
        const struct result_run *a = left.items[i].run, *b = right.items[j].run;
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

/* Where the pairs of one axis go. */
struct table {
    struct file_writer *writer;
    struct result_reader *folder;
    size_t axis;
    const char *const *names; /* of the strategies */
    size_t rows;              /* found; those beyond the limit are counted only */
    double *room;             /* for two values per run */
};

static const char *escape(const struct table *table, const char *text)
{
    return report_escape(&table->folder->arena, text, false);
}

/* "workload.beta A, workload.load 0.9": in one cell, which can wrap. */
static void put_others(const struct table *table, const struct item *item)
{
    const char *joint = "";
    file_printf(table->writer, "<td>");
    for (size_t axis = 0; axis < table->folder->axis_count; axis++) {
        const char *text = item->run->texts[axis];
        if (axis == table->axis || !*text)
            continue;
        file_printf(table->writer, "%s%s&nbsp;%s", joint, escape(table, table->folder->axes[axis]),
                    escape(table, text));
        joint = ", ";
    }
    file_printf(table->writer, "</td>");
}

static void put_difference(struct table *table, const struct item *left, const struct item *right,
                           const struct statistics_sample *sample)
{
    struct file_writer *writer = table->writer;
    double half_width = statistics_sample_half_width(sample);
    bool is_clear = fabs(sample->mean) > half_width;
    file_printf(writer, "<tr>");
    if (table->folder->axis_count > 1)
        put_others(table, left);
    file_printf(writer, "<td>%s &minus; %s</td><td class=n>%s%+.4f%s", escape(table, table->names[left->strategy]),
                escape(table, table->names[right->strategy]), is_clear ? "<b>" : "", sample->mean,
                is_clear ? "</b>" : "");
    if (!isnan(half_width))
        file_printf(writer, " &plusmn; %.4f", half_width);
    file_printf(writer, "</td><td class=n>%llu</td></tr>\n", (unsigned long long)sample->count);
}

/* All pairs of strategies in the group [first, end). */
static void put_pairs(struct table *table, const struct item *first, const struct item *end)
{
    struct stretch stretches[STRATEGY_LIMIT] = {0};
    for (const struct item *item = first; item < end; item++) {
        struct stretch *stretch = &stretches[item->strategy];
        stretch->items = stretch->count ? stretch->items : item;
        stretch->count++;
    }
    for (size_t i = 0; i < STRATEGY_LIMIT; i++) {
        for (size_t j = i + 1; j < STRATEGY_LIMIT; j++) {
            if (!stretches[i].count || !stretches[j].count)
                continue;
            struct statistics_sample sample =
                compare_pairs(stretches[i], stretches[j], table->room, table->room + (end - first));
            if (sample.count && table->rows++ < ROW_LIMIT)
                put_difference(table, stretches[i].items, stretches[j].items, &sample);
        }
    }
}

/* One axis. Returns the rows shown. */
static size_t put_axis(struct file_writer *writer, struct result_reader *folder, size_t axis)
{
    const char *names[STRATEGY_LIMIT];
    size_t *numbers = memory_alloc(folder->run_count, sizeof *numbers);
    size_t count = number_strategies(folder, axis, names, numbers);
    require(count > 1);
    struct item *items = sort_items(folder, axis, numbers);
    struct table table = {.writer = writer, .folder = folder, .axis = axis, .names = names};
    table.room = memory_alloc(2 * folder->run_count, sizeof *table.room);
    file_printf(writer,
                "<h3>%s</h3>\n<div class=wide><table><thead><tr>%s<th>first &minus; second</th>"
                "<th class=n>difference</th><th class=n>pairs</th></tr></thead><tbody>\n",
                escape(&table, folder->axes[axis]), folder->axis_count > 1 ? "<th>at</th>" : "");
    for (size_t first = 0, end; first < folder->run_count; first = end) {
        for (end = first + 1; end < folder->run_count && items[end].group == items[first].group;)
            end++;
        put_pairs(&table, items + first, items + end);
    }
    file_printf(writer, "</tbody></table></div>\n");
    if (table.rows > ROW_LIMIT)
        file_printf(writer, "<p>The first %d of %zu comparisons.</p>\n", ROW_LIMIT, table.rows);
    free(table.room);
    free(items);
    free(numbers);
    return table.rows < ROW_LIMIT ? table.rows : ROW_LIMIT;
}

void report_pairs(struct file_writer *writer, struct result_reader *folder)
{
    size_t rows = 0;
    bool *is_compared = memory_alloc(folder->axis_count, sizeof *is_compared);
    if (choose_axes(folder, is_compared))
        file_printf(writer,
                    "<h2>Differences with the same seed</h2>\n<p>Blocking rate of the first minus that of the second, "
                    "run by run with the same seed and all else the same, hence on the same jobs unless the workload "
                    "itself is compared: mean &plusmn; half the 95&nbsp;%% Student interval. Bold: the interval leaves "
                    "out zero.</p>\n");
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        if (is_compared[axis])
            rows += put_axis(writer, folder, axis);
    if (rows >= CHANCE_ROWS)
        file_printf(writer,
                    "<p>These are %zu comparisons. Were there no difference anywhere, 1 in 20 would still be bold by "
                    "chance: about %zu.</p>\n",
                    rows, (rows + CHANCE_ROWS / 2) / CHANCE_ROWS);
    free(is_compared);
}
