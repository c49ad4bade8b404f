/* Properties held here, of a cluster that stops at every decision and is answered from outside:
 *   - answered as the partitioner would, it is cluster_run: records, events, trace hash, for every partitioner, with
 *     and without a queue, on the published formulas and on circuits, on fabrics that jobs share;
 *   - asking about every degree changes no record, and what was said of the degree that was taken came true;
 *   - a decision shows the degrees that are legal now, the free devices, the jobs that run, the job itself;
 *   - an answer that is not legal is the caller's mistake, and the decision is still due;
 *   - a run may be given up at any time, and nothing is left behind. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "suites.h"

enum { JOBS_MAX = 400, DEGREES_MAX = 16, SETTINGS_MAX = 10 };

/* ---- runs decided here ---- */

struct drive;

/* What a test does at a decision, before it is answered; may be NULL. */
typedef void at_decision(struct drive *drive, const struct decision *decision);

enum { OPS_MAX = 200 };

struct drive {
    const struct cluster_config *config;
    struct cluster *cluster;
    struct random_stream *random;
    void *partitioner_state;
    at_decision *look;
    uint32_t known; /* jobs that were asked about so far */
    uint32_t decisions, again, full, refused, running_most;
    struct job_record asked[JOBS_MAX][DEGREES_MAX];
    bool is_asked[JOBS_MAX][DEGREES_MAX]; /* at the last decision about the job */
    bool answers_parts;
    uint32_t parts[OPS_MAX];
};

static bool meets_limit(void *cluster, uint32_t degree)
{
    struct job_record record;
    return cluster_ask(cluster, (struct answer){.degree = degree}, &record);
}

static const struct partitioner *partitioner_of(const struct cluster_config *config)
{
    return (const struct partitioner *)config->partitioner.strategy;
}

/* A degree, or the parts that the published rule gives at that degree. */
static struct answer answer_as(struct drive *drive, const struct decision *decision, uint32_t degree)
{
    const struct graph *graph = decision->graph;
    if (!drive->answers_parts || degree == 0)
        return (struct answer){.degree = degree};
    CU_ASSERT_FATAL(graph->op_count <= OPS_MAX);
    for (uint32_t op = 0; op < graph->op_count; op++)
        drive->parts[op] = split_parts(graph->ops[op].forward_ms, drive->config->quantum_ms, degree);
    return (struct answer){.degree = degree, .parts = drive->parts};
}

/* What the partitioner of the settings says, asked here. */
static uint32_t choose(const struct drive *drive, const struct decision *decision)
{
    const struct cluster_config *config = drive->config;
    const struct partition_request request = {.settings = config->partitioner.settings,
                                              .state = drive->partitioner_state,
                                              .legal = decision->legal,
                                              .legal_count = decision->legal_count,
                                              .sequential_s = decision->sequential_s,
                                              .limit_s = decision->limit_s,
                                              .trace_degree = decision->job->trace_degree,
                                              .random = drive->random,
                                              .meets_limit = meets_limit,
                                              .context = drive->cluster};
    random_reseed(drive->random, config->seed, "partition", decision->number);
    return partitioner_of(config)->choose(&request);
}

