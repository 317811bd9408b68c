// Numbers that are read and written through an array of indices.

#include "guest.h"

enum { LARGEST = 1 << 18 };
const struct guest guest = {"gather", "numbers", LARGEST, LARGEST, 1};

static u32 indices[LARGEST];
static u64 numbers[LARGEST], gathered[LARGEST];

static __attribute__((noinline)) void gather(u64 size) {
    for (u64 i = 0; i < size; i++) {
        gathered[i] = numbers[indices[i]];
    }
}

static __attribute__((noinline)) void scatter(u64 size) {
    for (u64 i = 0; i < size; i++) {
        numbers[indices[i]] = gathered[i] + 1;
    }
}

bool run(u64 size, u64 seed) {
    if (size == 0) {
        return true;
    }
    for (u64 i = 0; i < size; i++) {
        indices[i] = (u32)i;
        numbers[i] = fold(1, i);
    }
    // Near ones change places, and then any ones in the second half.
    for (u64 i = size - 1; i > 0; i--) {
        u64 other = i > size / 2 ? random(&seed) % (i + 1) : i - random(&seed) % (i < 2000 ? i + 1 : 2000);
        u32 old = indices[i];
        indices[i] = indices[other];
        indices[other] = old;
    }
    u64 hash = 0;
    gather(size);
    for (u64 i = 0; i < size; i++) {
        hash = fold(hash, gathered[i]);
    }
    scatter(size);
    bool right = true;
    for (u64 i = 0; i < size; i++) {
        right &= numbers[i] == fold(1, i) + 1;
    }
    put_hex("hash", hash);
    return right;
}
