// Packets: headers, checksums, addresses, options.

#include "loops.h"

const struct guest guest = {"packet", "packets", 40, 4096, 1};

static u8 frame[2048], other[2048];

LOOP u32 checksum(const u16 *at, u32 bytes) {
    u32 sum = 0;
    while (bytes > 1) {
        sum += *at++;
        bytes -= 2;
    }
    return sum;
}
LOOP u32 fold_sum(u32 sum) {
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}
LOOP void put_header(u8 *to, const u8 *from, s32 count) {
    for (s32 i = 0; i < count; i++) {
        to[i] = from[i];
    }
}
LOOP void put_payload(u32 *to, const u32 *from, const u32 *end) {
    do {
        *to++ = *from++;
    } while (from < end);
}
LOOP void pad(u8 *at, u8 *end) {
    while (at < end) {
        *at++ = 0;
    }
}
LOOP void flood(u64 *to, u64 words, u64 value) {
    u64 i = 0;
    while (i < words) {
        to[i++] = value;
    }
}
LOOP u32 same_address(const u8 *a, const u8 *b) {
    u32 i = 0;
    while (i < 16 && a[i] == b[i]) {
        i++;
    }
    return i;
}
LOOP u32 find_option(const u8 *at, u32 bytes, u8 kind) {
    u32 i = 0;
    while (i < bytes) {
        if (at[i] == kind) {
            return i;
        }
        if (at[i] == 1) {
            i++;
        } else {
            i += at[i + 1];
        }
    }
    return bytes;
}
LOOP const u16 *find_mark(const u16 *at, u16 mark) {
    while (*at != mark) {
        ++at;
    }
    return at;
}
LOOP u64 find_end(const u8 *at, u64 most) {
    u64 n = 0;
    while (n < most && at[n] != 0xff) {
        n++;
    }
    return n;
}
LOOP void scramble(u8 *at, u64 bytes, u8 key) {
    for (u64 i = 0; i < bytes; i++) {
        at[i] ^= key;
    }
}
LOOP void swap_order(u16 *at, u64 count) {
    for (u64 i = 0; i < count; i++) {
        at[i] = (u16)(at[i] << 8 | at[i] >> 8);
    }
}
LOOP u32 adler(const u8 *at, u64 bytes) {
    u32 a = 1, b = 0;
    for (u64 i = 0; i < bytes; i++) {
        a = (a + at[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}
LOOP u32 wait_link(volatile u8 *link, u32 tries) {
    while (tries && !(*link & 0x40)) {
        tries--;
    }
    return tries;
}

bool run(u64 size, u64 seed) {
    for (u64 n = 0; n < size; n++) {
        u64 bytes = 64 + random(&seed) % 1400 / 8 * 8;
        flood((u64 *)frame, bytes / 8, random(&seed));
        for (u64 i = 0; i < bytes; i += 1 + n % 3) {
            frame[i] = (u8)(random(&seed) & 0x7f);
        }
        frame[bytes - 2] = 0xff;
        frame[bytes - 1] = 0xff;
        put_header(other, frame, 14 + (s32)n % 40);
        put_payload((u32 *)other, (u32 *)frame, (u32 *)(frame + bytes));
        sink = fold_sum(checksum((u16 *)frame, (u32)bytes)) + adler(frame, bytes) + same_address(frame, other);
        sink = (u64)find_mark((u16 *)frame, 0xffff) + find_end(frame, bytes);
        for (u64 i = 0; i < 40; i += 2) {
            frame[i] = (u8)(i + 2);
            frame[i + 1] = 2;
        }
        sink = find_option(frame, 40, (u8)(n % 40));
        scramble(frame, bytes, (u8)n);
        swap_order((u16 *)frame, bytes / 2);
        pad(frame + bytes - n % 50, frame + bytes);
        frame[3] = 0;
        sink = wait_link(&frame[3], (u32)n * 4);
    }
    return true;
}
