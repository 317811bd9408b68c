// Conway's game of life for SIZE generations on a torus of 64 by 64 cells.

#include "guest.h"

enum { SIDE = 64 };
const struct guest guest = {"life", "generations", 30, 1000000000, 1};

// One cell at a time, counting neighbours.
static __attribute__((noinline)) void step_cells(u8 cells[SIDE][SIDE]) {
    u8 next[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++) {
        const u8 *above = cells[(y + SIDE - 1) % SIDE], *here = cells[y], *below = cells[(y + 1) % SIDE];
        for (int x = 0; x < SIDE; x++) {
            int left = (x + SIDE - 1) % SIDE, right = (x + 1) % SIDE;
            int neighbours = above[left] + above[x] + above[right] + here[left] + here[right] + below[left]
                + below[x] + below[right];
            next[y][x] = neighbours == 3 || (neighbours == 2 && here[x]);
        }
    }
    memcpy(cells, next, sizeof next);
}

static u64 rotate(u64 row, int by) {
    return row >> by | row << (64 - by);
}

// A row at a time, bit x of which is the cell at x: the additions are made of logic, for 64 cells at once.
static __attribute__((noinline)) void step_rows(u64 rows[SIDE]) {
    u64 next[SIDE];
    for (int y = 0; y < SIDE; y++) {
        u64 above = rows[(y + SIDE - 1) % SIDE], here = rows[y], below = rows[(y + 1) % SIDE];
        u64 a = rotate(above, 63), b = rotate(above, 1);
        u64 c = rotate(below, 63), d = rotate(below, 1);
        u64 e = rotate(here, 63), f = rotate(here, 1);

        // Three sums of two or three neighbours, ones and twos.
        u64 above_1 = a ^ above ^ b, above_2 = (a & above) | (above & b) | (a & b);
        u64 below_1 = c ^ below ^ d, below_2 = (c & below) | (below & d) | (c & d);
        u64 here_1 = e ^ f, here_2 = e & f;

        // The ones of all of them, and the twos that these carry.
        u64 ones = above_1 ^ below_1 ^ here_1;
        u64 carried_2 = (above_1 & below_1) | (below_1 & here_1) | (above_1 & here_1);

        // Two or three neighbours are exactly one two: an odd number of them, and no pair.
        u64 odd = above_2 ^ below_2 ^ here_2 ^ carried_2;
        u64 pair = (above_2 & below_2) | (here_2 & carried_2);
        next[y] = odd & ~pair & (ones | here);
    }
    memcpy(rows, next, sizeof next);
}

bool run(u64 size, u64 seed) {
    static u8 cells[SIDE][SIDE];
    static u64 rows[SIDE];
    for (int y = 0; y < SIDE; y++) {
        rows[y] = random(&seed);
        rows[y] &= random(&seed);
        for (int x = 0; x < SIDE; x++) {
            cells[y][x] = rows[y] >> x & 1;
        }
    }
    for (u64 generation = 0; generation < size; generation++) {
        step_cells(cells);
        step_rows(rows);
    }

    u64 alive = 0;
    u64 hash = 0;
    bool same = true;
    for (int y = 0; y < SIDE; y++) {
        u64 row = 0;
        for (int x = 0; x < SIDE; x++) {
            row |= (u64)cells[y][x] << x;
            alive += cells[y][x];
        }
        hash = fold(hash, row);
        same &= row == rows[y];
    }
    put_decimal("alive", alive);
    put_hex("hash", hash);
    return same;
}
