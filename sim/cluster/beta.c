#include "cluster/beta.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_randist.h>

#include "engine/memory.h"
#include "input/csv.h"
#include "input/units.h"

enum { SKEW_DRAWS = 50000, SKEW_BINS = 1000 };

/* Grid of the published laws: hundredths. */
enum { GRID_LOW = 10, GRID_HIGH = 100 };

static void add_value(struct beta_law *law, double value, double weight)
{
    size_t weights_capacity = law->capacity;
    require(value > 0 && value <= 1 && weight >= 0 && !law->lookup);
    law->values = memory_grow(law->values, &law->capacity, law->count + 1, sizeof *law->values);
    law->weights = memory_grow(law->weights, &weights_capacity, law->count + 1, sizeof *law->weights);
    law->values[law->count] = value;
    law->weights[law->count++] = weight;
}

void beta_uniform(struct beta_law *law)
{
    for (int hundredth = GRID_LOW; hundredth <= GRID_HIGH; hundredth++)
        add_value(law, hundredth / 100.0, 1);
}

void beta_fixed(struct beta_law *law, double value)
{
    add_value(law, value, 1);
}

/* Fills draws with skew-normal values scaled so that the smallest is 0 and the largest 1. */
static void draw_scaled(double *draws, double skew, struct random_stream *random)
{
    double slant = skew / sqrt(1 + skew * skew), rest = sqrt(1 - slant * slant);
    double low = DBL_MAX, high = -DBL_MAX;
    for (int i = 0; i < SKEW_DRAWS; i++) {
        double shared = fabs(random_normal(random));
        draws[i] = slant * shared + rest * random_normal(random);
        low = fmin(low, draws[i]);
        high = fmax(high, draws[i]);
    }
    for (int i = 0; i < SKEW_DRAWS; i++)
        draws[i] = (draws[i] - low) / (high - low);
}

void beta_skew_normal(struct beta_law *law, double skew, struct random_stream *random)
{
    const double floor_value = 0.1, width = (1 - floor_value) / SKEW_BINS;
    double *draws = memory_alloc(SKEW_DRAWS, sizeof *draws);
    double hits[GRID_HIGH + 1] = {0};
    draw_scaled(draws, skew, random);
    for (int i = 0; i < SKEW_DRAWS; i++) {
        double value = fmax(draws[i], floor_value);
        int bin = (int)((value - floor_value) / width);
        double right_edge = floor_value + width * ((bin < SKEW_BINS ? bin : SKEW_BINS - 1) + 1);
        hits[lround(right_edge * 100)] += 1;
    }
    for (int hundredth = GRID_LOW; hundredth <= GRID_HIGH; hundredth++)
        if (hits[hundredth] > 0)
            add_value(law, hundredth / 100.0, hits[hundredth] / SKEW_DRAWS);
    free(draws);
}

/* Reads one number of a row, checked against its range. */
static enum status read_number(struct csv *csv, int column, double low, double high, double *number,
                               struct error *error)
{
    if (units_number(csv_field(csv, (size_t)column), number, error) != STATUS_OK)
        return csv_error(csv, column, error, "found '%.40s'; expected a number, e.g. 0.5",
                         csv_field(csv, (size_t)column));
    if (!(*number >= low && *number <= high))
        return csv_error(csv, column, error, "%g is out of range: allowed are values from %g to %g", *number, low,
                         high);
    return STATUS_OK;
}

static enum status read_rows(struct beta_law *law, struct csv *csv, int value_column, int weight_column,
                             const char *path, struct error *error)
{
    double total = 0;
    for (;;) {
        bool has_row;
        double value, weight;
        TRY(csv_next(csv, &has_row, error));
        if (!has_row)
            break;
        TRY(read_number(csv, value_column, 1e-9, 1, &value, error));
        TRY(read_number(csv, weight_column, 0, 1e12, &weight, error));
        add_value(law, value, weight);
        total += weight;
    }
    if (!(total > 0))
        return error_at(error, path, 1, 0, "the probabilities add up to 0; give at least one row with prob above 0");
    return STATUS_OK;
}

enum status beta_load(struct beta_law *law, const char *path, struct error *error)
{
    struct csv *csv;
    TRY(csv_open(path, &csv, error));
    enum status status;
    int value_column = csv_find_column(csv, "frac"), weight_column = csv_find_column(csv, "prob");
    value_column = value_column < 0 ? csv_find_column(csv, "beta") : value_column;
    weight_column = weight_column < 0 ? csv_find_column(csv, "weight") : weight_column;
    if (value_column < 0 || weight_column < 0)
        status = error_at(error, path, 1, 0, "a table of beta needs the columns beta and prob");
    else
        status = read_rows(law, csv, value_column, weight_column, path, error);
    csv_close(csv);
    return status;
}

void beta_mix(struct beta_law *law, const struct beta_law *other, double share)
{
    double total = 0;
    for (size_t i = 0; i < other->count; i++)
        total += other->weights[i];
    for (size_t i = 0; i < other->count; i++)
        add_value(law, other->values[i], other->weights[i] / total * share);
}

double beta_draw(struct beta_law *law, struct random_stream *random)
{
    require(law->count > 0);
    if (law->count == 1)
        return law->values[0];
    if (!law->lookup)
        law->lookup = gsl_ran_discrete_preproc(law->count, law->weights);
    if (!law->lookup)
        memory_exhausted(law->count, sizeof *law->weights);
    return law->values[gsl_ran_discrete(random_generator(random), law->lookup)];
}

double beta_mean(const struct beta_law *law)
{
    double sum = 0, total = 0;
    for (size_t i = 0; i < law->count; i++) {
        sum += law->values[i] * law->weights[i];
        total += law->weights[i];
    }
    require(total > 0);
    return sum / total;
}

void beta_free(struct beta_law *law)
{
    if (law->lookup)
        gsl_ran_discrete_free(law->lookup);
    free(law->values);
    free(law->weights);
    *law = (struct beta_law){0};
}
