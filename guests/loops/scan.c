// Scans of text and tables: characters, pairs, ends of lines, sentinels.

#include "loops.h"

const struct guest guest = {"scan", "characters", 800, 4096, 1};

LOOP u64 wide_length(const u32 *s) {
    u64 n = 0;
    for (; s[n]; n++) {
    }
    return n;
}
LOOP u64 half_length(const u16 *s) {
    const u16 *at = s;
    do {
    } while (*at++);
    return (u64)(at - s);
}
LOOP const u8 *newline(const u8 *at, const u8 *end) {
    for (; at != end; at++) {
        if (*at == '\n') {
            break;
        }
    }
    return at;
}
LOOP const u8 *not_digit(const u8 *at) {
    while ((u8)(*at - '0') < 10) {
        at++;
    }
    return at;
}
LOOP s64 sentinel(const s64 *at) {
    s64 i = 0;
    while (at[i] != -1) {
        i++;
    }
    return i;
}
LOOP u32 backwards(const u8 *at, u32 from, u8 value) {
    while (at[from] != value) {
        from--;
    }
    return from;
}
LOOP u64 pair(const u8 *at, u64 n) {
    u64 i = 0;
    while (i < n && at[i] != at[i + 1]) {
        i++;
    }
    return i;
}
LOOP const u8 *high_bit(const u8 *at) {
    while (*at < 0x80) {
        at++;
    }
    return at;
}
LOOP u64 characters(const u8 *at, u64 n) {
    u64 count = 0;
    for (u64 i = 0; i < n; i++) {
        count += (at[i] & 0xc0) != 0x80;
    }
    return count;
}
LOOP u64 lines(const u8 *at) {
    u64 count = 0;
    while (*at) {
        if (*at++ == '\n') {
            count++;
        }
    }
    return count;
}
LOOP void blank(u8 *at, const u8 *end) {
    while (at < end) {
        *at = ' ';
        at++;
    }
}
LOOP void take(u8 *to, const u8 *from, u64 n) {
    u64 i = 0;
    while (i < n) {
        to[i] = from[i];
        ++i;
    }
}
LOOP u64 poll_byte(volatile u8 *at, u64 n) {
    while (*at == 'x' && --n) {
    }
    return n;
}

bool run(u64 size, u64 seed) {
    static u8 text[4200], work[4200];
    static u64 wide[4200];
    for (u64 n = size; n > 40; n -= n / 4) {
        for (u64 i = 0; i < n; i++) {
            text[i] = (u8)(i & 1 ? 'a' + random(&seed) % 5 : '0' + random(&seed) % 10);
            wide[i] = i + 3;
        }
        text[n - 2] = '\n';
        text[n - 1] = 0x80;
        text[n] = 0;
        ((u32 *)wide)[n] = 0;
        sink = wide_length((u32 *)wide + 1);
        ((u16 *)wide)[n] = 0;
        sink = half_length((u16 *)wide + 9);
        wide[n - 1] = ~0ul;
        sink = (u64)sentinel((s64 *)wide) + (u64)newline(text, text + n) + (u64)high_bit(text) + pair(text, n - 1);
        sink = characters(text, n) + lines(text) + backwards(text, (u32)n - 3, '5');
        take(work, text, n);
        for (u64 i = 0; i < n / 2; i++) {
            work[i] = (u8)('0' + i % 10);
        }
        sink = (u64)not_digit(work);
        blank(work, work + n);
        work[5] = 'x';
        sink = poll_byte(work + 5, n);
    }
    return true;
}
