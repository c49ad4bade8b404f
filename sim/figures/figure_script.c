/* The gnuplot script of a figure: variables and data blocks. See figure_draw.h. */
#include "figures/figure_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

static const double column_cm = 8.4, page_cm = 17.4, height_cm = 5.2; /* of a two-column paper */

struct script {
    struct file_writer *writer;
    const struct figure_spec *spec;
    struct figure_points *points;
    double width_cm;
};

const char *figure_quote(struct arena *arena, const char *text, bool is_tic)
{
    char *quoted = arena_alloc(arena, 2 * strlen(text) + sizeof "''", 1), *at = quoted;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'' || (*text == '%' && is_tic))
            *at++ = *text;
        *at++ = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    *at = '\'';
    return quoted;
}

static const char *quote_text(const struct script *script, const char *text)
{
    return figure_quote(&script->points->arena, text, false);
}

/* ---- titles ---- */

static const char *fields_title(const struct figure_fields *fields, struct figure_points *points)
{
    char text[400] = "";
    for (size_t i = 0; i < fields->count; i++)
        text_append(text, sizeof text, "%s%s", i ? ", " : "", figure_columns_label(fields->names[i], &points->arena));
    if (*points->x_unit && !strchr(text, '['))
        text_append(text, sizeof text, " [%s]", points->x_unit);
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
    return fields_title(&spec->x, points);
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
    if (points->points_short)
        text_append(text, sizeof text, "n=%zu/%zu", points->runs_done, points->runs_planned);
    if (points->points_short > 1)
        text_append(text, sizeof text, ", %zu points short", points->points_short);
    return arena_text(&points->arena, text, strlen(text));
}

/* ---- variables ---- */

static void put_variable(const struct script *script, const char *name, const char *text)
{
    file_printf(script->writer, "%s = %s\n", name, quote_text(script, text));
}

/* A title up the side of a small figure has room for some 28 letters: longer ones go on two lines. */
static void put_side_title(const struct script *script, const char *name, const char *text)
{
    size_t length = strlen(text), best = length;
    for (size_t i = 1; i + 1 < length; i++) {
        size_t off = i > length / 2 ? i - length / 2 : length / 2 - i;
        size_t best_off = best > length / 2 ? best - length / 2 : length / 2 - best;
        if (text[i] == ' ' && off < best_off)
            best = i;
    }
    if (length <= 28 || best == length)
        put_variable(script, name, text);
    else
        file_printf(script->writer, "%s = %s . \"\\n\" . %s\n", name,
                    quote_text(script, arena_text(&script->points->arena, text, best)),
                    quote_text(script, text + best + 1));
}

static void put_y_bound(const struct script *script, const char *name, double value)
{
    char text[UNITS_TEXT_BYTES];
    put_variable(script, name, figure_number(value, "", text));
}

/* gnuplot has no empty arrays, and looks at the first element even where a plot is repeated no times. */
static void open_array(const struct script *script, const char *name, size_t count, const char *first)
{
    file_printf(script->writer, "array %s[%zu]\n%s[1] = %s\n", name, count ? count : 1, name, first);
}

static void put_element(const struct script *script, const char *name, size_t i, const char *text)
{
    file_printf(script->writer, "%s[%zu] = %s\n", name, i + 1, quote_text(script, text));
}

static void put_series(const struct script *script)
{
    const struct figure_points *points = script->points;
    file_printf(script->writer, "N = %zu\n", points->series_count);
    open_array(script, "NAMES", points->series_count, "''");
    open_array(script, "TITLES", points->series_count, "''");
    open_array(script, "COUNTS", points->series_count, "0");
    for (size_t i = 0; i < points->series_count; i++) {
        const char *label = points->series[i].label;
        put_element(script, "NAMES", i, points->series[i].text);
        put_element(script, "TITLES", i, !*label && script->spec->reference_count ? "ocsim" : label);
        file_printf(script->writer, "COUNTS[%zu] = 0\n", i + 1);
    }
    for (size_t i = 0, count = 0; i < points->count; i++) {
        count++;
        if (i + 1 == points->count || points->points[i + 1].series != points->points[i].series) {
            file_printf(script->writer, "COUNTS[%zu] = %zu\n", points->points[i].series + 1, count);
            count = 0;
        }
    }
}

/* Names are turned where two neighbours would touch: a letter of 7 points is about 0.135 cm wide, and the axis
 * takes 2.4 cm. */
static bool is_crowded(const struct script *script)
{
    const struct figure_points *points = script->points;
    double room_cm = (script->width_cm - 2.4) / ((double)points->category_count + 0.2);
    for (size_t i = 1; i < points->category_count; i++) {
        size_t letters = strlen(points->categories[i - 1].label) + strlen(points->categories[i].label);
        if (((double)letters / 2 + 1) * 0.135 > room_cm)
            return true;
    }
    return false;
}

