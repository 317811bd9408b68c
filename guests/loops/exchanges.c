// Passes that exchange neighbours: bubble sorts with indices and pointers, with and without flags, in both directions, over
// numbers of all sizes.

#include "loops.h"

const struct guest guest = {"exchanges", "numbers", 60, 250, 1};

#define SWAP(T, x, y)                                                                                                  \
    do {                                                                                                               \
        T swap_ = (x);                                                                                                 \
        (x) = (y);                                                                                                     \
        (y) = swap_;                                                                                                   \
    } while (0)

#define EXCHANGES(T, I)                                                                                                \
    static inline int order_##T(T a, T b) {                                                                            \
        return (a > b) - (a < b);                                                                                      \
    }                                                                                                                  \
    static inline void exchange_##T(T *a, T *b) {                                                                      \
        T t = *a;                                                                                                      \
        *a = *b;                                                                                                       \
        *b = t;                                                                                                        \
    }                                                                                                                  \
    LOOP void simple_##T(T array[], I count) {                                                                         \
        for (I j = 0; j < count - 1; ++j) {                                                                            \
            if (array[j] > array[j + 1]) {                                                                             \
                SWAP(T, array[j], array[j + 1]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void not_strict_##T(T *array, I count) {                                                                      \
        for (I j = 0; j < count - 1; j++) {                                                                            \
            if (array[j + 1] <= array[j]) {                                                                            \
                SWAP(T, array[j + 1], array[j]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void falling_##T(T *array, I count) {                                                                         \
        for (I j = 1; j < count; j++) {                                                                                \
            if (array[j - 1] < array[j]) {                                                                             \
                SWAP(T, array[j - 1], array[j]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP int changed_##T(T *array, I count) {                                                                          \
        int changed = 0;                                                                                               \
        for (I j = 0; j + 1 < count; j++) {                                                                            \
            T x = array[j], y = array[j + 1];                                                                          \
            if (x > y) {                                                                                               \
                array[j] = y;                                                                                          \
                array[j + 1] = x;                                                                                      \
                changed = 1;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        return changed;                                                                                                \
    }                                                                                                                  \
    LOOP I last_change_##T(T *array, I count) {                                                                        \
        I last = 0;                                                                                                    \
        for (I j = 1; j < count; j++) {                                                                                \
            if (array[j] < array[j - 1]) {                                                                             \
                SWAP(T, array[j], array[j - 1]);                                                                       \
                last = j;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return last;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 changes_##T(T *array, I count) {                                                                          \
        u64 changes = 0;                                                                                               \
        I j = count - 1;                                                                                               \
        while (j > 0) {                                                                                                \
            if (array[j - 1] > array[j]) {                                                                             \
                exchange_##T(&array[j - 1], &array[j]);                                                                \
                changes++;                                                                                             \
            }                                                                                                          \
            j--;                                                                                                       \
        }                                                                                                              \
        return changes;                                                                                                \
    }                                                                                                                  \
    LOOP void by_pointer_##T(T *p, T *last) {                                                                          \
        while (p != last) {                                                                                            \
            if (p[0] > p[1]) {                                                                                         \
                exchange_##T(p, p + 1);                                                                                \
            }                                                                                                          \
            ++p;                                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void back_by_pointer_##T(T *first, T *p) {                                                                    \
        for (; p > first; p--) {                                                                                       \
            if (*p < *(p - 1)) {                                                                                       \
                SWAP(T, *p, *(p - 1));                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP bool two_pointers_##T(T *a, u32 count) {                                                                      \
        T *b = a + 1;                                                                                                  \
        bool sorted = true;                                                                                            \
        while (--count) {                                                                                              \
            if (*b < *a) {                                                                                             \
                T t = *b;                                                                                              \
                *b = *a;                                                                                               \
                *a = t;                                                                                                \
                sorted = false;                                                                                        \
            }                                                                                                          \
            a++, b++;                                                                                                  \
        }                                                                                                              \
        return sorted;                                                                                                 \
    }                                                                                                                  \
    LOOP void by_order_##T(T *array, u64 count) {                                                                      \
        for (u64 j = 0; j < count - 1; j++) {                                                                          \
            if (order_##T(array[j], array[j + 1]) > 0) {                                                               \
                exchange_##T(array + j, array + j + 1);                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP bool by_order_back_##T(T *array, int count) {                                                                 \
        bool done = true;                                                                                              \
        for (int j = count - 2; j >= 0; j--) {                                                                         \
            if (order_##T(array[j], array[j + 1]) >= 0) {                                                              \
                exchange_##T(array + j, array + j + 1);                                                                \
                done = false;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return done;                                                                                                   \
    }                                                                                                                  \
    LOOP void odd_even_##T(T *array, I begin, I count) {                                                               \
        for (I j = begin; j + 1 < count; j += 2) {                                                                     \
            if (array[j] > array[j + 1]) {                                                                             \
                SWAP(T, array[j], array[j + 1]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void odd_even_pointer_##T(T *p, const T *end) {                                                               \
        for (; p < end; p += 2) {                                                                                      \
            if (p[1] < p[0]) {                                                                                         \
                exchange_##T(p, p + 1);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void cocktail_##T(T *array, I low, I high) {                                                                  \
        bool swapped = true;                                                                                           \
        while (swapped && low < high) {                                                                                \
            swapped = false;                                                                                           \
            for (I j = low; j < high; j++) {                                                                           \
                if (array[j] > array[j + 1]) {                                                                         \
                    SWAP(T, array[j], array[j + 1]);                                                                   \
                    swapped = true;                                                                                    \
                }                                                                                                      \
            }                                                                                                          \
            high--;                                                                                                    \
            for (I j = high; j > low; j--) {                                                                           \
                if (array[j - 1] > array[j]) {                                                                         \
                    SWAP(T, array[j - 1], array[j]);                                                                   \
                    swapped = true;                                                                                    \
                }                                                                                                      \
            }                                                                                                          \
            low++;                                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void classic_##T(T *array, I count) {                                                                         \
        for (I i = 0; i < count; i++) {                                                                                \
            for (I j = count - 1; j > i; --j) {                                                                        \
                if (array[j] < array[j - 1]) {                                                                         \
                    T t = array[j - 1];                                                                                \
                    array[j - 1] = array[j];                                                                           \
                    array[j] = t;                                                                                      \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    /* Not these: distant ones, one with a fixed one, by exclusive or, without a test, only the lesser one. */         \
    LOOP void comb_##T(T *array, I count, I gap) {                                                                     \
        for (I j = 0; j + gap < count; j++) {                                                                          \
            if (array[j] > array[j + gap]) {                                                                           \
                SWAP(T, array[j], array[j + gap]);                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void with_first_##T(T *array, I count) {                                                                      \
        for (I j = 1; j < count; j++) {                                                                                \
            if (array[0] > array[j]) {                                                                                 \
                SWAP(T, array[0], array[j]);                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void gnome_##T(T *array, I count) {                                                                           \
        for (I j = 0; j < count;) {                                                                                    \
            if (j == 0 || array[j] >= array[j - 1]) {                                                                  \
                j++;                                                                                                   \
            } else {                                                                                                   \
                SWAP(T, array[j], array[j - 1]);                                                                       \
                j--;                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void all_pairs_##T(T *array, u64 count) {                                                                     \
        for (u64 j = 0; j + 1 < count; j += 2) {                                                                       \
            SWAP(T, array[j], array[j + 1]);                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void insert_##T(T *array, I count) {                                                                          \
        for (I i = 1; i < count; i++) {                                                                                \
            for (I j = i; j > 0 && array[j - 1] > array[j]; j--) {                                                     \
                SWAP(T, array[j - 1], array[j]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void lesser_left_##T(T *array, u64 count) {                                                                   \
        for (u64 j = 0; j + 1 < count; j++) {                                                                          \
            if (array[j] > array[j + 1]) {                                                                             \
                array[j] = array[j + 1];                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void mix_##T(T *a, u64 count, u64 *seed) {                                                                  \
        for (u64 i = 0; i <= count; i++) {                                                                             \
            a[i] = (T)random(seed);                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void all_##T(T *a, u64 count, u64 *seed) {                                                                  \
        I n = (I)count;                                                                                                \
        mix_##T(a, count, seed);                                                                                       \
        simple_##T(a, n), not_strict_##T(a, n), falling_##T(a, n), by_pointer_##T(a, a + n - 1);                       \
        back_by_pointer_##T(a, a + n - 1), by_order_##T(a, count);                                                     \
        mix_##T(a, count, seed);                                                                                       \
        sink = changed_##T(a, n) + (u64)last_change_##T(a, n) + changes_##T(a, n) + two_pointers_##T(a, (u32)count);   \
        mix_##T(a, count, seed);                                                                                       \
        sink = by_order_back_##T(a, (int)n);                                                                           \
        for (I i = 0; i < 4; i++) {                                                                                    \
            odd_even_##T(a, i & 1, n), odd_even_pointer_##T(a + (i & 1), a + n);                                       \
        }                                                                                                              \
        cocktail_##T(a, 0, n - 1);                                                                                     \
        mix_##T(a, count, seed);                                                                                       \
        classic_##T(a, n);                                                                                             \
        mix_##T(a, count, seed);                                                                                       \
        comb_##T(a, n, 7), comb_##T(a, n, 3), with_first_##T(a, n), all_pairs_##T(a, count), gnome_##T(a, n);          \
        mix_##T(a, count, seed);                                                                                       \
        insert_##T(a, n), lesser_left_##T(a, count);                                                                   \
    }

EXCHANGES(u8, int)
EXCHANGES(s8, u32)
EXCHANGES(u16, u64)
EXCHANGES(s16, s64)
EXCHANGES(u32, int)
EXCHANGES(s32, u64)
EXCHANGES(u64, u32)
EXCHANGES(s64, int)

bool run(u64 size, u64 seed) {
    static u64 a[256];
    all_u8((u8 *)a, size, &seed);
    all_s8((s8 *)a, size, &seed);
    all_u16((u16 *)a, size, &seed);
    all_s16((s16 *)a, size, &seed);
    all_u32((u32 *)a, size, &seed);
    all_s32((s32 *)a, size, &seed);
    all_u64(a, size, &seed);
    all_s64((s64 *)a, size, &seed);
    return true;
}
