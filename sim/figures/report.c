/* DIR/report.html: see report.h. */
#include "figures/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures/figure_draw.h"

enum { PATH_BYTES = 4096, ROW_LIMIT = 1000, SHOWN_FILE_BYTES = 128 * 1024 };
static const size_t part_limit_bytes = (size_t)1 << 28;

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1c1e;--soft:#5b5b63;--line:#d9d9de;--paper:#fff;--card:#f6f6f8}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8ea;--soft:#a5a5ad;--line:#3a3a40;--paper:#17171a;--card:#"
    "212125}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;margin:2rem auto;"
    "padding:0 1rem}\n"
    "h1{font-size:1.7rem;margin-bottom:.2rem}h2{font-size:1.2rem;margin-top:2.2rem}h3{font-size:1rem;margin:1.4rem 0 "
    ".3rem}.soft{color:var(--soft)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}"
    "th,td{padding:.25rem .5rem;border-bottom:1px solid "
    "var(--line);text-align:left;vertical-align:top;overflow-wrap:break-word}td.n{white-space:nowrap}"
    "th{color:var(--soft);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "figure{margin:1.5rem 0;background:#fff;border:1px solid var(--line);border-radius:.4rem;padding:1rem}"
    "figure img{display:block;max-width:100%;width:40rem;margin:auto}figcaption{color:#444;font-size:.9rem;"
    "margin-top:.6rem}\n"
    ".bad{color:#c00;font-weight:600}@media(prefers-color-scheme:dark){p.bad{color:#ff7b72}}\n"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.8rem;overflow-x:auto;"
    "font-size:.8rem}summary{cursor:pointer}\n";

const char *report_escape(struct arena *arena, const char *text, bool may_break)
{
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const size_t most_bytes = strlen("&quot;"); /* that one becomes; no more than ".<wbr>" */
    char *escaped = arena_alloc(arena, most_bytes * strlen(text) + 1, 1), *at = escaped;
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        bool is_blank = (unsigned char)*text < ' ' && *text != '\n' && *text != '\t';
        if (found)
            at = stpcpy(at, entities[found - special]);
        else
            *at++ = is_blank ? ' ' : *text;
        if (may_break && (*text == '.' || *text == '_'))
            at = stpcpy(at, "<wbr>");
    }
    return escaped;
}

/* ---- what was run ---- */

static void put_opening(struct file_writer *writer, struct result_reader *folder)
{
    size_t done = 0, planned = 0;
    for (size_t i = 0; i < folder->point_count; i++) {
        done += folder->points[i].runs_done;
        planned += folder->points[i].runs_planned;
    }
    const char *title = report_escape(&folder->arena, *folder->title ? folder->title : "An ocsim experiment", false);
    file_printf(writer,
                "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
                "content=\"width=device-width\"><title>%s</title><style>\n%s</style></head><body>\n<h1>%s</h1>\n"
                "<p class=soft>%zu run%s at %zu point%s",
                title, style, title, done, done == 1 ? "" : "s", folder->point_count,
                folder->point_count == 1 ? "" : "s");
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        file_printf(writer, "%s%s", axis ? ", " : " of ", report_escape(&folder->arena, folder->axes[axis], false));
    file_printf(writer, ".</p>\n");
    if (done < planned)
        file_printf(writer, "<p class=bad>%zu of %zu planned runs are missing; ocsim run does what is missing.</p>\n",
                    planned - done, planned);
}

/* ---- the points ---- */

static const enum metric shown[] = {METRIC_BLOCKING_RATE, METRIC_JCT_MEAN, METRIC_SPEEDUP_MEAN, METRIC_THROUGHPUT,
                                    METRIC_DEVICE_UTILISATION};
enum { SHOWN_COUNT = sizeof shown / sizeof *shown };

/* Whole numbers up to a million as such; people read powers of ten only where they must. */
static void put_rounded(struct file_writer *writer, double value, int digits)
{
    if (fabs(value) >= 100 && fabs(value) < 1e6)
        file_printf(writer, "%.0f", value);
    else
        file_printf(writer, "%.*g", digits, value);
}

static void put_mean(struct file_writer *writer, const struct result_metric *metric)
{
    file_printf(writer, "<td class=n>");
    if (isnan(metric->mean))
        file_printf(writer, "&ndash;");
    else
        put_rounded(writer, metric->mean, 4);
    if (!isnan(metric->half_width)) {
        file_printf(writer, " &plusmn; ");
        if (fabs(metric->mean) >= 1e6) /* in powers of ten as the mean is */
            file_printf(writer, "%.2g", metric->half_width);
        else
            put_rounded(writer, metric->half_width, 2);
    }
    file_printf(writer, "</td>");
}

static void put_result_row(struct file_writer *writer, struct result_reader *folder, const struct result_point *point)
{
    bool is_short = point->runs_done < point->runs_planned;
    file_printf(writer, "<tr>");
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        file_printf(writer, "<td>%s</td>", report_escape(&folder->arena, point->texts[axis], true));
    file_printf(writer, is_short ? "<td class=\"n bad\">%zu/%zu</td>" : "<td class=n>%zu</td>", point->runs_done,
                point->runs_planned);
    for (size_t i = 0; i < SHOWN_COUNT; i++)
        put_mean(writer, &point->metrics[shown[i]]);
    file_printf(writer, "</tr>\n");
}

