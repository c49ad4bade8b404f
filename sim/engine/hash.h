/* Hashes: the fingerprint of a run, and a plain hash of bytes.
 *
 * Neither is meant against an adversary. Both give the same value on every
 * machine, compiler and optimisation level. O(1) a fold, O(n) for bytes.
 */
#ifndef ENGINE_HASH_H
#define ENGINE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What every executed event is folded into, in order; order matters, so two swapped events show. */
struct trace_hash {
    uint64_t state;
    uint64_t count; /* of folds */
};

/* Starts again from nothing. */
void trace_hash_start(struct trace_hash *hash);

/* Scrambles all 64 bits (the finalizer of splitmix64): one-to-one, so distinct inputs stay distinct. */
static inline uint64_t hash_mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* Folds one event. In the header since it runs once an event: two dependent multiplications, about 2 ns. */
static inline void trace_hash_fold(struct trace_hash *hash, uint64_t time, uint64_t kind, uint64_t entity)
{
    uint64_t rotated = (entity << 32) | (entity >> 32);
    /* The words of an event are scrambled apart from the state, so that only one multiply waits for the last event. */
    uint64_t word = (time * UINT64_C(0x9e3779b97f4a7c15)) ^ ((rotated + kind) * UINT64_C(0xd6e8feb86659fd93));
    word ^= word >> 32;
    uint64_t state = (hash->state ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash->state = state ^ (state >> 29);
    hash->count++;
}

/* The fingerprint so far; folding may go on. */
uint64_t trace_hash_value(const struct trace_hash *hash);

/* FNV-1a over the bytes, then hash_mix. bytes may be NULL when size is 0. Borrows. */
uint64_t hash_bytes(const void *bytes, size_t size);

/* The hash of a pair, order mattering: to fold several values into one. */
uint64_t hash_pair(uint64_t left, uint64_t right);

#endif
