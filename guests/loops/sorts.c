// Sorts of numbers of several types: bubble sorts, and others with passes that look alike.

#include "loops.h"

const struct guest guest = {"sorts", "numbers", 60, 512, 1};

#define SORTS(T)                                                                                                       \
    LOOP void pass_##T(T *a, u64 count) {                                                                              \
        for (u64 i = 0; i + 1 < count; i++) {                                                                          \
            if (a[i] > a[i + 1]) {                                                                                     \
                T t = a[i];                                                                                            \
                a[i] = a[i + 1];                                                                                       \
                a[i + 1] = t;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP bool swapped_##T(T *a, int count) {                                                                           \
        bool swapped = false;                                                                                          \
        for (int i = 1; i < count; i++) {                                                                              \
            if (a[i] < a[i - 1]) {                                                                                     \
                T t = a[i];                                                                                            \
                a[i] = a[i - 1];                                                                                       \
                a[i - 1] = t;                                                                                          \
                swapped = true;                                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        return swapped;                                                                                                \
    }                                                                                                                  \
    LOOP void pointer_pass_##T(T *a, T *end) {                                                                         \
        for (T *p = a + 1; p < end; p++) {                                                                             \
            T left = p[-1], right = p[0];                                                                              \
            if (left > right) {                                                                                        \
                p[-1] = right;                                                                                         \
                p[0] = left;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void descending_##T(T *a, u64 count) {                                                                        \
        for (u64 i = count - 1; i > 0; i--) {                                                                          \
            if (a[i] > a[i - 1]) {                                                                                     \
                T t = a[i];                                                                                            \
                a[i] = a[i - 1];                                                                                       \
                a[i - 1] = t;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void insert_##T(T *a, u64 count) {                                                                            \
        for (u64 i = 1; i < count; i++) {                                                                              \
            T value = a[i];                                                                                            \
            u64 j = i;                                                                                                 \
            for (; j > 0 && a[j - 1] > value; j--) {                                                                   \
                a[j] = a[j - 1];                                                                                       \
            }                                                                                                          \
            a[j] = value;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP u64 least_##T(const T *a, u64 count) {                                                                        \
        u64 best = 0;                                                                                                  \
        for (u64 i = 1; i < count; i++) {                                                                              \
            if (a[i] < a[best]) {                                                                                      \
                best = i;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return best;                                                                                                   \
    }                                                                                                                  \
    static void sort_##T(T *a, u64 count, u64 seed) {                                                                  \
        for (u64 round = 0; round < 4; round++) {                                                                      \
            for (u64 i = 0; i < count; i++) {                                                                          \
                a[i] = (T)random(&seed);                                                                               \
            }                                                                                                          \
            for (u64 end = count; end > 1; end--) {                                                                    \
                round == 0   ? pass_##T(a, end)                                                                        \
                : round == 1 ? pointer_pass_##T(a, a + end)                                                            \
                             : descending_##T(a, end);                                                                 \
                sink = least_##T(a, end);                                                                              \
            }                                                                                                          \
            while (swapped_##T(a, (int)count)) {                                                                       \
            }                                                                                                          \
            insert_##T(a, count);                                                                                      \
        }                                                                                                              \
    }

SORTS(s32)
SORTS(u64)
SORTS(u8)
SORTS(s16)

bool run(u64 size, u64 seed) {
    static u64 memory[512];
    sort_s32((s32 *)memory, size, seed);
    sort_u64(memory, size, seed + 1);
    sort_u8((u8 *)memory, size, seed + 2);
    sort_s16((s16 *)memory, size, seed + 3);
    return true;
}
