// Walks on a plane that mark where they come by: near places are visited again and again, far ones later.

#include "guest.h"

enum { SIDE = 2048, WALKERS = 16, LARGEST = 100000000 };
const struct guest guest = {"walk", "steps", 150000, LARGEST, 1};

static u8 plane[SIDE][SIDE];

static __attribute__((noinline)) void walk(u64 *place, u64 bits) {
    u64 row = *place / SIDE, column = *place % SIDE;
    for (int i = 0; i < 16; i++, bits >>= 4) {
        // Down and to the right more often than back.
        row += bits & 1 ? 1 : bits & 2 ? -1UL : 0;
        column += bits & 4 ? 1 : bits & 8 ? -1UL : 0;
        row %= SIDE;
        column %= SIDE;
        plane[row][column]++;
    }
    *place = row * SIDE + column;
}

bool run(u64 size, u64 seed) {
    u64 places[WALKERS], marks = 0, hash = 0;
    for (int i = 0; i < WALKERS; i++) {
        places[i] = random(&seed) % (SIDE * SIDE);
    }
    for (u64 n = 0; n < size; n++) {
        walk(&places[n / 64 % WALKERS], random(&seed));
    }
    for (u64 row = 0; row < SIDE; row++) {
        for (u64 column = 0; column < SIDE; column++) {
            marks += plane[row][column];
            hash = plane[row][column] ? fold(hash, plane[row][column]) : hash;
        }
    }
    put_hex("hash", hash);
    // Marks overflow at 256, so only a multiple of it may be missing.
    return (16 * size - marks) % 256 == 0;
}
