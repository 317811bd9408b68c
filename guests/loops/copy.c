// Copies of memory: by index and by pointer, forwards and backwards, of elements of all sizes.

#include "loops.h"

const struct guest guest = {"copy", "elements", 600, 4096, 1};

#define COPIES(T)                                                                                                      \
    LOOP void up_##T(T *to, const T *from, u64 count) {                                                                \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void down_##T(T *to, const T *from, u64 count) {                                                              \
        while (count--) {                                                                                              \
            to[count] = from[count];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void pointers_##T(T *to, const T *from, const T *end) {                                                       \
        while (from != end) {                                                                                          \
            *to++ = *from++;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void words_##T(T *to, const T *from, int count) {                                                             \
        do {                                                                                                           \
            *to++ = *from++;                                                                                           \
        } while (--count > 0);                                                                                         \
    }                                                                                                                  \
    LOOP void pairs_##T(T *to, const T *from, u32 count) {                                                             \
        for (u32 i = 0; i + 1 < count; i += 2) {                                                                       \
            T a = from[i], b = from[i + 1];                                                                            \
            to[i] = a;                                                                                                 \
            to[i + 1] = b;                                                                                             \
        }                                                                                                              \
    }

COPIES(u8)
COPIES(u16)
COPIES(u32)
COPIES(u64)

// Not copies: the values change, or move to other places.
LOOP void plus(u32 *to, const u32 *from, u64 count, u32 addend) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[i] + addend;
    }
}
LOOP void reverse(u16 *to, const u16 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[count - 1 - i] = from[i];
    }
}
LOOP void widen(u64 *to, const u8 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

#define RUN(T)                                                                                                         \
    up_##T((T *)a, (T *)b, size);                                                                                      \
    down_##T((T *)b, (T *)a, size);                                                                                    \
    pointers_##T((T *)a, (T *)b, (T *)b + size);                                                                       \
    words_##T((T *)a, (T *)b, (int)size);                                                                              \
    pairs_##T((T *)b, (T *)a, (u32)size);

bool run(u64 size, u64 seed) {
    static u64 a[4096], b[4096];
    for (u64 i = 0; i < size; i++) {
        b[i] = random(&seed);
    }
    for (u64 round = 0; round < 6; round++) {
        RUN(u8)
        RUN(u16)
        RUN(u32)
        RUN(u64)
        plus((u32 *)a, (u32 *)b, size, 3);
        reverse((u16 *)a, (u16 *)b, size);
        widen(a, (u8 *)b, size);
        size -= size / 3;
    }
    return true;
}