static void drive_open(struct drive *drive, const struct cluster_config *config, at_decision *look)
{
    struct error error = {0};
    *drive = (struct drive){.config = config, .look = look, .random = random_open(config->seed, "partition", 0)};
    if (partitioner_of(config)->open)
        CU_ASSERT_EQUAL_FATAL(
            partitioner_of(config)->open(config->partitioner.settings, config->seed, &drive->partitioner_state, &error),
            STATUS_OK);
    enum status status = cluster_open(config, &drive->cluster, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

/* The next decision, NULL at the end. */
static const struct decision *drive_next(struct drive *drive)
{
    const struct decision *decision;
    struct error error = {0};
    enum status status = cluster_next(drive->cluster, &decision, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    if (!decision)
        return NULL;
    drive->decisions++;
    drive->again += decision->number < drive->known;
    CU_ASSERT_FATAL(decision->number <= drive->known && decision->number < JOBS_MAX);
    if (drive->look)
        drive->look(drive, decision);
    drive->known += decision->number == drive->known;
    return decision;
}

static void drive_answer(struct drive *drive, const struct decision *decision)
{
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(cluster_decide(drive->cluster, answer_as(drive, decision, choose(drive, decision)), &error),
                          STATUS_OK);
}

/* With result NULL the run is given up. */
static void drive_close(struct drive *drive, struct cluster_result *result)
{
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(cluster_close(drive->cluster, result, &error), STATUS_OK);
    if (drive->partitioner_state)
        partitioner_of(drive->config)->close(drive->partitioner_state);
    random_close(drive->random);
}

/* A whole run by hand; the drive is left to be read. */
static void run_by_hand(const char *const *assignments, at_decision *look, struct drive *drive,
                        struct cluster_result *result)
{
    struct oracle_world world;
    const struct decision *decision;
    oracle_world_open(&world, assignments);
    drive_open(drive, &world.world.cluster, look);
    while ((decision = drive_next(drive)))
        drive_answer(drive, decision);
    CU_ASSERT_PTR_NULL(drive_next(drive)); /* the end stays the end */
    drive_close(drive, result);
    oracle_world_close(&world);
}

/* ---- runs compared ---- */

static bool is_same_time(const struct time_parts *a, const struct time_parts *b)
{
    bool is_same = a->total_s == b->total_s;
    for (size_t i = 0; i < sizeof a->part_s / sizeof *a->part_s; i++)
        is_same = is_same && a->part_s[i] == b->part_s[i];
    return is_same;
}

static bool is_same_job(const struct job_record *a, const struct job_record *b)
{
    return a->model == b->model && a->degree == b->degree && a->arrival_s == b->arrival_s && a->beta == b->beta &&
           a->sequential_s == b->sequential_s && a->limit_s == b->limit_s && a->outcome == b->outcome &&
           a->cause == b->cause && a->is_decided == b->is_decided && is_same_time(&a->time, &b->time) &&
           a->queue_s == b->queue_s && a->device_count == b->device_count && a->device_start == b->device_start &&
           a->end == b->end && a->running_at == b->running_at;
}

static void check_same_jobs(const struct cluster_result *a, const struct cluster_result *b)
{
    CU_ASSERT_EQUAL_FATAL(a->job_count, b->job_count);
    for (size_t i = 0; i < a->job_count; i++)
        CU_ASSERT(is_same_job(&a->jobs[i], &b->jobs[i]));
    CU_ASSERT_EQUAL_FATAL(a->device_count, b->device_count);
    CU_ASSERT_EQUAL(memcmp(a->devices, b->devices, a->device_count * sizeof *a->devices), 0);
    CU_ASSERT_EQUAL(a->length_s, b->length_s);
}

static void check_same_run(const struct cluster_result *a, const struct cluster_result *b)
{
    check_same_jobs(a, b);
    CU_ASSERT_EQUAL(a->steps_simulated, b->steps_simulated);
    CU_ASSERT_EQUAL(a->events, b->events);
    CU_ASSERT_EQUAL(a->trace_hash, b->trace_hash);
}

/* Streams of a kind each: as published, with a queue, on circuits alone, sharing by paces, and step by step. */
static const char *const streams[][SETTINGS_MAX] = {
    {"workload.jobs=200", "workload.beta=uniform", "workload.arrivals=poisson"},
    {"workload.jobs=200", "workload.beta=uniform", "step.memo=model_degree", "run.horizon=150000s"},
    {"workload.jobs=200", "workload.beta=uniform", "workload.interarrival=300s", "admission.policy=queue",
     "admission.length=20", "admission.patience=4000s"},
    {"workload.jobs=15", "workload.beta=uniform", "network.model=circuit", "topology=topologies/ocs-32.yaml",
     "network.reconfiguration=10us", "workload.time_unit=ms", "workload.interarrival=1s",
     "workload.models=alexnet,gnmt"},
    {"workload.jobs=12", "workload.beta=A", "network.model=circuit", "topology=topologies/ramp-32.yaml",
     "network.sharing=shared", "workload.time_unit=ms", "workload.steps=10", "workload.interarrival=200ms",
     "workload.models=alexnet,gnmt", "admission.policy=queue"},
    {"workload.jobs=6", "workload.beta=A", "network.model=circuit", "topology=topologies/ramp-32.yaml",
     "network.sharing=shared", "step.steady=false", "workload.time_unit=ms", "workload.steps=3",
     "workload.interarrival=50ms", "workload.models=alexnet"},
};
enum { PUBLISHED, REMEMBERED, QUEUED, CIRCUITS, SHARED, LIVE, STREAMS };

static void with_strategy(const char *const *stream, const char *strategy, const char **assignments)
{
    size_t count = 0;
    while (count < SETTINGS_MAX && stream[count]) {
        assignments[count] = stream[count];
        count++;
    }
    assignments[count++] = strategy;
    if (strstr(strategy, "fixed"))
        assignments[count++] = "partition.degree=4";
    assignments[count] = NULL;
}

static struct drive drive; /* large; each test fills it anew */

static void check_by_hand(const char *const *stream, const char *strategy)
{
    const char *assignments[SETTINGS_MAX + 3];
    struct cluster_result by_hand, run;
    with_strategy(stream, strategy, assignments);
    run_by_hand(assignments, NULL, &drive, &by_hand);
    oracle_run(assignments, &run);
    CU_ASSERT(drive.decisions > 0);
    check_same_run(&by_hand, &run);
    cluster_result_free(&by_hand);
    cluster_result_free(&run);
}

static void test_every_partitioner(void)
{
    for (size_t i = 0; i < partitioners.count; i++) {
        const struct partitioner *partitioner = (const struct partitioner *)partitioners.strategies[i];
        char strategy[64];
        snprintf(strategy, sizeof strategy, "partition.strategy=%s", partitioner->strategy.name);
        if (partitioner->replays_trace)
            continue; /* test_trace_partitioner */
        for (int stream = 0; stream < STREAMS; stream++)
            check_by_hand(streams[stream], strategy);
        CU_ASSERT(drive.decisions >= 6);
    }
    check_by_hand(streams[QUEUED], "partition.strategy=max");
    CU_ASSERT(drive.again > 50); /* some were asked about again */
}

static void look_for_parts(struct drive *parting, const struct decision *decision)
{
    (void)decision;
    parting->answers_parts = true;
}

/* Parts of each op that are those of the published rule come to the same jobs as the degree alone. */
static void test_answers_with_parts(void)
{
    const int same[] = {PUBLISHED, QUEUED, CIRCUITS, SHARED, LIVE};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *assignments[SETTINGS_MAX + 3];
        struct cluster_result by_parts, run;
        with_strategy(streams[same[i]], "partition.strategy=random", assignments);
        run_by_hand(assignments, look_for_parts, &drive, &by_parts);
        oracle_run(assignments, &run);
        check_same_jobs(&by_parts, &run);
        cluster_result_free(&by_parts);
        cluster_result_free(&run);
    }
}

/* A partitioner with a rule of its own: the first half of the ops as far as the degree goes, the others whole. */
static void split_half(const struct partition_request *request, uint32_t degree, uint32_t *parts)
{
    for (uint32_t op = 0; op < request->graph->op_count; op++)
        parts[op] = 2 * op < request->graph->op_count ? degree : 1;
}

static void test_split_of_its_own(void)
{
    static const struct partitioner halves = {
        .strategy = {.name = "halves", .doc = ""}, .choose = partition_largest, .split = split_half};
    struct oracle_world world;
    struct cluster_result run, whole;
    struct error error = {0};
    const char *const assignments[] = {"workload.jobs=50", "workload.beta=uniform", "partition.strategy=max", NULL};
    oracle_run(assignments, &whole);
    oracle_world_open(&world, assignments);
    world.world.cluster.partitioner = (struct choice){&halves.strategy, NULL};
    CU_ASSERT_EQUAL_FATAL(cluster_run(&world.world.cluster, &run, &error), STATUS_OK);
    uint32_t slower = 0;
    for (size_t i = 0; i < run.job_count; i++)
        slower += run.jobs[i].device_count && whole.jobs[i].device_count &&
                  run.jobs[i].degree == whole.jobs[i].degree && run.jobs[i].degree > 1 &&
                  run.jobs[i].time.total_s > whole.jobs[i].time.total_s;
    CU_ASSERT(slower > 5);
    cluster_result_free(&run);
    cluster_result_free(&whole);
    oracle_world_close(&world);
}

static void test_trace_partitioner(void)
{
    char *folder = oracle_folder(), jobs[128], trace[160];
    snprintf(jobs, sizeof jobs, "%s/jobs.csv", folder);
    snprintf(trace, sizeof trace, "workload.trace=%s", jobs);
    oracle_strip(ORACLE_GOLDEN "stream-random.csv", jobs);
    check_by_hand((const char *const[]){trace, "step.memo=model_degree", "run.horizon=1000000s", NULL},
                  "partition.strategy=trace");
    CU_ASSERT_EQUAL(drive.decisions, 250);
    oracle_remove(folder);
    free(folder);
}

/* ---- asking ---- */

static void ask_all(struct drive *asking, const struct decision *decision)
{
    memset(asking->is_asked[decision->number], 0, sizeof *asking->is_asked);
    for (uint32_t i = 0; i < decision->legal_count; i++) {
        struct job_record *first = &asking->asked[decision->number][i], again;
        CU_ASSERT_FATAL(i < DEGREES_MAX);
        bool is_met = cluster_ask(asking->cluster, (struct answer){.degree = decision->legal[i]}, first);
        CU_ASSERT_EQUAL(cluster_ask(asking->cluster, (struct answer){.degree = decision->legal[i]}, &again), is_met);
        CU_ASSERT(is_same_job(first, &again));
        CU_ASSERT_EQUAL(first->degree, decision->legal[i]);
        CU_ASSERT_EQUAL(is_met, first->cause == CAUSE_NONE);
        CU_ASSERT_EQUAL(first->queue_s, first->device_count ? decision->waited_s : 0);
        asking->is_asked[decision->number][i] = true;
    }
}

/* Of each job whose fate hangs on nothing that came later: what was said of its degree is what became of it. */
static uint32_t check_came_true(const struct drive *asking, const struct cluster_result *result)
{
    uint32_t checked = 0;
    for (size_t number = 0; number < result->job_count; number++)
        for (uint32_t i = 0; i < DEGREES_MAX; i++) {
            const struct job_record *said = &asking->asked[number][i], *job = &result->jobs[number];
            if (!asking->is_asked[number][i] || said->degree != job->degree || !job->device_count)
                continue;
            CU_ASSERT(is_same_time(&said->time, &job->time));
            CU_ASSERT(said->cause == job->cause || job->cause == CAUSE_HORIZON);
            CU_ASSERT(said->limit_s == job->limit_s && said->queue_s == job->queue_s);
            CU_ASSERT_EQUAL(said->device_count, job->device_count);
            checked++;
        }
    return checked;
}

static void test_asking_changes_nothing(void)
{
    for (int stream = 0; stream < STREAMS; stream++) {
        const char *assignments[SETTINGS_MAX + 3];
        struct cluster_result asked, run;
        if (stream == REMEMBERED)
            continue; /* there the first placement of a degree stands for all, so asking may name another */
        with_strategy(streams[stream], "partition.strategy=random", assignments);
        run_by_hand(assignments, ask_all, &drive, &asked);
        oracle_run(assignments, &run);
        check_same_jobs(&asked, &run);
        CU_ASSERT(asked.steps_simulated > run.steps_simulated);
        if (stream == PUBLISHED || stream == QUEUED)
            CU_ASSERT(check_came_true(&drive, &asked) > 50);
        if (stream == CIRCUITS)
            CU_ASSERT(check_came_true(&drive, &asked) > 5);
        cluster_result_free(&asked);
        cluster_result_free(&run);
    }
}

/* ---- what a decision shows ---- */

static bool is_running(const struct decision *decision, uint32_t number)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < decision->running_count; i++)
        times += decision->running[i] == number;
    CU_ASSERT(times <= 1);
    return times == 1;
}

