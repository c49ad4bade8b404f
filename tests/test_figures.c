/* Properties held here: a figure shows what the result files say, and says so when something is missing.
 *   - means and 95 % Student half widths are those computed by hand; only rows that the filter keeps count;
 *   - settings that are not shown are averaged within each seed and are no repetitions;
 *   - a job's figure is the mean of each run first; blocked jobs have no completion time;
 *   - distributions, histograms and stacks add up;
 *   - texts reach gnuplot and HTML as texts, whatever they hold;
 *   - wrong members, columns and kinds are refused at their place;
 *   - damaged results are a message, not a picture; without gnuplot the points are still written;
 *   - drawing twice gives the same bytes. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/memory.h"
#include "experiment/figure_draw.h"
#include "experiment/figures.h"
#include "experiment/report.h"
#include "input/file.h"
#include "suites.h"

/* ---- a small folder of results ---- */

static char root[] = "build/figures-XXXXXX";

static const char *in_root(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(in_root(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static char *read_text(const char *name)
{
    char *text = NULL;
    size_t size;
    if (file_read(in_root(name), 1 << 24, &text, &size, NULL) != STATUS_OK)
        return memory_text("", 0);
    return text;
}

static bool is_there(const char *name)
{
    return access(in_root(name), F_OK) == 0;
}

/* runs.csv with whatever metrics there are: the blocking rate as given, one left empty, the others 1. */
static FILE *open_runs(void)
{
    FILE *file = fopen(in_root("runs.csv"), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "run,policy,load,seed,status");
    for (int i = 0; i < METRIC_COUNT; i++)
        fprintf(file, ",%s", metric_name((enum metric)i));
    fprintf(file, ",events,trace_hash\n");
    return file;
}

static void write_row(FILE *file, const char *start, const char *rate)
{
    fprintf(file, "%s", start);
    for (int i = 0; i < METRIC_COUNT; i++)
        fprintf(file, ",%s", i == METRIC_BLOCKING_RATE ? rate : i == METRIC_SPEEDUP_MEAN ? "" : "1");
    fprintf(file, ",99,00\n");
}

static void write_one_run(const char *start, const char *rate)
{
    FILE *file = open_runs();
    write_row(file, start, rate);
    fclose(file);
}

/* Blocking rates 0.1 0.2 0.3 and 0.5 0.5 0.8 at 10s; one run each at 20s, the second one failed. */
static void write_runs(void)
{
    static const struct {
        const char *start, *rate;
    } rows[] = {{"0000,a_b,10s,1,ok", "0.1"}, {"0001,a_b,10s,2,ok", "0.2"},    {"0002,a_b,10s,3,ok", "0.3"},
                {"0003,max,10s,1,ok", "0.5"}, {"0004,max,10s,2,ok", "0.5"},    {"0005,max,10s,3,ok", "0.8"},
                {"0006,a_b,20s,1,ok", "0.4"}, {"0007,max,20s,1,failed", "0.9"}};
    FILE *file = open_runs();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        write_row(file, rows[i].start, rows[i].rate);
    fclose(file);
}

static void write_summary(int done)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"title\": \"<b>R&D</b>\", \"points\": ["
             "{\"settings\": {\"policy\": \"a_b\", \"load\": \"10s\"}, \"runs_done\": 3, \"runs_planned\": 3},"
             "{\"settings\": {\"policy\": \"max\", \"load\": \"10s\"}, \"runs_done\": %d, \"runs_planned\": 3},"
             "{\"settings\": {\"policy\": \"a_b\", \"load\": \"20s\"}, \"runs_done\": 1, \"runs_planned\": 1}]}",
             done);
    write_text("summary.json", text);
}

/* Run 0: completion times 10, 20, 30 and one blocked job; run 1: 40; the other runs: one of 50 each. */
static void write_jobs(void)
{
    static const char columns[] = "job,model,arrival_s,beta,sequential_s,limit_s,degree,outcome,cause,jct_s,comm_s,"
                                  "comp_s,reconfig_s,wait_s,devices,device_list\n";
    mkdir(in_root("runs"), 0777);
    for (int run = 0; run < 7; run++) {
        char name[64], text[2048];
        snprintf(name, sizeof name, "runs/%04d", run);
        mkdir(in_root(name), 0777);
        snprintf(name, sizeof name, "runs/%04d/jobs.csv", run);
        int used = snprintf(text, sizeof text, "%s", columns);
        if (run == 0)
            snprintf(text + used, sizeof text - (size_t)used,
                     "0,vgg16,0,0.29,100,50,2,completed,,10,1,8,1,0,2,0-0-0 0-0-1\n"
                     "1,vgg16,0,0.5,100,50,2,completed,,20,2,16,2,0,2,0-0-0 0-0-1\n"
                     "2,gnmt,0,0.5,100,50,2,completed,,30,3,24,3,0,2,0-0-0 0-0-1\n"
                     "3,gnmt,0,0.5,100,50,2,blocked,late,,,,,,,\n");
        else
            snprintf(text + used, sizeof text - (size_t)used,
                     "0,vgg16,0,0.5,100,50,2,completed,,%d,4,32,4,0,2,0-0-0 0-0-1\n", run == 1 ? 40 : 50);
        write_text(name, text);
    }
}

static void fill_root(void)
{
    write_runs();
    write_summary(3);
    write_jobs();
    write_text("scenario.yaml", "figures: null\n");
}

static int make_root(void)
{
    return mkdtemp(root) ? 0 : 1;
}

static int remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? 0 : 1;
}

