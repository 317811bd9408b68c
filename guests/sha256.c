// SHA-256 of SIZE random bytes, in one piece and again in pieces of odd lengths, and of texts whose digests
// are known.

#include "guest.h"

enum { LARGEST = 4 << 20 };
const struct guest guest = {"sha256", "bytes", 40000, LARGEST, 1};

// The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the cube roots
// of the first 64. They are computed: a wrong one shows in the known digests.
static u32 initial[8];
static u32 constants[64];

// The largest r with r^power <= n, where r fits 36 bits.
static u64 root(u128 n, int power) {
    u64 r = 0;
    for (u64 bit = 1UL << 35; bit; bit >>= 1) {
        u128 x = r | bit;
        if ((power == 2 ? x * x : x * x * x) <= n) {
            r |= bit;
        }
    }
    return r;
}

static void make_constants(void) {
    u32 found = 0;
    for (u32 candidate = 2; found < LENGTH(constants); candidate++) {
        u32 divisor = 2;
        while (candidate % divisor) {
            divisor++;
        }
        if (divisor == candidate) {
            if (found < LENGTH(initial)) {
                initial[found] = (u32)root((u128)candidate << 64, 2);
            }
            constants[found++] = (u32)root((u128)candidate << 96, 3);
        }
    }
}

struct hash {
    u32 state[8];
    u64 length; // bytes so far
    u8 block[64];
};

static u32 rotate(u32 x, int by) {
    return x >> by | x << (32 - by);
}

static __attribute__((noinline)) void compress(u32 state[8], const u8 *block) {
    u32 w[64];
    for (int i = 0; i < 16; i++, block += 4) {
        w[i] = (u32)block[0] << 24 | (u32)block[1] << 16 | (u32)block[2] << 8 | block[3];
    }
    for (int i = 16; i < 64; i++) {
        u32 early = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        u32 late = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + early + w[i - 7] + late;
    }
    u32 a = state[0], b = state[1], c = state[2], d = state[3];
    u32 e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        u32 choice = (e & f) ^ (~e & g);
        u32 majority = (a & b) ^ (a & c) ^ (b & c);
        u32 t = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constants[i] + w[i];
        h = g, g = f, f = e, e = d + t;
        d = c, c = b, b = a;
        a = t + (rotate(b, 2) ^ rotate(b, 13) ^ rotate(b, 22)) + majority;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void begin(struct hash *hash) {
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

static void add(struct hash *hash, const u8 *bytes, u64 count) {
    while (count) {
        u64 filled = hash->length % 64;
        u64 part = count < 64 - filled ? count : 64 - filled;
        if (part == 64) {
            compress(hash->state, bytes);
        } else {
            memcpy(hash->block + filled, bytes, part);
            if (filled + part == 64) {
                compress(hash->state, hash->block);
            }
        }
        hash->length += part;
        bytes += part;
        count -= part;
    }
}

static void finish(struct hash *hash, u8 digest[32]) {
    static const u8 padding[64] = {0x80};
    u64 bits = __builtin_bswap64(hash->length * 8);
    add(hash, padding, 1 + (119 - hash->length % 64) % 64);
    add(hash, (const u8 *)&bits, 8);
    for (int i = 0; i < 8; i++) {
        u32 word = __builtin_bswap32(hash->state[i]);
        memcpy(digest + 4 * i, &word, 4);
    }
}

static bool known(const char *text, const u64 expected[4]) {
    struct hash hash;
    u64 digest[4];
    u64 length = 0;
    while (text[length]) {
        length++;
    }
    begin(&hash);
    add(&hash, (const u8 *)text, length);
    finish(&hash, (u8 *)digest);
    bool same = true;
    for (int i = 0; i < 4; i++) {
        same &= digest[i] == __builtin_bswap64(expected[i]);
    }
    return same;
}

bool run(u64 size, u64 seed) {
    static u8 bytes[LARGEST];
    make_constants();
    for (u64 i = 0; i < size; i++) {
        bytes[i] = (u8)random(&seed);
    }

    struct hash hash;
    u8 digest[32];
    begin(&hash);
    add(&hash, bytes, size);
    finish(&hash, digest);
    put_bytes("digest", digest, sizeof digest);

    u8 again[32];
    begin(&hash);
    for (u64 at = 0, part; at < size; at += part) {
        part = 1 + random(&seed) % 200;
        part = part < size - at ? part : size - at;
        add(&hash, bytes + at, part);
    }
    finish(&hash, again);
    static const u64 of_nothing[] = {
        0xe3b0c44298fc1c14, 0x9afbf4c8996fb924, 0x27ae41e4649b934c, 0xa495991b7852b855};
    static const u64 of_abc[] = {
        0xba7816bf8f01cfea, 0x414140de5dae2223, 0xb00361a396177a9c, 0xb410ff61f20015ad};
    static const u64 of_two_blocks[] = {
        0x248d6a61d20638b8, 0xe5c026930c3e6039, 0xa33ce45964ff2167, 0xf6ecedd419db06c1};
    return memcmp(digest, again, sizeof digest) == 0 && known("", of_nothing) && known("abc", of_abc)
        && known("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", of_two_blocks);
}
