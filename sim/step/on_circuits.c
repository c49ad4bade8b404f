#include "step/on_circuits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_STEPPER = 0, KIND_START = STEPPER_KINDS };

/* Steps may come in cycles of so many at most that are found as such. */
enum { CYCLE_MOST = 8 };

/* So many cycles must take as long; fewer where nothing was heard of steps that differ. */
enum { CYCLES = 6, CYCLES_CALM = 3 };

/* What counting the rest of the steps as those before may be wrong by, of all of them. */
static const double error_most = 0.01;

/* A drift is taken to go on for so many times the steps looked at. */
enum { DRIFT_LASTS = 16 };

/* A mean is good where so many standard errors of it are no more than that. */
static const double error_width = 2.6;

/* A step that counts. */
struct counted {
    struct step_path path;
    uint64_t schedule;
    uint64_t lit; /* the circuits behind it, where the job is alone; else 0 */
};

/* One of the jobs that run side by side. */
struct runner {
    struct session *session;
    struct stepper_job *job;
    struct counted *steps; /* owned: those that count, so far; only where not all of them are simulated anyway */
    size_t step_capacity;
    int64_t steps_wanted; /* of which some are simulated */
    int64_t steps_done;
    struct step_path sum; /* of the steps that count */
    struct step_path last;
    uint32_t all_reduces[COLLECTIVE_ALGORITHMS]; /* of the last step that counts */
    sim_time head_start;
    int64_t cycle; /* 0 = not settled; else the rest of the steps repeat this many last ones */
};

struct session {
    const struct circuit_options *options;
    struct engine *engine;
    struct stepper *stepper;
    struct runner *runners;
    uint32_t count, settled;
    bool is_over;   /* a job has none of steps_left left */
    sim_time begin; /* steps begun earlier do not count */
};

/* ---- steady ---- */

/* The sum of `count` steps that end `back` before the last one. */
static struct step_path sum_steps(const struct runner *runner, int64_t back, int64_t count)
{
    struct step_path sum = {0};
    for (int64_t i = 0; i < count; i++)
        step_path_add(&sum, &runner->steps[runner->steps_done - back - 1 - i].path, 1);
    return sum;
}

static double mean_length(const struct runner *runner, int64_t back, int64_t count)
{
    struct step_path sum = sum_steps(runner, back, count);
    return (double)step_path_length(&sum) / (double)count;
}

/* In each of the last `cycle` steps everything ends to the tick when it does a cycle before, and leaves the same
 * circuits behind. */
static bool is_repeated(const struct runner *runner, int64_t cycle)
{
    const struct counted *end = runner->steps + runner->steps_done;
    bool is_same = runner->steps_done >= 2 * cycle;
    for (int64_t i = 1; i <= cycle && is_same; i++)
        is_same = end[-i].schedule == end[-i - cycle].schedule && end[-i].lit == end[-i - cycle].lit;
    return is_same;
}

/* The same circuits are lit behind the last of each of so many cycles: a job that still moves them may yet find a way
 * to do without. */
static bool is_lit_alike(const struct runner *runner, int64_t cycle, int64_t cycles)
{
    const struct counted *end = runner->steps + runner->steps_done;
    for (int64_t i = 1; i < cycles; i++)
        if (end[-1 - i * cycle].lit != end[-1].lit)
            return false;
    return true;
}

/* Would the steps to come, if their length went on changing by so much each, be far from what they count as? */
static bool is_drifting(const struct runner *runner, double change, double length)
{
    int64_t left = runner->steps_wanted - runner->steps_done;
    double lasts = fmin((double)left, DRIFT_LASTS * (double)runner->steps_done);
    return fabs(change) * lasts * lasts / 2 > error_most * length * (lasts + (double)runner->steps_done);
}

/* All steps looked at but the first, which lights circuits, take about as long as the last one. */
static bool is_calm(const struct runner *runner)
{
    double last = mean_length(runner, 0, 1);
    for (int64_t back = 1; back < runner->steps_done - 1 && back < CYCLES * CYCLE_MOST; back++)
        if (fabs(mean_length(runner, back, 1) - last) > error_most * last)
            return false;
    return true;
}

/* The last three cycles take as long, within the tolerance, the first step aside; six where steps differed before, so
 * that three of them may be alike by accident. */
