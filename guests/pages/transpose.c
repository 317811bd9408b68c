// A matrix that is transposed element by element, and back in blocks.

#include "guest.h"

enum { LARGEST = 640, BLOCK = 16 };
const struct guest guest = {"transpose", "rows", LARGEST, LARGEST, 1};

static u64 matrix[LARGEST * LARGEST], turned[LARGEST * LARGEST];

static __attribute__((noinline)) void transpose(u64 *restrict to, const u64 *restrict from, u64 n) {
    for (u64 row = 0; row < n; row++) {
        for (u64 column = 0; column < n; column++) {
            to[column * n + row] = from[row * n + column];
        }
    }
}

static __attribute__((noinline)) void transpose_blocks(u64 *restrict to, const u64 *restrict from, u64 n) {
    for (u64 top = 0; top < n; top += BLOCK) {
        for (u64 left = 0; left < n; left += BLOCK) {
            for (u64 row = top; row < top + BLOCK && row < n; row++) {
                for (u64 column = left; column < left + BLOCK && column < n; column++) {
                    to[column * n + row] = from[row * n + column];
                }
            }
        }
    }
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size * size; i++) {
        matrix[i] = fold(seed, i);
    }
    transpose(turned, matrix, size);
    u64 hash = 0;
    for (u64 i = 0; i < size * size; i++) {
        hash = fold(hash, turned[i]);
        matrix[i] = 0;
    }
    transpose_blocks(matrix, turned, size);
    bool right = true;
    for (u64 i = 0; i < size * size; i++) {
        right &= matrix[i] == fold(seed, i);
    }
    put_hex("hash", hash);
    return right;
}
