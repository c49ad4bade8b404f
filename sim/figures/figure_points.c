/* The points of a figure: see figure_points.h. Groups are found by a hash of the texts that name them, so that the cost
 * does not depend on how many there are; they are numbered in order of first appearance, never by hash. */
#include "figures/figure_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/intern.h"
#include "figures/figure_mean.h"
#include "figures/figure_rows.h"
#include "input/text.h"

/* ---- gathering ---- */

/* One mean to be taken, or one pool of rows. */
struct cell {
    size_t series, category;
    size_t first_run; /* what its other runs are compared with, to see which axes were averaged over */
    struct figure_mean mean;
    struct figure_point *rows; /* of a pool: the values of each row */
    size_t row_count, row_capacity;
};

/* The names of series, or of categories. */
struct groups {
    struct intern texts;
    struct figure_name *names;
    size_t capacity;
};

struct gatherer {
    const struct figure_spec *spec;
    struct figure_rows rows;
    struct figure_points *out;
    struct groups series, categories;
    struct intern cell_keys, hidden_keys;
    bool *is_hidden, *is_averaged; /* of the axes: not shown; not shown and with several values in one cell */
    size_t hidden;                 /* the number of the run's values of the hidden axes */
    size_t hidden_run;             /* the run it was found for, + 1 */
    struct cell *cells;            /* by cell_keys */
    size_t cell_capacity;
    struct text_builder text; /* to put names and keys together in */
};

/* Control characters cannot be part of a field's text in a scenario's value, so parts stay apart. */
static void put_fields(struct gatherer *gatherer, const struct figure_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++)
        text_build(&gatherer->text, "%s\x1f", figure_rows_text(&gatherer->rows, fields->columns[i]));
    text_build(&gatherer->text, "\x1e");
}

static bool is_pooled(const struct figure_spec *spec)
{
    return spec->plot == FIGURE_CDF || spec->plot == FIGURE_HISTOGRAM || spec->plot == FIGURE_SCATTER;
}

static void put_listed(struct text_builder *list, const char *text)
{
    text_build(list, "%s%s", list->used ? ", " : "", text);
}

/* "a, b" of the row's fields, those without effect left out. In the arena. */
static const char *join_fields(struct gatherer *gatherer, const struct figure_fields *fields, bool is_label)
{
    text_clear(&gatherer->text);
    for (size_t i = 0; i < fields->count; i++) {
        const char *text = figure_rows_text(&gatherer->rows, fields->columns[i]);
        if (*text)
            put_listed(&gatherer->text, is_label ? figure_label(gatherer->spec, text) : text);
    }
    return arena_text(&gatherer->out->arena, gatherer->text.text, gatherer->text.used);
}

static size_t number_group(struct gatherer *gatherer, const struct figure_fields *fields, struct groups *groups)
{
    const char *text = join_fields(gatherer, fields, false);
    size_t known = groups->texts.count, number = intern_number(&groups->texts, text, strlen(text));
    if (number == known) {
        groups->names = memory_grow(groups->names, &groups->capacity, number + 1, sizeof *groups->names);
        groups->names[number] = (struct figure_name){text, join_fields(gatherer, fields, true)};
    }
    return number;
}

/* The parts of stacked bars bear the names of the quantities, their unit left to the axis title. */
static void name_parts(struct gatherer *gatherer)
{
    struct arena *arena = &gatherer->out->arena;
    struct groups *series = &gatherer->series;
    series->names = memory_grow(NULL, &series->capacity, gatherer->spec->y_count, sizeof *series->names);
    for (size_t part = 0; part < gatherer->spec->y_count; part++) {
        const char *text = gatherer->spec->ys[part].text, *label = figure_label(gatherer->spec, text);
        if (label == text)
            label = figure_columns_label(text, arena);
        const char *unit = strstr(label, " [");
        size_t length = unit ? (size_t)(unit - label) : strlen(label);
        series->names[part] = (struct figure_name){text, arena_text(arena, label, length)};
    }
}