static bool is_even(const struct runner *runner, int64_t cycle)
{
    int64_t cycles = runner->steps_done > CYCLES_CALM * cycle && is_calm(runner) ? CYCLES_CALM : CYCLES;
    if (runner->steps_done < cycles * cycle + 1)
        return false;
    double last = mean_length(runner, 0, cycle), least = last, most = last, length = last;
    for (int64_t i = 1; i < cycles; i++) {
        length = mean_length(runner, i * cycle, cycle);
        least = fmin(least, length);
        most = fmax(most, length);
    }
    return most - least <= runner->session->options->steady_tolerance * last && is_lit_alike(runner, cycle, cycles) &&
           !is_drifting(runner, (last - length) / (double)((cycles - 1) * cycle), last);
}

/* Do the last `count` steps differ so much that their mean says little about those to come? */
static bool is_noisy(const struct runner *runner, int64_t count)
{
    double mean = mean_length(runner, 0, count), squares = 0;
    double all = (double)runner->steps_wanted, left = all - (double)runner->steps_done;
    for (int64_t back = 0; back < count; back++) {
        double off = mean_length(runner, back, 1) - mean;
        squares += off * off;
    }
    return error_width * sqrt(squares / (double)((count - 1) * count)) * left > error_most * mean * all;
}

/* At max_steps, twice that, and so on: the two halves of the later half agree. */
static bool is_mean_good(const struct runner *runner)
{
    int64_t done = runner->steps_done, at = runner->session->options->max_steps, quarter = done / 4;
    while (at > 0 && at < done && at <= INT64_MAX / 2)
        at *= 2;
    if (at != done || quarter == 0)
        return false;
    double late = mean_length(runner, 0, quarter), early = mean_length(runner, quarter, quarter);
    return !is_noisy(runner, 2 * quarter) && fabs(late - early) <= error_most * late &&
           !is_drifting(runner, (late - early) / (double)quarter, late);
}

/* How many of the last steps those to come repeat; 0 = look at more. */
static int64_t find_cycle(const struct runner *runner)
{
    const struct circuit_options *options = runner->session->options;
    if (runner->steps_done >= runner->steps_wanted)
        return 1; /* there are none to come */
    if (options->steady_tolerance < 0 || runner->steps_done < options->min_steps)
        return 0;
    for (int64_t cycle = 1; cycle <= CYCLE_MOST; cycle++)
        if (is_repeated(runner, cycle) || is_even(runner, cycle))
            return cycle;
    return is_mean_good(runner) ? runner->steps_done / 4 * 2 : 0;
}

/* A job has run all the steps it has left. What the others would do without it is not asked: they count as they went
 * until here, the first step aside. */
static void settle_rest(struct session *session)
{
    for (uint32_t i = 0; i < session->count; i++) {
        struct runner *runner = &session->runners[i];
        if (runner->cycle > 0 || runner->steps_done == 0)
            continue;
        runner->cycle = runner->steps_done > 1 ? runner->steps_done - 1 : 1;
        session->settled++;
    }
}

static void count_step(struct runner *runner, const struct stepper_report *report)
{
    struct session *session = runner->session;
    const struct step_path *path = &report->path;
    if (session->options->steady_tolerance >= 0) {
        size_t count = (size_t)runner->steps_done + 1;
        runner->steps = memory_grow(runner->steps, &runner->step_capacity, count, sizeof *runner->steps);
        uint64_t lit = session->count == 1 ? network_lit_hash(stepper_network(session->stepper)) : 0;
        runner->steps[runner->steps_done] = (struct counted){*path, report->schedule, lit};
    }
    runner->steps_done++;
    step_path_add(&runner->sum, path, 1);
    runner->last = *path;
    memcpy(runner->all_reduces, report->all_reduces, sizeof runner->all_reduces);
    runner->cycle = find_cycle(runner);
    session->settled += runner->cycle > 0;
    session->is_over = session->is_over || (session->options->steps_left && runner->steps_done >= runner->steps_wanted);
    if (session->is_over)
        settle_rest(session);
}

/* A settled job goes on with its steps, so that the others keep their neighbour, but they count no more. */
static void on_step(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    struct runner *runner = context;
    struct session *session = runner->session;
    require(runner->job == job && session->settled <= session->count);
    if (runner->cycle == 0 && report->start >= session->begin)
        count_step(runner, report);
    if (session->settled == session->count)
        engine_stop(session->engine);
    else
        stepper_start(job);
}

/* ---- results ---- */

/* The steady step of a job, the mean of its cycle, and what all its steps take beyond so many of that: the first ones,
 * and the part of a cycle that the last ones are. Where all steady steps are one, exactly. */
