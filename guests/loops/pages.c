// Pages of memory: patterns, moves, checks.

#include "loops.h"

const struct guest guest = {"pages", "words", 512, 4096, 1};

LOOP void stamp(u64 *first, u64 *last, u64 pattern) {
    while (first <= last) {
        *first++ = pattern;
    }
}
LOOP void stamp_down(u32 *last, u32 words, u32 pattern) {
    for (u32 n = words; n != 0; n--) {
        *last-- = pattern;
    }
}
LOOP void stamp_stride(u16 *at, u64 steps, u16 pattern) {
    for (u64 n = 0; n < steps; n++) {
        *at = pattern;
        at += 5;
    }
}
LOOP void stamp_two(u64 *a, u64 *b, u64 words, u64 pattern) {
    for (u64 n = 0; n < words; n++) {
        a[n] = pattern;
        b[n] = ~pattern;
    }
}
LOOP void move_up(u64 *to, u64 *from, u64 words) {
    to += words;
    from += words;
    while (words-- > 0) {
        *--to = *--from;
    }
}
LOOP void move_bytes(u8 *to, const u8 *from, u8 *end) {
    for (; to < end; to++, from++) {
        *to = *from;
    }
}
LOOP void move_halves(u16 *to, const u16 *from, s64 count) {
    for (s64 i = 0; i <= count; i++) {
        to[i] = from[i];
    }
}
LOOP void gather(u32 *to, const u32 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[4 * i];
    }
}
LOOP u64 verify(const u64 *at, u64 words, u64 pattern) {
    u64 n = 0;
    while (n != words && at[n] == pattern) {
        n++;
    }
    return n;
}
LOOP u64 dirty(const u32 *at) {
    const u32 *start = at;
    for (; !*at; at++) {
    }
    return (u64)(at - start);
}
LOOP u64 mismatch(const u8 *a, const u8 *b) {
    u64 n = 0;
    while (a[n] == b[n]) {
        n++;
    }
    return n;
}
LOOP u64 parity(const u64 *at, u64 words) {
    u64 value = 0;
    for (u64 i = 0; i < words; i++) {
        value ^= at[i];
    }
    return value;
}
LOOP void number(u64 *at, u64 words, u64 from) {
    for (u64 i = 0; i < words; i++) {
        at[i] = from++;
    }
}

bool run(u64 size, u64 seed) {
    static u64 a[4200], b[4200];
    for (u64 n = size; n > 20; n -= n / 4) {
        stamp(a, a + n - 1, seed);
        sink = verify(a, n, seed);
        stamp_down((u32 *)b + n, (u32)n, (u32)seed);
        stamp_stride((u16 *)b, n / 5, (u16)seed);
        stamp_two(a, b, n, 0);
        ((u32 *)a)[n] = 1;
        sink = dirty((u32 *)a);
        move_up(b, a, n);
        move_bytes((u8 *)a, (u8 *)b, (u8 *)(a + n));
        move_halves((u16 *)b, (u16 *)a, (s64)n);
        gather((u32 *)b, (u32 *)a, n / 2);
        number(a, n, seed);
        move_up(b, a, n);
        ((u8 *)b)[n + n / 2] ^= 1;
        sink = mismatch((u8 *)a, (u8 *)b) + parity(a, n);
        seed = seed * 5 + 1;
    }
    return true;
}
