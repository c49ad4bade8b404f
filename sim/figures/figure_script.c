/* The gnuplot script of a figure: variables and data blocks. See figure_draw.h. */
#include "figures/figure_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

static const double column_cm = 8.4, page_cm = 17.4, height_cm = 5.2; /* of a two-column paper */

void figure_quote(struct file_writer *writer, const char *text, bool is_tic)
{
    file_append(writer, "'", 1);
    for (; *text; text++) {
        if (*text == '\'')
            file_append(writer, "''", 2);
        else if (*text == '%' && is_tic)
            file_append(writer, "%%", 2);
        else
            file_append(writer, (unsigned char)*text < ' ' ? " " : text, 1);
    }
    file_append(writer, "'", 1);
}

/* ---- titles ---- */

static const char *with_unit(const char *label, const char *unit, struct arena *arena)
{
    if (!*unit || strchr(label, '['))
        return label;
    size_t size = strlen(label) + strlen(unit) + sizeof " []";
    char *text = arena_alloc(arena, size, 1);
    snprintf(text, size, "%s [%s]", label, unit);
    return text;
}

static const char *fields_title(const struct figure_fields *fields, struct figure_points *points)
{
    char text[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < fields->count; i++) {
        int length = snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                              figure_columns_label(fields->names[i], &points->arena));
        if (length < 0 || (size_t)length >= sizeof text - used)
            break;
        used += (size_t)length;
    }
    return arena_text(&points->arena, text, strlen(text));
}

const char *figure_x_title(const struct figure_spec *spec, struct figure_points *points)
{
    if (spec->x_label)
        return spec->x_label;
    if (spec->plot == FIGURE_SCATTER)
        return figure_columns_label(spec->x_value.text, &points->arena);
    if (spec->plot == FIGURE_CDF || spec->plot == FIGURE_HISTOGRAM)
        return figure_columns_label(spec->ys[0].text, &points->arena);
    return with_unit(fields_title(&spec->x, points), points->x_unit, &points->arena);
}

const char *figure_y_title(const struct figure_spec *spec, struct figure_points *points)
{
    if (spec->y_label)
        return spec->y_label;
    if (spec->plot == FIGURE_CDF || spec->plot == FIGURE_HISTOGRAM)
        return spec->uses_jobs ? "share of jobs" : "share of runs";
    if (spec->plot != FIGURE_STACKED || spec->y_count == 1)
        return figure_columns_label(spec->ys[0].text, &points->arena);
    if (spec->is_shared)
        return spec->uses_jobs ? "share of a job's time" : "share";
    const char *unit = strchr(figure_columns_label(spec->ys[0].text, &points->arena), '[');
    if (!spec->uses_jobs)
        return unit ? unit : "";
    return unit && strcmp(unit, "[s]") == 0 ? "mean time per job [s]" : "mean per job";
}

const char *figure_note(struct figure_points *points)
{
    char text[96] = "";
    if (points->points_short == 1)
        snprintf(text, sizeof text, "n=%zu/%zu", points->runs_done, points->runs_planned);
    else if (points->points_short)
        snprintf(text, sizeof text, "n=%zu/%zu, %zu points short", points->runs_done, points->runs_planned,
                 points->points_short);
    return arena_text(&points->arena, text, strlen(text));
}

/* ---- variables ---- */

static void put_variable(struct file_writer *writer, const char *name, const char *text)
{
    file_printf(writer, "%s = ", name);
    figure_quote(writer, text, false);
    file_printf(writer, "\n");
}

/* A title up the side of a small figure has room for some 28 letters: longer ones go on two lines. */
static void put_side_title(struct file_writer *writer, const char *name, const char *text, struct arena *arena)
{
    size_t length = strlen(text), best = length;
    for (size_t i = 1; i + 1 < length; i++) {
        size_t off = i > length / 2 ? i - length / 2 : length / 2 - i;
        size_t best_off = best > length / 2 ? best - length / 2 : length / 2 - best;
        if (text[i] == ' ' && off < best_off)
            best = i;
    }
    if (length <= 28 || best == length) {
        put_variable(writer, name, text);
        return;
    }
    file_printf(writer, "%s = ", name);
    figure_quote(writer, arena_text(arena, text, best), false);
    file_printf(writer, " . \"\\n\" . ");
    figure_quote(writer, text + best + 1, false);
    file_printf(writer, "\n");
}

static void put_bound(struct file_writer *writer, const char *name, double value)
{
    char text[UNITS_TEXT_BYTES] = "";
    if (!isnan(value))
        units_format_number(value, text);
    put_variable(writer, name, text);
}

