/* xoshiro256** as a generator of GSL, seeded through splitmix64 from the hash of (master seed, purpose, entity).
 * The stream holds GSL's handle and the state in one block, so that opening is one allocation. */
#include "engine/random.h"

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "engine/status.h"

struct xoshiro {
    uint64_t word[4];
};

struct random_stream {
    gsl_rng generator;
    struct xoshiro state;
};

_Static_assert(sizeof(unsigned long) == 8, "GSL's numbers carry 64 bits");

static uint64_t rotate(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static uint64_t next(struct xoshiro *state)
{
    uint64_t *word = state->word;
    uint64_t result = rotate(word[1] * 5, 7) * 9;
    uint64_t shifted = word[1] << 17;
    word[2] ^= word[0];
    word[3] ^= word[1];
    word[1] ^= word[2];
    word[0] ^= word[3];
    word[2] ^= shifted;
    word[3] = rotate(word[3], 45);
    return result;
}

static void generator_set(void *state, unsigned long seed)
{
    struct xoshiro *xoshiro = state;
    for (int i = 0; i < 4; i++)
        xoshiro->word[i] = hash_mix(seed += UINT64_C(0x9e3779b97f4a7c15));
}

static unsigned long generator_get(void *state)
{
    return next(state);
}

static double generator_get_double(void *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

static const gsl_rng_type generator_type = {.name = "xoshiro256**",
                                            .max = UINT64_MAX,
                                            .min = 0,
                                            .size = sizeof(struct xoshiro),
                                            .set = generator_set,
                                            .get = generator_get,
                                            .get_double = generator_get_double};

void random_reseed(struct random_stream *stream, uint64_t master_seed, const char *purpose, uint64_t entity)
{
    require(stream && purpose);
    uint64_t seed = hash_pair(hash_pair(master_seed, hash_bytes(purpose, strlen(purpose))), entity);
    generator_set(&stream->state, seed);
}

struct random_stream *random_open(uint64_t master_seed, const char *purpose, uint64_t entity)
{
    struct random_stream *stream = memory_alloc(1, sizeof *stream);
    stream->generator = (gsl_rng){.type = &generator_type, .state = &stream->state};
    random_reseed(stream, master_seed, purpose, entity);
    return stream;
}

void random_close(struct random_stream *stream)
{
    free(stream);
}

uint64_t random_bits(struct random_stream *stream)
{
    return next(&stream->state);
}

double random_uniform(struct random_stream *stream)
{
    return generator_get_double(&stream->state);
}

uint64_t random_below(struct random_stream *stream, uint64_t bound)
{
    require(bound > 0);
    /* The first 2^64 mod bound values would make the small results likelier: they are drawn again. */
    uint64_t unfair = (0 - bound) % bound;
    uint64_t bits = next(&stream->state);
    while (bits < unfair)
        bits = next(&stream->state);
    return bits % bound;
}

double random_exponential(struct random_stream *stream, double mean)
{
    require(mean >= 0);
    return gsl_ran_exponential(&stream->generator, mean);
}

double random_normal(struct random_stream *stream)
{
    return gsl_ran_gaussian_ziggurat(&stream->generator, 1.0);
}

gsl_rng *random_generator(struct random_stream *stream)
{
    return &stream->generator;
}
