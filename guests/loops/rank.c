// Ranks by bubble sorts of other types and directions: signed bytes, long numbers, gaps, odd and even places.

#include "loops.h"

const struct guest guest = {"rank", "numbers", 70, 512, 1};

#define RANKS(T)                                                                                                       \
    LOOP u64 count_swaps_##T(T *values, u32 end) {                                                                     \
        u64 swaps = 0;                                                                                                 \
        for (u32 k = 0; k < end - 1; k++) {                                                                            \
            T low = values[k];                                                                                         \
            T high = values[k + 1];                                                                                    \
            if (high < low) {                                                                                          \
                values[k] = high;                                                                                      \
                values[k + 1] = low;                                                                                   \
                swaps++;                                                                                               \
            }                                                                                                          \
        }                                                                                                              \
        return swaps;                                                                                                  \
    }                                                                                                                  \
    LOOP void odd_even_##T(T *values, s64 from, s64 end) {                                                             \
        for (s64 k = from; k < end - 1; k += 2) {                                                                      \
            if (values[k] > values[k + 1]) {                                                                           \
                T other = values[k];                                                                                   \
                values[k] = values[k + 1];                                                                             \
                values[k + 1] = other;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void falling_##T(T *first, T *last) {                                                                         \
        while (last > first) {                                                                                         \
            if (last[-1] < last[0]) {                                                                                  \
                T other = last[0];                                                                                     \
                last[0] = last[-1];                                                                                    \
                last[-1] = other;                                                                                      \
            }                                                                                                          \
            last--;                                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP u64 last_swap_##T(T *values, u64 end) {                                                                       \
        u64 last = 0;                                                                                                  \
        for (u64 k = 1; k < end; k++) {                                                                                \
            if (values[k - 1] > values[k]) {                                                                           \
                T other = values[k - 1];                                                                               \
                values[k - 1] = values[k];                                                                             \
                values[k] = other;                                                                                     \
                last = k;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return last;                                                                                                   \
    }                                                                                                                  \
    static void rank_##T(T *values, u64 count, u64 seed) {                                                             \
        for (u64 round = 0; round < 4; round++) {                                                                      \
            for (u64 i = 0; i < count; i++) {                                                                          \
                values[i] = (T)random(&seed);                                                                          \
            }                                                                                                          \
            if (round == 0) {                                                                                          \
                while (count_swaps_##T(values, (u32)count)) {                                                          \
                }                                                                                                      \
            } else if (round == 1) {                                                                                   \
                for (u64 n = 0; n < count; n++) {                                                                      \
                    odd_even_##T(values, (s64)(n & 1), (s64)count);                                                    \
                }                                                                                                      \
            } else if (round == 2) {                                                                                   \
                for (u64 n = 0; n < count; n++) {                                                                      \
                    falling_##T(values + n, values + count - 1);                                                       \
                }                                                                                                      \
            } else {                                                                                                   \
                for (u64 end = count; end > 1;) {                                                                      \
                    end = last_swap_##T(values, end);                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

RANKS(s8)
RANKS(s64)
RANKS(u16)
RANKS(u32)

bool run(u64 size, u64 seed) {
    static u64 memory[512];
    rank_s8((s8 *)memory, size, seed);
    rank_s64((s64 *)memory, size, seed);
    rank_u16((u16 *)memory, size, seed);
    rank_u32((u32 *)memory, size, seed);
    return true;
}
