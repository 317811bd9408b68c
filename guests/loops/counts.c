// Loops that only count, or compute with registers: up and down, by steps, to limits of all kinds, signed and unsigned.

#include "loops.h"

const struct guest guest = {"counts", "rounds", 300, 3000, 1};

#define NOTHING(x) __asm__ volatile("" : "+r"(x))

LOOP void delay(u32 count) {
    while (count--) {
        __asm__ volatile("nop");
    }
}
LOOP void delay_up(u64 count) {
    for (volatile u64 i = 0; i < count; i++) {
    }
}
LOOP u64 power(u64 base, u32 exponent) {
    u64 result = 1;
    for (u32 i = 0; i < exponent; i++) {
        result *= base;
    }
    return result;
}
LOOP u64 fibonacci(int n) {
    u64 a = 0, b = 1;
    while (n-- > 0) {
        u64 c = a + b;
        a = b;
        b = c;
    }
    return a;
}
LOOP u32 shift_register(u32 state, u64 count) {
    for (; count > 0; count--) {
        state = state >> 1 ^ (-(state & 1) & 0xb4bcd35cu);
    }
    return state;
}
LOOP u64 congruential(u64 state, int count) {
    do {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
    } while (--count != 0);
    return state;
}
LOOP u32 crc_of_byte(u32 crc) {
    for (int bit = 0; bit < 8; bit++) {
        crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return crc;
}
LOOP u64 bit_count(u64 x) {
    u64 n = 0;
    for (int i = 63; i >= 0; i--) {
        n += x >> i & 1;
    }
    return n;
}
LOOP u64 greatest_divisor(u64 a, u64 b) {
    while (b) {
        u64 t = a % b;
        a = b;
        b = t;
    }
    return a;
}
LOOP u64 halves(u64 x) {
    u64 n = 0;
    while (x >>= 1) {
        n++;
    }
    return n;
}
LOOP u64 root(u64 x) {
    u64 r = 0;
    while ((r + 1) * (r + 1) <= x) {
        r++;
    }
    return r;
}
LOOP u64 triangle(u64 n) {
    u64 sum = 0;
    for (u64 i = 1; i <= n; i++) {
        sum += i * i ^ sum;
    }
    return sum;
}
LOOP u64 two_counters(u64 n) {
    u64 j = 0, sum = 1;
    for (u64 i = n; i > j; i--, j++) {
        sum ^= sum << 3 ^ i * j;
    }
    return sum;
}
#define COUNTS(T)                                                                                                      \
    LOOP T up_##T(T limit, T x) {                                                                                      \
        for (T i = 0; i < limit; i++) {                                                                                \
            x = x * 5 + i;                                                                                             \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T up_to_##T(T from, T limit, T x) {                                                                           \
        for (T i = from; i <= limit; ++i) {                                                                            \
            x ^= x << 1;                                                                                               \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T up_not_equal_##T(T from, T limit, T x) {                                                                    \
        while (from != limit) {                                                                                        \
            x += from ^ x;                                                                                             \
            NOTHING(x);                                                                                                \
            from++;                                                                                                    \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T up_by_three_##T(T limit, T x) {                                                                             \
        T i = 0;                                                                                                       \
        do {                                                                                                           \
            x = (x | i) - (x >> 2);                                                                                    \
            NOTHING(x);                                                                                                \
            i += 3;                                                                                                    \
        } while (i < limit);                                                                                           \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T up_by_##T(T limit, T by, T x) {                                                                             \
        for (T i = 0; i < limit; i += by) {                                                                            \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T down_##T(T count, T x) {                                                                                    \
        while (count > 0) {                                                                                            \
            count--;                                                                                                   \
            x = count - x;                                                                                             \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T down_to_##T(T from, T limit, T x) {                                                                         \
        for (T i = from; i > limit; i--) {                                                                             \
            x = x * x + 1;                                                                                             \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T down_by_four_##T(T count, T x) {                                                                            \
        for (; count >= 4; count -= 4) {                                                                               \
            x ^= count;                                                                                                \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T down_not_zero_##T(T count, T x) {                                                                           \
        do {                                                                                                           \
            x = (x << 3) + (x ^ 9);                                                                                    \
            NOTHING(x);                                                                                                \
        } while (--count);                                                                                             \
        return x;                                                                                                      \
    }                                                                                                                  \
    LOOP T down_with_exit_##T(T count, T x, T stop) {                                                                  \
        while (count-- && x != stop) {                                                                                 \
            x = x * 3 + 1;                                                                                             \
            NOTHING(x);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }
COUNTS(u32)
COUNTS(s32)
COUNTS(u64)
COUNTS(s64)
LOOP u32 down_below_zero(s32 count, u32 x) {
    for (s32 i = count - 1; i >= 0; i--) {
        x = x << 1 ^ (u32)i;
        NOTHING(x);
    }
    return x;
}
LOOP u64 up_narrow(u16 limit, u64 x) {
    for (u16 i = 0; i < limit; i++) {
        x += x << 7;
        NOTHING(x);
    }
    return x;
}
LOOP u64 up_byte(u8 limit, u64 x) {
    u8 i = 0;
    while (i != limit) {
        i++;
        x ^= x >> 9;
        NOTHING(x);
    }
    return x;
}
LOOP u64 up_signed_narrow(s16 from, s16 limit, u64 x) {
    for (s16 i = from; i < limit; i += 2) {
        x -= (u64)i;
        NOTHING(x);
    }
    return x;
}

#define RUN(T)                                                                                                         \
    sink = (u64)(up_##T((T)n, x) + up_to_##T(3, (T)n, x) + up_not_equal_##T(1, (T)n, x) + up_by_three_##T((T)n, x));   \
    sink = (u64)(up_by_##T((T)n, 7, x) + down_##T((T)n, x) + down_to_##T((T)n, 5, x) + down_by_four_##T((T)n, x));     \
    sink = (u64)(down_not_zero_##T((T)n, x) + down_with_exit_##T((T)n, x, 4));

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 8; round++) {
        u64 n = round < 4 ? size >> round : 6 + random(&seed) % 60;
        u32 x = (u32)random(&seed) >> 1;
        delay((u32)n);
        delay_up(n);
        sink = power(x, (u32)n) + fibonacci((int)n) + shift_register(x, n) + congruential(x, (int)n) + crc_of_byte(x);
        sink = bit_count(x) + greatest_divisor(x, n) + halves(x) + root(n * n) + triangle(n) + two_counters(n);
        RUN(u32)
        RUN(s32)
        RUN(u64)
        RUN(s64)
        sink = down_below_zero((s32)n, x) + up_narrow((u16)n, x) + up_byte((u8)n, x) + up_signed_narrow(-40, (s16)n, x);
    }
    return true;
}
