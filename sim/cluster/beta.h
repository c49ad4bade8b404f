/* Distributions of beta: which fraction of its sequential time a user grants a job.
 *
 * Every law is a table of values and weights; drawing is one lookup. The
 * published names A, B, C, D are uniform and skew-normal laws (PAC-ML simulator,
 * section 10).
 */
#ifndef CLUSTER_BETA_H
#define CLUSTER_BETA_H

#include <stddef.h>

#include "engine/random.h"
#include "input/keys.h"

struct beta_law {
    double *values; /* each in (0, 1] */
    double *weights;
    size_t count, capacity;
    void *lookup; /* gsl_ran_discrete_t of the finished table, made on its first use */
};

/* 0.10, 0.11, ..., 1.00, each equally likely. */
void beta_uniform(struct beta_law *law);

/* The published recipe: 50,000 skew-normal draws, shifted and scaled to end at 1, cut off below at 0.1, as a histogram
 * of 1000 bins with right edges rounded to 0.01. The table is itself random: it hangs on the extremes of the sample. */
void beta_skew_normal(struct beta_law *law, double skew, struct random_stream *random);

void beta_fixed(struct beta_law *law, double value);

/* A CSV file with columns frac (or beta) and prob (or weight). */
STATUS_MUST_USE enum status beta_load(struct beta_law *law, const char *path, struct error *error);

/* Adds share times another law to this one. */
void beta_mix(struct beta_law *law, const struct beta_law *other, double share);

/* The laws that a scenario can name. */
extern const struct registry distributions;

/* Adds the law that was chosen to an empty table. */
STATUS_MUST_USE enum status beta_fill(const struct choice *choice, uint64_t seed, struct beta_law *law,
                                      struct error *error);

double beta_draw(struct beta_law *law, struct random_stream *random);
double beta_mean(const struct beta_law *law);
void beta_free(struct beta_law *law);

#endif