/* gnuplot has no empty arrays, and looks at the first element even where a plot is repeated no times. */
static void open_array(struct file_writer *writer, const char *name, size_t count, const char *first)
{
    file_printf(writer, "array %s[%zu]\n%s[1] = %s\n", name, count ? count : 1, name, first);
}

static void put_element(struct file_writer *writer, const char *name, size_t i, const char *text)
{
    file_printf(writer, "%s[%zu] = ", name, i + 1);
    figure_quote(writer, text, false);
    file_printf(writer, "\n");
}

static void put_series(struct file_writer *writer, const struct figure_spec *spec, const struct figure_points *points)
{
    file_printf(writer, "N = %zu\n", points->series_count);
    open_array(writer, "NAMES", points->series_count, "''");
    open_array(writer, "TITLES", points->series_count, "''");
    open_array(writer, "COUNTS", points->series_count, "0");
    for (size_t i = 0; i < points->series_count; i++) {
        const char *label = points->series[i].label;
        put_element(writer, "NAMES", i, points->series[i].text);
        put_element(writer, "TITLES", i, !*label && spec->reference_count ? "ocsim" : label);
        file_printf(writer, "COUNTS[%zu] = 0\n", i + 1);
    }
    for (size_t i = 0, count = 0; i < points->count; i++) {
        count++;
        if (i + 1 == points->count || points->points[i + 1].series != points->points[i].series) {
            file_printf(writer, "COUNTS[%zu] = %zu\n", points->points[i].series + 1, count);
            count = 0;
        }
    }
}

static bool has_categories(const struct figure_spec *spec)
{
    return spec->plot == FIGURE_BARS || spec->plot == FIGURE_STACKED;
}

/* Names are turned where two neighbours would touch: a letter of 7 points is about 0.135 cm wide, and the axis
 * takes 2.4 cm. */
static bool is_crowded(const struct figure_points *points, double width_cm)
{
    double room_cm = (width_cm - 2.4) / ((double)points->category_count + 0.2);
    for (size_t i = 1; i < points->category_count; i++) {
        size_t letters = strlen(points->categories[i - 1].label) + strlen(points->categories[i].label);
        if (((double)letters / 2 + 1) * 0.135 > room_cm)
            return true;
    }
    return false;
}

static void put_categories(struct file_writer *writer, const struct figure_spec *spec,
                           const struct figure_points *points, double width_cm)
{
    bool is_used = has_categories(spec);
    file_printf(writer, "CATEGORIES = %zu\nROTATE = %d\n", is_used ? points->category_count : (size_t)0,
                is_used && is_crowded(points, width_cm));
    if (!is_used)
        return;
    file_printf(writer, "set xtics (");
    for (size_t i = 0; i < points->category_count; i++) {
        file_printf(writer, i ? ", " : "");
        figure_quote(writer, points->categories[i].label, true);
        file_printf(writer, " %zu", i);
    }
    file_printf(writer, ")\n");
}

/* A logarithmic axis of less than two decades would have one power of ten on it, or none. */
static bool is_short_log(const struct figure_spec *spec, const struct figure_points *points)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < points->count; i++) {
        low = fmin(low, points->points[i].x);
        high = fmax(high, points->points[i].x);
    }
    return spec->plot == FIGURE_LINES && spec->is_x_log && points->category_count <= 8 && high < 100 * low;
}

static void put_log_tics(struct file_writer *writer, const struct figure_spec *spec, const struct figure_points *points)
{
    bool is_short = is_short_log(spec, points);
    file_printf(writer, "PLAIN_X = %d\n", is_short);
    if (!is_short)
        return;
    file_printf(writer, "set xtics (");
    for (size_t i = 0; i < points->count; i++)
        file_printf(writer, "%s%.17g", i ? ", " : "", points->points[i].x);
    file_printf(writer, ")\n");
}

/* What the data takes on x, the width of bins included, and how much room it gets beside. */
static void put_x_range(struct file_writer *writer, const struct figure_spec *spec, const struct figure_points *points)
{
    double low = INFINITY, high = -INFINITY, half_bin = spec->plot == FIGURE_HISTOGRAM ? points->bin / 2 : 0;
    for (size_t i = 0; i < points->count; i++) {
        low = fmin(low, points->points[i].x - half_bin);
        high = fmax(high, points->points[i].x + half_bin);
    }
    file_printf(writer, "X_MIN = %.17g\nX_MAX = %.17g\nX_PAD = %.3g\n", low, high, half_bin > 0 ? 0.01 : 0.04);
}

