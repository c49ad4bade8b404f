/* Properties held here:
 *   - ranks are distinct; shortest remaining time gives shorter costs higher ranks and, among equals, the one placed
 *     later; first in first out follows the order of placement alone; names find schedulers;
 *   - a scheduler that picks is asked whenever a device is idle and has a choice, with what is ready there; what it
 *     picked runs to its end; no device is idle while it could work; on both network models;
 *   - first ready, first served is that; one that picks the newest serves the newest; ranks pre-empt. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "job_world.h"
#include "strategies.h"
#include "suites.h"

enum { MANY = 1000 };

static void test_by_hand(void)
{
    static const double cost[] = {3, 1, 2, 1, 0, 3};
    static const uint32_t srpt[] = {0, 3, 2, 4, 5, 1}, fifo[] = {5, 4, 3, 2, 1, 0};
    uint32_t rank[6];
    const struct schedule_request request = {.count = 6, .cost = cost};
    schedule_srpt.rank(&request, rank);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rank[i], srpt[i]);
    schedule_fifo.rank(&request, rank);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rank[i], fifo[i]);
    schedule_first_ready.rank(&request, rank); /* for links */
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rank[i], fifo[i]);
    CU_ASSERT(schedule_first_ready.pick && !schedule_srpt.pick && !schedule_fifo.pick);
}

static void check_ranks(const double *cost, const uint32_t *rank)
{
    bool is_seen[MANY] = {false};
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_FATAL(rank[i] < MANY && !is_seen[rank[i]]);
        is_seen[rank[i]] = true;
        for (uint32_t j = 0; j < i; j += 37)
            if (cost[i] <= cost[j])
                CU_ASSERT(rank[i] > rank[j]);
    }
}

static void test_random_costs(void)
{
    static double cost[MANY];
    static uint32_t rank[MANY];
    struct random_stream *random = random_open(3, "costs", 0);
    for (uint32_t i = 0; i < MANY; i++)
        cost[i] = (double)random_below(random, 50);
    const struct schedule_request request = {.count = MANY, .cost = cost};
    schedule_srpt.rank(&request, rank);
    check_ranks(cost, rank);
    random_close(random);
}

/* ---- steps watched ---- */

enum { PARTS_MAX = 512, LINKS_MAX = 256 };

/* When each part ran, and when each link was there. */
struct watch {
    const struct task_graph *tasks;
    double start_s[PARTS_MAX], end_s[PARTS_MAX];
    uint32_t stretches[PARTS_MAX]; /* those that follow one another without a break are one */
    double arrival_s[LINKS_MAX];   /* 0 = took no time */
};

static void watch_op(void *context, uint32_t task, uint32_t part, uint32_t device, double start_s, double end_s)
{
    struct watch *watch = context;
    uint32_t at = watch->tasks->part_start[task] + part;
    (void)device;
    if (!watch->stretches[at])
        watch->start_s[at] = watch->end_s[at] = start_s;
    if (!watch->stretches[at] || watch->end_s[at] != start_s)
        watch->stretches[at]++;
    watch->end_s[at] = end_s;
}

static void watch_link(void *context, uint32_t link, double start_s, double end_s)
{
    struct watch *watch = context;
    (void)start_s;
    watch->arrival_s[link] = end_s;
}

/* The two network models. */
struct stage {
    struct topology topology;
    bool is_published;
};

static void watch_step(struct job_world *job, const struct stage *stage, const struct scheduler *scheduler,
                       void *pick_state, struct watch *watch)
{
    const struct step_observer observer = {.ran = watch_op, .flew = watch_link, .context = watch};
    struct circuit_options options = job_world_options(1);
    struct step_result step = {0};
    struct error error = {0};
    const struct step_input input = {
        .deployment = &job->deployment, .topology = &stage->topology, .unit_s = 1e-3, .observer = &observer};
    CU_ASSERT_FATAL(task_graph_parts(job->tasks) <= PARTS_MAX && job->tasks->link_count <= LINKS_MAX);
    *watch = (struct watch){.tasks = job->tasks};
    rank_by(scheduler, &stage->topology, 1e-3, &job->deployment);
    job->deployment.pick_state = pick_state;
    CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, stage->is_published ? NULL : &options, &step, &error), STATUS_OK);
    for (uint32_t part = 0; part < task_graph_parts(job->tasks); part++)
        CU_ASSERT(watch->stretches[part] > 0);
}

