#include "fabric/ring_bits.h"

#include "engine/status.h"

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
    uint64_t found = bits[word] & ~UINT64_C(0) >> (63 - at % 64);
    for (uint32_t i = 0; found == 0; i++) {
        require(i <= words);
        word = word > 0 ? word - 1 : words - 1;
        found = bits[word];
    }
    return word * 64 + 63 - (uint32_t)__builtin_clzll(found);
}
