#include "cluster/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "input/csv.h"
#include "input/units.h"

/* ---- replayed ---- */

struct columns {
    size_t model, arrival, beta;
    int degree; /* -1 = not there */
};

static enum status find_columns(const struct csv *csv, struct columns *columns, struct error *error)
{
    TRY(csv_need_column(csv, "model", &columns->model, error));
    TRY(csv_need_column(csv, "arrival_s", &columns->arrival, error));
    TRY(csv_need_column(csv, "beta", &columns->beta, error));
    columns->degree = csv_find_column(csv, "degree");
    return STATUS_OK;
}

static enum status read_arrival(const struct workload *workload, const struct csv *csv, size_t column, sim_time *time,
                                struct error *error)
{
    double arrival_s;
    struct error why;
    if (units_number(csv_field(csv, column), &arrival_s, &why) != STATUS_OK || arrival_s < 0)
        return csv_error(csv, (int)column, error, "found '%.40s'; expected seconds, 0 or more, e.g. 1000",
                         csv_field(csv, column));
    if (clock_from_seconds(&workload->clock, arrival_s, time, &why) != STATUS_OK)
        return csv_error(csv, (int)column, error, "%s", why.message);
    if (*time < workload->last_arrival)
        return csv_error(csv, (int)column, error,
                         "%.17g goes back in time: the job before arrives at %.17g; sort the rows by arrival_s",
                         arrival_s, clock_to_seconds(&workload->clock, workload->last_arrival));
    return STATUS_OK;
}

static enum status read_row(struct workload *workload, const struct csv *csv, const struct columns *columns,
                            const char *path, struct models *models, struct error *error)
{
    struct job job = {0};
    struct error why;
    int64_t degree = 0;
    TRY(read_arrival(workload, csv, columns->arrival, &job.arrival, error));
    if (units_number(csv_field(csv, columns->beta), &job.beta, &why) != STATUS_OK || !(job.beta > 0 && job.beta <= 1))
        return csv_error(csv, (int)columns->beta, error,
                         "found '%.40s'; expected a number above 0, 1 at most, e.g. 0.5",
                         csv_field(csv, columns->beta));
    if (columns->degree >= 0 && (units_integer(csv_field(csv, (size_t)columns->degree), &degree, &why) != STATUS_OK ||
                                 degree < 0 || degree > UINT32_MAX))
        return csv_error(csv, columns->degree, error, "found '%.40s'; expected 0 (refused) or a degree, e.g. 4",
                         csv_field(csv, (size_t)columns->degree));
    job.trace_degree = (uint32_t)degree;
    enum status status = models_find(models, csv_field(csv, columns->model), path, &job.model, &why);
    if (status != STATUS_OK)
        return why.file[0] && why.line ? (*error = why, status) : csv_error(csv, -1, error, "%s", why.message);
    workload->last_arrival = job.arrival;
    workload->rows = memory_grow(workload->rows, &workload->row_capacity, workload->row_count + 1, sizeof job);
    workload->rows[workload->row_count++] = job;
    return STATUS_OK;
}

/* Takes csv. */
static enum status read_jobs(struct workload *workload, struct csv *csv, const char *path, struct models *models,
                             struct error *error)
{
    struct columns columns = {.degree = -1};
    bool has_row = true;
    enum status status = find_columns(csv, &columns, error);
    while (status == STATUS_OK && (status = csv_next(csv, &has_row, error)) == STATUS_OK && has_row)
        status = read_row(workload, csv, &columns, path, models, error);
    if (status == STATUS_OK && workload->row_count == 0)
        status = error_at(error, path, 1, 0, "no jobs: give at least one row model,arrival_s,beta");
    workload->is_replay = true;
    workload->has_degrees = columns.degree >= 0;
    csv_close(csv);
    return status;
}

enum status workload_read(struct workload *workload, const char *path, struct models *models, struct error *error)
{
    struct csv *csv;
    TRY(csv_open(path, &csv, error));
    return read_jobs(workload, csv, path, models, error);
}

enum status workload_parse(struct workload *workload, const char *text, size_t size, struct models *models,
                           struct error *error)
{
    struct csv *csv;
    TRY(csv_parse(text, size, "jobs.csv", &csv, error));
    return read_jobs(workload, csv, "jobs.csv", models, error);
}

/* ---- arrivals of a cluster trace ---- */

/* Days since 1970-01-01 of a date in the Gregorian calendar. */
static int64_t day_number(int64_t year, int64_t month, int64_t day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t leap_year = month > 2 ? year : year - 1;
    return 365 * (year - 1970) + leap_year / 4 - leap_year / 100 + leap_year / 400 - 477 + before[month - 1] + day - 1;
}

static bool read_timestamp(const char *text, double *time_s)
{
    int year, month, day, hour, minute, used = 0;
    double second;
    if (units_number(text, time_s, NULL) == STATUS_OK)
        return *time_s >= 0;
    if (sscanf(text, "%4d-%2d-%2d%*[T ]%2d:%2d:%lf%n", &year, &month, &day, &hour, &minute, &second, &used) != 6 ||
        text[used] || year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || !(second >= 0 && second < 61))
        return false;
    *time_s = (double)(day_number(year, month, day) * 86400 + hour * 3600 + minute * 60) + second;
    return true;
}