static uint32_t count_interrupted(const struct watch *watch)
{
    uint32_t interrupted = 0;
    for (uint32_t part = 0; part < task_graph_parts(watch->tasks); part++)
        interrupted += watch->stretches[part] > 1;
    return interrupted;
}

/* Of an unsplit task: when the last of its links was there. */
static double ready_s(const struct watch *watch, uint32_t task)
{
    const struct task_graph *tasks = watch->tasks;
    double last_s = 0;
    for (uint32_t i = tasks->in_start[task]; i < tasks->in_start[task + 1]; i++) {
        uint32_t link = tasks->in_link[i];
        last_s = fmax(last_s, fmax(watch->arrival_s[link], watch->end_s[tasks->links[link].source]));
    }
    return last_s;
}

/* How often a task overtook one that was ready earlier, and one that was ready later, on its device. */
struct order {
    uint32_t newest_first, oldest_first;
};

static void compare_pair(const struct watch *watch, uint32_t a, uint32_t b, struct order *order)
{
    double a_s = watch->start_s[a], b_s = watch->start_s[b];
    if (!(a_s < b_s) || !(ready_s(watch, b) < a_s))
        return; /* a had no rival in b */
    order->newest_first += ready_s(watch, a) > ready_s(watch, b);
    order->oldest_first += ready_s(watch, a) < ready_s(watch, b);
}

/* Every task starts when it is ready or when another one of its device ends. */
static void check_busy(const struct job_world *job, const struct watch *watch, uint32_t task)
{
    bool is_at_once = watch->start_s[task] == ready_s(watch, task);
    for (uint32_t other = 0; other < job->tasks->task_count; other++)
        is_at_once = is_at_once ||
                     (watch->end_s[other] == watch->start_s[task] &&
                      deployment_list(&job->deployment, other).start == deployment_list(&job->deployment, task).start);
    CU_ASSERT(is_at_once);
}

static struct order check_watched(const struct job_world *job, const struct watch *watch)
{
    struct order order = {0};
    CU_ASSERT_EQUAL(count_interrupted(watch), 0);
    for (uint32_t a = 0; a < job->tasks->task_count; a++) {
        check_busy(job, watch, a);
        for (uint32_t b = 0; b < job->tasks->task_count; b++)
            if (deployment_list(&job->deployment, a).start == deployment_list(&job->deployment, b).start)
                compare_pair(watch, a, b, &order);
    }
    return order;
}

/* ---- a scheduler of the test's own ---- */

struct picks {
    uint32_t calls, choices;
};

static uint32_t pick_newest(void *state, const struct deployment *deployment, uint32_t device, const uint32_t *ready,
                            uint32_t count)
{
    struct picks *picks = state;
    picks->calls++;
    picks->choices += count > 1;
    CU_ASSERT_FATAL(count > 0);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(deployment->devices[deployment_list(deployment, ready[i]).start], device);
    return count - 1;
}

static const struct scheduler newest_first = {
    .strategy = {.name = "newest_first", .doc = ""}, .rank = schedule_as_placed, .pick = pick_newest};

