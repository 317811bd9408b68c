// Packs SIZE bytes of made up text by replacing what occurred before, and unpacks them.

#include "guest.h"

enum { LARGEST = 1 << 20 };
const struct guest guest = {"lz", "bytes", 60000, LARGEST, 1};

// A packed text is a sequence of a control byte c and what it announces: below 128, c + 1 bytes to copy; from
// 128 up, that c - 128 + SHORTEST bytes repeat what is a distance back, which follows in two bytes, low one
// first.
enum { SHORTEST = 4, LONGEST = 127 + SHORTEST, MOST_LITERALS = 128, FARTHEST = 0xffff };

static u64 put_literals(u8 *out, const u8 *from, u64 count) {
    u8 *start = out;
    while (count) {
        u64 part = count < MOST_LITERALS ? count : MOST_LITERALS;
        *out++ = (u8)(part - 1);
        memcpy(out, from, part);
        out += part;
        from += part;
        count -= part;
    }
    return (u64)(out - start);
}

static __attribute__((noinline)) u64 pack(u8 *packed, const u8 *text, u64 size) {
    // Where, plus one, the bytes of each hash were last seen.
    static u32 seen[4096];
    u8 *out = packed;
    u64 literals = 0; // not yet written
    u64 at = 0;
    while (at + SHORTEST <= size) {
        u32 next;
        memcpy(&next, text + at, sizeof next);
        u32 *slot = &seen[next * 0x9e3779b1 >> 20];
        u64 before = *slot;
        *slot = (u32)at + 1;
        u64 distance = at + 1 - before;
        u64 length = 0;
        if (before && distance <= FARTHEST) {
            u64 most = size - at < LONGEST ? size - at : LONGEST;
            while (length < most && text[at + length] == text[at + length - distance]) {
                length++;
            }
        }
        if (length < SHORTEST) {
            literals++;
            at++;
            continue;
        }
        out += put_literals(out, text + at - literals, literals);
        literals = 0;
        *out++ = (u8)(128 + length - SHORTEST);
        *out++ = (u8)distance;
        *out++ = (u8)(distance >> 8);
        at += length;
    }
    out += put_literals(out, text + at - literals, literals + size - at);
    return (u64)(out - packed);
}

// The size of the text, or one more than there is room for when the packed bytes make no sense.
static __attribute__((noinline)) u64 unpack(u8 *text, u64 room, const u8 *packed, u64 size) {
    const u8 *end = packed + size;
    u64 at = 0;
    while (packed < end) {
        u64 control = *packed++;
        if (control < 128) {
            u64 count = control + 1;
            if (count > room - at || count > (u64)(end - packed)) {
                return room + 1;
            }
            memcpy(text + at, packed, count);
            packed += count;
            at += count;
            continue;
        }
        u64 count = control - 128 + SHORTEST;
        if (end - packed < 2 || count > room - at) {
            return room + 1;
        }
        u64 distance = packed[0] | (u64)packed[1] << 8;
        packed += 2;
        if (distance == 0 || distance > at) {
            return room + 1;
        }
        // A byte at a time, since what is repeated may overlap what it makes.
        for (; count; count--, at++) {
            text[at] = text[at - distance];
        }
    }
    return at;
}

// Words from a small vocabulary, the first of which are more frequent.
static void write_text(u8 *text, u64 size, u64 seed) {
    u64 at = 0;
    while (at < size) {
        u64 choice = random(&seed);
        u64 word = 1 + (choice & 255) * (choice >> 8 & 255) / 256;
        u64 length = 2 + word % 9;
        for (; length && at < size; length--) {
            text[at++] = (u8)('a' + random(&word) % 26);
        }
        if (at < size) {
            text[at++] = choice >> 16 & 15 ? ' ' : '\n';
        }
    }
}

bool run(u64 size, u64 seed) {
    static u8 text[LARGEST], packed[LARGEST + LARGEST / MOST_LITERALS + 1], unpacked[LARGEST];
    write_text(text, size, seed);
    u64 packed_size = pack(packed, text, size);
    u64 unpacked_size = unpack(unpacked, LARGEST, packed, packed_size);
    u64 hash = 0;
    for (u64 i = 0; i < packed_size; i++) {
        hash = fold(hash, packed[i]);
    }
    put_decimal("packed", packed_size);
    put_decimal("unpacked", unpacked_size);
    put_hex("hash", hash);
    return unpacked_size == size && memcmp(text, unpacked, size) == 0;
}
