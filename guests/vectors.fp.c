// Loops that the compiler turns into vector instructions, and some that are written as such, each against the same loop
// one number at a time.

#include <arm_neon.h>

#include "guest.h"

enum { BYTES = 256 };
const struct guest guest = {"vectors", "blocks of numbers", 80, 100000000, 1};

// A block of bits as numbers of any kind.
union block {
    signed char s8[BYTES];
    u8 u8[BYTES];
    short s16[BYTES / 2];
    unsigned short u16[BYTES / 2];
    int s32[BYTES / 4];
    u32 u32[BYTES / 4];
    long s64[BYTES / 8];
    u64 u64[BYTES / 8];
    float f32[BYTES / 4];
    double f64[BYTES / 8];
};
// Random bits, random numbers of a moderate size, and what a loop makes of them.
static union block a, b, f, g, d;
struct result {
    union block block, more;
    long sum, least;
};

#define IN_VECTORS static __attribute__((noinline)) void
#define ONE_BY_ONE static __attribute__((noinline, optimize("no-tree-vectorize"))) void

// A loop that is compiled in both ways, and one that is written in both; TYPE is that of its elements.
#define EACH(type) (u32 i = 0; i < LENGTH(a.type); i++)
#define COMPILED(name, ...)                                                                                            \
    IN_VECTORS name##_in_vectors(struct result *to) __VA_ARGS__                                                        \
    ONE_BY_ONE name##_one_by_one(struct result *to) __VA_ARGS__
#define WRITTEN(name, type, vectors, numbers)                                                                          \
    IN_VECTORS name##_in_vectors(struct result *to) {                                                                  \
        for (u32 i = 0; i < LENGTH(a.type); i += 16 / sizeof *a.type) {                                                \
            vectors;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    ONE_BY_ONE name##_one_by_one(struct result *to) {                                                                  \
        for EACH(type) {                                                                                               \
            numbers;                                                                                                   \
        }                                                                                                              \
    }

COMPILED(products, {
    int sum = 0;
    for EACH(s16) {
        sum += (a.s16[i] * b.s16[i]) >> 8;
        to->block.s16[i] = (short)(a.s16[i] * b.s16[i] - a.s16[i]);
    }
    to->sum = sum;
})
COMPILED(products_of_bytes, {
    int sum = 0;
    for EACH(s8) {
        sum += a.s8[i] * b.s8[i];
    }
    to->sum = sum;
})
COMPILED(distances, {
    u32 sum = 0;
    for EACH(u8) {
        u32 distance = (u32)__builtin_abs(a.u8[i] - b.u8[i]);
        sum += distance;
        to->block.u8[i] = (u8)distance;
    }
    to->sum = sum;
})
COMPILED(shifts, {
    for EACH(u16) {
        to->block.u16[i] = (unsigned short)(a.u16[i] << 3 ^ b.u16[i] >> 5 ^ a.s16[i] >> 2);
    }
})
COMPILED(extrema, {
    short most = -32768;
    short least = 32767;
    for EACH(s16) {
        most = a.s16[i] > most ? a.s16[i] : most;
        least = b.s16[i] < least ? b.s16[i] : least;
        to->block.s16[i] = a.s16[i] > b.s16[i] ? a.s16[i] : (short)~b.s16[i];
    }
    to->sum = most;
    to->least = least;
})
COMPILED(averages, {
    for EACH(u8) {
        to->block.u8[i] = (u8)((a.u8[i] + b.u8[i] + 1) / 2);
    }
})
COMPILED(greys, {
    for (u32 i = 0; i < BYTES / 3; i++) {
        to->block.u8[i] = (u8)((a.u8[3 * i] * 77 + a.u8[3 * i + 1] * 150 + a.u8[3 * i + 2] * 29) >> 8);
    }
})
COMPILED(complex_products, {
    for (u32 i = 0; i < LENGTH(f.f32); i += 2) {
        to->block.f32[i] = f.f32[i] * g.f32[i] - f.f32[i + 1] * g.f32[i + 1];
        to->block.f32[i + 1] = f.f32[i] * g.f32[i + 1] + f.f32[i + 1] * g.f32[i];
    }
})
COMPILED(dot_product, {
    float sum[4] = {0};
    for EACH(f32) {
        sum[i % 4] = __builtin_fmaf(f.f32[i], g.f32[i], sum[i % 4]);
    }
    memcpy(&to->block, sum, sizeof sum);
})
COMPILED(roots, {
    for EACH(f64) {
        to->block.f64[i] = __builtin_fma(d.f64[i], __builtin_sqrt(__builtin_fabs(d.f64[i])), 1 / d.f64[i]);
    }
})
COMPILED(roots_in_single, {
    for EACH(f32) {
        float root = __builtin_sqrtf(__builtin_fabsf(g.f32[i]));
        to->block.f32[i] = __builtin_fmaf(-f.f32[i], root, g.f32[i] / f.f32[i]);
    }
})
COMPILED(conversions, {
    for EACH(f64) {
        to->block.f64[i] = (double)f.f32[i] + (double)(long)(d.f64[i] * 1000);
        to->more.f32[i] = (float)d.f64[i];
    }
})
COMPILED(integers, {
    for EACH(f32) {
        to->block.s32[i] = (int)(f.f32[i] * 1e5f) + (int)__builtin_floorf(g.f32[i]);
        to->more.f32[i] = (float)a.s32[i] + (float)b.u32[i];
    }
})
COMPILED(choices, {
    for EACH(f32) {
        to->block.f32[i] = f.f32[i] > g.f32[i] ? f.f32[i] - g.f32[i] : -f.f32[i];
    }
})

static long clamp(long x, long least, long most) {
    return x < least ? least : x > most ? most : x;
}

