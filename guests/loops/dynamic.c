// Dynamic programming and graphs: tables that are filled from their own cells.

#include "loops.h"

const struct guest guest = {"dynamic", "cells", 90, 256, 1};

static u32 table[2][512];
static u32 distances[64][64];
static u8 seen[256];

LOOP void fill_word(u32 *to, u32 count, u32 value) {
    for (u32 i = 0; i != count; ++i) {
        to[i] = value;
    }
}
LOOP void fill_row(u32 *to, u32 count) {
    for (u32 i = 0; i < count; i++) {
        to[i] = i;
    }
}
LOOP void knapsack(u32 *best, u32 room, u32 weight, u32 value) {
    for (u32 w = room; w >= weight; w--) {
        u32 with = best[w - weight] + value;
        if (with > best[w]) {
            best[w] = with;
        }
    }
}
LOOP void coins(u32 *ways, u32 amount, u32 coin) {
    for (u32 i = coin; i <= amount; i++) {
        ways[i] += ways[i - coin];
    }
}
LOOP void common(u32 *now, const u32 *before, const u8 *b, u64 count, u8 letter) {
    for (u64 j = 1; j <= count; j++) {
        if (b[j - 1] == letter) {
            now[j] = before[j - 1] + 1;
        } else {
            now[j] = before[j] > now[j - 1] ? before[j] : now[j - 1];
        }
    }
}
LOOP void relax(u32 *row, const u32 *via, u32 first, u64 count) {
    for (u64 j = 0; j < count; j++) {
        u32 through = first + via[j];
        if (through < row[j]) {
            row[j] = through;
        }
    }
}
LOOP void copy_row(u32 *restrict to, const u32 *restrict from, u32 count) {
    u32 i = 0;
    do {
        to[i] = from[i];
        i++;
    } while (i < count);
}
LOOP s64 unseen(const u8 *marks) {
    s64 i = 0;
    while (marks[i]) {
        i++;
    }
    return i;
}
LOOP void unmark(u8 *marks, u64 count) {
    u8 *end = marks + count;
    while (end > marks) {
        *--end = 0;
    }
}
LOOP u32 greatest(const u32 *row, u64 count) {
    u32 best = 0;
    for (u64 i = 0; i < count; i++) {
        best = row[i] > best ? row[i] : best;
    }
    return best;
}

bool run(u64 size, u64 seed) {
    static u8 a[256], b[256];
    for (u64 i = 0; i < size; i++) {
        a[i] = (u8)(random(&seed) % 4);
        b[i] = (u8)(random(&seed) % 4);
    }
    fill_word(table[0], (u32)size + 1, 0);
    fill_word(table[1], (u32)size + 1, 0);
    for (u64 i = 0; i < size; i++) {
        common(table[(i & 1) ^ 1], table[i & 1], b, size, a[i]);
    }
    sink = greatest(table[size & 1], size);
    fill_row(table[0], (u32)size);
    for (u32 i = 1; i < 20; i++) {
        knapsack(table[0], (u32)size, i, (u32)random(&seed) % 99);
        coins(table[1], (u32)size, i);
        copy_row(table[1], table[0], (u32)size - i);
    }
    for (u64 i = 0; i < 64; i++) {
        fill_word(distances[i], 64, 1000000);
        distances[i][random(&seed) % 64] = (u32)random(&seed) % 100;
    }
    for (u64 k = 0; k < 64; k++) {
        for (u64 i = 0; i < 64; i += 3) {
            relax(distances[i], distances[k], distances[i][k], 64);
        }
    }
    for (u64 i = 0; i < 100; i++) {
        seen[unseen(seen)] = 1;
    }
    unmark(seen, 200);
    return true;
}