static void put_categories(const struct script *script)
{
    struct figure_points *points = script->points;
    bool is_used = figure_has_categories(script->spec);
    file_printf(script->writer, "CATEGORIES = %zu\nROTATE = %d\n", is_used ? points->category_count : (size_t)0,
                is_used && is_crowded(script));
    if (!is_used)
        return;
    file_printf(script->writer, "set xtics (");
    for (size_t i = 0; i < points->category_count; i++)
        file_printf(script->writer, "%s%s %zu", i ? ", " : "",
                    figure_quote(&points->arena, points->categories[i].label, true), i);
    file_printf(script->writer, ")\n");
}

/* What the data takes on x, the width of bins included, and how much room it gets beside. A logarithmic axis of less
 * than two decades would have one power of ten on it, or none: its tics are the points. */
static void put_x_range(const struct script *script)
{
    const struct figure_points *points = script->points;
    double low = INFINITY, high = -INFINITY, half_bin = script->spec->plot == FIGURE_HISTOGRAM ? points->bin / 2 : 0;
    for (size_t i = 0; i < points->count; i++) {
        low = fmin(low, points->points[i].x - half_bin);
        high = fmax(high, points->points[i].x + half_bin);
    }
    bool is_plain =
        script->spec->plot == FIGURE_LINES && script->spec->is_x_log && points->category_count <= 8 && high < 100 * low;
    file_printf(script->writer, "PLAIN_X = %d\n%s", is_plain, is_plain ? "set xtics (" : "");
    for (size_t i = 0; is_plain && i < points->count; i++)
        file_printf(script->writer, "%s%.17g", i ? ", " : "", points->points[i].x);
    file_printf(script->writer, "%sX_MIN = %.17g\nX_MAX = %.17g\nX_PAD = %.3g\n", is_plain ? ")\n" : "", low, high,
                half_bin > 0 ? 0.01 : 0.04);
}

/* gnuplot takes every letter to be as wide as a digit when it lays out the legend; most are narrower. */
static double key_width(const struct script *script)
{
    size_t longest = 0;
    for (size_t i = 0; i < script->points->series_count + script->spec->reference_count; i++) {
        bool is_series = i < script->points->series_count;
        size_t length = strlen(is_series ? script->points->series[i].label
                                         : script->spec->references[i - script->points->series_count].label);
        longest = length > longest ? length : longest;
    }
    return -0.06 * (double)longest;
}

static double bar_width(const struct script *script)
{
    return script->spec->plot == FIGURE_STACKED ? 0.6 : 0.8 / (double)script->points->series_count;
}

static void put_variables(const struct script *script)
{
    const struct figure_spec *spec = script->spec;
    struct figure_points *points = script->points;
    double lowest = 0;
    for (size_t i = 0; i < points->count; i++)
        lowest = fmin(lowest, points->points[i].y);
    file_printf(script->writer, "WIDTH_CM = %.1f\nHEIGHT_CM = %.1f\n", script->width_cm, height_cm);
    put_variable(script, "XLABEL", figure_x_title(spec, points));
    put_side_title(script, "YLABEL", figure_y_title(spec, points));
    put_variable(script, "NOTE", figure_note(points));
    put_y_bound(script, "Y_LOW", spec->y_low);
    put_y_bound(script, "Y_HIGH", spec->y_high);
    file_printf(script->writer, "X_LOG = %d\nY_LOG = %d\nDIAGONAL = %d\nY_NEGATIVE = %d\nSHARES = %d\n", spec->is_x_log,
                spec->is_y_log, spec->has_diagonal, lowest < 0, spec->is_shared);
    file_printf(script->writer, "BAR = %.6g\nBIN = %.17g\n", bar_width(script), points->bin);
    put_categories(script);
    put_x_range(script);
    file_printf(script->writer, "KEY_WIDTH = %.2f\nCAP = %.4f\n", key_width(script),
                script->width_cm > column_cm ? 0.003 : 0.006);
}

/* ---- data ---- */

/* The middle of the bar of a series. */
static double bar_x(const struct script *script, size_t series, size_t category)
{
    if (script->spec->plot == FIGURE_STACKED)
        return (double)category;
    double middle = ((double)script->points->series_count - 1) / 2;
    return (double)category + ((double)series - middle) * bar_width(script);
}

static void put_data(const struct script *script, double value, char end)
{
    char text[UNITS_TEXT_BYTES];
    file_printf(script->writer, "%s%c", figure_number(value, "NaN", text), end);
}

static void put_data_point(const struct script *script, const struct figure_point *point, double *bottoms)
{
    const struct figure_spec *spec = script->spec;
    double x = figure_has_categories(spec) ? bar_x(script, point->series, point->category) : point->x;
    double low = point->y - point->half_width, high = point->y + point->half_width;
    if (spec->plot == FIGURE_STACKED) {
        low = bottoms[point->category];
        high = bottoms[point->category] += point->y;
    } else if (spec->is_y_log && low <= 0) {
        low = point->y / 10; /* a logarithm has no zero to reach down to */
    }
    put_data(script, x, ' ');
    put_data(script, spec->plot == FIGURE_STACKED ? (low + high) / 2 : point->y, ' ');
    put_data(script, low, ' ');
    put_data(script, high, '\n');
}