static bool has_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

/* ---- points ---- */

struct drawn {
    struct folder *folder;
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
        status = folder_open(root, &drawn->folder, error);
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
    folder_free(drawn->folder);
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
    fill_root();
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
    fill_root();
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
    fill_root();
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
    fill_root();
    FILE *file = open_runs();
    write_row(file, "0000,a_b,10s,1,ok", "0.1");
    write_row(file, "0001,a_b,10s,2,ok", "0.9");
    write_row(file, "0002,max,10s,1,ok", "0.3");
    fclose(file);
    const struct figure_points *points = compute_well("[{name: f, plot: lines, x: load, y: blocking_rate}]", &drawn);
    CU_ASSERT_EQUAL_FATAL(points->count, 1);
    CU_ASSERT_DOUBLE_EQUAL(points->points[0].y, 0.2, 1e-12);
    CU_ASSERT_EQUAL(points->points[0].n, 1);
    drawn_free(&drawn);
    file = open_runs();
    write_row(file, "0000,a_b,10s,1,ok", "0.1");
    write_row(file, "0001,max,10s,2,ok", "0.9");
    write_row(file, "0002,max,20s,2,ok", "0.7");
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
    fill_root();
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
    fill_root();
    FILE *file = fopen(in_root("runs/0006/jobs.csv"), "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int job = 1; job < 20000; job++)
        fprintf(file, "%d,vgg16,0,0.5,100,50,2,completed,,%d,4,32,4,0,2,0-0-0\n", job, 50 + job);
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
    fill_root();
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
    fill_root();
    write_summary(2);
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
    for (int i = 0; i < 2 && has_gnuplot(); i++) {
        char text[512];
        fill_root();
        snprintf(text, sizeof text,
                 "{\"title\": \"\", \"points\": [{\"settings\": {\"policy\": \"max\", \"load\": \"10s\"}, "
                 "\"runs_done\": 2, \"runs_planned\": 3, \"metrics\": {\"blocking_rate\": {\"mean\": 0.6, "
                 "\"half_width_95\": 0.05}}}]}");
        write_text("summary.json", text);
        snprintf(text, sizeof text,
                 "sweep: {repeat: 2, stop_when: {metric: blocking_rate, relative_half_width: %s, max_repeat: 3}}\n",
                 widths[i]);
        write_text("scenario.yaml", text);
        CU_ASSERT_EQUAL_FATAL(figures_plot(root, &(struct figures_options){0}, NULL), STATUS_OK);
        char *report = read_text("report.html");
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
        {"[{name: f, plot: cdf, y: jct_s, yrange: [1, 0]}]", "must be the smaller one"},
        {"[{name: f, plot: histogram, y: jct_s, bin: 0}]", "a width above 0"},
        {"[{name: f, plot: bars, x: policy, y: beta, reference: [{label: x, values: 1}]}]", "source are all needed"},
        {"{name: f}", "expected a list"},
        {"[7]", "expected a figure"},
        {"[{name: f, plot: lines, x: policy, y: blocking_rate}]", "use plot: bars"},
        {"[{name: f, plot: bars, x: policy, y: blocking_rate, where: {load: 30s}}]", "no row has a value"},
    };
    fill_root();
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
    CU_ASSERT_EQUAL(figures_plot(root, &(struct figures_options){0}, &error), expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.file, file));
    CU_ASSERT_EQUAL(error.line, line);
    CU_ASSERT(*error.message);
}

