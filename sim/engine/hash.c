/* The parts of hashing that run once a file or a run; the fold stands in the header. */
#include "engine/hash.h"

/* Any odd number with mixed bits will do: it only keeps an empty trace from hashing to 0. */
#define TRACE_START UINT64_C(0x6f6373696d207631)

void trace_hash_start(struct trace_hash *hash)
{
    *hash = (struct trace_hash){.state = TRACE_START};
}

uint64_t trace_hash_value(const struct trace_hash *hash)
{
    return hash_mix(hash->state ^ hash->count);
}

uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash_mix(hash);
}

uint64_t hash_pair(uint64_t left, uint64_t right)
{
    return hash_mix(hash_mix(left + UINT64_C(0x9e3779b97f4a7c15)) ^ (right + UINT64_C(0x632be59bd9b4e019)));
}
