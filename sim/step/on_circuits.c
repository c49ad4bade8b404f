#include "step/on_circuits.h"

#include <math.h>
#include <stdlib.h>

enum { KIND_STEPPER = 0, KIND_START = STEPPER_KINDS };

/* One of the jobs that run side by side. */
struct runner {
    struct session *session;
    struct stepper_job *job;
    int64_t steps_done;
    struct step_path sum; /* of the steps that count */
    struct step_path last;
    sim_time head_start;
    struct step_path later; /* sum of the later half of max_steps */
    int64_t later_count;
    bool is_settled;
    bool is_mean; /* settled without being steady: later / later_count counts */
};

struct session {
    const struct circuit_options *options;
    struct engine *engine;
    struct stepper *stepper;
    struct runner *runners;
    uint32_t count, settled;
    sim_time begin; /* steps begun earlier do not count */
};

static bool is_steady(const struct circuit_options *options, struct runner *runner, const struct step_path *now)
{
    if (runner->steps_done >= options->steps)
        return true;
    if (options->steady_tolerance < 0 || runner->steps_done < options->min_steps)
        return false;
    double before = (double)step_path_length(&runner->last), length = (double)step_path_length(now);
    if (fabs(length - before) <= options->steady_tolerance * length)
        return true;
    runner->is_mean = options->max_steps && runner->steps_done >= options->max_steps;
    return runner->is_mean;
}

/* A settled job goes on with its steps, so that the others keep their neighbour, but they count no more. */
static void on_step(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    struct runner *runner = context;
    struct session *session = runner->session;
    require(runner->job == job && session->settled <= session->count);
    if (!runner->is_settled && report->start >= session->begin) {
        runner->steps_done++;
        step_path_add(&runner->sum, &report->path, 1);
        if (runner->steps_done > session->options->max_steps / 2) {
            step_path_add(&runner->later, &report->path, 1);
            runner->later_count++;
        }
        runner->is_settled = is_steady(session->options, runner, &report->path);
        runner->last = report->path;
        session->settled += runner->is_settled;
    }
    if (session->settled == session->count)
        engine_stop(session->engine);
    else
        stepper_start(job);
}

/* The steady step of a job, and what its first steps took beyond it; where the last step is the steady one, exactly. */
static void split_steps(const struct session *session, const struct runner *runner, struct step_result *result)
{
    const struct sim_clock *clock = &session->options->clock;
    if (runner->is_mean) {
        struct time_parts later = time_parts_of(clock, &runner->later);
        time_parts_add(&result->step, &later, 1.0 / (double)runner->later_count);
        result->start_up = time_parts_of(clock, &runner->sum);
        time_parts_add(&result->start_up, &result->step, -(double)runner->steps_done);
        return;
    }
    struct step_path extra = runner->sum;
    step_path_add(&extra, &runner->last, -runner->steps_done);
    result->step = time_parts_of(clock, &runner->last);
    result->start_up = time_parts_of(clock, &extra);
}

static void fill_result(const struct session *session, const struct runner *runner, struct step_result *result)
{
    require(runner->is_settled && runner->steps_done > 0);
    struct network_totals totals = network_totals(stepper_network(session->stepper));
    *result = (struct step_result){
        .flows = totals.sent - totals.local,
        .events = engine_events(session->engine),
        .trace_hash = engine_trace_hash(session->engine),
    };
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
        if (!session->runners[i].is_settled)
            return stepper_explain(session->runners[i].job, error);
    return STATUS_OK;
}

static void close_session(struct session *session)
{
    for (uint32_t i = 0; session->runners && i < session->count; i++)
        if (session->runners[i].job)
            stepper_remove(session->runners[i].job);
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