static void test_damaged_results(void)
{
    fill_root();
    write_one_run("0000,a_b,10s,1,ok", "zero");
    expect_refused(STATUS_USER, "runs.csv", 2);
    write_one_run("0000,a_b,10s,1,ok,1", "0.5"); /* a field too many */
    expect_refused(STATUS_USER, "runs.csv", 2);
    write_one_run("../../x,a_b,10s,1,ok", "0.5");
    expect_refused(STATUS_USER, "runs.csv", 2);
    fclose(open_runs());
    expect_refused(STATUS_USER, "runs.csv", 0);
    unlink(in_root("runs.csv"));
    expect_refused(STATUS_USER, "runs.csv", 0);
    fill_root();
    write_text("summary.json", "{\"points\": [{}");
    expect_refused(STATUS_USER, "summary.json", 0);
    fill_root();
    unlink(in_root("runs/0003/jobs.csv"));
    write_text("scenario.yaml", "figures: [{name: f, plot: cdf, y: jct_s}]\n");
    expect_refused(STATUS_USER, "runs/0003/jobs.csv", 0);
    fill_root();
    write_text("scenario.yaml", "title: x\nfigures:\n  - {name: f, plot: bars, x: nothing, y: jct_s}\n");
    expect_refused(STATUS_USER, "scenario.yaml", 3);
}

/* ---- texts ---- */

static void test_escaping(void)
{
    struct file_writer *writer;
    CU_ASSERT_EQUAL_FATAL(file_create(in_root("escaped"), &writer, NULL), STATUS_OK);
    figure_quote(writer, "it's `a_b` @x\n100%", false);
    figure_quote(writer, "100%", true);
    report_escape(writer, "<a href=\"x\">&'\x01");
    CU_ASSERT_EQUAL(file_finish(writer, NULL), STATUS_OK);
    char *text = read_text("escaped");
    CU_ASSERT_STRING_EQUAL(text, "'it''s `a_b` @x 100%''100%%'&lt;a href=&quot;x&quot;&gt;&amp;&#39; ");
    free(text);
}