static void put_data_points(const struct script *script)
{
    struct figure_points *points = script->points;
    double *bottoms = arena_alloc(&points->arena, points->category_count, sizeof *bottoms);
    file_printf(script->writer, "$Points << END_OF_POINTS\n");
    for (size_t i = 0; i < points->count; i++) {
        if (i && points->points[i].series != points->points[i - 1].series)
            file_printf(script->writer, "\n\n");
        put_data_point(script, &points->points[i], bottoms);
    }
    file_printf(script->writer, "END_OF_POINTS\n");
}

/* ---- references ---- */

static size_t find_name(const struct figure_name *names, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].text, text) == 0 || strcmp(names[i].label, text) == 0)
            return i;
    return count;
}

static enum status refuse_reference(const struct figure_reference *reference, const char *before, const char *text,
                                    const char *after, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    return yaml_error(error, reference->node, "figures: reference: %s '%s'%s", before, text_show(text, shown), after);
}

/* 1 + the series a reference belongs to; 0 = none. */
static enum status find_series(const struct script *script, const struct figure_reference *reference, size_t *series,
                               struct error *error)
{
    const struct figure_points *points = script->points;
    *series = reference->series ? 1 + find_name(points->series, points->series_count, reference->series) : 0;
    if (*series > points->series_count)
        return refuse_reference(reference, "the figure has no series", reference->series, "", error);
    return STATUS_OK;
}

/* Over the bar of its series, or in the middle of the group; at the number for lines and scatter. */
static enum status mark_x(const struct script *script, const struct figure_reference *reference, const char *text,
                          size_t series, double *x, struct error *error)
{
    const struct figure_points *points = script->points;
    const char *unit;
    if (!figure_has_categories(script->spec)) {
        if (!figure_columns_quantity(text, x, &unit))
            return refuse_reference(reference, "x", text, " is no number", error);
        return STATUS_OK;
    }
    size_t category = find_name(points->categories, points->category_count, text);
    if (category == points->category_count)
        return refuse_reference(reference, "the figure has no x", text, "", error);
    *x = series ? bar_x(script, series - 1, category) : (double)category;
    return STATUS_OK;
}

static enum status put_marks(const struct script *script, struct error *error)
{
    size_t blocks = 0;
    file_printf(script->writer, "$References << END_OF_REFERENCES\n");
    for (size_t i = 0; i < script->spec->reference_count; i++) {
        const struct figure_reference *reference = &script->spec->references[i];
        size_t series = 0;
        TRY(find_series(script, reference, &series, error));
        if (!reference->is_level && blocks++)
            file_printf(script->writer, "\n\n");
        for (size_t mark = 0; mark < reference->count; mark++) {
            double x;
            TRY(mark_x(script, reference, reference->xs[mark], series, &x, error));
            put_data(script, x, ' ');
            put_data(script, reference->ys[mark], '\n');
        }
    }
    file_printf(script->writer, "%sEND_OF_REFERENCES\n", blocks ? "" : "0 NaN\n");
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

static enum status put_references(const struct script *script, struct error *error)
{
    const struct figure_spec *spec = script->spec;
    size_t marks = 0, levels = 0;
    open_array(script, "R_TITLES", spec->reference_count, "''");
    open_array(script, "R_SERIES", spec->reference_count, "0");
    open_array(script, "H_TITLES", spec->reference_count, "''");
    open_array(script, "H_SERIES", spec->reference_count, "0");
    open_array(script, "H_VALUES", spec->reference_count, "0");
    for (size_t i = 0; i < spec->reference_count; i++) {
        const struct figure_reference *reference = &spec->references[i];
        size_t series, number = reference->is_level ? levels++ : marks++;
        TRY(find_series(script, reference, &series, error));
        put_element(script, reference->is_level ? "H_TITLES" : "R_TITLES", number,
                    is_label_new(spec, i) ? reference->label : "");
        file_printf(script->writer, "%s[%zu] = %zu\n", reference->is_level ? "H_SERIES" : "R_SERIES", number + 1,
                    series);
        if (reference->is_level)
            file_printf(script->writer, "H_VALUES[%zu] = %.17g\n", number + 1, reference->level);
    }
    file_printf(script->writer, "R = %zu\nH = %zu\n", marks, levels);
    return put_marks(script, error);
}

enum status figure_script(struct file_writer *writer, const struct figure_place *place, const struct figure_spec *spec,
                          struct figure_points *points, struct error *error)
{
    const struct script script = {writer, spec, points, place->is_page_wide ? page_cm : column_cm};
    put_variables(&script);
    put_series(&script);
    put_data_points(&script);
    return put_references(&script, error);
}
