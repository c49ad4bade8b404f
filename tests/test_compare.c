/* Properties held here, of ocsim compare: figures are the means over the runs that match; what is out of tolerance is
 * counted unless its cause is known; a table that asks for what is not there is refused at its line. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/compare.h"
#include "oracle.h"
#include "suites.h"

static const char runs[] = "run,policy,beta,blocking_rate,jct_mean_s\n"
                           "0000,max,A,0.25,100\n0001,max,A,0.35,\n0002,fixed 4,A,0.5,300\n";
static const char jobs[] = "model,outcome,jct_s,comm_s\n"
                           "alexnet,completed,30,3\nalexnet,blocked,,\nalexnet,unfinished,50,1\nvgg16,completed,10,1\n";
#define HEADER "table,where,metric,published,tolerance,note\n"

/* A folder of results with one jobs.csv; returned owned. */
static char *make_results(void)
{
    char *folder = oracle_folder(), path[300];
    free(oracle_write(folder, "runs.csv", runs));
    snprintf(path, sizeof path, "%s/runs", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/runs/0002", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    free(oracle_write(path, "jobs.csv", jobs));
    return folder;
}

/* Compares with a table given as text; what was printed is returned owned. */
static char *compare(const char *rows, bool is_markdown, enum status *status, unsigned *outside, struct error *error)
{
    char *folder = make_results(), *text = NULL;
    char *table = oracle_write(folder, "published.csv", rows);
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct compare_options options = {folder, table, is_markdown};
    *status = compare_print(&options, out, outside, error);
    fclose(out);
    oracle_remove(folder);
    free(folder);
    free(table);
    return text;
}

static unsigned count_outside(const char *rows, const char *said)
{
    struct error error = {0};
    enum status status;
    unsigned outside = 99;
    char *text = compare(rows, false, &status, &outside, &error);
    CU_ASSERT_EQUAL(status, STATUS_OK);
    bool is_said = strstr(text, said) != NULL;
    if (!is_said)
        printf("\n  printed: %s\n  expected: %s\n", text, said);
    CU_ASSERT(is_said);
    free(text);
    return outside;
}

static void test_tolerance(void)
{
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.29,0.011,\n", "ok"), 0); /* the mean is 0.3 */
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.28,0.011,\n", "OUTSIDE"), 1);
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.28,10%,\n", "ok"), 0);
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.9,,\n", "t\n"), 0);
    /* A known cause is good for twice the tolerance, no more. */
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.285,0.01,cause: other ties\n", "cause known"),
                    0);
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy=max,blocking_rate,0.27,0.01,cause: other ties\n", "OUTSIDE"), 1);
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy='fixed 4' beta=A,blocking_rate,0.5,0,\nt,,jct_mean_s,200,0,x\n"
                                         "u,policy=max,jct_mean_s,99,0.5,\n",
                                  "OUTSIDE"),
                    1);
}

static void test_from_jobs(void)
{
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy='fixed 4',blocking_rate:vgg16,0,0,\n", "ok"), 0);
    CU_ASSERT_EQUAL(count_outside(HEADER "t,policy='fixed 4',blocking_rate:alexnet,0.6667,0.0001,\n", "ok"), 0);
}

static void test_markdown(void)
{
    struct error error;
    enum status status;
    unsigned outside;
    char *text = compare(HEADER "Rates,policy=max,blocking_rate,0.3,0.01,a note\n", true, &status, &outside, &error);
    CU_ASSERT_EQUAL(status, STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "**Rates**"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| policy=max | blocking_rate | 0.3 |"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ok; a note |"));
    free(text);
}

static void test_refusals(void)
{
    static const struct {
        const char *rows, *said;
    } cases[] = {{"table,where\n", "metric"},
                 {HEADER "t,policy=min,blocking_rate,0.3,,\n", "no finished run matches"},
                 {HEADER "t,colour=red,blocking_rate,0.3,,\n", "colour=red"},
                 {HEADER "t,policy,blocking_rate,0.3,,\n", "column=value"},
                 {HEADER "t,policy=max,speed,0.3,,\n", "speed"},
                 {HEADER "t,policy=max,blocking_rate,some,,\n", "expected a number"},
                 {HEADER "t,policy=max,blocking_rate,0.3,-1,\n", "0.01 or 5%"},
                 {HEADER "t,policy=max,blocking_rate,0.3,wide,\n", "0.01 or 5%"},
                 {HEADER "t,policy=max,blocking_rate:vgg16,0.3,,\n", "jobs.csv"},
                 {HEADER "t,policy=max,speed:vgg16,0.3,,\n", "speed:vgg16"},
                 {HEADER, "no figures"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        char said[2048];
        enum status status;
        unsigned outside;
        free(compare(cases[i].rows, false, &status, &outside, &error));
        error_format(&error, said, sizeof said);
        CU_ASSERT_EQUAL(status, STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].said));
        if (!strstr(said, cases[i].said))
            printf("\n  said: %s\n  expected: %s\n", said, cases[i].said);
    }
}

void suite_compare(void)
{
    CU_pSuite suite = CU_add_suite("compare", NULL, NULL);
    CU_ADD_TEST(suite, test_tolerance);
    CU_ADD_TEST(suite, test_from_jobs);
    CU_ADD_TEST(suite, test_markdown);
    CU_ADD_TEST(suite, test_refusals);
}