/* Labels that would be commands, markup or formats if anything were expanded. */
static void test_drawing(void)
{
    struct error error = {0};
    fill_root();
    write_summary(2);
    write_text(
        "scenario.yaml",
        "figures:\n"
        "  - {name: bad-texts, plot: bars, x: policy, y: blocking_rate, series: load, xlabel: \"a_b^{c} `touch oops` "
        "@N 'q' 50% \\\\\", labels: {10s: \"system('touch oops') %d <x>&\", max: \"%s%s%n\"}, "
        "reference: [{label: \"l'_1\", source: <script>, values: {max: 0.5}}, {label: level, source: x, values: "
        "0.3}]}\n"
        "  - {name: lines, plot: lines, x: load, y: blocking_rate, series: policy}\n"
        "  - {name: stack, plot: stacked, x: policy, y: [comp_s, comm_s, wait_s]}\n"
        "  - {name: cdf, plot: cdf, y: jct_s, series: policy, logx: true}\n"
        "  - {name: histogram, plot: histogram, y: beta, series: policy}\n"
        "  - {name: scatter, plot: scatter, x: 1/beta, y: speedup, diagonal: true}\n");
    if (!has_gnuplot()) {
        printf(" (gnuplot is not there: nothing drawn) ");
        return;
    }
    enum status status = figures_plot(root, &(struct figures_options){0}, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    CU_ASSERT(access("oops", F_OK) != 0);
    static const char *const files[] = {"bad-texts.pdf", "lines.png",   "stack.pdf", "cdf.pdf",
                                        "histogram.pdf", "scatter.pdf", "lines.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "figures/%s", files[i]);
        CU_ASSERT(is_there(name));
    }
    CU_ASSERT_FALSE(is_there("figures/lines.gp") || is_there("figures/lines.log") || is_there("figures/lines.raw.pdf"));
    char *points = read_text("figures/lines.csv"), *report = read_text("report.html");
    static const char start[] = "x,series,mean,half_width_95,n,averaged_over\n10,a_b,0.2,0.2484137711";
    CU_ASSERT_EQUAL(strncmp(points, start, sizeof start - 1), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(points, ",3,\n20,a_b,0.4,,1,\n10,max,0.6,0.43026527297"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "&lt;b&gt;R&amp;D&lt;/b&gt;"));
    CU_ASSERT_PTR_NULL(strstr(report, "<script"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "n=2/3: runs are missing"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "In each seed the mean over load is taken first."));
    CU_ASSERT_PTR_NULL(strstr(report, "<h3>load</h3>")); /* quantities are not compared where there are names */
    CU_ASSERT_PTR_NULL(strstr(report, "by chance"));
    /* a_b - max on seeds 1 2 3: -0.4 -0.3 -0.5 */
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "<b>-0.4000</b> &plusmn; 0.2484</td><td class=n>3</td>"));
    free(points);
    free(report);
}

static void test_drawing_is_repeatable(void)
{
    if (!has_gnuplot())
        return;
    fill_root();
    struct figures_options options = {.only = "blocking_rate"};
    CU_ASSERT_EQUAL_FATAL(figures_plot(root, &options, NULL), STATUS_OK);
    char *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    CU_ASSERT_EQUAL_FATAL(file_read(in_root("figures/blocking_rate.pdf"), 1 << 24, &first, &first_size, NULL),
                          STATUS_OK);
    sleep(1); /* the stamp of a PDF has seconds */
    CU_ASSERT_EQUAL_FATAL(figures_plot(root, &options, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(file_read(in_root("figures/blocking_rate.pdf"), 1 << 24, &second, &second_size, NULL),
                          STATUS_OK);
    CU_ASSERT(first_size == second_size && memcmp(first, second, first_size) == 0);
    free(first);
    free(second);
    options.only = "nothing";
    CU_ASSERT_EQUAL(figures_plot(root, &options, NULL), STATUS_USER);
}

static void test_no_gnuplot(void)
{
    struct error error = {0};
    char *path = getenv("PATH"), *kept = memory_text(path ? path : "", path ? strlen(path) : 0);
    fill_root();
    write_text("scenario.yaml", "figures: [{name: lost, plot: bars, x: policy, y: blocking_rate}]\n");
    setenv("PATH", root, 1);
    CU_ASSERT_EQUAL(figures_plot(root, &(struct figures_options){0}, &error), STATUS_IO);
    setenv("PATH", kept, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "gnuplot-nox"));
    CU_ASSERT(is_there("figures/lost.csv"));
    CU_ASSERT(is_there("report.html"));
    CU_ASSERT_FALSE(is_there("figures/lost.pdf") || is_there("figures/lost.gp"));
    free(kept);
}

/* A gnuplot that complains as the real one does: the command, a mark under it, the reason, an empty line. */
static void test_gnuplot_fails(void)
{
    static const char *const bodies[] = {"printf 'set x\\n    ^\\nline 9: no such\\tterminal\\n\\n' >&2; exit 3",
                                         "exit 4", "echo no room left >&2"};
    static const char *const said[] = {"(exit code 3); it said: line 9: no such terminal",
                                       "(exit code 4); it said: nothing",
                                       "left no lost.raw.pdf; it said: no room left"};
    char *path = getenv("PATH"), *kept = memory_text(path ? path : "", path ? strlen(path) : 0);
    fill_root();
    write_text("scenario.yaml", "figures: [{name: lost, plot: bars, x: policy, y: blocking_rate}]\n");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[256];
        struct error error = {0};
        snprintf(text, sizeof text, "#!/bin/sh\n%s\n", bodies[i]);
        write_text("gnuplot", text);
        CU_ASSERT_EQUAL_FATAL(chmod(in_root("gnuplot"), 0755), 0);
        setenv("PATH", root, 1);
        CU_ASSERT_EQUAL(figures_plot(root, &(struct figures_options){0}, &error), STATUS_IO);
        setenv("PATH", kept, 1);
        size_t length = strlen(error.message), end = strlen(said[i]);
        CU_ASSERT_FATAL(length > end);
        CU_ASSERT_STRING_EQUAL(error.message + length - end, said[i]);
    }
    unlink(in_root("gnuplot"));
    free(kept);
}