/* Devices of the jobs that run, counted from the records. *is_stale: a job ended at this very instant, so the mask of
 * degrees may not have seen it yet. */
static uint32_t count_used(const struct drive *looking, const struct decision *decision, bool *is_stale)
{
    uint32_t used = 0, running = 0;
    for (uint32_t number = 0; number < looking->known; number++) {
        const struct job_record *job = &decision->records[number];
        bool runs = job->outcome == OUTCOME_UNFINISHED && job->device_count > 0;
        CU_ASSERT_EQUAL(is_running(decision, number), runs);
        used += runs ? job->device_count : 0;
        running += runs;
        double apart_s = fabs(clock_to_seconds(&looking->config->clock, job->end - decision->now));
        *is_stale = *is_stale || (job->outcome == OUTCOME_COMPLETED && apart_s <= 1e-6);
        CU_ASSERT(!runs || looking->config->is_shared || job->end >= decision->now - 1000000);
    }
    CU_ASSERT_EQUAL(decision->running_count, running);
    return used;
}

static void check_legal(struct drive *looking, const struct decision *decision, uint32_t free_count)
{
    const struct cluster_config *config = looking->config;
    uint32_t expected = 0, count;
    uint32_t *legal = place_legal_degrees((const struct placer *)config->placer.strategy, config->topology,
                                          config->max_degree, &count);
    while (expected < count && legal[expected] <= free_count)
        expected++;
    CU_ASSERT_EQUAL_FATAL(decision->legal_count, expected);
    CU_ASSERT_EQUAL(memcmp(decision->legal, legal, expected * sizeof *legal), 0);
    looking->full += expected < count;
    free(legal);
}

