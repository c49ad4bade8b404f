/* Properties held here: a figure shows what the result files say, and says so when something is missing.
 *   - means and 95 % Student half widths are those computed by hand; only rows that the filter keeps count;
 *   - settings that are not shown are averaged within each seed and are no repetitions;
 *   - a job's figure is the mean of each run first; blocked jobs have no completion time;
 *   - distributions, histograms and stacks add up;
 *   - wrong members, columns and kinds are refused at their place;
 *   - damaged results are a message, not a picture. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures/figure_draw.h"
#include "figures/figures.h"
#include "sample_folder.h"
#include "suites.h"

/* ---- points ---- */

struct drawn {
    struct result_reader *folder;
    struct yaml_tree tree;
    struct figure_specs specs;
    struct figure_points *points;
};

/* Computes the one figure described; the folder is the one in root. */
static enum status compute(const char *figure, struct drawn *drawn, struct error *error)
{
    char text[1024];
    *drawn = (struct drawn){0};
    int length = snprintf(text, sizeof text, "figures: %s\n", figure);
    CU_ASSERT_FATAL(length > 0 && length < (int)sizeof text);
    enum status status = yaml_tree_parse(text, (size_t)length, "f.yaml", &drawn->tree, error);
    if (status == STATUS_OK)
        status = result_reader_open(sample_root(), &drawn->folder, error);
    if (status != STATUS_OK)
        return status;
    struct figure_axes axes = {drawn->folder->axes, drawn->folder->axis_count};
    status =
        figure_specs_read(yaml_get(drawn->tree.root, "figures"), axes, &drawn->folder->arena, &drawn->specs, error);
    return status == STATUS_OK ? figure_points_compute(drawn->folder, drawn->specs.items, &drawn->points, error)
                               : status;
}

static void drawn_free(struct drawn *drawn)
{
    figure_points_free(drawn->points);
    result_reader_free(drawn->folder);
    yaml_tree_free(&drawn->tree);
}

