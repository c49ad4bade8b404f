/* Properties held here, of the stream of jobs and of beta (PAC-ML simulator, section 10):
 *   - the published laws by their means and tables, tables from files, mixtures;
 *   - arrivals of each law, load, models in equal shares or by weight;
 *   - a longer stream starts with the shorter one;
 *   - a table of jobs that cannot be is refused with its line. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/workload.h"
#include "oracle.h"
#include "suites.h"

/* ---- beta ---- */

static void test_uniform(void)
{
    struct beta_law law = {0};
    beta_uniform(&law);
    CU_ASSERT_EQUAL_FATAL(law.count, 91);
    CU_ASSERT_EQUAL(law.values[0], 0.1);
    CU_ASSERT_EQUAL(law.values[90], 1);
    CU_ASSERT(oracle_is_near(beta_mean(&law), 0.55, 1e-12));
    beta_free(&law);
}

/* The tables are random themselves: the means of three published seeds lie within these bounds, ours of 20 must too. */
static void test_skewed(void)
{
    static const struct {
        double skew, low, high;
    } laws[] = {{5, 0.25, 0.36}, {0, 0.44, 0.56}, {-5, 0.66, 0.76}};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct beta_law law = {0};
            struct random_stream *random = random_open(seed, "beta", 0);
            beta_skew_normal(&law, laws[i].skew, random);
            CU_ASSERT(beta_mean(&law) > laws[i].low && beta_mean(&law) < laws[i].high);
            for (size_t v = 0; v < law.count; v++) {
                double hundredths = 100 * law.values[v];
                CU_ASSERT(law.values[v] >= 0.1 && law.values[v] <= 1 && fabs(hundredths - round(hundredths)) < 1e-9);
            }
            random_close(random);
            beta_free(&law);
        }
}

/* Distance of a table from a published one: half the sum of differences, at best 0, at worst 1. */
static double distance(const struct beta_law *law, const double published[101])
{
    double ours[101] = {0}, total = 0, sum = 0;
    for (size_t i = 0; i < law->count; i++) {
        ours[lround(100 * law->values[i])] += law->weights[i];
        total += law->weights[i];
    }
    for (int i = 0; i <= 100; i++)
        sum += fabs(ours[i] / total - published[i]);
    return sum / 2;
}

static void read_published(const char *name, const char *seed, double table[101])
{
    struct csv *csv = oracle_open(ORACLE_FULL "beta-pmfs.csv");
    memset(table, 0, 101 * sizeof *table);
    while (csv && oracle_next(csv))
        if (strcmp(oracle_text(csv, "dist"), name) == 0 && strcmp(oracle_text(csv, "seed"), seed) == 0)
            table[lround(100 * oracle_number(csv, "frac"))] += oracle_number(csv, "prob");
    csv_close(csv);
}

/* A table hangs on the extremes of its sample, so two seldom agree; of ten of ours one must come near one of theirs,
 * about as near as theirs are to each other at best (0.02 to 0.27 apart). */
static void test_published_shapes(void)
{
    static const struct {
        const char *name;
        double skew;
    } laws[] = {{"skewP5", 5}, {"skew0", 0}, {"skewN5", -5}};
    struct csv *csv = oracle_open(ORACLE_FULL "beta-pmfs.csv");
    if (!csv)
        return;
    csv_close(csv);
    for (size_t i = 0; i < 3; i++) {
        double published[3][101], nearest = 1;
        read_published(laws[i].name, "0", published[0]);
        read_published(laws[i].name, "1", published[1]);
        read_published(laws[i].name, "1799", published[2]);
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct beta_law law = {0};
            struct random_stream *random = random_open(seed, "beta", 0);
            beta_skew_normal(&law, laws[i].skew, random);
            for (int p = 0; p < 3; p++)
                nearest = fmin(nearest, distance(&law, published[p]));
            random_close(random);
            beta_free(&law);
        }
        CU_ASSERT(nearest < 0.05);
    }
}

static void test_table(void)
{
    char *folder = oracle_folder();
    char *path = oracle_write(folder, "beta.csv", "beta,weight\n0.25,3\n0.75,1\n");
    struct beta_law law = {0}, mixed = {0}, fixed = {0};
    struct error error;
    struct random_stream *random = random_open(1, "draws", 0);
    CU_ASSERT_EQUAL_FATAL(beta_load(&law, path, &error), STATUS_OK);
    CU_ASSERT_EQUAL(beta_mean(&law), 0.375);
    int small = 0;
    for (int i = 0; i < 10000; i++)
        small += beta_draw(&law, random) == 0.25;
    CU_ASSERT(small > 7500 - 217 && small < 7500 + 217); /* 5 standard deviations */
    beta_fixed(&fixed, 0.5);
    CU_ASSERT_EQUAL(beta_draw(&fixed, random), 0.5);
    beta_mix(&mixed, &law, 1);
    beta_mix(&mixed, &fixed, 3);
    CU_ASSERT(oracle_is_near(beta_mean(&mixed), (0.375 + 3 * 0.5) / 4, 1e-12));
    beta_free(&law);
    beta_free(&mixed);
    beta_free(&fixed);
    random_close(random);
    free(path);
    oracle_remove(folder);
    free(folder);
}

