/* Queues whose answers are known, on the ports of one server (optical network, section 4).
 *
 * Properties: Poisson requests on c circuits, cleared when blocked, are lost as often as Erlang's B formula says,
 * whatever the distribution of holding; those that wait do so as long as M/M/1, M/D/1 and M/M/c say, all within three
 * standard errors of independent replications; and Little's law holds exactly, in integer ticks, at any instant.
 */
#include "suites.h"

#include <math.h>

#include "engine/random.h"
#include "engine/statistics.h"
#include "network/reuse.h"
#include "network_world.h"
#include "figures.h"

enum { REPLICATIONS = 30 };

/* Two servers joined by c circuit switches: c circuits from the one to the other. A byte takes one picosecond and
 * nothing else takes time, so that bytes are holding times. */
static const double mean_holding_ps = 1e6;

enum holding { EXPONENTIAL, CONSTANT, HYPER_EXPONENTIAL };

struct queue {
    struct world world;
    struct random_stream *draws;
    double mean_gap_ps;
    enum holding holding;
    bool is_cleared_when_blocked;
    uint64_t warm_up, left; /* arrivals */
    uint64_t counted, lost;
    double wait_sum;
};

/* Hyper-exponential: nine in ten short (half the mean), one in ten long (five and a half times the mean). */
static uint64_t draw_holding(struct queue *queue)
{
    double holding = mean_holding_ps;
    if (queue->holding == EXPONENTIAL)
        holding = random_exponential(queue->draws, mean_holding_ps);
    else if (queue->holding == HYPER_EXPONENTIAL)
        holding = random_exponential(queue->draws, mean_holding_ps * (random_below(queue->draws, 10) == 0 ? 5.5 : 0.5));
    return (uint64_t)holding + 1;
}

static void on_done(void *context, const struct transfer_report *report)
{
    struct queue *queue = context;
    if (report->tag == 0)
        return;
    queue->counted++;
    queue->lost += report->is_cleared;
    queue->wait_sum += (double)report->wait;
}

static void on_arrival(struct engine *engine, const struct event *event, void *context)
{
    struct queue *queue = context;
    struct transfer_request request = {.source = 0,
                                       .target = 1,
                                       .bytes = draw_holding(queue),
                                       .is_cleared_when_blocked = queue->is_cleared_when_blocked,
                                       .tag = queue->warm_up == 0,
                                       .done = on_done,
                                       .context = queue};
    struct error error;
    CU_ASSERT_EQUAL_FATAL(network_send(queue->world.network, &request, NULL, &error), STATUS_OK);
    if (queue->warm_up > 0)
        queue->warm_up--;
    else if (--queue->left == 0)
        return;
    sim_time gap = (sim_time)random_exponential(queue->draws, queue->mean_gap_ps);
    (void)engine_schedule(engine, event->time + gap, 0, WORLD_SEND_KIND, 0, 0);
}

struct system {
    int64_t circuits;
    double load; /* a circuit */
    enum holding holding;
    bool is_cleared_when_blocked;
    uint64_t warm_up, arrivals;
};

static void queue_open(struct queue *queue, const struct system *system)
{
    *queue = (struct queue){.holding = system->holding,
                            .is_cleared_when_blocked = system->is_cleared_when_blocked,
                            .mean_gap_ps = mean_holding_ps / (system->load * (double)system->circuits)};
    world_open(&queue->world, "topologies/ocs-32.yaml");
    struct topology *t = &queue->world.topology;
    *figure_whole(t, "ocs.switches") = system->circuits;
    *figure_whole(t, "ocs.reconfiguration") = t->propagation_ps = t->io_latency_ps = 0;
    t->node_rate_bytes_per_s = 1e12 * (double)system->circuits;
}

static void queue_start(struct queue *queue, const struct system *system, uint64_t replication)
{
    queue->warm_up = system->warm_up;
    queue->left = system->arrivals;
    queue->counted = queue->lost = 0;
    queue->wait_sum = 0;
    queue->draws = random_open(7, "network queues", replication);
    world_start(&queue->world);
    engine_on(queue->world.engine, WORLD_SEND_KIND, on_arrival, queue);
    (void)engine_schedule(queue->world.engine, 0, 0, WORLD_SEND_KIND, 0, 0);
}

static void queue_stop(struct queue *queue)
{
    world_stop(&queue->world);
    random_close(queue->draws);
}

/* The mean of each replication of what is lost (a share) or waited (in mean holdings). */
static struct statistics_sample replicate(const struct system *system, double *counted)
{
    struct statistics_sample sample = {0};
    struct queue queue;
    queue_open(&queue, system);
    for (uint64_t i = 0; i < REPLICATIONS; i++) {
        queue_start(&queue, system, i);
        engine_run(queue.world.engine, SIM_TIME_MAX);
        double count = (double)queue.counted;
        *counted += count;
        statistics_sample_add(&sample, system->is_cleared_when_blocked ? (double)queue.lost / count
                                                                       : queue.wait_sum / mean_holding_ps / count);
        queue_stop(&queue);
    }
    topology_free(&queue.world.topology);
    return sample;
}

static double standard_error(const struct statistics_sample *sample)
{
    return statistics_sample_deviation(sample) / sqrt((double)sample->count);
}

static double erlang_b(int64_t circuits, double offered)
{
    double b = 1;
    for (int64_t k = 1; k <= circuits; k++)
        b = offered * b / ((double)k + offered * b);
    return b;
}