/* The cell of the current row and of this part of a stack. */
static struct cell *find_cell(struct gatherer *gatherer, size_t part)
{
    const struct figure_spec *spec = gatherer->spec;
    size_t known = gatherer->cell_keys.count;
    text_clear(&gatherer->text);
    text_build(&gatherer->text, "%zu\x1e", part);
    put_fields(gatherer, &spec->x);
    put_fields(gatherer, &spec->series);
    size_t number = intern_number(&gatherer->cell_keys, gatherer->text.text, gatherer->text.used);
    if (number < known)
        return &gatherer->cells[number];
    gatherer->cells = memory_grow(gatherer->cells, &gatherer->cell_capacity, number + 1, sizeof *gatherer->cells);
    struct cell *cell = &gatherer->cells[number];
    *cell = (struct cell){.first_run = gatherer->rows.run, .series = part};
    if (spec->plot != FIGURE_STACKED)
        cell->series = number_group(gatherer, &spec->series, &gatherer->series);
    if (!is_pooled(spec))
        cell->category = number_group(gatherer, &spec->x, &gatherer->categories);
    return cell;
}

/* ---- what the figure does not show ---- */

static bool has_axis(const struct figure_fields *fields, size_t axis)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->columns[i].source == FIGURE_FROM_AXIS && fields->columns[i].index == axis)
            return true;
    return false;
}

/* A swept seed is a repetition, not a setting. */
static void find_hidden(struct gatherer *gatherer)
{
    const struct result_reader *folder = gatherer->rows.folder;
    gatherer->is_hidden = memory_alloc(folder->axis_count, sizeof *gatherer->is_hidden);
    gatherer->is_averaged = memory_alloc(folder->axis_count, sizeof *gatherer->is_averaged);
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        gatherer->is_hidden[axis] = !has_axis(&gatherer->spec->x, axis) && !has_axis(&gatherer->spec->series, axis) &&
                                    strcmp(folder->axes[axis], "run.seed") != 0;
}

/* Once per run, whatever the number of its jobs. */
static void number_hidden(struct gatherer *gatherer)
{
    const struct result_reader *folder = gatherer->rows.folder;
    size_t run = gatherer->rows.run;
    if (gatherer->hidden_run == run + 1)
        return;
    text_clear(&gatherer->text);
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        if (gatherer->is_hidden[axis])
            text_build(&gatherer->text, "%s\x1f", folder->runs[run].texts[axis]);
    gatherer->hidden = intern_number(&gatherer->hidden_keys, gatherer->text.text, gatherer->text.used);
    gatherer->hidden_run = run + 1;
}

static void note_averaged(struct gatherer *gatherer, const struct cell *cell)
{
    const struct result_reader *folder = gatherer->rows.folder;
    const char *const *first = folder->runs[cell->first_run].texts, *const *now =
                                                                        folder->runs[gatherer->rows.run].texts;
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        if (gatherer->is_hidden[axis] && strcmp(first[axis], now[axis]) != 0)
            gatherer->is_averaged[axis] = true;
}

static void add_to_mean(struct gatherer *gatherer, struct cell *cell, double y)
{
    size_t run = gatherer->rows.run;
    struct figure_observation of = {
        .run = run, .seed = gatherer->rows.folder->runs[run].seed, .hidden = gatherer->hidden};
    if (figure_mean_add(&cell->mean, &of, y))
        note_averaged(gatherer, cell);
}

/* "workload.beta, place.strategy" */
static const char *list_averaged(struct gatherer *gatherer)
{
    const struct result_reader *folder = gatherer->rows.folder;
    text_clear(&gatherer->text);
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        if (gatherer->is_averaged[axis])
            put_listed(&gatherer->text, folder->axes[axis]);
    return arena_text(&gatherer->out->arena, gatherer->text.text, gatherer->text.used);
}

static void add_to_pool(struct cell *cell, double x, double y)
{
    cell->rows = memory_grow(cell->rows, &cell->row_capacity, cell->row_count + 1, sizeof *cell->rows);
    cell->rows[cell->row_count++] =
        (struct figure_point){.series = cell->series, .x = x, .y = y, .half_width = NAN, .n = 1};
}