static size_t longer(size_t longest, const char *label)
{
    return strlen(label) > longest ? strlen(label) : longest;
}

/* gnuplot takes every letter to be as wide as a digit when it lays out the legend; most are narrower. */
static double key_width(const struct figure_spec *spec, const struct figure_points *points)
{
    size_t longest = 0;
    for (size_t i = 0; i < points->series_count; i++)
        longest = longer(longest, points->series[i].label);
    for (size_t i = 0; i < spec->reference_count; i++)
        longest = longer(longest, spec->references[i].label);
    return -0.06 * (double)longest;
}

static double bar_width(const struct figure_spec *spec, const struct figure_points *points)
{
    return spec->plot == FIGURE_STACKED ? 0.6 : 0.8 / (double)points->series_count;
}

static void put_settings(struct file_writer *writer, const struct figure_place *place, const struct figure_spec *spec,
                         struct figure_points *points)
{
    double width_cm = place->is_page_wide ? page_cm : column_cm, lowest = 0;
    for (size_t i = 0; i < points->count; i++)
        lowest = fmin(lowest, points->points[i].y);
    file_printf(writer, "WIDTH_CM = %.1f\nHEIGHT_CM = %.1f\n", width_cm, height_cm);
    put_variable(writer, "XLABEL", figure_x_title(spec, points));
    put_side_title(writer, "YLABEL", figure_y_title(spec, points), &points->arena);
    put_variable(writer, "NOTE", figure_note(points));
    put_bound(writer, "Y_LOW", spec->y_low);
    put_bound(writer, "Y_HIGH", spec->y_high);
    file_printf(writer, "X_LOG = %d\nY_LOG = %d\nDIAGONAL = %d\nY_NEGATIVE = %d\n", spec->is_x_log, spec->is_y_log,
                spec->has_diagonal, lowest < 0);
    file_printf(writer, "SHARES = %d\n", spec->is_shared);
    file_printf(writer, "BAR = %.6g\nBIN = %.17g\n", bar_width(spec, points), points->bin);
    put_categories(writer, spec, points, width_cm);
    put_log_tics(writer, spec, points);
    put_x_range(writer, spec, points);
    file_printf(writer, "KEY_WIDTH = %.2f\nCAP = %.4f\n", key_width(spec, points), place->is_page_wide ? 0.003 : 0.006);
}

/* ---- data ---- */

static double position(const struct figure_spec *spec, const struct figure_points *points, size_t series,
                       size_t category)
{
    if (spec->plot == FIGURE_STACKED)
        return (double)category;
    double middle = ((double)points->series_count - 1) / 2;
    return (double)category + ((double)series - middle) * bar_width(spec, points);
}

static void put_number(struct file_writer *writer, double value, char end)
{
    char text[UNITS_TEXT_BYTES] = "NaN";
    if (!isnan(value))
        units_format_number(value, text);
    file_printf(writer, "%s%c", text, end);
}

static void put_point(struct file_writer *writer, const struct figure_spec *spec, const struct figure_points *points,
                      const struct figure_point *point, double *bottoms)
{
    double x = has_categories(spec) ? position(spec, points, point->series, point->category) : point->x;
    double low = point->y - point->half_width, high = point->y + point->half_width;
    if (spec->plot == FIGURE_STACKED) {
        low = bottoms[point->category];
        high = bottoms[point->category] += point->y;
    } else if (spec->is_y_log && low <= 0) {
        low = point->y / 10; /* a logarithm has no zero to reach down to */
    }
    put_number(writer, x, ' ');
    put_number(writer, spec->plot == FIGURE_STACKED ? (low + high) / 2 : point->y, ' ');
    put_number(writer, low, ' ');
    put_number(writer, high, '\n');
}

static void put_points(struct file_writer *writer, const struct figure_spec *spec, struct figure_points *points)
{
    double *bottoms = arena_alloc(&points->arena, points->category_count, sizeof *bottoms);
    file_printf(writer, "$Points << END_OF_POINTS\n");
    for (size_t i = 0; i < points->count; i++) {
        if (i && points->points[i].series != points->points[i - 1].series)
            file_printf(writer, "\n\n");
        put_point(writer, spec, points, &points->points[i], bottoms);
    }
    file_printf(writer, "END_OF_POINTS\n");
}

/* ---- references ---- */

static size_t find_name(const struct figure_name *names, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].text, text) == 0 || strcmp(names[i].label, text) == 0)
            return i;
    return count;
}