static void test_bad_tables(void)
{
    static const struct {
        const char *text;
        int line;
        const char *said;
    } cases[] = {{"beta,share\n0.5,1\n", 1, "columns beta and prob"},
                 {"beta,prob\n1.5,1\n", 2, "out of range"},
                 {"beta,prob\n0.5,1\n0,1\n", 3, "out of range"},
                 {"beta,prob\n0.5,nan\n", 2, "expected a number"},
                 {"beta,prob\n0.5,-1\n", 2, "out of range"},
                 {"beta,prob\n0.5,0\n", 1, "add up to 0"},
                 {"beta,prob\n", 1, "add up to 0"}};
    char *folder = oracle_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = oracle_write(folder, "beta.csv", cases[i].text);
        struct beta_law law = {0};
        struct error error = {0};
        CU_ASSERT_EQUAL(beta_load(&law, path, &error), STATUS_USER);
        CU_ASSERT_EQUAL(error.line, cases[i].line);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
        CU_ASSERT_STRING_EQUAL(error.file, path);
        beta_free(&law);
        free(path);
    }
    oracle_remove(folder);
    free(folder);
}

/* ---- jobs ---- */

enum { DRAWN = 10000 };

/* Jobs of a world without running it; returned owned. */
static struct job *draw(const char *const *settings, size_t *count)
{
    struct oracle_world world;
    struct error error;
    struct job *jobs = memory_alloc(DRAWN, sizeof *jobs);
    bool has_job = true;
    oracle_world_open(&world, settings);
    for (*count = 0; *count < DRAWN; ++*count) {
        CU_ASSERT_EQUAL_FATAL(workload_next(&world.world.workload, &jobs[*count], &has_job, &error), STATUS_OK);
        if (!has_job)
            break;
    }
    oracle_world_close(&world);
    return jobs;
}

static void test_fixed_arrivals(void)
{
    size_t count;
    struct job *jobs = draw((const char *const[]){"workload.jobs=5000", NULL}, &count);
    uint32_t of_model[5] = {0};
    CU_ASSERT_EQUAL_FATAL(count, 5000);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(jobs[i].arrival, (sim_time)i * INT64_C(1000000000000000));
        of_model[jobs[i].model]++;
    }
    for (int model = 0; model < 5; model++)
        CU_ASSERT_EQUAL(of_model[model], 1000); /* drawn without replacement from 1000 copies each */
    free(jobs);
}

/* Mean gap within 5 standard errors; gaps of the law's shape by their variance. */
static void check_gaps(const char *law, double deviation)
{
    size_t count;
    struct job *jobs = draw((const char *const[]){law, "workload.interarrival=10s", NULL}, &count);
    double sum_s = 0, squares = 0;
    CU_ASSERT_EQUAL_FATAL(count, DRAWN);
    for (size_t i = 1; i < count; i++) {
        double gap_s = (double)(jobs[i].arrival - jobs[i - 1].arrival) / 1e12;
        CU_ASSERT(gap_s >= 0);
        sum_s += gap_s;
        squares += gap_s * gap_s;
    }
    double mean_s = sum_s / (DRAWN - 1), variance = squares / (DRAWN - 1) - mean_s * mean_s;
    CU_ASSERT(fabs(mean_s - 10) < 5 * deviation / 100);
    CU_ASSERT(oracle_is_near(sqrt(variance), deviation, 0.05));
    free(jobs);
}

static void test_random_arrivals(void)
{
    check_gaps("workload.arrivals=poisson", 10);
    check_gaps("workload.arrivals=uniform", 20 / sqrt(12));
}

static void test_weights(void)
{
    size_t count, first = 0;
    struct job *jobs = draw((const char *const[]){"workload.models=alexnet, vgg16", "workload.weights=3, 1",
                                                  "workload.interarrival=1s", NULL},
                            &count);
    for (size_t i = 0; i < count; i++)
        first += jobs[i].model == 0;
    CU_ASSERT(fabs((double)first - 7500) < 217);
    free(jobs);
}

/* Half the work of 32 devices: a mean job of 29,945.16 s each 29945.16 / 16 s. */
static void test_load(void)
{
    size_t count;
    struct job *jobs = draw((const char *const[]){"workload.load=0.5", "workload.jobs=2", NULL}, &count);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT(oracle_is_near((double)jobs[1].arrival / 1e12, 29945.16 / 16, 1e-7));
    free(jobs);
}