static enum status add_row(struct gatherer *gatherer, struct error *error)
{
    const struct figure_spec *spec = gatherer->spec;
    bool is_used = false;
    number_hidden(gatherer);
    for (size_t part = 0; part < spec->y_count; part++) {
        double x = 0, y;
        TRY(figure_rows_value(&gatherer->rows, &spec->ys[part], &y, error));
        if (spec->plot == FIGURE_SCATTER)
            TRY(figure_rows_value(&gatherer->rows, &spec->x_value, &x, error));
        if (isnan(x) || isnan(y))
            continue;
        struct cell *cell = find_cell(gatherer, part);
        if (is_pooled(spec))
            add_to_pool(cell, x, y);
        else
            add_to_mean(gatherer, cell, y);
        is_used = true;
    }
    gatherer->out->row_count += is_used;
    return STATUS_OK;
}

static enum status gather_rows(struct gatherer *gatherer, struct error *error)
{
    bool has_row;
    find_hidden(gatherer);
    if (gatherer->spec->plot == FIGURE_STACKED)
        name_parts(gatherer);
    for (;;) {
        TRY(figure_rows_next(&gatherer->rows, &has_row, error));
        if (!has_row)
            break;
        TRY(add_row(gatherer, error));
    }
    if (!gatherer->out->row_count)
        return error_set(error, STATUS_USER, "figures: %s: no row has a value to plot; check where and the columns",
                         gatherer->spec->name);
    return STATUS_OK;
}

/* ---- from cells to points ---- */

