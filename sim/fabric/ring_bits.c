#include "fabric/ring_bits.h"

#include "engine/status.h"

/* The bits from .. to - 1 of one word, from < to <= 64. */
static uint64_t mask_of(uint32_t from, uint32_t to)
{
    uint64_t below = to == 64 ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1;
    return below & ~((UINT64_C(1) << from) - 1);
}

static bool any_between(const uint64_t *bits, uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to;) {
        uint32_t end = (at / 64 + 1) * 64;
        end = end < to ? end : to;
        if (bits[at / 64] & mask_of(at % 64, end - at / 64 * 64))
            return true;
        at = end;
    }
    return false;
}

static void set_between(uint64_t *bits, uint32_t from, uint32_t to, bool is_set)
{
    for (uint32_t at = from; at < to;) {
        uint32_t end = (at / 64 + 1) * 64;
        end = end < to ? end : to;
        uint64_t mask = mask_of(at % 64, end - at / 64 * 64), word = bits[at / 64];
        bits[at / 64] = is_set ? word | mask : word & ~mask;
        at = end;
    }
}

bool ring_bits_any(const uint64_t *bits, uint32_t n, uint32_t first, uint32_t length)
{
    require(first < n && length <= n);
    uint32_t end = first + length;
    return end <= n ? any_between(bits, first, end) : any_between(bits, first, n) || any_between(bits, 0, end - n);
}

void ring_bits_set(uint64_t *bits, uint32_t n, uint32_t first, uint32_t length, bool is_set)
{
    require(first < n && length <= n);
    uint32_t end = first + length;
    set_between(bits, first, end < n ? end : n, is_set);
    if (end > n)
        set_between(bits, 0, end - n, is_set);
}

uint32_t ring_bits_next(const uint64_t *bits, uint32_t at, uint32_t end)
{
    while (at < end) {
        uint64_t word = bits[at / 64] >> (at % 64);
        if (word != 0) {
            at += (uint32_t)__builtin_ctzll(word);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

uint32_t ring_bits_back(const uint64_t *bits, uint32_t n, uint32_t at)
{
    uint32_t words = (n + 63) / 64, word = at / 64;
    uint64_t found = bits[word] & mask_of(0, at % 64 + 1);
    for (uint32_t i = 0; found == 0; i++) {
        require(i <= words);
        word = word > 0 ? word - 1 : words - 1;
        found = bits[word];
    }
    return word * 64 + 63 - (uint32_t)__builtin_clzll(found);
}
