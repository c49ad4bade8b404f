/* Properties held here: what is drawn and reported from a folder of results.
 *   - texts reach gnuplot and HTML as texts, whatever they hold;
 *   - without gnuplot the points are still written; one that fails is quoted;
 *   - drawing twice gives the same bytes;
 *   - the report pairs runs along every axis of names, and says when chance alone would make some bold;
 *   - a scenario's figures are checked before anything runs. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/memory.h"
#include "figures/figure_draw.h"
#include "figures/figures.h"
#include "figures/report.h"
#include "input/file.h"
#include "sample_folder.h"
#include "suites.h"

static void test_escaping(void)
{
    struct arena arena = {0};
    CU_ASSERT_STRING_EQUAL(figure_quote(&arena, "it's `a_b` @x\n100%", false), "'it''s `a_b` @x 100%'");
    CU_ASSERT_STRING_EQUAL(figure_quote(&arena, "100%", true), "'100%%'");
    CU_ASSERT_STRING_EQUAL(report_escape(&arena, "<a_b href=\"x\">&'\x01", false),
                           "&lt;a_b href=&quot;x&quot;&gt;&amp;&#39; ");
    CU_ASSERT_STRING_EQUAL(report_escape(&arena, "a_b.\"", true), "a_<wbr>b.<wbr>&quot;");
    arena_free(&arena);
}

/* Labels that would be commands, markup or formats if anything were expanded. */
static void test_drawing(void)
{
    struct error error = {0};
    sample_fill();
    sample_write_summary(2);
    sample_write(
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
    if (!sample_has_gnuplot()) {
        printf(" (gnuplot is not there: nothing drawn) ");
        return;
    }
    enum status status = figures_plot(sample_root(), &(struct figures_options){0}, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    CU_ASSERT(access("oops", F_OK) != 0);
    static const char *const files[] = {"bad-texts.pdf", "lines.png",   "stack.pdf", "cdf.pdf",
                                        "histogram.pdf", "scatter.pdf", "lines.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "figures/%s", files[i]);
        CU_ASSERT(sample_has(name));
    }
    CU_ASSERT_FALSE(sample_has("figures/lines.gp") || sample_has("figures/lines.log") ||
                    sample_has("figures/lines.raw.pdf"));
    char *points = sample_read("figures/lines.csv"), *report = sample_read("report.html");
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
    if (!sample_has_gnuplot())
        return;
    sample_fill();
    struct figures_options options = {.only = "blocking_rate"};
    CU_ASSERT_EQUAL_FATAL(figures_plot(sample_root(), &options, NULL), STATUS_OK);
    char *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    CU_ASSERT_EQUAL_FATAL(file_read(sample_path("figures/blocking_rate.pdf"), 1 << 24, &first, &first_size, NULL),
                          STATUS_OK);
    sleep(1); /* the stamp of a PDF has seconds */
    CU_ASSERT_EQUAL_FATAL(figures_plot(sample_root(), &options, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(file_read(sample_path("figures/blocking_rate.pdf"), 1 << 24, &second, &second_size, NULL),
                          STATUS_OK);
    CU_ASSERT(first_size == second_size && memcmp(first, second, first_size) == 0);
    free(first);
    free(second);
    options.only = "nothing";
    CU_ASSERT_EQUAL(figures_plot(sample_root(), &options, NULL), STATUS_USER);
}

static void test_no_gnuplot(void)
{
    struct error error = {0};
    char *path = getenv("PATH"), *kept = memory_text(path ? path : "", path ? strlen(path) : 0);
    sample_fill();
    sample_write("scenario.yaml", "figures: [{name: lost, plot: bars, x: policy, y: blocking_rate}]\n");
    setenv("PATH", sample_root(), 1);
    CU_ASSERT_EQUAL(figures_plot(sample_root(), &(struct figures_options){0}, &error), STATUS_IO);
    setenv("PATH", kept, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "gnuplot-nox"));
    CU_ASSERT(sample_has("figures/lost.csv"));
    CU_ASSERT(sample_has("report.html"));
    CU_ASSERT_FALSE(sample_has("figures/lost.pdf") || sample_has("figures/lost.gp"));
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
    sample_fill();
    sample_write("scenario.yaml", "figures: [{name: lost, plot: bars, x: policy, y: blocking_rate}]\n");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[256];
        struct error error = {0};
        snprintf(text, sizeof text, "#!/bin/sh\n%s\n", bodies[i]);
        sample_write("gnuplot", text);
        CU_ASSERT_EQUAL_FATAL(chmod(sample_path("gnuplot"), 0755), 0);
        setenv("PATH", sample_root(), 1);
        CU_ASSERT_EQUAL(figures_plot(sample_root(), &(struct figures_options){0}, &error), STATUS_IO);
        setenv("PATH", kept, 1);
        size_t length = strlen(error.message), end = strlen(said[i]);
        CU_ASSERT_FATAL(length > end);
        CU_ASSERT_STRING_EQUAL(error.message + length - end, said[i]);
    }
    unlink(sample_path("gnuplot"));
    free(kept);
}

/* Two axes of names with 7 and 2 values: 21 pairs twice and 1 pair seven times. */
static void test_pairs_along_every_axis_of_names(void)
{
    sample_fill();
    sample_write("scenario.yaml", "figures: []\n");
    FILE *file = sample_open_runs();
    for (int i = 0; i < 28; i++) {
        char start[64], rate[16];
        snprintf(start, sizeof start, "%04d,p%d,%s,%d,ok", i, i / 4, i % 4 < 2 ? "slow" : "quick", i % 2);
        snprintf(rate, sizeof rate, "%.2f", 0.1 * (i / 4) + (i % 4 < 2) * 0.01 + i % 2 * 0.02);
        sample_write_row(file, start, rate);
    }
    fclose(file);
    CU_ASSERT_EQUAL_FATAL(figures_plot(sample_root(), &(struct figures_options){0}, NULL), STATUS_OK);
    char *report = sample_read("report.html");
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

void suite_figures_drawing(void)
{
    CU_pSuite suite = CU_add_suite("figures, drawing", sample_make, sample_remove);
    CU_add_test(suite, "texts are escaped", test_escaping);
    CU_add_test(suite, "every kind is drawn, texts unharmed", test_drawing);
    CU_add_test(suite, "drawing is repeatable", test_drawing_is_repeatable);
    CU_add_test(suite, "no gnuplot: points and report stay", test_no_gnuplot);
    CU_add_test(suite, "gnuplot fails: its own words", test_gnuplot_fails);
    CU_add_test(suite, "pairs along every axis of names", test_pairs_along_every_axis_of_names);
    CU_add_test(suite, "a scenario is checked with its plan", test_check_with_plan);
}