static void put_results(struct file_writer *writer, struct result_reader *folder)
{
    file_printf(writer,
                "<h2>Results</h2>\n<p>Mean &plusmn; half the 95&nbsp;%% Student interval over repetitions.</p>\n"
                "<div class=wide><table><thead><tr>");
    for (size_t axis = 0; axis < folder->axis_count; axis++)
        file_printf(writer, "<th>%s</th>", report_escape(&folder->arena, folder->axes[axis], true));
    file_printf(writer, "<th class=n>runs</th>");
    for (size_t i = 0; i < SHOWN_COUNT; i++)
        file_printf(writer, "<th class=n>%s</th>",
                    report_escape(&folder->arena, figure_columns_label(metric_name(shown[i]), &folder->arena), false));
    file_printf(writer, "</tr></thead><tbody>\n");
    size_t rows = folder->point_count < ROW_LIMIT ? folder->point_count : ROW_LIMIT;
    for (size_t i = 0; i < rows; i++)
        put_result_row(writer, folder, &folder->points[i]);
    file_printf(writer, "</tbody></table></div>\n");
    if (rows < folder->point_count)
        file_printf(writer, "<p>The first %zu of %zu points; summary.json has them all.</p>\n", rows,
                    folder->point_count);
}

/* ---- figures ---- */

static void put_base64(struct file_writer *writer, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned word = (unsigned)bytes[i] << 16;
        word |= i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0;
        word |= i + 2 < size ? (unsigned)bytes[i + 2] : 0;
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], i + 1 < size ? digits[word >> 6 & 63] : '=',
                        i + 2 < size ? digits[word & 63] : '='};
        file_append(writer, four, sizeof four);
    }
}

/* Over what was averaged, and where published numbers come from. */
static void put_remarks(struct file_writer *writer, const struct report_figure *figure)
{
    const struct figure_spec *spec = figure->spec;
    struct figure_points *points = figure->points;
    if (*points->averaged_over)
        file_printf(writer, " In each seed the mean over %s is taken first.",
                    report_escape(&points->arena, points->averaged_over, false));
    if (points->points_left_out)
        file_printf(writer, " <span class=bad>%zu left out: no seed has all the runs behind them.</span>",
                    points->points_left_out);
    file_printf(writer, " %llu %s, %zu points in figures/%s.csv.", (unsigned long long)points->row_count,
                spec->uses_jobs ? "jobs" : "runs", points->count, spec->name);
    for (size_t i = 0; i < spec->reference_count; i++)
        file_printf(writer, " %s: %s.", report_escape(&points->arena, spec->references[i].label, false),
                    report_escape(&points->arena, spec->references[i].source, false));
}

static void put_caption(struct file_writer *writer, const struct report_figure *figure)
{
    static const char *const what[FIGURE_PLOT_COUNT] = {"Means and 95 % Student intervals over seeds.",
                                                        "Means and 95 % Student intervals over seeds.",
                                                        "Means over seeds.",
                                                        "Distribution over all runs.",
                                                        "Shares over all runs.",
                                                        "One mark for each row of all runs."};
    const struct figure_spec *spec = figure->spec;
    struct figure_points *points = figure->points;
    const char *note = figure_note(points);
    file_printf(writer, "<figcaption><b>%s.</b> %s%s%s over %s. %s", spec->name,
                spec->caption ? report_escape(&points->arena, spec->caption, false) : "", spec->caption ? " " : "",
                report_escape(&points->arena, figure_y_title(spec, points), false),
                report_escape(&points->arena, figure_x_title(spec, points), false), what[spec->plot]);
    put_remarks(writer, figure);
    if (*note)
        file_printf(writer, " <span class=bad>%s: runs are missing.</span>", note);
    file_printf(writer, "</figcaption>");
}

static void put_figure(struct file_writer *writer, const struct result_reader *folder,
                       const struct report_figure *figure)
{
    char path[PATH_BYTES], *bytes = NULL;
    size_t size = 0;
    int length = snprintf(path, sizeof path, "%s/figures/%s.png", folder->path, figure->spec->name);
    bool is_there = figure->is_drawn && length > 0 && length < PATH_BYTES &&
                    file_read(path, part_limit_bytes, &bytes, &size, NULL) == STATUS_OK;
    file_printf(writer, "<figure>");
    if (is_there) {
        file_printf(writer, "<img alt=\"%s\" src=\"data:image/png;base64,", figure->spec->name);
        put_base64(writer, (const unsigned char *)bytes, size);
        file_printf(writer, "\">");
    } else {
        file_printf(writer, "<p class=bad>Not drawn: gnuplot is needed, and must succeed.</p>");
    }
    put_caption(writer, figure);
    file_printf(writer, "</figure>\n");
    free(bytes);
}

/* ---- what it was made from ---- */

static void put_file(struct file_writer *writer, struct result_reader *folder, const char *name, const char *title)
{
    char *text;
    size_t size;
    if (file_read(result_reader_file(folder, name), part_limit_bytes, &text, &size, NULL) != STATUS_OK)
        return;
    bool is_cut = size > SHOWN_FILE_BYTES;
    if (is_cut)
        text[SHOWN_FILE_BYTES] = '\0';
    file_printf(writer, "<h2>%s</h2>\n<details><summary>%s</summary><pre>%s</pre>%s</details>\n", title, name,
                report_escape(&folder->arena, text, false),
                is_cut ? "<p>Cut short here; the file has it all.</p>" : "");
    free(text);
}

enum status report_write(struct result_reader *folder, const struct report_figure *figures, size_t count,
                         struct error *error)
{
    require(folder && (figures || !count));
    struct file_writer *writer;
    TRY(file_create(result_reader_file(folder, "report.html"), &writer, error));
    put_opening(writer, folder);
    if (count)
        file_printf(writer, "<h2>Figures</h2>\n");
    for (size_t i = 0; i < count; i++)
        put_figure(writer, folder, &figures[i]);
    put_results(writer, folder);
    report_pairs(writer, folder);
    put_file(writer, folder, "scenario.yaml", "Scenario");
    put_file(writer, folder, "manifest.json", "Manifest");
    file_printf(writer, "</body></html>\n");
    return file_finish(writer, error);
}
