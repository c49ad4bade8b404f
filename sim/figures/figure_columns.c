/* The columns a figure can name: see figure_columns.h. */
#include "figures/figure_columns.h"

#include <stdio.h>
#include <string.h>

#include "results/result_reader.h"
#include "input/text.h"
#include "input/units.h"

/* The names there are, one after the other: swept keys, numbers of runs and of jobs, texts of jobs; NULL behind the
 * last one. */
static const char *name_at(struct figure_axes axes, bool is_number, size_t i, struct figure_column *column)
{
    size_t runs = is_number ? RESULT_NUMBER_COUNT : 0;
    *column = (struct figure_column){FIGURE_FROM_AXIS, i};
    if (i < axes.count)
        return axes.names[i];
    i -= axes.count;
    *column = (struct figure_column){FIGURE_FROM_RUN, i};
    if (i < runs)
        return result_number_name(i);
    i -= runs;
    for (int are_texts = 0; are_texts <= !is_number; are_texts++) {
        for (size_t job = 0; job < JOB_COLUMNS; job++) {
            enum column_kind kind = job_columns[job].kind;
            *column = (struct figure_column){FIGURE_FROM_JOB, job};
            if (kind <= COLUMN_LAST_TEXT && (kind > COLUMN_LAST_NUMBER) == are_texts && i-- == 0)
                return job_columns[job].column.name;
        }
    }
    return NULL;
}

/* A group is rather a swept key, a number rather one of a run or a job: the first that fits, or the last. */
bool figure_columns_find(struct figure_axes axes, const char *name, bool is_number, struct figure_column *column)
{
    bool is_found = false;
    struct figure_column at;
    const char *known;
    for (size_t i = 0; (is_number || !is_found) && (known = name_at(axes, is_number, i, &at)); i++) {
        if (strcmp(known, name) == 0) {
            *column = at;
            is_found = true;
        }
    }
    return is_found;
}

const char *figure_columns_nearest(struct figure_axes axes, const char *name, bool is_number)
{
    struct text_search search = {.word = name, .limit = 4};
    struct figure_column at;
    const char *known;
    for (size_t i = 0; (known = name_at(axes, is_number, i, &at)); i++)
        text_offer(&search, known);
    return search.nearest;
}

void figure_columns_list(struct figure_axes axes, bool is_number, char *text, size_t size)
{
    size_t used = 0;
    struct figure_column at;
    const char *name;
    require(size > 0);
    text[0] = '\0';
    for (size_t i = 0; (name = name_at(axes, is_number, i, &at)); i++) {
        char shown[TEXT_SHOW_BYTES];
        int length = snprintf(text + used, size - used, "%s%s", i ? ", " : "", text_show(name, shown));
        if (length < 0 || (size_t)length >= size - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* Of the columns, then of what is put together from them or swept. */
static const char *known_label(const char *name)
{
    static const struct {
        const char *name, *label;
    } others[] = {{"workload.beta", "distribution of \xce\xb2"},
                  {"1/beta", "speed-up asked for"},
                  {"workload.interarrival", "time between arrivals"}};
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        if (strcmp(metric_name((enum metric)metric), name) == 0)
            return metric_column((enum metric)metric)->label;
    for (int job = 0; job < JOB_COLUMNS; job++)
        if (strcmp(job_columns[job].column.name, name) == 0)
            return job_columns[job].column.label;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].label;
    return NULL;
}

const char *figure_columns_label(const char *name, struct arena *arena)
{
    const char *label = known_label(name);
    if (label)
        return label;
    const char *dot = strpbrk(name, "*/") ? NULL : strrchr(name, '.');
    const char *last = dot && dot[1] ? dot + 1 : name;
    char *text = arena_text(arena, last, strlen(last));
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
    return text;
}

bool figure_columns_quantity(const char *text, double *value, const char **unit)
{
    static const struct {
        enum status (*read)(const char *, double *, struct error *);
        const char *unit;
    } kinds[] = {{units_number, ""}, {units_time_s, "s"}, {units_rate, "B/s"}, {units_size, "B"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].read(text, value, NULL) == STATUS_OK) {
            *unit = kinds[i].unit;
            return true;
        }
    }
    return false;
}
