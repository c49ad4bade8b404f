/* Seven distributions of the time from scheduling an event to its happening, for tests and benchmarks of the queue.
 *
 * Draws come from a table, so that drawing costs little beside the queue; low bits are drawn apart where the
 * distribution is continuous, since a table alone would make false ties. The mean is about 1e9 ticks.
 *   exp      exponential
 *   uniform  between 0 and twice the mean
 *   bimodal  90 % uniform in 0 .. 0.95, 10 % at about 9.5 times the mean
 *   camel    two humps that hold 98 % of the mass in 1 % of the range
 *   logu     log-uniform over nine decades
 *   ties     five constants, exactly
 *   ocs      45 % chunk sends, 25 % log-normal op times, 20 % a constant reconfiguration delay, 9.5 % exponential,
 *            0.5 % arrivals of jobs five decades away
 */
#ifndef TESTS_INCREMENTS_H
#define TESTS_INCREMENTS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/random.h"

enum increment_kind {
    INCREMENT_EXP,
    INCREMENT_UNIFORM,
    INCREMENT_BIMODAL,
    INCREMENT_CAMEL,
    INCREMENT_LOGU,
    INCREMENT_TIES,
    INCREMENT_OCS,
    INCREMENT_KINDS
};

static const char *const increment_names[INCREMENT_KINDS] = {"exp",  "uniform", "bimodal", "camel",
                                                             "logu", "ties",    "ocs"};

enum { INCREMENT_TABLE = 1 << 12 };

struct increments {
    uint64_t state;
    struct {
        int64_t base;
        uint64_t mask; /* of the low bits drawn apart */
    } table[INCREMENT_TABLE];
};

static inline double increment_ocs(struct random_stream *stream, uint64_t *mask)
{
    double choice = random_uniform(stream);
    if (choice < 0.45)
        return 1e8 * (0.5 + random_uniform(stream));
    if (choice < 0.70)
        return 1e8 * exp(random_normal(stream));
    if (choice < 0.90) {
        *mask = 0;
        return 5e7;
    }
    return choice < 0.995 ? random_exponential(stream, 1e9) : random_exponential(stream, 1e14);
}

static inline double increment_draw(enum increment_kind kind, struct random_stream *stream, uint64_t *mask)
{
    static const double constants[] = {1e8, 3e8, 7e8, 1.3e9, 2.6e9};
    double uniform = random_uniform(stream);
    switch (kind) {
    case INCREMENT_EXP:
        return random_exponential(stream, 1e9);
    case INCREMENT_UNIFORM:
        return 2e9 * uniform;
    case INCREMENT_BIMODAL:
        return uniform < 0.9 ? 0.95e9 * random_uniform(stream) : 9.5e9 + 1e8 * random_uniform(stream);
    case INCREMENT_CAMEL:
        if (uniform < 0.98)
            return (uniform < 0.49 ? 0.6e9 : 1.4e9) + 1e7 * random_uniform(stream);
        return 2e9 * random_uniform(stream);
    case INCREMENT_LOGU:
        *mask = 0xff;
        return pow(10.0, 3 + 9 * uniform);
    case INCREMENT_TIES:
        *mask = 0;
        return constants[(int)(5 * uniform)];
    default:
        return increment_ocs(stream, mask);
    }
}

static inline void increments_fill(struct increments *increments, enum increment_kind kind, uint64_t seed)
{
    struct random_stream *stream = random_open(seed, "increments", (uint64_t)kind);
    for (size_t i = 0; i < INCREMENT_TABLE; i++) {
        uint64_t mask = (1 << 18) - 1;
        increments->table[i].base = (int64_t)increment_draw(kind, stream, &mask);
        increments->table[i].mask = mask;
    }
    increments->state = random_bits(stream) | 1;
    random_close(stream);
}

static inline uint64_t increments_bits(struct increments *increments)
{
    uint64_t x = increments->state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    increments->state = x;
    return x;
}

static inline int64_t increments_next(struct increments *increments)
{
    uint64_t bits = increments_bits(increments);
    size_t place = bits & (INCREMENT_TABLE - 1);
    return increments->table[place].base + (int64_t)((bits >> 32) & increments->table[place].mask);
}

#endif
