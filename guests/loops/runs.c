// Run-length codes: runs are found, counted and written again.

#include "loops.h"

const struct guest guest = {"runs", "bytes", 900, 4096, 1};

LOOP u64 run_of(const u8 *at, const u8 *end) {
    u8 value = *at;
    const u8 *from = at;
    while (at < end && *at == value) {
        at++;
    }
    return (u64)(at - from);
}
LOOP u64 zeros(const u16 *at, u64 most) {
    u64 n = 0;
    while (n < most && at[n] == 0) {
        n++;
    }
    return n;
}
LOOP void write_run(u8 *to, u8 value, u64 count) {
    do {
        *to++ = value;
    } while (--count);
}
LOOP void write_words(u16 *to, u16 value, s32 count) {
    for (; count >= 0; count--) {
        *to++ = value;
    }
}
LOOP void repeat(u8 *to, u64 distance, u64 count) {
    const u8 *from = to - distance;
    while (count--) {
        *to++ = *from++;
    }
}
LOOP void literals(u8 *to, const u8 *from, u32 count) {
    u32 i = count;
    while (i--) {
        to[i] = from[i];
    }
}
LOOP u32 match(const u8 *a, const u8 *b, u32 most) {
    u32 n = 0;
    do {
        if (a[n] != b[n]) {
            break;
        }
    } while (++n < most);
    return n;
}
LOOP u64 encode(u8 *to, const u8 *from, u64 count) {
    u64 out = 0;
    for (u64 i = 0; i < count;) {
        u64 n = run_of(from + i, from + count);
        n = n > 255 ? 255 : n;
        to[out++] = (u8)n;
        to[out++] = from[i];
        i += n;
    }
    return out;
}
LOOP void xor_rows(u8 *to, const u8 *a, const u8 *b, u64 count) {
    while (count) {
        *to++ = *a++ ^ *b++;
        count--;
    }
}

bool run(u64 size, u64 seed) {
    static u8 in[5000], out[10000], back[5000];
    for (u64 round = 0; round < 5; round++) {
        u64 at = 0;
        while (at < size) {
            u64 n = 1 + random(&seed) % 60;
            write_run(in + at, (u8)random(&seed), n);
            at += n;
        }
        u64 bytes = encode(out, in, size);
        u64 to = 0;
        for (u64 i = 0; i < bytes; i += 2) {
            write_run(back + to, out[i + 1], out[i]);
            to += out[i];
        }
        sink = match(in, back, (u32)size);
        repeat(back + 40, 7, size - 100);
        literals(back, in, (u32)size);
        xor_rows(back, in, back, size);
        sink = zeros((u16 *)back, size / 2);
        write_words((u16 *)back, 5, (s32)size / 3);
    }
    return true;
}