static enum status find_series(const struct figure_reference *reference, const struct figure_points *points,
                               size_t *series, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    *series = 0;
    if (!reference->series)
        return STATUS_OK;
    size_t found = find_name(points->series, points->series_count, reference->series);
    if (found == points->series_count)
        return yaml_error(error, reference->node, "figures: reference: the figure has no series '%s'",
                          text_show(reference->series, shown));
    *series = found + 1;
    return STATUS_OK;
}

/* Over the bar of its series, or in the middle of the group; at the number for lines and scatter. */
static enum status mark_x(const struct figure_spec *spec, const struct figure_points *points,
                          const struct figure_reference *reference, size_t mark, size_t series, double *x,
                          struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    const char *text = reference->xs[mark], *unit;
    if (!has_categories(spec)) {
        if (!figure_columns_quantity(text, x, &unit))
            return yaml_error(error, reference->node, "figures: reference: x '%s' is no number",
                              text_show(text, shown));
        return STATUS_OK;
    }
    size_t category = find_name(points->categories, points->category_count, text);
    if (category == points->category_count)
        return yaml_error(error, reference->node, "figures: reference: the figure has no x '%s'",
                          text_show(text, shown));
    *x = series ? position(spec, points, series - 1, category) : (double)category;
    return STATUS_OK;
}

static enum status put_marks(struct file_writer *writer, const struct figure_spec *spec,
                             const struct figure_points *points, struct error *error)
{
    size_t blocks = 0;
    file_printf(writer, "$References << END_OF_REFERENCES\n");
    for (size_t i = 0; i < spec->reference_count; i++) {
        const struct figure_reference *reference = &spec->references[i];
        size_t series = 0;
        enum status status = find_series(reference, points, &series, error);
        if (status == STATUS_OK && !reference->is_level && blocks++)
            file_printf(writer, "\n\n");
        for (size_t mark = 0; mark < reference->count && status == STATUS_OK; mark++) {
            double x;
            status = mark_x(spec, points, reference, mark, series, &x, error);
            if (status == STATUS_OK) {
                put_number(writer, x, ' ');
                put_number(writer, reference->ys[mark], '\n');
            }
        }
        if (status != STATUS_OK)
            return status;
    }
    file_printf(writer, "%sEND_OF_REFERENCES\n", blocks ? "" : "0 NaN\n");
    return STATUS_OK;
}

/* One label stands in the legend once: marks over several series may share it. References are a handful. */
static bool is_label_new(const struct figure_spec *spec, size_t reference)
{
    for (size_t i = 0; i < reference; i++)
        if (spec->references[i].is_level == spec->references[reference].is_level &&
            strcmp(spec->references[i].label, spec->references[reference].label) == 0)
            return false;
    return true;
}

static enum status put_references(struct file_writer *writer, const struct figure_spec *spec,
                                  const struct figure_points *points, struct error *error)
{
    size_t marks = 0, levels = 0;
    open_array(writer, "R_TITLES", spec->reference_count, "''");
    open_array(writer, "R_SERIES", spec->reference_count, "0");
    open_array(writer, "H_TITLES", spec->reference_count, "''");
    open_array(writer, "H_SERIES", spec->reference_count, "0");
    open_array(writer, "H_VALUES", spec->reference_count, "0");
    for (size_t i = 0; i < spec->reference_count; i++) {
        const struct figure_reference *reference = &spec->references[i];
        size_t series, *count = reference->is_level ? &levels : &marks;
        enum status status = find_series(reference, points, &series, error);
        if (status != STATUS_OK)
            return status;
        put_element(writer, reference->is_level ? "H_TITLES" : "R_TITLES", *count,
                    is_label_new(spec, i) ? reference->label : "");
        file_printf(writer, "%s[%zu] = %zu\n", reference->is_level ? "H_SERIES" : "R_SERIES", *count + 1, series);
        if (reference->is_level)
            file_printf(writer, "H_VALUES[%zu] = %.17g\n", *count + 1, reference->level);
        ++*count;
    }
    file_printf(writer, "R = %zu\nH = %zu\n", marks, levels);
    return put_marks(writer, spec, points, error);
}

enum status figure_script(struct file_writer *writer, const struct figure_place *place, const struct figure_spec *spec,
                          struct figure_points *points, struct error *error)
{
    put_settings(writer, place, spec, points);
    put_series(writer, spec, points);
    put_points(writer, spec, points);
    return put_references(writer, spec, points, error);
}
