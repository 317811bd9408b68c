// Medians of windows, which small bubble sorts find, and cocktail sorts.

#include "loops.h"

const struct guest guest = {"median", "samples", 300, 4096, 1};

LOOP void settle(s32 *window, s32 width) {
    for (s32 i = 0; i < width - 1; i++) {
        if (window[i] > window[i + 1]) {
            s32 t = window[i + 1];
            window[i + 1] = window[i];
            window[i] = t;
        }
    }
}
LOOP bool shake_up(u32 *a, u64 from, u64 to) {
    bool moved = false;
    while (from < to) {
        u32 x = a[from], y = a[from + 1];
        if (x > y) {
            a[from] = y;
            a[from + 1] = x;
            moved = true;
        }
        from++;
    }
    return moved;
}
LOOP bool shake_down(u32 *a, u64 from, u64 to) {
    bool moved = false;
    while (to > from) {
        u32 x = a[to - 1], y = a[to];
        if (x > y) {
            a[to - 1] = y;
            a[to] = x;
            moved = true;
        }
        to--;
    }
    return moved;
}
LOOP void rise(s64 *a, s64 *end) {
    do {
        if (a[0] > a[1]) {
            s64 t = a[0];
            a[0] = a[1];
            a[1] = t;
        }
    } while (++a < end);
}
LOOP void bytes(u8 *a, int n) {
    for (int i = n; i > 0; i--, a++) {
        if (a[1] < a[0]) {
            u8 t = a[0];
            a[0] = a[1];
            a[1] = t;
        }
    }
}
LOOP void load_window(s32 *window, const s16 *samples, s32 width) {
    for (s32 i = 0; i < width; i++) {
        window[i] = samples[i];
    }
}
LOOP s64 sum(const s16 *samples, u64 count) {
    s64 total = 0;
    for (u64 i = 0; i < count; i++) {
        total += samples[i];
    }
    return total;
}

bool run(u64 size, u64 seed) {
    static s16 samples[4200];
    static u32 numbers[64];
    static s64 longs[64];
    static u8 small[64];
    for (u64 i = 0; i < size + 16; i++) {
        samples[i] = (s16)random(&seed);
        numbers[i % 64] = (u32)random(&seed);
        longs[i % 64] = (s64)random(&seed);
        small[i % 64] = (u8)random(&seed);
    }
    for (u64 i = 0; i < size; i++) {
        s32 window[9];
        load_window(window, samples + i, 9);
        for (s32 width = 9; width > 1; width--) {
            settle(window, width);
        }
        sink = (u64)window[4] + (u64)sum(samples, i);
    }
    for (u64 low = 0, high = 63; low < high; low++, high--) {
        if (!shake_up(numbers, low, high) || !shake_down(numbers, low, high)) {
            break;
        }
    }
    for (u64 i = 63; i > 1; i--) {
        rise(longs, longs + i);
        bytes(small, (int)i);
    }
    return true;
}
