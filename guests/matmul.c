// The product of two SIZE by SIZE matrices of 64-bit numbers, all modulo 2^64.

#include "guest.h"

enum { LARGEST = 512, TRIALS = 16 };
const struct guest guest = {"matmul", "rows", 72, LARGEST, 1};

static u64 a[LARGEST * LARGEST], b[LARGEST * LARGEST], c[LARGEST * LARGEST];

static __attribute__((noinline)) void multiply(u64 n) {
    for (u64 row = 0; row < n; row++) {
        for (u64 column = 0; column < n; column++) {
            u64 sum = 0;
            for (u64 k = 0; k < n; k++) {
                sum += a[row * n + k] * b[k * n + column];
            }
            c[row * n + column] = sum;
        }
    }
}

static void apply(const u64 *matrix, const u64 *vector, u64 *result, u64 n) {
    for (u64 row = 0; row < n; row++) {
        result[row] = 0;
        for (u64 k = 0; k < n; k++) {
            result[row] += matrix[row * n + k] * vector[k];
        }
    }
}

// Freivalds' check: a(bv) = cv for random vectors v. Each of them misses a wrong c at most every other time.
static bool agrees(u64 n, u64 *state) {
    static u64 v[LARGEST], bv[LARGEST], abv[LARGEST], cv[LARGEST];
    for (int trial = 0; trial < TRIALS; trial++) {
        for (u64 i = 0; i < n; i++) {
            v[i] = random(state);
        }
        apply(b, v, bv, n);
        apply(a, bv, abv, n);
        apply(c, v, cv, n);
        if (memcmp(abv, cv, n * sizeof *cv) != 0) {
            return false;
        }
    }
    return true;
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size * size; i++) {
        a[i] = random(&seed);
        b[i] = random(&seed);
    }
    multiply(size);
    u64 hash = 0;
    for (u64 i = 0; i < size * size; i++) {
        hash = fold(hash, c[i]);
    }
    put_hex("hash", hash);
    return agrees(size, &seed);
}
