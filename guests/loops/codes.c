// Codes: base 64, hexadecimal, tables of CRC, permutations.

#include "loops.h"

const struct guest guest = {"codes", "bytes", 600, 4096, 1};

static u32 table[256];

LOOP void make_table(u32 *to) {
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 0; k < 8; k++) {
            c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        }
        to[i] = c;
    }
}
LOOP u32 crc(const u8 *at, u64 n) {
    u32 c = 0xffffffff;
    while (n--) {
        c = c >> 8 ^ table[(c ^ *at++) & 255];
    }
    return ~c;
}
LOOP void hexadecimal(u8 *to, const u8 *from, u64 n) {
    for (u64 i = 0; i < n; i++) {
        to[2 * i] = (u8)"0123456789abcdef"[from[i] >> 4];
        to[2 * i + 1] = (u8)"0123456789abcdef"[from[i] & 15];
    }
}
LOOP void base64(u8 *to, const u8 *from, u64 n) {
    static const u8 letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (u64 i = 0; i + 2 < n; i += 3) {
        u32 v = (u32)from[i] << 16 | (u32)from[i + 1] << 8 | from[i + 2];
        *to++ = letters[v >> 18];
        *to++ = letters[v >> 12 & 63];
        *to++ = letters[v >> 6 & 63];
        *to++ = letters[v & 63];
    }
}
LOOP void identity(u8 *to) {
    for (u32 i = 0; i < 256; i++) {
        to[i] = (u8)i;
    }
}
LOOP void shuffle(u8 *box, const u8 *key, u32 n) {
    u8 j = 0;
    for (u32 i = 0; i < 256; i++) {
        j = (u8)(j + box[i] + key[i % n]);
        u8 t = box[i];
        box[i] = box[j];
        box[j] = t;
    }
}
LOOP void stream(u8 *box, u8 *at, u64 n) {
    u8 i = 0, j = 0;
    while (n--) {
        i++;
        j = (u8)(j + box[i]);
        u8 t = box[i];
        box[i] = box[j];
        box[j] = t;
        *at++ ^= box[(u8)(box[i] + box[j])];
    }
}
LOOP u64 find_letter(const u8 *letters, u8 letter) {
    u64 i = 0;
    for (; letters[i] != letter; i++) {
    }
    return i;
}
LOOP void ones(u64 *at, u64 n) {
    while (n) {
        *at++ = ~0ul;
        n--;
    }
}
LOOP void wipe_table(u32 *at, const u32 *end) {
    do {
        *at++ = 0;
    } while (at != end);
}
LOOP u64 rotate_all(u64 value, u32 n) {
    while (n--) {
        value = value << 1 | value >> 63;
    }
    return value;
}

bool run(u64 size, u64 seed) {
    static u8 in[4200], out[9000], box[256];
    for (u64 i = 0; i < size; i++) {
        in[i] = (u8)random(&seed);
    }
    make_table(table);
    for (u64 n = size; n > 30; n -= n / 3) {
        sink = crc(in, n) + rotate_all(n, (u32)n);
        hexadecimal(out, in, n);
        base64(out, in, n);
        identity(box);
        sink = find_letter(box, (u8)n);
        shuffle(box, in, 16);
        stream(box, in, n);
        ones((u64 *)out, n / 2);
        wipe_table((u32 *)out, (u32 *)out + n);
    }
    return true;
}