static short clamp16(long x) {
    return (short)clamp(x, -32768, 32767);
}

WRITTEN(
    sums, s16, vst1q_s16(to->block.s16 + i, vqaddq_s16(vld1q_s16(a.s16 + i), vld1q_s16(b.s16 + i))),
    to->block.s16[i] = clamp16(a.s16[i] + b.s16[i]))
WRITTEN(
    differences, u8, vst1q_u8(to->block.u8 + i, vqsubq_u8(vld1q_u8(a.u8 + i), vld1q_u8(b.u8 + i))),
    to->block.u8[i] = (u8)clamp(a.u8[i] - b.u8[i], 0, 255))
WRITTEN(
    high_products, s16, vst1q_s16(to->block.s16 + i, vqdmulhq_s16(vld1q_s16(a.s16 + i), vld1q_s16(b.s16 + i))),
    to->block.s16[i] = clamp16(2L * a.s16[i] * b.s16[i] >> 16))
WRITTEN(
    rounded_products, s32, vst1q_s32(to->block.s32 + i, vqrdmulhq_s32(vld1q_s32(a.s32 + i), vld1q_s32(b.s32 + i))),
    to->block.s32[i] = (int)clamp(((long)a.s32[i] * b.s32[i] + (1L << 30)) >> 31, -2147483648, 2147483647))
WRITTEN(
    narrowed, s32, vst1_s16(to->block.s16 + i, vqrshrn_n_s32(vld1q_s32(a.s32 + i), 9)),
    to->block.s16[i] = clamp16((a.s32[i] + 256L) >> 9))
WRITTEN(
    narrowed_unsigned, s16, vst1_u8(to->block.u8 + i, vqmovun_s16(vld1q_s16(a.s16 + i))),
    to->block.u8[i] = (u8)clamp(a.s16[i], 0, 255))
WRITTEN(
    shifted, s16,
    int16x8_t amount = vsubq_s16(vandq_s16(vld1q_s16(b.s16 + i), vdupq_n_s16(31)), vdupq_n_s16(16));
    vst1q_s16(to->block.s16 + i, vqrshlq_s16(vld1q_s16(a.s16 + i), amount)), long x = a.s16[i];
    int amount = (b.s16[i] & 31) - 16;
    to->block.s16[i] = clamp16(amount < 0 ? (x + (1L << (-amount - 1))) >> -amount : x << amount))
WRITTEN(
    counted, u8, vst1q_u8(to->block.u8 + i, vcntq_u8(veorq_u8(vld1q_u8(a.u8 + i), vld1q_u8(b.u8 + i)))),
    for (u8 bits = a.u8[i] ^ b.u8[i]; bits; bits &= bits - 1) to->block.u8[i]++)
WRITTEN(
    looked_up, u8, uint8x16_t indices = vandq_u8(vld1q_u8(b.u8 + i), vdupq_n_u8(31));
    vst1q_u8(to->block.u8 + i, vqtbl1q_u8(vld1q_u8(a.u8 + i), indices)), u32 index = b.u8[i] & 31;
    to->block.u8[i] = index < 16 ? a.u8[(i & ~15u) + index] : 0)
WRITTEN(
    combined, f32, float32x4_t x = vld1q_f32(f.f32 + i); float32x4_t y = vld1q_f32(g.f32 + i);
    vst1q_f32(to->block.f32 + i, vmaxnmq_f32(vrndaq_f32(x), vabdq_f32(x, y))),
    float distance = __builtin_fabsf(f.f32[i] - g.f32[i]);
    float whole = __builtin_roundf(f.f32[i]); to->block.f32[i] = whole > distance ? whole : distance)

#define BOTH(name)                                                                                                     \
    { name##_in_vectors, name##_one_by_one }
static const struct {
    void (*in_vectors)(struct result *);
    void (*one_by_one)(struct result *);
} loops[] = {
    BOTH(products),         BOTH(products_of_bytes), BOTH(distances), BOTH(shifts),
    BOTH(extrema),          BOTH(averages),          BOTH(greys),     BOTH(complex_products),
    BOTH(dot_product),      BOTH(roots),             BOTH(integers),  BOTH(roots_in_single),
    BOTH(conversions),      BOTH(choices),           BOTH(sums),      BOTH(differences),
    BOTH(high_products),    BOTH(rounded_products),  BOTH(narrowed),  BOTH(narrowed_unsigned),
    BOTH(shifted),          BOTH(counted),           BOTH(looked_up), BOTH(combined),
};

bool run(u64 size, u64 seed) {
    bool agrees = true;
    u64 hash = 0;
    for (u64 round = 0; round < size; round++) {
        for EACH(u64) {
            a.u64[i] = random(&seed);
            b.u64[i] = random(&seed);
            d.f64[i] = (double)(long)random(&seed) * 0x1p-53; // up to 1024
        }
        for EACH(f32) {
            f.f32[i] = (float)a.s32[i] * 0x1p-21f;
            g.f32[i] = (float)b.s32[i] * 0x1p-23f;
        }
        for (u32 loop = 0; loop < LENGTH(loops); loop++) {
            struct result in_vectors = {0}, one_by_one = {0};
            loops[loop].in_vectors(&in_vectors);
            loops[loop].one_by_one(&one_by_one);
            agrees &= memcmp(&in_vectors, &one_by_one, sizeof in_vectors) == 0;
            for EACH(u64) {
                hash = fold(hash, in_vectors.block.u64[i] + in_vectors.more.u64[i]);
            }
            hash = fold(hash, (u64)in_vectors.sum << 32 ^ (u64)in_vectors.least);
        }
    }
    put_hex("hash", hash);
    return agrees;
}
