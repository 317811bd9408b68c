// Fills of memory: by index and by pointer, up and down, of elements of all sizes.

#include "loops.h"

const struct guest guest = {"fill", "elements", 700, 4096, 1};

#define FILLS(T)                                                                                                       \
    LOOP void up_##T(T *to, u64 count, T value) {                                                                      \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void down_##T(T *to, u64 count, T value) {                                                                    \
        while (count--) {                                                                                              \
            to[count] = value;                                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void pointer_##T(T *to, T *end, T value) {                                                                    \
        while (to != end) {                                                                                            \
            *to++ = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void zero_##T(T *to, int count) {                                                                             \
        for (int i = 0; i < count; i++) {                                                                              \
            to[i] = 0;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void pairs_##T(T *to, u32 count, T value) {                                                                   \
        for (; count > 1; count -= 2) {                                                                                \
            to[0] = value;                                                                                             \
            to[1] = value;                                                                                             \
            to += 2;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void every_third_##T(T *to, u64 count, T value) {                                                             \
        for (u64 i = 0; i < count; i += 3) {                                                                           \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }

FILLS(u8)
FILLS(u16)
FILLS(u32)
FILLS(u64)

// Not a fill: the value changes.
LOOP void numbers(u32 *to, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = (u32)i * 3;
    }
}

#define RUN(T)                                                                                                         \
    up_##T((T *)memory, size, (T)seed);                                                                                \
    down_##T((T *)memory, size, (T)seed);                                                                              \
    pointer_##T((T *)memory, (T *)memory + size, (T)seed);                                                             \
    zero_##T((T *)memory, (int)size);                                                                                  \
    pairs_##T((T *)memory, (u32)size, (T)seed);                                                                        \
    every_third_##T((T *)memory, size, (T)seed);

bool run(u64 size, u64 seed) {
    static u64 memory[4096];
    for (u64 round = 0; round < 6; round++) {
        RUN(u8)
        RUN(u16)
        RUN(u32)
        RUN(u64)
        numbers((u32 *)memory, size);
        size -= size / 3;
        seed += 7;
    }
    return memory[0] != 1;
}