static void split_steps(const struct session *session, const struct runner *runner, struct step_result *result)
{
    const struct sim_clock *clock = &session->options->clock;
    struct step_path extra = runner->sum;
    if (runner->cycle == 1) {
        step_path_add(&extra, &runner->last, -runner->steps_done);
        result->step = time_parts_of(clock, &runner->last);
        result->start_up = time_parts_of(clock, &extra);
        return;
    }
    int64_t odd = (runner->steps_wanted - runner->steps_done) % runner->cycle;
    struct step_path cycle = sum_steps(runner, 0, runner->cycle);
    struct step_path part = sum_steps(runner, runner->cycle - odd, odd);
    struct time_parts all = time_parts_of(clock, &cycle);
    step_path_add(&extra, &part, 1);
    time_parts_add(&result->step, &all, 1.0 / (double)runner->cycle);
    result->start_up = time_parts_of(clock, &extra);
    time_parts_add(&result->start_up, &result->step, -(double)(runner->steps_done + odd));
}

static void fill_result(const struct session *session, const struct runner *runner, struct step_result *result)
{
    require(runner->cycle > 0 && runner->steps_done > 0);
    struct network_totals totals = network_totals(stepper_network(session->stepper));
    *result = (struct step_result){
        /* Every step sends the same. */
        .bytes = session->count == 1 ? (double)totals.bytes_sent / (double)runner->steps_done : 0,
        .flows = totals.sent - totals.local,
        .events = engine_events(session->engine),
        .trace_hash = engine_trace_hash(session->engine),
    };
    memcpy(result->all_reduces, runner->all_reduces, sizeof result->all_reduces);
    split_steps(session, runner, result);
}

/* The job with the longest head start begins at 0. */
static enum status find_begin(struct session *session, struct error *error)
{
    const struct circuit_options *options = session->options;
    for (uint32_t i = 0; i < session->count && options->head_start_s; i++) {
        struct runner *runner = &session->runners[i];
        TRY(clock_from_seconds(&options->clock, options->head_start_s[i], &runner->head_start, error));
        if (runner->head_start > session->begin)
            session->begin = runner->head_start;
    }
    return STATUS_OK;
}

static enum status open_session(struct session *session, const struct step_input *inputs, struct error *error)
{
    struct circuit_options options = *session->options;
    session->engine = engine_create();
    session->runners = memory_alloc(session->count, sizeof *session->runners);
    TRY(find_begin(session, error));
    options.network.epoch -= session->begin;
    TRY(stepper_create(session->engine, inputs[0].topology, KIND_STEPPER, &options, &session->stepper, error));
    for (uint32_t i = 0; i < session->count; i++) {
        struct runner *runner = &session->runners[i];
        runner->session = session;
        runner->steps_wanted = session->options->steps_left ? session->options->steps_left[i] : session->options->steps;
        require(runner->steps_wanted > 0);
        TRY(stepper_add(session->stepper, &inputs[i], i, on_step, runner, &runner->job, error));
    }
    return STATUS_OK;
}

static void on_start(struct engine *engine, const struct event *event, void *world)
{
    struct session *session = world;
    (void)engine;
    stepper_start(session->runners[event->entity].job);
}

static void start_jobs(struct session *session)
{
    engine_on(session->engine, KIND_START, on_start, session);
    for (uint32_t i = 0; i < session->count; i++) {
        sim_time start = session->begin - session->runners[i].head_start;
        if (start > 0)
            engine_schedule(session->engine, start, 0, KIND_START, i, 0);
        else
            stepper_start(session->runners[i].job);
    }
}

static enum status run_session(struct session *session, struct error *error)
{
    start_jobs(session);
    engine_run(session->engine, SIM_TIME_MAX);
    TRY(stepper_status(session->stepper, error));
    for (uint32_t i = 0; i < session->count; i++)
        if (session->runners[i].cycle == 0)
            return stepper_explain(session->runners[i].job, error);
    return STATUS_OK;
}

static void close_session(struct session *session)
{
    for (uint32_t i = 0; session->runners && i < session->count; i++) {
        if (session->runners[i].job)
            stepper_remove(session->runners[i].job);
        free(session->runners[i].steps);
    }
    stepper_destroy(session->stepper);
    engine_destroy(session->engine);
    free(session->runners);
}

enum status step_circuit(const struct step_input *inputs, uint32_t count, const struct circuit_options *options,
                         struct step_result *results, struct error *error)
{
    require(count > 0 && options->steps > 0);
    struct session session = {.options = options, .count = count};
    enum status status = open_session(&session, inputs, error);
    if (status == STATUS_OK)
        status = run_session(&session, error);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        fill_result(&session, &session.runners[i], &results[i]);
    close_session(&session);
    return status;
}
