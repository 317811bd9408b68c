// Loops that are nearly copies: the width, the sign or the order of the elements changes, or they are gathered, spread or
// exchanged. The same loops with elements of the same kind are copies.

#include "loops.h"

const struct guest guest = {"convert", "elements", 200, 250, 1};

// From one type to another one. Types of the same size make copies.
#define CONVERSIONS(T, F)                                                                                              \
    LOOP void by_index_##T##_##F(T *to, const F *from, u64 count) {                                                    \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = (T)from[i];                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void by_pointer_##T##_##F(T *to, const F *from, const F *end) {                                               \
        while (from < end) {                                                                                           \
            *to++ = (T)*from++;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void down_##T##_##F(T *to, const F *from, int count) {                                                        \
        for (int i = count - 1; i >= 0; i--) {                                                                         \
            to[i] = (T)from[i];                                                                                        \
        }                                                                                                              \
    }
CONVERSIONS(u8, u16)
CONVERSIONS(u8, s32)
CONVERSIONS(u16, u8)
CONVERSIONS(u16, s16)
CONVERSIONS(s16, s8)
CONVERSIONS(u16, u64)
CONVERSIONS(s32, s16)
CONVERSIONS(u32, u8)
CONVERSIONS(u32, s32)
CONVERSIONS(s32, s64)
CONVERSIONS(u64, u32)
CONVERSIONS(s64, s32)
CONVERSIONS(u64, s64)
CONVERSIONS(s64, s8)

// Of the same type, in other places.
#define PLACES(T)                                                                                                      \
    LOOP void reversed_##T(T *to, const T *from, u64 count) {                                                          \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[count - i];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void from_both_ends_##T(T *to, const T *end, u32 count) {                                                     \
        while (count-- != 0) {                                                                                         \
            *to++ = *--end;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void every_second_##T(T *to, const T *from, u64 count) {                                                      \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[2 * i + 1];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void spread_##T(T *to, const T *from, u64 count) {                                                            \
        do {                                                                                                           \
            *to = *from++;                                                                                             \
            to += 3;                                                                                                   \
        } while (--count);                                                                                             \
    }                                                                                                                  \
    LOOP void doubled_##T(T *to, const T *from, const T *end) {                                                        \
        for (; from != end; from++, to += 2) {                                                                         \
            to[0] = from[0];                                                                                           \
            to[1] = from[0];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void twice_##T(T *a, T *b, const T *from, u64 count) {                                                        \
        for (u64 i = 0; i < count; i++) {                                                                              \
            a[i] = from[i];                                                                                            \
            b[i] = from[i];                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void zipped_##T(T *to, const T *a, const T *b, u64 count) {                                                   \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[2 * i] = a[i];                                                                                          \
            to[2 * i + 1] = b[i];                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void unzipped_##T(T *a, T *b, const T *from, int count) {                                                     \
        for (int i = 0; i < count; i++) {                                                                              \
            *a++ = *from++;                                                                                            \
            *b++ = *from++;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void exchanged_##T(T *a, T *b, u64 count) {                                                                   \
        for (u64 i = 0; i < count; i++) {                                                                              \
            T old = a[i];                                                                                              \
            a[i] = b[i];                                                                                               \
            b[i] = old;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void exchanged_neighbours_##T(T *p, const T *end) {                                                           \
        for (; p < end; p += 2) {                                                                                      \
            T old = p[0];                                                                                              \
            p[0] = p[1];                                                                                               \
            p[1] = old;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void exchanged_mirrored_##T(T *low, T *high) {                                                                \
        while (low < high) {                                                                                           \
            T old = *low;                                                                                              \
            *low++ = *high;                                                                                            \
            *high-- = old;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void gathered_##T(T *to, const T *from, const u16 *places, u64 count) {                                       \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[places[i]];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void scattered_##T(T *to, const T *from, const u16 *places, int count) {                                      \
        while (--count >= 0) {                                                                                         \
            to[*places++] = *from++;                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void marked_##T(T *to, const u16 *places, u64 count, T mark) {                                                \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[places[i]] = mark;                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP T summed_copy_##T(T *to, const T *from, u64 count) {                                                          \
        T sum = 0;                                                                                                     \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[i];                                                                                           \
            sum += from[i];                                                                                            \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LOOP void sums_##T(T *to, const T *from, u64 count) {                                                              \
        T sum = 0;                                                                                                     \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = sum;                                                                                               \
            sum += from[i];                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void inverted_##T(T *to, const T *from, u64 count) {                                                          \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = (T)~from[i];                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void from_one_place_##T(T *to, const volatile T *from, u64 count) {                                           \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = *from;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void until_zero_##T(T *to, const T *from) {                                                                   \
        while ((*to++ = *from++) != 0) {                                                                               \
        }                                                                                                              \
    }
PLACES(u8)
PLACES(u16)
PLACES(u32)
PLACES(u64)

static u64 a[1024], b[1024];
static u16 places[256];

#define CONVERT(T, F)                                                                                                  \
    by_index_##T##_##F((T *)a, (F *)b, size);                                                                          \
    by_pointer_##T##_##F((T *)a, (F *)b, (F *)b + size);                                                               \
    down_##T##_##F((T *)a, (F *)b, (int)size);
#define RUN(T)                                                                                                         \
    reversed_##T((T *)a, (T *)b, size);                                                                                \
    from_both_ends_##T((T *)a, (T *)b + size, (u32)size);                                                              \
    every_second_##T((T *)a, (T *)b, size);                                                                            \
    spread_##T((T *)a, (T *)b, size);                                                                                  \
    doubled_##T((T *)a, (T *)b, (T *)b + size);                                                                        \
    twice_##T((T *)a, (T *)a + size, (T *)b, size);                                                                    \
    zipped_##T((T *)a, (T *)b, (T *)b + size, size);                                                                   \
    unzipped_##T((T *)a, (T *)a + size, (T *)b, (int)size);                                                            \
    exchanged_##T((T *)a, (T *)b, size);                                                                               \
    exchanged_neighbours_##T((T *)a, (T *)a + size);                                                                   \
    exchanged_mirrored_##T((T *)a, (T *)a + size);                                                                     \
    gathered_##T((T *)a, (T *)b, places, size);                                                                        \
    scattered_##T((T *)a, (T *)b, places, (int)size);                                                                  \
    marked_##T((T *)a, places, size, (T)seed);                                                                         \
    sink = summed_copy_##T((T *)a, (T *)b, size);                                                                      \
    sums_##T((T *)a, (T *)b, size);                                                                                    \
    inverted_##T((T *)a, (T *)b, size);                                                                                \
    from_one_place_##T((T *)a, (T *)b, size);                                                                          \
    ((T *)b)[size] = 0;                                                                                                \
    until_zero_##T((T *)a, (T *)b);

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 4; round++) {
        for (u64 i = 0; i < 1024; i++) {
            b[i] = random(&seed);
        }
        for (u64 i = 0; i < 256; i++) {
            places[i] = (u16)(random(&seed) % 1000);
        }
        CONVERT(u8, u16)
        CONVERT(u8, s32)
        CONVERT(u16, u8)
        CONVERT(u16, s16)
        CONVERT(s16, s8)
        CONVERT(u16, u64)
        CONVERT(s32, s16)
        CONVERT(u32, u8)
        CONVERT(u32, s32)
        CONVERT(s32, s64)
        CONVERT(u64, u32)
        CONVERT(s64, s32)
        CONVERT(u64, s64)
        CONVERT(s64, s8)
        RUN(u8)
        RUN(u16)
        RUN(u32)
        RUN(u64)
        size -= size / 3;
    }
    return true;
}
