// Merge sort from short runs to long ones, between two arrays.

#include "guest.h"

enum { LARGEST = 1 << 18 };
const struct guest guest = {"sort", "numbers", LARGEST, LARGEST, 1};

static u64 first[LARGEST], second[LARGEST];

static __attribute__((noinline)) void merge(const u64 *from, u64 *to, u64 middle, u64 end) {
    u64 left = 0, right = middle;
    for (u64 i = 0; i < end; i++) {
        bool takes_left = left < middle && (right >= end || from[left] <= from[right]);
        to[i] = takes_left ? from[left++] : from[right++];
    }
}

bool run(u64 size, u64 seed) {
    u64 before = 0, after = 0;
    for (u64 i = 0; i < size; i++) {
        first[i] = random(&seed);
        before += fold(1, first[i]);
    }
    u64 *from = first, *to = second;
    for (u64 length = 1; length < size; length *= 2) {
        for (u64 at = 0; at < size; at += 2 * length) {
            u64 rest = size - at;
            merge(from + at, to + at, length < rest ? length : rest, 2 * length < rest ? 2 * length : rest);
        }
        u64 *old = from;
        from = to;
        to = old;
    }
    bool sorted = true;
    u64 hash = 0;
    for (u64 i = 0; i < size; i++) {
        sorted &= i == 0 || from[i - 1] <= from[i];
        after += fold(1, from[i]);
        hash = fold(hash, from[i]);
    }
    put_hex("hash", hash);
    return sorted && before == after;
}