static void test_prefix(void)
{
    size_t long_count, short_count;
    struct job *longer =
        draw((const char *const[]){"workload.jobs=3000", "workload.arrivals=poisson", "workload.beta=mixture",
                                   "workload.beta_mixture=A:0.5, D:0.5", NULL},
             &long_count);
    struct job *shorter =
        draw((const char *const[]){"workload.jobs=100", "workload.arrivals=poisson", "workload.beta=mixture",
                                   "workload.beta_mixture=A:0.5, D:0.5", NULL},
             &short_count);
    CU_ASSERT_EQUAL(long_count, 3000);
    CU_ASSERT_EQUAL_FATAL(short_count, 100);
    for (size_t i = 0; i < short_count; i++)
        CU_ASSERT(shorter[i].model == longer[i].model && shorter[i].arrival == longer[i].arrival &&
                  shorter[i].beta == longer[i].beta);
    free(longer);
    free(shorter);
}

static void check_mean_beta(const char *law, double low, double high)
{
    size_t count;
    double sum = 0;
    struct job *jobs = draw((const char *const[]){law, "workload.interarrival=1s", NULL}, &count);
    for (size_t i = 0; i < count; i++)
        sum += jobs[i].beta;
    CU_ASSERT(sum / (double)count > low && sum / (double)count < high);
    free(jobs);
}

static void test_named_betas(void)
{
    check_mean_beta("workload.beta=A", 0.535, 0.565);
    check_mean_beta("workload.beta=B", 0.25, 0.36);
    check_mean_beta("workload.beta=C", 0.44, 0.56);
    check_mean_beta("workload.beta=D", 0.66, 0.76);
    check_mean_beta("workload.beta=uniform", 0.535, 0.565);
}

/* ---- tables of jobs and of arrivals ---- */

static enum status read_jobs(const char *text, struct error *error)
{
    char *folder = oracle_folder();
    char *path = oracle_write(folder, "jobs.csv", text);
    struct workload workload = {.clock = {1}};
    struct models models = {0};
    enum status status = workload_read(&workload, path, &models, error);
    if (status != STATUS_OK)
        CU_ASSERT_STRING_EQUAL(error->file, path);
    workload_free(&workload);
    models_free(&models);
    free(path);
    oracle_remove(folder);
    free(folder);
    return status;
}

