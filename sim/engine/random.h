/* Random streams: one per (purpose, entity), all from one master seed.
 *
 * A stream's draws depend on the master seed, its purpose and its entity alone,
 * not on which other streams exist or in which order they were opened: one more
 * job does not shift another's draws, and two strategies see the same jobs
 * (common random numbers). The generator is xoshiro256** (Blackman and Vigna
 * 2021) behind GSL's interface, since GSL's own either take 5 KB and
 * microseconds to seed or keep only 32 bits of the seed; GSL's distributions
 * work on random_generator(). Opening costs one small allocation.
 */
#ifndef ENGINE_RANDOM_H
#define ENGINE_RANDOM_H

#include <stdint.h>

#include <gsl/gsl_rng.h>

struct random_stream;

/* Returns owned, to be closed with random_close. Borrows purpose (any text, such as "arrivals"). */
struct random_stream *random_open(uint64_t master_seed, const char *purpose, uint64_t entity);

/* Makes an open stream the one that random_open would give: no allocation, for millions of short streams. */
void random_reseed(struct random_stream *stream, uint64_t master_seed, const char *purpose, uint64_t entity);

/* Takes stream; NULL is fine. */
void random_close(struct random_stream *stream);

/* 64 random bits. */
uint64_t random_bits(struct random_stream *stream);

/* Uniform in [0, 1), 53 bits. */
double random_uniform(struct random_stream *stream);

/* Uniform in 0 .. bound-1, unbiased; bound is required to be above 0. */
uint64_t random_below(struct random_stream *stream, uint64_t bound);

/* Exponential with the given mean. */
double random_exponential(struct random_stream *stream, double mean);

/* Normal with mean 0 and standard deviation 1. */
double random_normal(struct random_stream *stream);

/* For GSL's distributions; the returned pointer lives until random_close. */
gsl_rng *random_generator(struct random_stream *stream);

#endif