static enum status read_arrival_row(struct workload *workload, const struct csv *csv, size_t column, double speedup,
                                    double *first_s, struct error *error)
{
    double time_s;
    sim_time time;
    struct error why;
    size_t count = workload->arrival_count;
    if (!read_timestamp(csv_field(csv, column), &time_s))
        return csv_error(csv, (int)column, error, "found '%.40s'; expected seconds or YYYY-MM-DD HH:MM:SS",
                         csv_field(csv, column));
    if (count == 0)
        *first_s = time_s;
    if (time_s < *first_s ||
        clock_from_seconds(&workload->clock, (time_s - *first_s) / speedup, &time, &why) != STATUS_OK)
        return csv_error(csv, (int)column, error, "%s", time_s < *first_s ? "goes back in time" : why.message);
    if (count && time < workload->arrival_times[count - 1])
        return csv_error(csv, (int)column, error, "goes back in time; sort the rows by timestamp");
    workload->arrival_times = memory_grow(workload->arrival_times, &workload->arrival_capacity, count + 1, sizeof time);
    workload->arrival_times[workload->arrival_count++] = time;
    return STATUS_OK;
}

enum status workload_read_arrivals(struct workload *workload, const char *path, double speedup, struct error *error)
{
    struct csv *csv;
    size_t column;
    double first_s = 0;
    bool has_row = true;
    TRY(csv_open(path, &csv, error));
    enum status status = csv_need_column(csv, "timestamp", &column, error);
    while (status == STATUS_OK && (status = csv_next(csv, &has_row, error)) == STATUS_OK && has_row)
        status = read_arrival_row(workload, csv, column, speedup, &first_s, error);
    if (status == STATUS_OK && workload->arrival_count == 0)
        status = error_at(error, path, 1, 0, "no jobs: give at least one row with a timestamp");
    workload->arrivals = ARRIVALS_TRACE;
    csv_close(csv);
    return status;
}

/* ---- drawn ---- */

/* A new pool holds each model equally often; it is shuffled as a whole and used up from the front. */
static void refill_pool(struct workload *workload)
{
    uint64_t size = (uint64_t)workload->pool_count * workload->pool_copies;
    random_reseed(workload->random, workload->seed, "workload.pool", workload->pool_cycle++);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t j = random_below(workload->random, i + 1);
        workload->pool[i] = workload->pool[j];
        workload->pool[j] = workload->pool_models[i % workload->pool_count];
    }
}

static uint32_t draw_model(struct workload *workload)
{
    if (workload->pool_lookup) {
        random_reseed(workload->random, workload->seed, "workload.model", workload->drawn);
        return workload->pool_models[gsl_ran_discrete(random_generator(workload->random), workload->pool_lookup)];
    }
    uint64_t size = (uint64_t)workload->pool_count * workload->pool_copies;
    if (workload->drawn % size == 0)
        refill_pool(workload);
    return workload->pool[workload->drawn % size];
}

static enum status draw_arrival(struct workload *workload, sim_time *arrival, struct error *error)
{
    sim_time gap = workload->interarrival;
    if (workload->arrivals == ARRIVALS_TRACE || workload->drawn == 0) {
        *arrival = workload->arrivals == ARRIVALS_TRACE ? workload->arrival_times[workload->drawn] : 0;
        return STATUS_OK;
    }
    if (workload->arrivals != ARRIVALS_FIXED) {
        random_reseed(workload->random, workload->seed, "workload.arrival", workload->drawn);
        double gap_s = workload->arrivals == ARRIVALS_POISSON
                           ? random_exponential(workload->random, workload->interarrival_s)
                           : 2 * workload->interarrival_s * random_uniform(workload->random);
        TRY(clock_from_seconds(&workload->clock, gap_s, &gap, error));
    }
    return clock_advance(&workload->clock, workload->last_arrival, gap, arrival, error);
}

enum status workload_start(struct workload *workload, struct error *error)
{
    if (workload->is_replay)
        return STATUS_OK;
    require(workload->pool_count > 0 && workload->interarrival_s > 0);
    workload->random = random_open(workload->seed, "workload", 0);
    if (!workload->pool_copies)
        workload->pool_copies = 1000;
    if (workload->pool_weights)
        workload->pool_lookup = gsl_ran_discrete_preproc(workload->pool_count, workload->pool_weights);
    else
        workload->pool = memory_alloc((size_t)workload->pool_count * workload->pool_copies, sizeof *workload->pool);
    return clock_from_seconds(&workload->clock, workload->interarrival_s, &workload->interarrival, error);
}

enum status workload_next(struct workload *workload, struct job *job, bool *has_job, struct error *error)
{
    uint64_t limit = workload->is_replay ? workload->row_count : workload->job_limit;
    *has_job = limit == 0 || workload->drawn < limit;
    if (workload->arrivals == ARRIVALS_TRACE && workload->drawn >= workload->arrival_count)
        *has_job = false;
    if (!*has_job)
        return STATUS_OK;
    if (workload->is_replay) {
        *job = workload->rows[workload->drawn++];
        return STATUS_OK;
    }
    struct job drawn = {.model = draw_model(workload)};
    TRY(draw_arrival(workload, &drawn.arrival, error));
    random_reseed(workload->random, workload->seed, "workload.beta", workload->drawn);
    require(drawn.arrival >= workload->last_arrival || workload->drawn == 0);
    drawn.beta = beta_draw(&workload->beta, workload->random);
    workload->last_arrival = drawn.arrival;
    workload->drawn++;
    *job = drawn;
    return STATUS_OK;
}

void workload_free(struct workload *workload)
{
    beta_free(&workload->beta);
    random_close(workload->random);
    if (workload->pool_lookup)
        gsl_ran_discrete_free(workload->pool_lookup);
    free(workload->pool);
    free(workload->rows);
    free(workload->arrival_times);
    *workload = (struct workload){0};
}
