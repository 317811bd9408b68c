// Samples of sound: mixed, scaled, delayed, silenced.

#include "loops.h"

const struct guest guest = {"audio", "samples", 500, 4096, 1};

LOOP void silence(s16 *to, u64 count) {
    for (u64 i = 0; i < count; i++) {
        *to++ = 0;
    }
}
LOOP void silence_left(s16 *to, u32 frames) {
    for (u32 i = 0; i < frames; i++) {
        to[2 * i] = 0;
    }
}
LOOP void mix(s32 *to, const s16 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] += from[i];
    }
}
LOOP void gain(s16 *to, const s16 *from, u64 count, s32 gain) {
    for (u64 i = 0; i < count; i++) {
        to[i] = (s16)(from[i] * gain >> 8);
    }
}
LOOP void clip(s16 *to, const s32 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        s32 v = from[i];
        if (v > 32767) {
            v = 32767;
        }
        if (v < -32768) {
            v = -32768;
        }
        to[i] = (s16)v;
    }
}
LOOP void delay_line(s16 *to, const s16 *from, s32 count) {
    while (count > 0) {
        *to = *from;
        to++;
        from++;
        count--;
    }
}
LOOP void left(s16 *to, const s16 *from, u64 frames) {
    for (u64 i = 0; i < frames; i++) {
        to[i] = from[2 * i];
    }
}
LOOP void smooth(s32 *at, u64 count) {
    for (u64 i = 1; i < count; i++) {
        at[i] = (at[i] + at[i - 1]) >> 1;
    }
}
LOOP u64 onset(const s16 *at, s16 level) {
    u64 i = 0;
    while (at[i] < level) {
        i++;
    }
    return i;
}
LOOP u64 crossing(const s32 *at, u64 count) {
    u64 i = 1;
    for (; i < count; i++) {
        if ((at[i] ^ at[i - 1]) < 0) {
            break;
        }
    }
    return i;
}
LOOP s32 peak(const s32 *at, u32 count) {
    s32 most = 0;
    for (u32 i = 0; i < count; i++) {
        s32 v = at[i] < 0 ? -at[i] : at[i];
        if (v > most) {
            most = v;
        }
    }
    return most;
}
LOOP void ramp(s16 *to, u64 count, s16 from, s16 step) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from;
        from = (s16)(from + step);
    }
}

bool run(u64 size, u64 seed) {
    static s16 a[9000], b[9000];
    static s32 wide[9000];
    for (u64 n = size; n > 16; n -= n / 4) {
        for (u64 i = 0; i < 2 * n; i++) {
            a[i] = (s16)(random(&seed) % 20000);
        }
        mix(wide, a, n);
        gain(b, a, n, 90);
        clip(b, wide, n);
        delay_line(b, a, (s32)n);
        left(b, a, n);
        smooth(wide, n);
        a[n - 1] = 30000;
        sink = onset(a, 25000) + crossing(wide, n) + (u64)peak(wide, (u32)n);
        silence(b, n);
        silence_left(a, (u32)n);
        ramp(a, n, 5, 3);
    }
    return true;
}
