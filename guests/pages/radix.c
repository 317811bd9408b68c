// Radix sort of 32-bit numbers, a byte at a time: each pass writes 256 parts of an array at once.

#include "guest.h"

enum { LARGEST = 1 << 19 };
const struct guest guest = {"radix", "numbers", LARGEST, LARGEST, 1};

static u32 first[LARGEST], second[LARGEST];

static __attribute__((noinline)) void pass(const u32 *from, u32 *to, u64 size, int shift) {
    u64 places[257] = {0};
    for (u64 i = 0; i < size; i++) {
        places[(from[i] >> shift & 255) + 1]++;
    }
    for (int digit = 0; digit < 256; digit++) {
        places[digit + 1] += places[digit];
    }
    for (u64 i = 0; i < size; i++) {
        to[places[from[i] >> shift & 255]++] = from[i];
    }
}

bool run(u64 size, u64 seed) {
    u64 before = 0, after = 0, hash = 0;
    for (u64 i = 0; i < size; i++) {
        first[i] = (u32)random(&seed);
        before += fold(1, first[i]);
    }
    for (int shift = 0; shift < 32; shift += 16) {
        pass(first, second, size, shift);
        pass(second, first, size, shift + 8);
    }
    bool sorted = true;
    for (u64 i = 0; i < size; i++) {
        sorted &= i == 0 || first[i - 1] <= first[i];
        after += fold(1, first[i]);
        hash = fold(hash, first[i]);
    }
    put_hex("hash", hash);
    return sorted && before == after;
}