static int point_total(const void *left, const void *right)
{
    const struct figure_point *a = left, *b = right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    if (a->x < b->x || a->x > b->x)
        return a->x < b->x ? -1 : 1;
    if (a->category != b->category)
        return a->category < b->category ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

static enum status take_mean(struct gatherer *gatherer, const struct cell *cell, const struct statistics_sample *seeds,
                             struct figure_point *point, struct error *error)
{
    struct figure_points *out = gatherer->out;
    const char *text = gatherer->categories.names[cell->category].text, *unit = "";
    *point = (struct figure_point){.series = cell->series,
                                   .category = cell->category,
                                   .y = statistics_sample_mean(seeds),
                                   .half_width = statistics_sample_half_width(seeds),
                                   .n = seeds->count};
    if (gatherer->spec->plot != FIGURE_LINES)
        return STATUS_OK;
    char shown[TEXT_SHOW_BYTES];
    if (!figure_columns_quantity(text, &point->x, &unit) || (out->x_unit && strcmp(out->x_unit, unit) != 0))
        return error_set(error, STATUS_USER,
                         "figures: %s: lines need numbers of one unit on x, and '%s' is none; use plot: bars",
                         gatherer->spec->name, text_show(text, shown));
    out->x_unit = unit;
    return STATUS_OK;
}

/* Each part of a stack by the sum of its parts. Of a sum of nothing no share is taken. */
static void take_shares(struct gatherer *gatherer)
{
    struct figure_points *out = gatherer->out;
    double *wholes = memory_alloc(gatherer->categories.texts.count, sizeof *wholes);
    for (size_t i = 0; i < out->count; i++)
        wholes[out->points[i].category] += out->points[i].y;
    for (size_t i = 0; i < out->count; i++) {
        struct figure_point *point = &out->points[i];
        if (wholes[point->category] > 0)
            point->y /= wholes[point->category];
        point->half_width = NAN; /* that of a sum's part is not that of its share */
    }
    free(wholes);
}

static enum status take_means(struct gatherer *gatherer, struct error *error)
{
    struct figure_points *out = gatherer->out;
    out->points = arena_alloc(&out->arena, gatherer->cell_keys.count, sizeof *out->points);
    out->averaged_over = list_averaged(gatherer);
    for (size_t i = 0; i < gatherer->cell_keys.count; i++) {
        struct cell *cell = &gatherer->cells[i];
        struct statistics_sample seeds = figure_mean_close(&cell->mean);
        if (seeds.count)
            TRY(take_mean(gatherer, cell, &seeds, &out->points[out->count++], error));
    }
    out->points_left_out = gatherer->cell_keys.count - out->count;
    if (!out->count)
        return error_set(error, STATUS_USER,
                         "figures: %s: no seed has a run with every combination of %s; run what is missing, or show or "
                         "filter these keys",
                         gatherer->spec->name, out->averaged_over);
    if (gatherer->spec->is_shared)
        take_shares(gatherer);
    return STATUS_OK;
}

/* From zero at the least value, the step of the distribution at each distinct one; where there are too many, at evenly
 * spaced ranks. */
static size_t take_cdf(const struct cell *cell, struct figure_point *points)
{
    size_t count = 1;
    uint64_t marked = 0;
    points[0] = (struct figure_point){.series = cell->series, .x = cell->rows[0].y, .half_width = NAN};
    for (size_t rank = 1; rank <= cell->row_count; rank++) {
        struct figure_point point = cell->rows[rank - 1];
        bool is_last = rank == cell->row_count, is_step = is_last || cell->rows[rank].y > point.y;
        uint64_t mark = (uint64_t)rank * (FIGURE_CDF_LIMIT - 3) / cell->row_count;
        if (!is_step || (count > 1 && mark == marked && !is_last))
            continue;
        marked = mark;
        point.x = point.y;
        point.y = (double)rank / (double)cell->row_count;
        point.n = rank;
        points[count++] = point;
    }
    require(count <= FIGURE_CDF_LIMIT);
    return count;
}

/* Equal rows are one mark; where there are too many, every k-th of the ordered ones. */
static size_t take_scatter(const struct cell *cell, struct figure_point *points)
{
    size_t distinct = 0, count = 0;
    for (size_t i = 0; i < cell->row_count; i++) {
        if (distinct && point_total(&points[distinct - 1], &cell->rows[i]) == 0)
            points[distinct - 1].n++;
        else
            points[distinct++] = cell->rows[i];
    }
    size_t stride = (distinct + FIGURE_SCATTER_LIMIT - 1) / FIGURE_SCATTER_LIMIT;
    for (size_t i = 0; i < distinct; i += stride)
        points[count++] = points[i];
    return count;
}

/* The number of the bin. Values such as 0.29 in bins of 0.01 belong into the bin they begin, whatever their last bit.
 */
static double bin_of(double value, double bin)
{
    double nearest = round(value / bin);
    return fabs(value / bin - nearest) < 1e-9 * fmax(1, fabs(nearest)) ? nearest : floor(value / bin);
}

static size_t take_histogram(const struct cell *cell, double bin, struct figure_point *points)
{
    size_t count = 0;
    double last = NAN;
    for (size_t i = 0; i < cell->row_count; i++) {
        double number = bin_of(cell->rows[i].y, bin);
        if (!(number <= last)) {
            last = number;
            points[count++] =
                (struct figure_point){.series = cell->series, .x = (number + 0.5) * bin, .half_width = NAN};
        }
        points[count - 1].n++;
    }
    for (size_t i = 0; i < count; i++)
        points[i].y = (double)points[i].n / (double)cell->row_count;
    return count;
}

/* A width of 1, 2 or 5 times a power of ten that makes about 30 bins. */
static double choose_bin(const struct gatherer *gatherer)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < gatherer->cell_keys.count; i++) {
        const struct cell *cell = &gatherer->cells[i];
        low = fmin(low, cell->rows[0].y);
        high = fmax(high, cell->rows[cell->row_count - 1].y);
    }
    double wanted = (high - low) / 30;
    if (!(wanted > 0))
        return 1;
    double power = pow(10, floor(log10(wanted)));
    return wanted <= 2 * power ? 2 * power : wanted <= 5 * power ? 5 * power : 10 * power;
}