/* Two axes of names with 7 and 2 values: 21 pairs twice and 1 pair seven times. */
static void test_pairs_along_every_axis_of_names(void)
{
    fill_root();
    write_text("scenario.yaml", "figures: []\n");
    FILE *file = open_runs();
    for (int i = 0; i < 28; i++) {
        char start[64], rate[16];
        snprintf(start, sizeof start, "%04d,p%d,%s,%d,ok", i, i / 4, i % 4 < 2 ? "slow" : "quick", i % 2);
        snprintf(rate, sizeof rate, "%.2f", 0.1 * (i / 4) + (i % 4 < 2) * 0.01 + i % 2 * 0.02);
        write_row(file, start, rate);
    }
    fclose(file);
    CU_ASSERT_EQUAL_FATAL(figures_plot(root, &(struct figures_options){0}, NULL), STATUS_OK);
    char *report = read_text("report.html");
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "<h3>policy</h3>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "<h3>load</h3>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "<td>load&nbsp;slow</td><td>p0 &minus; p6</td><td class=n><b>-0.6000</b>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "<td>policy&nbsp;p6</td><td>slow &minus; quick</td><td class=n><b>+0.0100"));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "These are 49 comparisons."));
    CU_ASSERT_PTR_NOT_NULL(strstr(report, "by chance: about 2."));
    free(report);
}

/* What a scenario says is looked at before anything runs. */
static void test_check_with_plan(void)
{
    static const char good[] = "sweep: {s: {key: partition.strategy, values: [max, random]}}\n"
                               "figures:\n  - {name: f, plot: bars, x: partition.strategy, y: blocking_rate}\n";
    static const char bad[] = "sweep: {s: {key: partition.strategy, values: [max, random]}}\n"
                              "figures:\n  - {name: f, plot: bars, x: workload.beta, y: blocking_rate}\n";
    const char *texts[] = {good, bad};
    for (int i = 0; i < 2; i++) {
        struct scenario *scenario;
        struct plan *plan;
        struct error error = {0};
        CU_ASSERT_EQUAL_FATAL(
            scenario_parse(texts[i], strlen(texts[i]), "s.yaml", (struct scenario_overrides){0}, &scenario, &error),
            STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(plan_create(scenario, &plan, &error), STATUS_OK);
        CU_ASSERT_EQUAL(figures_check(plan, &error), i ? STATUS_USER : STATUS_OK);
        CU_ASSERT(!i || (error.line == 3 && strstr(error.message, "no column 'workload.beta'")));
        plan_free(plan);
        scenario_free(scenario);
    }
}

void suite_figures(void)
{
    CU_pSuite suite = CU_add_suite("figures", make_root, remove_root);
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
    CU_add_test(suite, "texts are escaped", test_escaping);
    CU_add_test(suite, "every kind is drawn, texts unharmed", test_drawing);
    CU_add_test(suite, "drawing is repeatable", test_drawing_is_repeatable);
    CU_add_test(suite, "no gnuplot: points and report stay", test_no_gnuplot);
    CU_add_test(suite, "gnuplot fails: its own words", test_gnuplot_fails);
    CU_add_test(suite, "pairs along every axis of names", test_pairs_along_every_axis_of_names);
    CU_add_test(suite, "a scenario is checked with its plan", test_check_with_plan);
}
