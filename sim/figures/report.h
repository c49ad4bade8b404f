/* DIR/report.html: an experiment on one page that needs nothing else.
 *
 * Title, what was run, the points of the sweep, the figures (inside the file),
 * paired differences between strategies, the manifest and the resolved scenario.
 * No scripts and no network. Every text that comes from a file is escaped.
 */
#ifndef FIGURES_REPORT_H
#define FIGURES_REPORT_H

#include "figures/figure_points.h"
#include "input/file.h"

struct report_figure {
    const struct figure_spec *spec;
    struct figure_points *points; /* owned by the caller */
    bool is_drawn;                /* figures/<name>.png is of these points */
};

STATUS_MUST_USE enum status report_write(struct result_reader *folder, const struct report_figure *figures,
                                         size_t count, struct error *error);

/* Text with & < > " ' as entities and control characters but newline and tab as spaces; where it may break, lines may
 * end behind dots and underscores, so that tables of long names stay narrow. In the arena. */
const char *report_escape(struct arena *arena, const char *text, bool may_break);

/* The section of paired differences; nothing where there is nothing to compare. See report_pairs.c. */
void report_pairs(struct file_writer *writer, struct result_reader *folder);

#endif