static void look_at(struct drive *looking, const struct decision *decision)
{
    const struct cluster_config *config = looking->config;
    bool is_stale = false;
    uint32_t free_count = config->topology->device_count - count_used(looking, decision, &is_stale);
    const struct graph *graph = config->models->graphs[decision->job->model];
    CU_ASSERT_EQUAL(decision->occupancy->free_count, free_count);
    if (!is_stale)
        check_legal(looking, decision, free_count);
    CU_ASSERT_PTR_EQUAL(decision->graph, graph);
    CU_ASSERT_EQUAL(decision->sequential_s, (double)config->steps * (graph_sum(graph).sequential_ms * config->unit_s));
    CU_ASSERT_EQUAL(decision->limit_s, decision->job->beta * decision->sequential_s);
    CU_ASSERT_EQUAL(decision->waited_s, clock_to_seconds(&config->clock, decision->now - decision->job->arrival));
    CU_ASSERT_EQUAL(decision->waited_s > 0, decision->number < looking->known);
    if (decision->running_count > looking->running_most)
        looking->running_most = decision->running_count;
}

static void test_what_is_shown(void)
{
    for (int stream = 0; stream < STREAMS; stream++) {
        const char *assignments[SETTINGS_MAX + 3];
        struct cluster_result result;
        with_strategy(streams[stream], "partition.strategy=random", assignments);
        run_by_hand(assignments, look_at, &drive, &result);
        CU_ASSERT(drive.running_most >= 2);
        CU_ASSERT(stream == LIVE || drive.full > 0);
        CU_ASSERT(stream != QUEUED || drive.again > 50);
        cluster_result_free(&result);
    }
}