static void test_bad_jobs(void)
{
    static const struct {
        const char *text;
        int line;
        const char *said;
    } cases[] = {{"model,arrival_s\nalexnet,0\n", 1, "beta"},
                 {"model,arrival_s,beta\n", 1, "no jobs"},
                 {"model,arrival_s,beta\nalexnet,1,1\nalexnet,0.5,1\n", 3, "goes back in time"},
                 {"model,arrival_s,beta\nalexnet,-1,1\n", 2, "expected seconds"},
                 {"model,arrival_s,beta\nalexnet,nan,1\n", 2, "expected seconds"},
                 {"model,arrival_s,beta\nalexnet,1e30,1\n", 2, "arrival_s"},
                 {"model,arrival_s,beta\nalexnet,0,0\n", 2, "above 0"},
                 {"model,arrival_s,beta\nalexnet,0,1.01\n", 2, "1 at most"},
                 {"model,arrival_s,beta\nalexnet,0,much\n", 2, "found 'much'"},
                 {"model,arrival_s,beta,degree\nalexnet,0,1,-2\n", 2, "degree"},
                 {"model,arrival_s,beta,degree\nalexnet,0,1,4.5\n", 2, "degree"},
                 {"model,arrival_s,beta\nalexnet,0,1\nno_such_model,1,1\n", 3, "no_such_model"},
                 {"model,arrival_s,beta\nalexnet,0\n", 2, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        CU_ASSERT_EQUAL(read_jobs(cases[i].text, &error), STATUS_USER);
        CU_ASSERT_EQUAL(error.line, cases[i].line);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
    }
    struct error error;
    CU_ASSERT_EQUAL(read_jobs("beta,degree,arrival_s,model\n0.5,4,0,alexnet\n1,0,0,gnmt\n", &error), STATUS_OK);
}

static enum status read_arrivals(const char *text, double speedup, struct workload *workload, struct error *error)
{
    char *folder = oracle_folder();
    char *path = oracle_write(folder, "arrivals.csv", text);
    *workload = (struct workload){.clock = {1000000000000}};
    enum status status = workload_read_arrivals(workload, path, speedup, error);
    free(path);
    oracle_remove(folder);
    free(folder);
    return status;
}

static void test_cluster_trace(void)
{
    struct workload workload;
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(read_arrivals("job,timestamp\na,2017-10-03 23:59:50\nb,2017-10-04 00:00:10\n"
                                        "c,2018-10-04T00:00:10\n",
                                        2, &workload, &error),
                          STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(workload.arrival_count, 3);
    CU_ASSERT_EQUAL(workload.arrival_times[0], 0);
    CU_ASSERT_EQUAL(workload.arrival_times[1], 10);
    CU_ASSERT_EQUAL(workload.arrival_times[2], 10 + 365 * 86400 / 2);
    workload_free(&workload);
    CU_ASSERT_EQUAL_FATAL(read_arrivals("timestamp\n1582934400\n2020-03-01 00:00:00\n", 1, &workload, &error),
                          STATUS_OK);
    CU_ASSERT_EQUAL(workload.arrival_times[1], 86400); /* 29 February 2020 */
    workload_free(&workload);
    CU_ASSERT_EQUAL(read_arrivals("timestamp\n5\n4\n", 1, &workload, &error), STATUS_USER);
    CU_ASSERT_EQUAL(error.line, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "goes back in time"));
    workload_free(&workload);
    CU_ASSERT_EQUAL(read_arrivals("timestamp\n5\n9\n7\n", 1, &workload, &error), STATUS_USER);
    CU_ASSERT_EQUAL(error.line, 4);
    workload_free(&workload);
    CU_ASSERT_EQUAL(read_arrivals("timestamp\n2017-13-01 00:00:00\n", 1, &workload, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "YYYY-MM-DD"));
    workload_free(&workload);
}

/* ---- from settings ---- */

static enum status build(const char *first, const char *second, struct error *error)
{
    struct scenario *scenario = NULL;
    struct simulation world;
    const char *const assignments[] = {first, second};
    enum status status = scenario_load(NULL, (struct scenario_overrides){assignments, 2}, &scenario, error);
    if (status != STATUS_OK)
        return status;
    status = simulation_open(&world, &scenario->settings, error);
    simulation_close(&world);
    scenario_free(scenario);
    return status;
}

static void test_settings(void)
{
    char *folder = oracle_folder(), text[300];
    char *path = oracle_write(folder, "beta.csv", "beta,prob\n0.3,1\n");
    char *arrivals = oracle_write(folder, "arrivals.csv", "timestamp\n100\n160\n");
    struct error error = {0};
    size_t count;
    snprintf(text, sizeof text, "workload.beta_table=%s", path);
    struct job *jobs = draw((const char *const[]){"workload.beta=table", text, "workload.jobs=3", NULL}, &count);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_EQUAL(jobs[2].beta, 0.3);
    free(jobs);
    snprintf(text, sizeof text, "workload.arrivals_trace=%s", arrivals);
    jobs = draw((const char *const[]){"workload.arrivals=trace", text, "workload.arrivals_speedup=2", NULL}, &count);
    CU_ASSERT_EQUAL_FATAL(count, 2); /* no longer than the trace */
    CU_ASSERT_EQUAL(jobs[1].arrival, 30 * INT64_C(1000000000000));
    free(jobs);
    jobs = draw((const char *const[]){"workload.beta=skew_normal", "workload.beta_skew=-5", "workload.jobs=3", NULL},
                &count);
    CU_ASSERT_EQUAL(count, 3);
    free(jobs);
    CU_ASSERT_EQUAL(build("workload.beta=mixture", "workload.beta_mixture=A:0.5, E:0.5", &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "E:0.5"));
    CU_ASSERT_EQUAL(build("workload.beta=mixture", "workload.beta_mixture=A:-1", &error), STATUS_USER);
    CU_ASSERT_EQUAL(build("workload.jobs=1", "workload.models=alexnet, nope", &error), STATUS_USER);
    CU_ASSERT_EQUAL(build("workload.jobs=1", "network.node_rate=1GB/s", &error), STATUS_OK);
    free(path);
    free(arrivals);
    oracle_remove(folder);
    free(folder);
}

void suite_cluster_workload(void)
{
    CU_pSuite suite = CU_add_suite("cluster_workload", NULL, NULL);
    CU_ADD_TEST(suite, test_uniform);
    CU_ADD_TEST(suite, test_skewed);
    CU_ADD_TEST(suite, test_published_shapes);
    CU_ADD_TEST(suite, test_table);
    CU_ADD_TEST(suite, test_bad_tables);
    CU_ADD_TEST(suite, test_fixed_arrivals);
    CU_ADD_TEST(suite, test_random_arrivals);
    CU_ADD_TEST(suite, test_weights);
    CU_ADD_TEST(suite, test_load);
    CU_ADD_TEST(suite, test_prefix);
    CU_ADD_TEST(suite, test_named_betas);
    CU_ADD_TEST(suite, test_bad_jobs);
    CU_ADD_TEST(suite, test_cluster_trace);
    CU_ADD_TEST(suite, test_settings);
}
