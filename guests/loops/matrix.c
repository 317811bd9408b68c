// Matrices: cleared, identity, transposed, added, multiplied.

#include "loops.h"

const struct guest guest = {"matrix", "rows", 24, 64, 1};

LOOP void clear(u32 *m, u64 cells) {
    for (u32 *end = m + cells; m < end; m++) {
        *m = 0;
    }
}
LOOP void diagonal(u32 *m, u64 rows) {
    for (u64 i = 0; i < rows; i++) {
        m[i * (rows + 1)] = 1;
    }
}
LOOP void transpose_row(u32 *to, const u32 *from, u64 rows) {
    for (u64 i = 0; i < rows; i++) {
        to[i * rows] = from[i];
    }
}
LOOP void add(u32 *to, const u32 *a, const u32 *b, u64 cells) {
    for (u64 i = 0; i < cells; i++) {
        to[i] = a[i] + b[i];
    }
}
LOOP void scale(u64 *m, int cells, u64 by) {
    for (int i = cells - 1; i >= 0; i--) {
        m[i] *= by;
    }
}
LOOP u32 dot(const u32 *a, const u32 *b, u64 rows) {
    u32 sum = 0;
    for (u64 i = 0; i < rows; i++) {
        sum += a[i] * b[i * rows];
    }
    return sum;
}
LOOP u64 trace(const u32 *m, u32 rows) {
    u64 sum = 0;
    for (u32 i = 0; i < rows; i++) {
        sum += m[i * rows + i];
    }
    return sum;
}
LOOP void copy_column(u32 *to, const u32 *m, u64 rows, u64 column) {
    for (u64 i = 0; i < rows; i++) {
        to[i] = m[i * rows + column];
    }
}
LOOP void set_column(u32 *m, u64 rows, u64 column, u32 value) {
    for (u64 i = 0; i < rows; i++) {
        m[i * rows + column] = value;
    }
}
LOOP bool equal(const u32 *a, const u32 *b, u64 cells) {
    for (u64 i = 0; i < cells; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

bool run(u64 n, u64 seed) {
    static u32 a[4096], b[4096], c[4096];
    static u64 wide[4096];
    for (u64 i = 0; i < n * n; i++) {
        a[i] = (u32)random(&seed);
        wide[i] = i;
    }
    clear(b, n * n);
    diagonal(b, n);
    for (u64 i = 0; i < n; i++) {
        for (u64 j = 0; j < n; j++) {
            c[i * n + j] = dot(a + i * n, b + j, n);
        }
    }
    bool good = equal(a, c, n * n);
    for (u64 i = 0; i < n; i++) {
        transpose_row(c + i, a + i * n, n);
        copy_column(b, a, n, i);
        set_column(b, n, i, (u32)i);
    }
    add(c, a, b, n * n);
    scale(wide, (int)(n * n), 3);
    sink = trace(c, (u32)n);
    return good;
}
