/* Figures of a folder: see figures.h. The points of all figures are written before the first one is drawn, so that a
 * missing gnuplot costs the pictures alone. */
#include "figures/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures/figure_draw.h"
#include "figures/report.h"
#include "input/file.h"
#include "input/text.h"
#include "input/units.h"

enum status figures_check(const struct plan *plan, struct error *error)
{
    require(plan);
    const struct yaml_node *node = plan->scenario->settings.figures;
    if (!node || yaml_is_null(node))
        return STATUS_OK;
    struct arena arena = {0};
    struct figure_specs specs;
    const char **names = arena_alloc(&arena, plan->axis_count, sizeof *names);
    for (size_t axis = 0; axis < plan->axis_count; axis++)
        names[axis] = plan->axes[axis].key;
    enum status status = figure_specs_read(node, (struct figure_axes){names, plan->axis_count}, &arena, &specs, error);
    arena_free(&arena);
    return status;
}

/* ---- which figures ---- */

static bool is_axis_numeric(const struct result_reader *folder, size_t axis)
{
    const char *first = NULL, *unit;
    double value;
    for (size_t run = 0; run < folder->run_count; run++) {
        if (!figure_columns_quantity(folder->runs[run].texts[axis], &value, &unit) ||
            (first && strcmp(first, unit) != 0))
            return false;
        first = unit;
    }
    return true;
}

static void choose_default(struct result_reader *folder, struct figure_specs *specs)
{
    struct figure_axes axes = {folder->axes, folder->axis_count};
    specs->items = arena_alloc(&folder->arena, 1, sizeof *specs->items);
    specs->count = 1;
    if (axes.count) {
        figure_spec_default(axes, is_axis_numeric(folder, 0), specs->items);
        return;
    }
    figure_spec_default_run(specs->items);
    struct csv *jobs; /* a run may have been told to write none */
    if (result_reader_open_jobs(folder, &folder->runs[0], &jobs, NULL) == STATUS_OK)
        csv_close(jobs);
    else
        specs->count = 0;
}

/* Repetitions that the stop rule of the sweep left out are not missing. The rows kept are those up to the stop, so
 * their interval tells. */
static void settle_points(struct result_reader *folder, const struct yaml_node *sweep)
{
    struct stop_rule rule;
    if (!sweep || sweep->kind != YAML_MAPPING || stop_rule_read(sweep, &rule, NULL) != STATUS_OK)
        return;
    for (size_t i = 0; i < folder->point_count; i++) {
        struct result_point *point = &folder->points[i];
        const struct result_metric *value = &point->metrics[rule.metric];
        if (stop_rule_is_met(&rule, point->runs_done, value->mean, value->half_width))
            point->runs_planned = point->runs_done;
    }
}

/* The tree must outlive the specs. */
static enum status choose_specs(struct result_reader *folder, struct yaml_tree *scenario, struct figure_specs *specs,
                                struct error *error)
{
    const char *path = result_reader_file(folder, "scenario.yaml");
    const struct yaml_node *node = NULL;
    if (access(path, F_OK) == 0) {
        TRY(yaml_tree_load(path, scenario, error));
        node = yaml_get(scenario->root, "figures");
        settle_points(folder, yaml_get(scenario->root, "sweep"));
    }
    if (node && !yaml_is_null(node))
        return figure_specs_read(node, (struct figure_axes){folder->axes, folder->axis_count}, &folder->arena, specs,
                                 error);
    choose_default(folder, specs);
    return STATUS_OK;
}

static enum status keep_only(const char *name, struct figure_specs *specs, struct error *error)
{
    char shown[TEXT_SHOW_BYTES], known[600] = "";
    for (size_t i = 0; i < specs->count; i++) {
        if (strcmp(specs->items[i].name, name) == 0) {
            specs->items += i;
            specs->count = 1;
            return STATUS_OK;
        }
        text_append(known, sizeof known, "%s%s", i ? ", " : "", specs->items[i].name);
    }
    return error_set(error, STATUS_USER, "plot: no figure '%s'; there are %s", text_show(name, shown),
                     *known ? known : "none");
}

/* ---- drawing ---- */

static enum status compute_all(struct result_reader *folder, const struct figure_specs *specs,
                               const struct figure_place *place, struct report_figure *figures, struct error *error)
{
    for (size_t i = 0; i < specs->count; i++) {
        figures[i].spec = &specs->items[i];
        TRY(figure_points_compute(folder, &specs->items[i], &figures[i].points, error));
        TRY(figure_write_points(place, &specs->items[i], figures[i].points, error));
    }
    return STATUS_OK;
}

/* The first failure is told; a gnuplot that is not there would fail for all. */
static enum status draw_all(const struct figure_place *place, struct report_figure *figures, size_t count,
                            struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        TRY(figure_draw(place, figures[i].spec, figures[i].points, error));
        figures[i].is_drawn = true;
    }
    return STATUS_OK;
}

static enum status draw_figures(struct result_reader *folder, const struct figures_options *options,
                                const struct figure_specs *specs, struct error *error)
{
    struct figure_place place = {result_reader_file(folder, "figures"), options->is_page_wide};
    struct report_figure *figures = memory_alloc(specs->count, sizeof *figures);
    enum status status = file_make_directory(place.directory, error);
    if (status == STATUS_OK)
        status = compute_all(folder, specs, &place, figures, error);
    if (status == STATUS_OK) {
        status = draw_all(&place, figures, specs->count, error);
        bool is_reported = !options->only && (status == STATUS_OK || status == STATUS_IO);
        struct error second = {0};
        enum status report = is_reported ? report_write(folder, figures, specs->count, &second) : STATUS_OK;
        if (status == STATUS_OK && report != STATUS_OK) {
            status = report;
            if (error)
                *error = second;
        }
    }
    for (size_t i = 0; i < specs->count; i++)
        figure_points_free(figures[i].points);
    free(figures);
    return status;
}

enum status figures_plot(const char *directory, const struct figures_options *options, struct error *error)
{
    require(directory && options);
    struct result_reader *folder;
    struct yaml_tree scenario = {0};
    struct figure_specs specs;
    TRY(result_reader_open(directory, &folder, error));
    enum status status = choose_specs(folder, &scenario, &specs, error);
    if (status == STATUS_OK && options->only)
        status = keep_only(options->only, &specs, error);
    if (status == STATUS_OK)
        status = draw_figures(folder, options, &specs, error);
    yaml_tree_free(&scenario);
    result_reader_free(folder);
    return status;
}