static struct figure_points *compute_well(const char *figure, struct drawn *drawn)
{
    struct error error = {0};
    enum status status = compute(figure, drawn, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    return drawn->points;
}

/* Student's quantile with 2 degrees of freedom has a closed form, (2p - 1) sqrt(2 / (4p (1 - p))), here at p = 0.975.
 */
static void test_means(void)
{
    struct drawn drawn;
    const double student = 0.95 * sqrt(2 / (4 * 0.975 * 0.025));
    sample_fill();
    const struct figure_points *points =
        compute_well("[{name: f, plot: lines, x: load, y: blocking_rate, series: policy}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 3);
    CU_ASSERT_EQUAL(points->series_count, 2);
    CU_ASSERT_STRING_EQUAL(points->series[0].text, "a_b");
    CU_ASSERT_STRING_EQUAL(points->x_unit, "s");
    CU_ASSERT_EQUAL(points->points[0].x, 10);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].half_width, student * sqrt(0.01 / 3), 1e-12);
    CU_ASSERT_EQUAL(points->points[0].n, 3);
    CU_ASSERT_EQUAL(points->points[1].x, 20);
    CU_ASSERT_EQUAL(points->points[1].n, 1);
    CU_ASSERT(isnan(points->points[1].half_width));
    CU_ASSERT_DOUBLE_EQUAL(points->points[2].y, 0.6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(points->points[2].half_width, student * sqrt(0.03 / 3), 1e-12);
    CU_ASSERT_EQUAL(points->points_short, 0);
    drawn_free(&drawn);
}

static void test_jobs_are_meaned_by_run(void)
{
    struct drawn drawn;
    sample_fill();
    const struct figure_points *points = compute_well(
        "[{name: f, plot: bars, x: policy, y: 2*jct_s/sequential_s, where: {load: 10s, policy: a_b}}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 1);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 2 * (20 + 40 + 50) / 3. / 100, 1e-12);
    CU_ASSERT_EQUAL(points->points[0].n, 3);
    CU_ASSERT_EQUAL(points->row_count, 5);
    drawn_free(&drawn);
    points = compute_well("[{name: f, plot: bars, x: model, y: blocked, where: load=10s}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 2);
    CU_ASSERT_STRING_EQUAL(points->categories[1].text, "gnmt");
    CU_ASSERT_EQUAL(points->points[0].y, 0);
    CU_ASSERT_EQUAL(points->points[0].n, 3); /* three seeds, each the mean over both policies */
    CU_ASSERT_STRING_EQUAL(points->averaged_over, "policy");
    CU_ASSERT_EQUAL(points->points[1].y, 0.5);
    CU_ASSERT_EQUAL(points->points[1].n, 1);
    drawn_free(&drawn);
}

/* Over both policies the seeds at 10s have the means 0.3, 0.35 and 0.55; taken for six repetitions, the same runs would
 * give an interval of the differences between policies. */
static void test_hidden_axes_are_averaged_by_seed(void)
{
    struct drawn drawn;
    const double student = 0.95 * sqrt(2 / (4 * 0.975 * 0.025));
    sample_fill();
    const struct figure_points *points =
        compute_well("[{name: f, plot: lines, x: load, y: blocking_rate, where: load=10s}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 1);
    CU_ASSERT_EQUAL(points->points[0].n, 3);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 0.4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].half_width, student * sqrt((0.01 + 0.0025 + 0.0225) / 2 / 3), 1e-12);
    CU_ASSERT_STRING_EQUAL(points->averaged_over, "policy");
    drawn_free(&drawn);
    points = compute_well("[{name: f, plot: lines, x: load, y: blocking_rate, series: policy}]", &drawn);
    CU_ASSERT_STRING_EQUAL(points->averaged_over, "");
    drawn_free(&drawn);
}

/* Seed 2 lacks one policy: its mean would be that of the other one alone, so it does not count. */
static void test_incomplete_seeds_do_not_count(void)
{
    struct drawn drawn;
    struct error error = {0};
    sample_fill();
    FILE *file = sample_open_runs();
    sample_write_row(file, "0000,a_b,10s,1,ok", "0.1");
    sample_write_row(file, "0001,a_b,10s,2,ok", "0.9");
    sample_write_row(file, "0002,max,10s,1,ok", "0.3");
    fclose(file);
    const struct figure_points *points = compute_well("[{name: f, plot: lines, x: load, y: blocking_rate}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 1);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 0.2, 1e-12);
    CU_ASSERT_EQUAL(points->points[0].n, 1);
    drawn_free(&drawn);
    file = sample_open_runs();
    sample_write_row(file, "0000,a_b,10s,1,ok", "0.1");
    sample_write_row(file, "0001,max,10s,2,ok", "0.9");
    sample_write_row(file, "0002,max,20s,2,ok", "0.7");
    fclose(file);
    points = compute_well("[{name: f, plot: lines, x: load, y: blocking_rate}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 1);
    CU_ASSERT_EQUAL(points->points[0].x, 20);
    CU_ASSERT_EQUAL(points->points_left_out, 1);
    drawn_free(&drawn);
    CU_ASSERT_EQUAL(compute("[{name: f, plot: lines, x: load, y: blocking_rate, where: load=10s}]", &drawn, &error),
                    STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "every combination of policy"));
    drawn_free(&drawn);
}

static void test_distributions(void)
{
    struct drawn drawn;
    sample_fill();
    const struct figure_points *points =
        compute_well("[{name: f, plot: cdf, y: jct_s, series: policy, where: {policy: a_b, load: 10s}}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 6);
    CU_ASSERT_EQUAL(points->points[0].x, 10); /* from zero */
    CU_ASSERT_EQUAL(points->points[0].y, 0);
    CU_ASSERT_EQUAL(points->points[1].x, 10);
    CU_ASSERT_DOUBLE_EQUAL(points->points[1].y, 0.2, 1e-12);
    CU_ASSERT_EQUAL(points->points[5].x, 50);
    CU_ASSERT_EQUAL(points->points[5].y, 1);
    drawn_free(&drawn);
    points = compute_well("[{name: f, plot: histogram, y: beta, bin: 0.01}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 2);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].x, 0.295, 1e-12); /* 0.29 begins its bin, whatever 0.29/0.01 is */
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 0.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y + points->points[1].y, 1, 1e-12);
    drawn_free(&drawn);
    points = compute_well("[{name: f, plot: scatter, x: 1/beta, y: speedup}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 5); /* (1/0.29, 10) and 2 with 2, 2.5, 3.33, 5 */
    CU_ASSERT_EQUAL(points->points[0].y, 2);
    CU_ASSERT_EQUAL(points->points[0].n, 5);
    CU_ASSERT_DOUBLE_EQUAL(points->points[4].x, 1 / 0.29, 1e-12);
    drawn_free(&drawn);
}

static void test_cdf_is_thinned(void)
{
    struct drawn drawn;
    sample_fill();
    FILE *file = fopen(sample_path("runs/0006/jobs.csv"), "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int job = 1; job < 20000; job++)
        fprintf(file, "%d,vgg16,0,0.5,100,50,2,completed,,%d,4,32,4,0,2,0-0-0,,,0,0,,0\n", job, 50 + job);
    fclose(file);
    const struct figure_points *points = compute_well("[{name: f, plot: cdf, y: jct_s, where: load=20s}]", &drawn);
    CU_ASSERT(points->count <= FIGURE_CDF_LIMIT && points->count > FIGURE_CDF_LIMIT / 2);
    CU_ASSERT_EQUAL(points->points[points->count - 1].x, 50 + 19999);
    CU_ASSERT_EQUAL(points->points[points->count - 1].y, 1);
    drawn_free(&drawn);
}

static void test_stack(void)
{
    struct drawn drawn;
    sample_fill();
    const struct figure_points *points = compute_well(
        "[{name: f, plot: stacked, x: policy, y: [comp_s, comm_s], where: {load: 10s, policy: a_b}}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 2);
    CU_ASSERT_STRING_EQUAL(points->series[0].label, "computation");
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, (16 + 32 + 32) / 3., 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(points->points[1].y, (2 + 4 + 4) / 3., 1e-12);
    drawn_free(&drawn);
    struct figure_points *shares =
        compute_well("[{name: f, plot: stacked, x: policy, y: [comp_s, comm_s], shares: true}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(shares->count, 4);
    CU_ASSERT_DOUBLE_EQUAL(shares->points[1].y, 32 / 36., 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(shares->points[3].y, 4 / 36., 1e-12);
    CU_ASSERT_STRING_EQUAL(figure_y_title(drawn.specs.items, shares), "share of a job's time");
    drawn_free(&drawn);
}

static void test_missing_runs_are_noted(void)
{
    struct drawn drawn;
    sample_fill();
    sample_write_summary(2);
    struct figure_points *points = compute_well("[{name: f, plot: bars, x: policy, y: blocking_rate}]", &drawn);
    CU_ASSERT_STRING_EQUAL(figure_note(points), "n=2/3");
    drawn_free(&drawn);
    points = compute_well("[{name: f, plot: bars, x: policy, y: blocking_rate, where: policy=a_b}]", &drawn);
    CU_ASSERT_STRING_EQUAL(figure_note(points), "");
    drawn_free(&drawn);
}

/* Two of three planned runs, with an interval of 0.6 +- 0.05: enough for 10 %, too few for 5 %. */
static void test_stopped_points_are_not_missing(void)
{
    static const char *const widths[] = {"0.1", "0.05"};
    for (int i = 0; i < 2 && sample_has_gnuplot(); i++) {
        char text[512];
        sample_fill();
        snprintf(text, sizeof text,
                 "{\"title\": \"\", \"points\": [{\"settings\": {\"policy\": \"max\", \"load\": \"10s\"}, "
                 "\"runs_done\": 2, \"runs_planned\": 3, \"metrics\": {\"blocking_rate\": {\"mean\": 0.6, "
                 "\"half_width_95\": 0.05}}}]}");
        sample_write("summary.json", text);
        snprintf(text, sizeof text,
                 "sweep: {repeat: 2, stop_when: {metric: blocking_rate, relative_half_width: %s, max_repeat: 3}}\n",
                 widths[i]);
        sample_write("scenario.yaml", text);
        CU_ASSERT_EQUAL_FATAL(figures_plot(sample_root(), &(struct figures_options){0}, NULL), STATUS_OK);
        char *report = sample_read("report.html");
        CU_ASSERT_EQUAL(strstr(report, "n=2/3") != NULL, i == 1);
        free(report);
    }
}

/* ---- what is refused ---- */

static void test_bad_figures(void)
{
    static const struct {
        const char *figure, *said;
    } cases[] = {
        {"[{name: f, plot: bars, x: policy, y: blocking_rat}]", "did you mean blocking_rate?"},
        {"[{name: f, plot: bars, x: polcy, y: blocking_rate}]", "did you mean policy?"},
        {"[{name: f, plot: bars, x: policy, y: blocking_rate, serie: load}]", "did you mean series?"},
        {"[{name: f, plot: bars, x: policy, y: blocking_rate, bin: 1}]", "bin has no effect with plot: bars"},
        {"[{name: f, plot: bars, x: policy, y: beta, shares: true}]", "shares has no effect with plot: bars"},
        {"[{name: f, plot: bars, y: blocking_rate}]", "plot: bars needs x"},
        {"[{name: f, plot: pie, y: blocking_rate}]", "expected bars, lines"},
        {"[{name: ../f, plot: cdf, y: jct_s}]", "it names files"},
        {"[{plot: cdf, y: jct_s}]", "needs a name"},
        {"[{name: f, plot: cdf, y: jct_s}, {name: f, plot: cdf, y: beta}]", "two figures are named 'f'"},
        {"[{name: f, plot: cdf, y: jct_s/}]", "expected columns and numbers"},
        {"[{name: f, plot: cdf, y: model}]", "no column 'model'"},
        {"[{name: f, plot: cdf, y: [jct_s, beta]}]", "found a list"},
        {"[{name: f, plot: cdf, y: jct_s, logx: maybe}]", "expected true or false"},
        {"[{name: f, plot: cdf, y: jct_s, log: true}]", "log: expected x, y or xy"},
        {"[{name: f, plot: cdf, y: jct_s, log: xy}]", "log: xy has no effect on y"},
        {"[{name: f, plot: histogram, y: jct_s, log: x}]", "log has no effect with plot: histogram"},
        {"[{name: f, plot: cdf, y: jct_s, yrange: [1, 0]}]", "must be the smaller one"},
        {"[{name: f, plot: histogram, y: jct_s, bin: 0}]", "a width above 0"},
        {"[{name: f, plot: bars, x: policy, y: beta, reference: [{label: x, values: 1}]}]", "source are all needed"},
        {"{name: f}", "expected a list"},
        {"[7]", "expected a figure"},
        {"[{name: f, plot: lines, x: policy, y: blocking_rate}]", "use plot: bars"},
        {"[{name: f, plot: bars, x: policy, y: blocking_rate, where: {load: 30s}}]", "no row has a value"},
    };
    sample_fill();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drawn drawn;
        struct error error = {0};
        CU_ASSERT_EQUAL(compute(cases[i].figure, &drawn, &error), STATUS_USER);
        if (!strstr(error.message, cases[i].said))
            printf("\n  %s\n  said: %s\n  expected: %s\n", cases[i].figure, error.message, cases[i].said);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
        if (i < 19)
            CU_ASSERT(error.line == 1 && error.column >= 10);
        drawn_free(&drawn);
    }
}

static void expect_refused(enum status expected, const char *file, int line)
{
    struct error error = {0};
    CU_ASSERT_EQUAL(figures_plot(sample_root(), &(struct figures_options){0}, &error), expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.file, file));
    CU_ASSERT_EQUAL(error.line, line);
    CU_ASSERT(*error.message);
}

static void test_damaged_results(void)
{
    sample_fill();
    sample_write_one_run("0000,a_b,10s,1,ok", "zero");
    expect_refused(STATUS_USER, "runs.csv", 2);
    sample_write_one_run("0000,a_b,10s,1,ok,1", "0.5"); /* a field too many */
    expect_refused(STATUS_USER, "runs.csv", 2);
    sample_write_one_run("../../x,a_b,10s,1,ok", "0.5");
    expect_refused(STATUS_USER, "runs.csv", 2);
    fclose(sample_open_runs());
    expect_refused(STATUS_USER, "runs.csv", 0);
    unlink(sample_path("runs.csv"));
    expect_refused(STATUS_USER, "runs.csv", 0);
    sample_fill();
    sample_write("summary.json", "{\"points\": [{}");
    expect_refused(STATUS_USER, "summary.json", 0);
    sample_fill();
    unlink(sample_path("runs/0003/jobs.csv"));
    sample_write("scenario.yaml", "figures: [{name: f, plot: cdf, y: jct_s}]\n");
    expect_refused(STATUS_USER, "runs/0003/jobs.csv", 0);
    sample_fill();
    sample_write("scenario.yaml", "title: x\nfigures:\n  - {name: f, plot: bars, x: nothing, y: jct_s}\n");
    expect_refused(STATUS_USER, "scenario.yaml", 3);
}

void suite_figures(void)
{
    CU_pSuite suite = CU_add_suite("figures", sample_make, sample_remove);
    CU_add_test(suite, "means and intervals by hand", test_means);
    CU_add_test(suite, "jobs are meaned by run", test_jobs_are_meaned_by_run);
    CU_add_test(suite, "hidden axes are averaged by seed", test_hidden_axes_are_averaged_by_seed);
    CU_add_test(suite, "incomplete seeds do not count", test_incomplete_seeds_do_not_count);
    CU_add_test(suite, "distributions", test_distributions);
    CU_add_test(suite, "a long distribution is thinned", test_cdf_is_thinned);
    CU_add_test(suite, "stacks", test_stack);
    CU_add_test(suite, "missing runs are noted", test_missing_runs_are_noted);
    CU_add_test(suite, "stopped points are not missing", test_stopped_points_are_not_missing);
    CU_add_test(suite, "bad figures are refused", test_bad_figures);
    CU_add_test(suite, "damaged results are refused", test_damaged_results);
}