static void take_pools(struct gatherer *gatherer)
{
    struct figure_points *out = gatherer->out;
    size_t cell_count = gatherer->cell_keys.count, room = 0;
    for (size_t i = 0; i < cell_count; i++) {
        struct cell *cell = &gatherer->cells[i];
        qsort(cell->rows, cell->row_count, sizeof *cell->rows, point_total);
        bool is_cut = gatherer->spec->plot == FIGURE_CDF && cell->row_count >= FIGURE_CDF_LIMIT;
        room += is_cut ? (size_t)FIGURE_CDF_LIMIT : cell->row_count + 1;
    }
    out->bin = gatherer->spec->bin > 0 ? gatherer->spec->bin : choose_bin(gatherer);
    out->points = arena_alloc(&out->arena, room, sizeof *out->points);
    for (size_t i = 0; i < cell_count; i++) {
        struct cell *cell = &gatherer->cells[i];
        struct figure_point *next = out->points + out->count;
        if (gatherer->spec->plot == FIGURE_CDF)
            out->count += take_cdf(cell, next);
        else if (gatherer->spec->plot == FIGURE_SCATTER)
            out->count += take_scatter(cell, next);
        else
            out->count += take_histogram(cell, out->bin, next);
    }
    require(out->count <= room);
}

static enum status finish_points(struct gatherer *gatherer, struct error *error)
{
    struct figure_points *out = gatherer->out;
    if (is_pooled(gatherer->spec))
        take_pools(gatherer);
    else
        TRY(take_means(gatherer, error));
    bool is_stacked = gatherer->spec->plot == FIGURE_STACKED;
    out->series_count = is_stacked ? gatherer->spec->y_count : gatherer->series.texts.count;
    out->category_count = gatherer->categories.texts.count;
    out->x_unit = out->x_unit ? out->x_unit : "";
    out->averaged_over = out->averaged_over ? out->averaged_over : "";
    qsort(out->points, out->count, sizeof *out->points, point_total);
    return STATUS_OK;
}

/* ---- what is missing ---- */

static void find_missing(const struct result_reader *folder, const struct figure_spec *spec, struct figure_points *out)
{
    double worst = 1;
    for (size_t i = 0; i < folder->point_count; i++) {
        const struct result_point *point = &folder->points[i];
        if (point->runs_done >= point->runs_planned || !figure_rows_keeps(spec, point->texts))
            continue;
        double share = (double)point->runs_done / (double)point->runs_planned;
        out->points_short++;
        if (share < worst) {
            worst = share;
            out->runs_done = point->runs_done;
            out->runs_planned = point->runs_planned;
        }
    }
}

static void gatherer_free(struct gatherer *gatherer)
{
    figure_rows_close(&gatherer->rows);
    for (size_t i = 0; i < gatherer->cell_keys.count; i++) {
        free(gatherer->cells[i].rows);
        figure_mean_free(&gatherer->cells[i].mean);
    }
    intern_free(&gatherer->cell_keys);
    intern_free(&gatherer->hidden_keys);
    intern_free(&gatherer->series.texts);
    intern_free(&gatherer->categories.texts);
    free(gatherer->is_hidden);
    free(gatherer->is_averaged);
    free(gatherer->cells);
    free(gatherer->text.text);
}

enum status figure_points_compute(const struct result_reader *folder, const struct figure_spec *spec,
                                  struct figure_points **points, struct error *error)
{
    require(folder && spec && points && spec->y_count >= 1);
    struct figure_points *made = memory_alloc(1, sizeof *made);
    struct gatherer gatherer = {.spec = spec, .rows = {.folder = folder, .spec = spec}, .out = made};
    enum status status = gather_rows(&gatherer, error);
    made->series = gatherer.series.names; /* the points own them from here on */
    made->categories = gatherer.categories.names;
    if (status == STATUS_OK)
        status = finish_points(&gatherer, error);
    gatherer_free(&gatherer);
    if (status != STATUS_OK) {
        figure_points_free(made);
        return status;
    }
    find_missing(folder, spec, made);
    require(made->count > 0 && made->series_count > 0);
    *points = made;
    return STATUS_OK;
}

void figure_points_free(struct figure_points *points)
{
    if (!points)
        return;
    free(points->series);
    free(points->categories);
    arena_free(&points->arena);
    free(points);
}
