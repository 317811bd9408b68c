// Blocks of columns of a matrix whose rows have three pages: forwards, backwards, and every second row.

#include "guest.h"

enum { LARGEST = 1024, COLUMNS = 1536, BLOCK = 16 };
const struct guest guest = {"stride", "rows", 512, LARGEST, 1};

static u64 matrix[LARGEST][COLUMNS];

// The sum of a block of columns, over the rows `first`, `first` + `step` and so on.
static __attribute__((noinline)) u64 block(long first, long count, long step, u64 column) {
    u64 sum = 0;
    for (long n = 0; n < count; n++) {
        const u64 *row = matrix[first + n * step] + column;
        for (u64 i = 0; i < BLOCK; i++) {
            sum += row[i] ^ (u64)n;
        }
    }
    return sum;
}

bool run(u64 size, u64 seed) {
    for (u64 row = 0; row < size; row++) {
        for (u64 column = 0; column < COLUMNS; column++) {
            matrix[row][column] = random(&seed);
        }
    }
    u64 hash = 0;
    long rows = (long)size;
    for (u64 column = 0; column < COLUMNS; column += BLOCK) {
        hash = fold(hash, block(0, rows, 1, column));
    }
    for (u64 column = 0; column < COLUMNS; column += BLOCK) {
        hash = fold(hash, block(rows - 1, rows, -1, column));
    }
    for (u64 column = 0; column < COLUMNS; column += BLOCK) {
        hash = fold(hash, block(0, rows / 2, 2, column));
    }
    put_hex("hash", hash);
    // The sums of all columns, row by row, are those of the blocks.
    static u64 sums[COLUMNS];
    for (u64 row = 0; row < size; row++) {
        for (u64 column = 0; column < COLUMNS; column++) {
            sums[column] += matrix[row][column] ^ row;
        }
    }
    bool right = true;
    for (u64 column = 0; column < COLUMNS; column += 7 * BLOCK) {
        u64 sum = 0;
        for (u64 i = 0; i < BLOCK; i++) {
            sum += sums[column + i];
        }
        right &= sum == block(0, rows, 1, column);
    }
    return right;
}
