// Arrays that are read and written from end to end: the copy, scale, add and triad of the STREAM benchmark, in integers.

#include "guest.h"

enum { LARGEST = 1 << 18, ROUNDS = 3 };
const struct guest guest = {"stream", "numbers", LARGEST, LARGEST, 1};

static u64 a[LARGEST], b[LARGEST], c[LARGEST];

static __attribute__((noinline)) void copy(u64 *restrict to, const u64 *restrict from, u64 n) {
    for (u64 i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

static __attribute__((noinline)) void scale(u64 *restrict to, const u64 *restrict from, u64 n, u64 by) {
    for (u64 i = 0; i < n; i++) {
        to[i] = by * from[i];
    }
}

static __attribute__((noinline)) void add(u64 *restrict to, const u64 *restrict x, const u64 *restrict y, u64 n) {
    for (u64 i = 0; i < n; i++) {
        to[i] = x[i] + y[i];
    }
}

static __attribute__((noinline)) void triad(u64 *restrict to, const u64 *restrict x, const u64 *restrict y, u64 n,
                                            u64 by) {
    for (u64 i = 0; i < n; i++) {
        to[i] = x[i] + by * y[i];
    }
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size; i++) {
        a[i] = fold(seed, i);
    }
    u64 factor = 1;
    for (int round = 0; round < ROUNDS; round++) {
        copy(c, a, size);
        scale(b, c, size, 3);
        add(c, a, b, size);
        triad(a, b, c, size, 3);
        factor *= 15; // b is 3 a, c is 4 a, and 3 a + 3 * 4 a is 15 a.
    }
    u64 hash = 0;
    bool right = true;
    for (u64 i = 0; i < size; i++) {
        right &= a[i] == factor * fold(seed, i);
        hash = fold(hash, a[i]);
    }
    put_hex("hash", hash);
    return right;
}
