// Loops over arrays that count and do more than a copy or a fill: sums, maps, filters, tables, and rows of tables.

#include "loops.h"

const struct guest guest = {"arrays", "elements", 300, 1000, 1};

#define ARRAYS(T)                                                                                                      \
    LOOP T sum_##T(const T *a, u64 count) {                                                                            \
        T sum = 0;                                                                                                     \
        for (u64 i = 0; i < count; i++) {                                                                              \
            sum += a[i];                                                                                               \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LOOP u64 sum_back_##T(const T *a, int count) {                                                                     \
        u64 sum = 0;                                                                                                   \
        while (--count >= 0) {                                                                                         \
            sum += (u64)a[count];                                                                                      \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LOOP u64 weighted_##T(const T *a, const T *b, const T *end) {                                                      \
        u64 sum = 0;                                                                                                   \
        while (a < end) {                                                                                              \
            sum += (u64)*a++ * (u64)*b++;                                                                              \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LOOP void add_##T(T *to, const T *a, const T *b, u64 count) {                                                      \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = a[i] + b[i];                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void scale_##T(T *a, int count, T by) {                                                                       \
        for (int i = 0; i < count; i++) {                                                                              \
            a[i] *= by;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void mask_##T(T *p, const T *end, T with) {                                                                   \
        for (; p != end; p++) {                                                                                        \
            *p = *p & with;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void prefix_##T(T *a, u64 count) {                                                                            \
        for (u64 i = 1; i < count; i++) {                                                                              \
            a[i] += a[i - 1];                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void smooth_##T(T *to, const T *from, u64 count) {                                                            \
        for (u64 i = 1; i + 1 < count; i++) {                                                                          \
            to[i] = (T)((from[i - 1] + 2 * from[i] + from[i + 1]) >> 2);                                               \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP u64 keep_##T(T *to, const T *from, u64 count, T above) {                                                      \
        u64 kept = 0;                                                                                                  \
        for (u64 i = 0; i < count; i++) {                                                                              \
            if (from[i] > above) {                                                                                     \
                to[kept++] = from[i];                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        return kept;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 above_##T(const T *a, u64 count, T above) {                                                               \
        u64 n = 0;                                                                                                     \
        for (u64 i = 0; i < count; i++) {                                                                              \
            n += a[i] > above;                                                                                         \
        }                                                                                                              \
        return n;                                                                                                      \
    }                                                                                                                  \
    LOOP void clamp_##T(T *a, u64 count, T most) {                                                                     \
        while (count--) {                                                                                              \
            if (*a > most) {                                                                                           \
                *a = most;                                                                                             \
            }                                                                                                          \
            a++;                                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void gather_##T(T *to, const T *table, const u8 *indices, u64 count) {                                        \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = table[indices[i]];                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void count_bytes_##T(T *counts, const u8 *p, const u8 *end) {                                                 \
        while (p < end) {                                                                                              \
            counts[*p++]++;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void interleave_##T(T *to, const T *a, const T *b, u32 count) {                                               \
        for (u32 i = 0; i < count; i++) {                                                                              \
            to[2 * i] = a[i];                                                                                          \
            to[2 * i + 1] = b[i];                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void transpose_##T(T *to, const T *from, int width) {                                                         \
        for (int y = 0; y < width; y++) {                                                                              \
            for (int x = 0; x < width; x++) {                                                                          \
                to[x * width + y] = from[y * width + x];                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rows_##T(T *to, const T *from, u64 width, u64 height, u64 pitch) {                                       \
        for (u64 y = 0; y < height; y++) {                                                                             \
            for (u64 x = 0; x < width; x++) {                                                                          \
                to[y * pitch + x] = from[y * width + x];                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rectangle_##T(T *to, u64 width, u64 height, u64 pitch, T value) {                                        \
        for (u64 y = 0; y < height; y++, to += pitch) {                                                                \
            for (u64 x = 0; x < width; x++) {                                                                          \
                to[x] = value;                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void combine_##T(T *to, const T *from, u64 count, T a) {                                                      \
        do {                                                                                                           \
            *to = (T)(*to + a * *from);                                                                                \
            to++;                                                                                                      \
            from++;                                                                                                    \
        } while (--count);                                                                                             \
    }
ARRAYS(u8)
ARRAYS(s16)
ARRAYS(u32)
ARRAYS(s64)

static u64 a[2100], b[2100], c[2100];

#define RUN(T)                                                                                                         \
    {                                                                                                                  \
        T *x = (T *)a, *y = (T *)b, *z = (T *)c;                                                                       \
        sink = (u64)sum_##T(x, size) + sum_back_##T(x, (int)size) + weighted_##T(x, y, x + size);                      \
        add_##T(z, x, y, size), scale_##T(x, (int)size, 3), mask_##T(y, y + size, 0x5f), prefix_##T(x, size);          \
        smooth_##T(z, x, size);                                                                                        \
        sink = keep_##T(z, x, size, 60) + above_##T(y, size, 30);                                                      \
        clamp_##T(x, size, 100), gather_##T(z, x, (u8 *)b, size), count_bytes_##T(z, (u8 *)a, (u8 *)a + size);         \
        interleave_##T(z, x, y, (u32)size), transpose_##T(z, x, 17), rows_##T(z, x, size / 20, 19, size / 18);         \
        rectangle_##T(z, size / 20, 15, size / 16, 7), combine_##T(y, x, size, 3);                                     \
    }

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 4; round++) {
        for (u64 i = 0; i < 2100; i++) {
            a[i] = random(&seed);
            b[i] = random(&seed);
        }
        RUN(u8)
        RUN(s16)
        RUN(u32)
        RUN(s64)
        size -= size / 3;
    }
    return true;
}
