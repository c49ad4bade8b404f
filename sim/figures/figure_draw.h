/* A figure on disk: its points as CSV, its looks as PDF and PNG.
 *
 * The picture is drawn by gnuplot with plots/<plot>.gp after plots/style.gp.
 * What they need is handed over as variables and data blocks in a script that
 * is gone afterwards. Texts go in single quotes, where gnuplot expands nothing,
 * and are shown without markup. Files are the same byte for byte whenever the
 * points and gnuplot are.
 */
#ifndef FIGURES_FIGURE_DRAW_H
#define FIGURES_FIGURE_DRAW_H

#include "figures/figure_points.h"
#include "input/file.h"
#include "input/units.h"

struct figure_place {
    const char *directory; /* DIR/figures, there */
    bool is_page_wide;
};

/* directory/<name>.csv: exactly the plotted points, as x,series,mean,half_width_95,n,averaged_over. */
STATUS_MUST_USE enum status figure_write_points(const struct figure_place *place, const struct figure_spec *spec,
                                                struct figure_points *points, struct error *error);

/* directory/<name>.pdf and .png. A missing gnuplot, or one that fails, is STATUS_IO; the message of
 * one that fails ends with its own last line. */
STATUS_MUST_USE enum status figure_draw(const struct figure_place *place, const struct figure_spec *spec,
                                        struct figure_points *points, struct error *error);

/* The script without its last lines: variables and data. Returns STATUS_USER where a reference names an x or a series
 * that the figure has not. */
STATUS_MUST_USE enum status figure_script(struct file_writer *writer, const struct figure_place *place,
                                          const struct figure_spec *spec, struct figure_points *points,
                                          struct error *error);

/* "n=7/10", and at how many points of the sweep; "" where nothing is missing. In the arena of the points. */
const char *figure_note(struct figure_points *points);

/* Text in single quotes as gnuplot reads it: quotes doubled, control characters as spaces; in the names of tics a
 * percent sign begins a format and is doubled too. In the arena. */
const char *figure_quote(struct arena *arena, const char *text, bool is_tic);

/* The number as files have it, or what stands for NaN. */
const char *figure_number(double value, const char *nothing, char text[UNITS_TEXT_BYTES]);

/* The axis titles as drawn. In the arena of the points. */
const char *figure_x_title(const struct figure_spec *spec, struct figure_points *points);
const char *figure_y_title(const struct figure_spec *spec, struct figure_points *points);

#endif
