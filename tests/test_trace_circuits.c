/* Properties held here: a timeline shows the light on each piece of hardware as it was.
 *   - bars of a track never overlap; switching lasts exactly the reconfiguration, lit as long as its bytes take;
 *   - what is lit on a transmitter's track adds up to its busy time in the books of the network;
 *   - tracks are named by the fabric; only the steps asked for are drawn, in the window, within half of the limit. */
#include "suites.h"

#include <CUnit/Basic.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/fabrics.h"
#include "scenario/scenario.h"
#include "timeline/timeline_circuits.h"
#include "timeline/timeline_jobs.h"
#include "scenario/simulation.h"
#include "input/file.h"

static const char path[] = "build/test-trace-circuits.json";
static const double rounding_us = 1e-5; /* of the double that cJSON makes: 2^-53 of some 10^4 s */

static const char *text_of(const cJSON *event, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(event, name));
    return text ? text : "";
}

static double number_of(const cJSON *event, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(event, name));
}

static cJSON *read_back(void)
{
    char *text;
    size_t size;
    CU_ASSERT_EQUAL_FATAL(file_read(path, (size_t)1 << 28, &text, &size, NULL), STATUS_OK);
    cJSON *tree = cJSON_ParseWithLength(text, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
    free(text);
    unlink(path);
    return tree;
}

/* ---- tracks, read back ---- */

enum { TRACKS_MAX = 4096 };

struct track {
    char name[200];
    double lit_us, end_us;
    size_t bars, overlaps;
};

/* What a process has on its tracks, by thread. */
struct tracks {
    struct track items[TRACKS_MAX];
    size_t switching, lit, idle, odd_switching, odd_lit;
    char process[200];
};

/* 2.5 ps a byte on each of up to 4 lanes, in slots of 20 ns: the figures of ramp-32. Where some lanes were lit and
 * carried 400 bytes each in the 1 ns that others took to tune, the lit ones were lit for 1 ns longer. */
static bool is_lit_time(double bytes, double us)
{
    bool is_right = false;
    for (int lanes = 1; lanes <= 4; lanes++)
        for (int lit = 0; lit < lanes; lit++) {
            double slots_us = ceil((bytes - 400 * lit) * 2.5e-6 / lanes / 0.02 - 1e-9) * 0.02;
            is_right |= fabs(us - slots_us) < 1e-9 || (lit > 0 && fabs(us - slots_us - 0.001) < 1e-9);
        }
    return is_right;
}

static void add_bar(struct tracks *tracks, struct track *track, const cJSON *event, double switching_us)
{
    double start = number_of(event, "ts"), us = number_of(event, "dur");
    const cJSON *args = cJSON_GetObjectItem(event, "args");
    const char *light = text_of(args, "light");
    bool is_switching = strcmp(light, "switching") == 0, is_lit = strcmp(light, "lit") == 0;
    track->bars++;
    track->overlaps += start < track->end_us - rounding_us;
    track->end_us = start + us;
    track->lit_us += is_lit ? us : 0;
    tracks->switching += is_switching;
    tracks->lit += is_lit;
    tracks->idle += strcmp(light, "lit, idle") == 0;
    tracks->odd_switching += is_switching && fabs(us - switching_us) > 1e-9;
    tracks->odd_lit += is_lit && !is_lit_time(number_of(args, "bytes"), us);
}

/* The file has the bars of a track in the order of their ends. Owned by the caller. */
static struct tracks *tracks_of(const cJSON *tree, double process, double switching_us)
{
    struct tracks *tracks = memory_alloc(1, sizeof *tracks);
    const cJSON *event;
    cJSON_ArrayForEach(event, tree)
    {
        if (number_of(event, "pid") != process)
            continue;
        const char *phase = text_of(event, "ph"), *name = text_of(cJSON_GetObjectItem(event, "args"), "name");
        const cJSON *thread = cJSON_GetObjectItem(event, "tid");
        size_t at = thread ? (size_t)cJSON_GetNumberValue(thread) : 0;
        CU_ASSERT_FATAL(at < TRACKS_MAX);
        if (phase[0] == 'X')
            add_bar(tracks, &tracks->items[at], event, switching_us);
        else
            snprintf(thread ? tracks->items[at].name : tracks->process, sizeof tracks->process, "%s", name);
    }
    return tracks;
}

static size_t overlaps_of(const struct tracks *tracks)
{
    size_t overlaps = 0;
    for (size_t i = 0; i < TRACKS_MAX; i++)
        overlaps += tracks->items[i].overlaps + (tracks->items[i].bars > 0 && !tracks->items[i].name[0]);
    return overlaps;
}

/* ---- a network ---- */

struct books {
    struct hardware_use items[TRACKS_MAX];
    char names[TRACKS_MAX][NETWORK_TEXT_BYTES];
    const struct network *network;
    size_t count;
};

static void keep_used(void *context, const struct hardware_use *use)
{
    struct books *books = context;
    if (use->busy == 0)
        return;
    CU_ASSERT_FATAL(books->count < TRACKS_MAX);
    network_describe(books->network, use->hardware, books->names[books->count]);
    books->items[books->count++] = *use;
}

static void send_some(struct engine *engine, struct network *network)
{
    struct random_stream *draws = random_open(1, "drawn transfers", 0);
    for (int i = 0; i < 300; i++) {
        struct transfer_request request = {.source = (uint32_t)random_below(draws, 16),
                                           .target = 16 + (uint32_t)random_below(draws, 16),
                                           .bytes = 1 + random_below(draws, 400000)};
        CU_ASSERT_EQUAL_FATAL(network_send(network, &request, NULL, NULL), STATUS_OK);
        engine_run(engine, engine_now(engine) + (sim_time)random_below(draws, 400000));
    }
    random_close(draws);
    engine_run(engine, SIM_TIME_MAX);
}

/* Draws a network's traffic to the file; fills in the books at its end. */
static void draw_network(struct books *books)
{
    struct timeline_options options = {.clock = {1}, .window_end = SIM_TIME_MAX, .limit = 1000000};
    struct timeline_circuits circuits = {.process = 5, .name = "five", .start = 7000000, .end = SIM_TIME_MAX};
    const struct network_observer observer = {timeline_circuits_stayed, &circuits};
    const struct network_options network_options = {.observer = &observer};
    struct timeline_totals totals;
    struct topology topology;
    struct network *network;
    struct engine *engine = engine_create();
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology("topologies/ramp-32.yaml", &topology, NULL), STATUS_OK);
    circuits.topology = &topology;
    CU_ASSERT_EQUAL_FATAL(timeline_create(path, &options, &circuits.timeline, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(network_create(engine, &topology, &network_options, &network, NULL), STATUS_OK);
    send_some(engine, network);
    books->network = network;
    network_visit_hardware(network, keep_used, books);
    network_destroy(network);
    engine_destroy(engine);
    topology_free(&topology);
    timeline_circuits_fini(&circuits);
    CU_ASSERT_EQUAL_FATAL(timeline_finish(circuits.timeline, &totals, NULL), STATUS_OK);
}

static double lit_of(const struct tracks *tracks, const char *name)
{
    for (size_t i = 0; i < TRACKS_MAX; i++)
        if (strcmp(tracks->items[i].name, name) == 0)
            return tracks->items[i].lit_us;
    return -1;
}

static void test_books(void)
{
    struct books *books = memory_alloc(1, sizeof *books);
    size_t wrong = 0;
    draw_network(books);
    cJSON *tree = read_back();
    struct tracks *tracks = tracks_of(tree, 5, 0.001);
    for (size_t i = 0; i < books->count; i++)
        wrong += fabs(lit_of(tracks, books->names[i]) - (double)books->items[i].busy * 1e-6) > rounding_us;
    CU_ASSERT(books->count > 60);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(overlaps_of(tracks), 0);
    CU_ASSERT_EQUAL(tracks->odd_switching + tracks->odd_lit, 0);
    CU_ASSERT(tracks->switching > 100 && tracks->idle > 100);
    CU_ASSERT_EQUAL(tracks->lit, 900); /* transmitter, receiver and wavelength of 300 */
    CU_ASSERT_STRING_EQUAL(tracks->process, "five");
    free(tracks);
    free(books);
    cJSON_Delete(tree);
}

/* ---- jobs ---- */

static const struct timeline_jobs_options whole = {
    .window_end_s = INFINITY, .limit = 1000000, .job = TIMELINE_ALL_JOBS, .steps = 1};
enum { FIRST_PROCESS = 1000 * 1000 * 1000 };

static cJSON *draw(const char *topology, const struct timeline_jobs_options *options, struct timeline_totals *totals)
{
    char text[500];
    struct scenario *scenario;
    struct simulation world;
    struct scenario_overrides none = {0};
    snprintf(text, sizeof text,
             "topology: topologies/%s.yaml\n"
             "workload: {models: [alexnet], jobs: 2, beta: fixed, beta_value: 1, interarrival: 100000s}\n"
             "partition: {strategy: fixed, degree: 4}\n"
             "network: {model: circuit}\n",
             topology);
    CU_ASSERT_EQUAL_FATAL(scenario_parse(text, strlen(text), "s.yaml", none, &scenario, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(simulation_open(&world, &scenario->settings, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(timeline_jobs_run(&world.cluster, options, path, totals, NULL), STATUS_OK);
    simulation_close(&world);
    scenario_free(scenario);
    return read_back();
}

/* One step of each job, and twice as much light with two steps. */
static void test_job(void)
{
    struct timeline_jobs_options options = whole;
    struct timeline_totals totals;
    size_t lit[3] = {0};
    for (int64_t steps = 0; steps < 3; steps++) {
        options.steps = steps;
        cJSON *tree = draw("ramp-32", &options, &totals);
        for (int job = 0; job < 2; job++) {
            struct tracks *tracks = tracks_of(tree, FIRST_PROCESS + job, 0.001);
            lit[steps] = tracks->lit;
            CU_ASSERT_EQUAL(overlaps_of(tracks), 0);
            CU_ASSERT_EQUAL(tracks->odd_switching + tracks->odd_lit, 0);
            CU_ASSERT(steps == 0 || (tracks->switching > 50 && tracks->idle > 50));
            CU_ASSERT_STRING_EQUAL(tracks->process, !steps ? "" : job ? "circuits of job 1" : "circuits of job 0");
            CU_ASSERT_PTR_EQUAL(strstr(tracks->items[1].name, "transmitter "), steps ? tracks->items[1].name : NULL);
            free(tracks);
        }
        cJSON_Delete(tree);
    }
    CU_ASSERT_EQUAL(lit[0], 0);
    CU_ASSERT(lit[1] > 100);
    CU_ASSERT_EQUAL(lit[2], 2 * lit[1]);
}

static void test_fabrics(void)
{
    static const struct {
        const char *topology, *track;
        double switching_us;
        bool has_circuits;
    } cases[] = {{"ocs-32", "port of ", 10000, true},          {"awgr-32", "transmitter ", 0.00384, true},
                 {"ring-32", "sending micro-ring ", 25, true}, {"rotor-32", "transfers from ", 0, false},
                 {"static-32", "transfers from ", 0, false},   {"packet-32", "transfers from ", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timeline_totals totals;
        cJSON *tree = draw(cases[i].topology, &whole, &totals);
        struct tracks *tracks = tracks_of(tree, FIRST_PROCESS, cases[i].switching_us);
        CU_ASSERT_EQUAL(overlaps_of(tracks), 0);
        CU_ASSERT_EQUAL(tracks->odd_switching, 0);
        CU_ASSERT_EQUAL(tracks->switching > 0, cases[i].has_circuits);
        CU_ASSERT_EQUAL(tracks->idle > 0, cases[i].has_circuits);
        CU_ASSERT(tracks->lit > 30);
        CU_ASSERT_PTR_EQUAL(strstr(tracks->items[1].name, cases[i].track), tracks->items[1].name);
        free(tracks);
        cJSON_Delete(tree);
    }
}

/* Half of the limit is kept for jobs and ops; what is left out is counted; the window is kept. */
static void test_limits(void)
{
    struct timeline_jobs_options options = whole;
    struct timeline_totals all, some, early;
    cJSON *tree = draw("ramp-32", &whole, &all);
    struct tracks *tracks = tracks_of(tree, FIRST_PROCESS, 0.001);
    size_t lit = tracks->lit;
    free(tracks);
    cJSON_Delete(tree);
    options.limit = all.written / 2;
    tree = draw("ramp-32", &options, &some);
    CU_ASSERT_EQUAL(all.left_out, 0);
    CU_ASSERT(some.left_out > 0 && some.written < options.limit && some.written >= options.limit / 2);
    struct tracks *second = tracks_of(tree, FIRST_PROCESS + 1, 0.001);
    CU_ASSERT_EQUAL(second->lit, 0);
    free(second);
    cJSON_Delete(tree);
    options = whole;
    options.window_end_s = 172.5; /* within the first step */
    tree = draw("ramp-32", &options, &early);
    tracks = tracks_of(tree, FIRST_PROCESS, 0.001);
    CU_ASSERT(tracks->lit > 0 && tracks->lit < lit);
    for (size_t i = 0; i < TRACKS_MAX; i++)
        CU_ASSERT(!tracks->items[i].name[0] || tracks->items[i].bars > 0);
    free(tracks);
    cJSON_Delete(tree);
}

void suite_trace_circuits(void)
{
    CU_pSuite suite = CU_add_suite("trace circuits", NULL, NULL);
    CU_add_test(suite, "light adds up to the books", test_books);
    CU_add_test(suite, "the steps of jobs", test_job);
    CU_add_test(suite, "every fabric", test_fabrics);
    CU_add_test(suite, "limit and window", test_limits);
}