/* ---- wrong answers, and none ---- */

static void answer_wrong_parts(struct drive *wrong, const struct decision *decision)
{
    uint32_t most = decision->legal_count ? decision->legal[decision->legal_count - 1] : 0;
    struct error error = {0};
    if (!most)
        return;
    for (uint32_t op = 0; op < decision->graph->op_count; op++)
        wrong->parts[op] = most;
    for (uint32_t bad = 0; bad <= most + 1; bad += most + 1) {
        wrong->parts[decision->graph->op_count - 1] = bad;
        struct answer answer = {.degree = most, .parts = wrong->parts};
        CU_ASSERT_EQUAL_FATAL(cluster_decide(wrong->cluster, answer, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "with these parts is not legal"));
    }
}

static void answer_wrongly(struct drive *wrong, const struct decision *decision)
{
    answer_wrong_parts(wrong, decision);
    const uint32_t answers[] = {3, 64, decision->legal_count ? decision->legal[decision->legal_count - 1] + 2 : 1};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct error error = {0};
        char says[64];
        snprintf(says, sizeof says, "job %u: a degree of %u is not legal", decision->number, answers[i]);
        CU_ASSERT_EQUAL_FATAL(cluster_decide(wrong->cluster, (struct answer){.degree = answers[i]}, &error),
                              STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says));
        wrong->refused++;
    }
}

static void test_wrong_answers(void)
{
    for (int stream = 0; stream < STREAMS; stream++) {
        const char *assignments[SETTINGS_MAX + 3];
        struct cluster_result by_hand, run;
        with_strategy(streams[stream], "partition.strategy=max", assignments);
        run_by_hand(assignments, answer_wrongly, &drive, &by_hand);
        oracle_run(assignments, &run);
        CU_ASSERT(drive.refused >= 2 * drive.decisions);
        check_same_run(&by_hand, &run);
        cluster_result_free(&by_hand);
        cluster_result_free(&run);
    }
}

/* Before the first decision, with one due, and between two. */
static void test_giving_up(void)
{
    for (int stream = 0; stream < STREAMS; stream++)
        for (uint32_t after = 0; after < 12; after++) {
            const char *assignments[SETTINGS_MAX + 3];
            struct oracle_world world;
            const struct decision *decision = NULL;
            with_strategy(streams[stream], "partition.strategy=min_sufficient", assignments);
            oracle_world_open(&world, assignments);
            drive_open(&drive, &world.world.cluster, NULL);
            for (uint32_t i = 0; i < after && (i == 0 || decision); i++) {
                if (i % 2 == 0)
                    decision = drive_next(&drive);
                else
                    drive_answer(&drive, decision);
            }
            drive_close(&drive, NULL);
            oracle_world_close(&world);
        }
}

void suite_open_cluster(void)
{
    CU_pSuite suite = CU_add_suite("open cluster", NULL, NULL);
    CU_ADD_TEST(suite, test_every_partitioner);
    CU_ADD_TEST(suite, test_answers_with_parts);
    CU_ADD_TEST(suite, test_split_of_its_own);
    CU_ADD_TEST(suite, test_trace_partitioner);
    CU_ADD_TEST(suite, test_asking_changes_nothing);
    CU_ADD_TEST(suite, test_what_is_shown);
    CU_ADD_TEST(suite, test_wrong_answers);
    CU_ADD_TEST(suite, test_giving_up);
}
