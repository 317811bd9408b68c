// Statistics of numbers: extremes, sums, counts, orders.

#include "loops.h"

const struct guest guest = {"stats", "numbers", 400, 4096, 1};

LOOP u64 total(const u32 *a, u64 n) {
    u64 sum = 0;
    for (u64 i = 0; i < n; i++) {
        sum += a[i];
    }
    return sum;
}
LOOP u32 least(const u32 *a, const u32 *end) {
    u32 best = *a;
    while (++a < end) {
        if (*a < best) {
            best = *a;
        }
    }
    return best;
}
LOOP void prefix(u64 *to, const u32 *a, u64 n) {
    u64 sum = 0;
    for (u64 i = 0; i < n; i++) {
        sum += a[i];
        to[i] = sum;
    }
}
LOOP void count_keys(u32 *counts, const u32 *a, u64 n) {
    for (u64 i = 0; i < n; i++) {
        counts[a[i] & 63]++;
    }
}
LOOP void place(u32 *to, u32 *starts, const u32 *a, u64 n) {
    for (u64 i = 0; i < n; i++) {
        to[starts[a[i] & 63]++] = a[i];
    }
}
LOOP void zero_counts(u32 *counts, s32 n) {
    do {
        counts[--n] = 0;
    } while (n > 0);
}
LOOP u64 sorted_part(const u32 *a, u64 n) {
    u64 i = 1;
    while (i < n && a[i - 1] <= a[i]) {
        i++;
    }
    return i;
}
LOOP u64 first_odd(const u32 *a) {
    u64 i = 0;
    while ((a[i] & 1) == 0) {
        i++;
    }
    return i;
}
LOOP void bubble(u32 *a, u64 n) {
    for (u64 i = 0; i < n - 1; i++) {
        if (a[i] > a[i + 1]) {
            u32 t = a[i];
            a[i] = a[i + 1];
            a[i + 1] = t;
        }
    }
}
LOOP u64 search(const u32 *a, u64 n, u32 key) {
    u64 low = 0, high = n;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (a[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
LOOP u64 variance(const u32 *a, u64 n, u32 mean) {
    u64 sum = 0;
    while (n--) {
        s64 d = (s64)a[n] - mean;
        sum += (u64)(d * d);
    }
    return sum;
}
LOOP void snapshot(u32 *to, const u32 *from, u64 n) {
    const u32 *end = from + n;
    for (; from != end; from++, to++) {
        *to = *from;
    }
}

bool run(u64 size, u64 seed) {
    static u32 a[4200], b[4200], counts[64];
    static u64 sums[4200];
    for (u64 n = size; n > 30; n -= n / 3) {
        for (u64 i = 0; i < n; i++) {
            a[i] = (u32)random(&seed) & ~1u;
        }
        a[n - 1] |= 1;
        sink = total(a, n) + least(a, a + n) + variance(a, n, 5) + first_odd(a);
        prefix(sums, a, n);
        zero_counts(counts, 64);
        count_keys(counts, a, n);
        for (u64 i = 0, at = 0; i < 64; i++) {
            u32 c = counts[i];
            counts[i] = (u32)at;
            at += c;
        }
        place(b, counts, a, n);
        snapshot(b, a, n);
        for (u64 i = n < 60 ? n : 60; i > 1; i--) {
            bubble(b, i);
        }
        sink = sorted_part(b, n) + search(b, 50, a[7]);
    }
    return true;
}