/* Where a loss is expected less than once in a thousand such tests, none at all is the only right answer. */
static void check_erlang_b(int64_t circuits, double load, enum holding holding)
{
    struct system system = {circuits, load, holding, true, 60 * (uint64_t)circuits, 3000};
    double counted = 0, expected = erlang_b(circuits, load * (double)circuits);
    struct statistics_sample sample = replicate(&system, &counted);
    double mean = statistics_sample_mean(&sample);
    if (expected * counted < 1e-3) {
        CU_ASSERT_EQUAL(mean, 0);
        return;
    }
    CU_ASSERT_TRUE(fabs(mean - expected) < 3 * standard_error(&sample));
}

static void check_erlang_b_all(enum holding holding)
{
    static const int64_t circuits[] = {1, 4, 16, 64};
    static const double loads[] = {0.3, 0.7, 1.1};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            check_erlang_b(circuits[i], loads[k], holding);
}

static void test_erlang_exponential(void)
{
    check_erlang_b_all(EXPONENTIAL);
}

static void test_erlang_constant(void)
{
    check_erlang_b_all(CONSTANT);
}

static void test_erlang_hyper_exponential(void)
{
    check_erlang_b_all(HYPER_EXPONENTIAL);
}

/* Mean wait in mean holdings. */
static void check_wait(int64_t circuits, double load, enum holding holding, double expected)
{
    struct system system = {circuits, load, holding, false, 3000, 15000 + 2000 * (uint64_t)circuits};
    double counted = 0;
    struct statistics_sample sample = replicate(&system, &counted);
    CU_ASSERT_TRUE(fabs(statistics_sample_mean(&sample) - expected) < 3 * standard_error(&sample));
    CU_ASSERT_TRUE(standard_error(&sample) < 0.03 * expected);
}

/* Erlang's C: the chance to wait; the mean wait is C / (c (1 - load)). */
static double erlang_c_wait(int64_t circuits, double load)
{
    double b = erlang_b(circuits, load * (double)circuits);
    double c = b / (1 - load * (1 - b));
    return c / ((double)circuits * (1 - load));
}

static void test_waiting(void)
{
    check_wait(1, 0.7, EXPONENTIAL, 0.7 / 0.3);
    check_wait(1, 0.7, CONSTANT, 0.7 / (2 * 0.3));
    check_wait(1, 0.3, CONSTANT, 0.3 / (2 * 0.7));
    check_wait(4, 0.7, EXPONENTIAL, erlang_c_wait(4, 0.7));
    check_wait(16, 0.7, EXPONENTIAL, erlang_c_wait(16, 0.7));
}

/* L = lambda W with both sides from the same instants: no tolerance. The residual terms are what is still under way;
 * network_check counts them transfer by transfer. */
static void test_little(void)
{
    struct system system = {4, 0.9, HYPER_EXPONENTIAL, false, 0, 20000};
    struct queue queue;
    queue_open(&queue, &system);
    queue_start(&queue, &system, 99);
    for (int i = 0; i < 200; i++) {
        engine_run(queue.world.engine, engine_now(queue.world.engine) + 7654321);
        network_check(queue.world.network);
    }
    engine_run(queue.world.engine, SIM_TIME_MAX);
    struct network_totals totals = network_totals(queue.world.network);
    CU_ASSERT_EQUAL(totals.done, 20000);
    CU_ASSERT_TRUE(totals.wait_sum > 0 && totals.waiting_area == totals.wait_sum);
    CU_ASSERT_TRUE(totals.moving_area == totals.move_sum);
    queue_stop(&queue);
    topology_free(&queue.world.topology);
}

/* Keys come and go; each keeps its place and what was put there, places are used again, the map stays half empty. */
static void test_places(void)
{
    enum { KEYS = 300, ROUNDS = 20000 };
    struct random_stream *draws = random_open(1, "places", 0);
    struct reuse places = {0};
    struct reuse_map map = {0};
    uint64_t *items = NULL;
    size_t most = 0, wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t key = random_below(draws, KEYS) << 40;
        uint32_t place = reuse_map_find(&map, key);
        if (place == REUSE_NONE) {
            items = reuse_take(&places, items, sizeof *items, &place);
            items[place] = key;
            reuse_map_add(&map, key, place);
        } else {
            wrong += items[place] != key;
            reuse_map_remove(&map, key);
            reuse_give(&places, place);
            wrong += reuse_map_find(&map, key) != REUSE_NONE;
        }
        most = map.count > most ? map.count : most;
        wrong += places.count - places.free_count != map.count || 2 * map.count > map.size;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(places.count, most);
    reuse_free(&places, items);
    reuse_map_free(&map);
    random_close(draws);
}

void suite_network_queues(void)
{
    CU_pSuite suite = CU_add_suite("network queues", NULL, NULL);
    CU_add_test(suite, "Erlang B, exponential holding", test_erlang_exponential);
    CU_add_test(suite, "Erlang B, constant holding", test_erlang_constant);
    CU_add_test(suite, "Erlang B, hyper-exponential holding", test_erlang_hyper_exponential);
    CU_add_test(suite, "M/M/1, M/D/1, M/M/c", test_waiting);
    CU_add_test(suite, "Little's law, exactly", test_little);
    CU_add_test(suite, "places used again, and found by number", test_places);
}