/* Unsplit random graphs on a few devices: enough of a choice for every scheduler to show itself. */
static void check_model(const char *fabric, bool is_published)
{
    static const uint32_t servers[] = {0, 5, 10};
    static struct watch watch;
    struct random_stream *random = random_open(19, "placements", 0);
    struct stage stage = {.is_published = is_published};
    uint32_t interrupted = 0, overtaken = 0;
    struct picks picks = {0};
    job_world_topology(fabric, &stage.topology);
    stage.topology.reconfiguration_ps = 1000000; /* ops are as short: or they would wait for links alone */
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct job_world job;
        job_world_put_randomly(&job, oracle_random_graph(seed, 30, true), &stage.topology, random, servers, 3);
        watch_step(&job, &stage, &schedule_first_ready, NULL, &watch);
        struct order oldest = check_watched(&job, &watch);
        CU_ASSERT_EQUAL(oldest.newest_first, 0);
        watch_step(&job, &stage, &newest_first, &picks, &watch);
        struct order newest = check_watched(&job, &watch);
        CU_ASSERT_EQUAL(newest.oldest_first, 0);
        overtaken += newest.newest_first;
        watch_step(&job, &stage, &schedule_srpt, NULL, &watch);
        interrupted += count_interrupted(&watch);
        job_world_end(&job);
    }
    CU_ASSERT(picks.choices > 100 && picks.choices < picks.calls);
    CU_ASSERT_EQUAL(picks.calls, 40 * 60); /* once for each task */
    CU_ASSERT(overtaken > 40);
    CU_ASSERT(interrupted > 10); /* ranks do pre-empt */
    topology_free(&stage.topology);
    random_close(random);
}

static void test_picked_as_published(void)
{
    check_model("ramp", true);
}

static void test_picked_on_circuits(void)
{
    check_model("ocs", false);
    check_model("packet", false);
}

/* Parts of split tasks, too, run to their end. */
static void test_split_to_the_end(void)
{
    static const char *const names[] = {"ramp", "ocs"};
    static struct watch watch;
    for (size_t i = 0; i < 2; i++) {
        struct stage stage = {.is_published = i == 0};
        uint32_t interrupted = 0;
        job_world_topology(names[i], &stage.topology);
        /* Reductions do stop ops, whoever picks them: here they take no time. */
        stage.topology.classes[0].memory_rate_bytes_per_s = stage.topology.classes[0].peak_per_s = 1e40;
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct job_world job;
            job_world_split(&job, oracle_random_graph(seed, 30, true), &stage.topology, 4, &place_ramp_compact);
            watch_step(&job, &stage, &schedule_first_ready, NULL, &watch);
            CU_ASSERT_EQUAL(count_interrupted(&watch), 0);
            watch_step(&job, &stage, &schedule_srpt, NULL, &watch);
            interrupted += count_interrupted(&watch);
            job_world_end(&job);
        }
        CU_ASSERT(interrupted > 10);
        topology_free(&stage.topology);
    }
}

/* By its name, in a whole run: the same jobs, other times, the same again. */
static void test_in_a_run(void)
{
    struct cluster_result first, again, ranked;
    const char *const settings[] = {"schedule.strategy=first_ready", "workload.jobs=60", "workload.time_unit=ms", NULL};
    oracle_run(settings, &first);
    oracle_run(settings, &again);
    oracle_run((const char *const[]){"workload.jobs=60", "workload.time_unit=ms", NULL}, &ranked);
    CU_ASSERT_EQUAL(first.trace_hash, again.trace_hash);
    CU_ASSERT_NOT_EQUAL(first.trace_hash, ranked.trace_hash);
    CU_ASSERT_EQUAL(first.job_count, ranked.job_count);
    cluster_result_free(&first);
    cluster_result_free(&again);
    cluster_result_free(&ranked);
}

void suite_schedule(void)
{
    CU_pSuite suite = CU_add_suite("schedule", NULL, NULL);
    CU_ADD_TEST(suite, test_by_hand);
    CU_ADD_TEST(suite, test_random_costs);
    CU_ADD_TEST(suite, test_picked_as_published);
    CU_ADD_TEST(suite, test_picked_on_circuits);
    CU_ADD_TEST(suite, test_split_to_the_end);
    CU_ADD_TEST(suite, test_in_a_run);
}
