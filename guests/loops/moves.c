// Moves within one buffer: gaps that are opened and closed, overlapping copies from both ends, shifts by some places.

#include "loops.h"

const struct guest guest = {"moves", "elements", 400, 1000, 1};

// memmove of C libraries.
LOOP void move_up(u8 *to, const u8 *from, u64 count) {
    to += count;
    from += count;
    while (count--) {
        *--to = *--from;
    }
}
LOOP void move_down(u8 *to, const u8 *from, u64 count) {
    while (count--) {
        *to++ = *from++;
    }
}
LOOP void move_words(u64 *to, const u64 *from, u64 bytes) {
    for (; bytes >= 8; bytes -= 8) {
        *to++ = *from++;
    }
}
LOOP void move_words_up(u64 *to, const u64 *from, u64 bytes) {
    while (bytes >= 8) {
        bytes -= 8;
        to[bytes / 8] = from[bytes / 8];
    }
}
#define MOVES(T)                                                                                                       \
    LOOP void close_gap_##T(T *a, u64 at, u64 count) {                                                                 \
        for (u64 i = at; i + 1 < count; i++) {                                                                         \
            a[i] = a[i + 1];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void open_gap_##T(T *a, u64 at, u64 count) {                                                                  \
        for (u64 i = count; i > at; i--) {                                                                             \
            a[i] = a[i - 1];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void close_by_pointer_##T(T *p, const T *last) {                                                              \
        while (p < last) {                                                                                             \
            p[0] = p[1];                                                                                               \
            p++;                                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void open_by_pointer_##T(T *first, T *p) {                                                                    \
        for (; p != first; --p) {                                                                                      \
            *p = *(p - 1);                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void shift_left_##T(T *a, int count, int by) {                                                                \
        for (int i = 0; i < count - by; i++) {                                                                         \
            a[i] = a[i + by];                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void shift_right_##T(T *a, int count, int by) {                                                               \
        for (int i = count - 1; i >= by; i--) {                                                                        \
            a[i] = a[i - by];                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void shift_three_##T(T *a, u32 count) {                                                                       \
        T *to = a, *from = a + 3, *end = a + count;                                                                    \
        do {                                                                                                           \
            *to++ = *from++;                                                                                           \
        } while (from < end);                                                                                          \
    }                                                                                                                  \
    LOOP void upper_half_##T(T *a, u64 half) {                                                                         \
        for (u64 i = 0; i < half; ++i) {                                                                               \
            a[half + i] = a[i];                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void delay_line_##T(T *a, u64 count, T next) {                                                                \
        for (u64 i = 0; i < count; i++) {                                                                              \
            T old = a[i];                                                                                              \
            a[i] = next;                                                                                               \
            next = old;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void turn_##T(T *a, u64 count) {                                                                              \
        for (u64 i = 0, j = count - 1; i < j; i++, j--) {                                                              \
            T t = a[i];                                                                                                \
            a[i] = a[j];                                                                                               \
            a[j] = t;                                                                                                  \
        }                                                                                                              \
    }
MOVES(u8)
MOVES(u16)
MOVES(s32)
MOVES(u64)

static u64 a[1024];

#define RUN(T)                                                                                                         \
    close_gap_##T((T *)a, size / 3, size);                                                                             \
    open_gap_##T((T *)a, size / 3, size);                                                                              \
    close_by_pointer_##T((T *)a + 5, (T *)a + size);                                                                   \
    open_by_pointer_##T((T *)a + 2, (T *)a + size);                                                                    \
    shift_left_##T((T *)a, (int)size, 7);                                                                              \
    shift_right_##T((T *)a, (int)size, 4);                                                                             \
    shift_three_##T((T *)a, (u32)size);                                                                                \
    upper_half_##T((T *)a, size / 2);                                                                                  \
    delay_line_##T((T *)a, size, 1);                                                                                   \
    turn_##T((T *)a, size);

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 5; round++) {
        for (u64 i = 0; i < 1024; i++) {
            a[i] = random(&seed);
        }
        move_up((u8 *)a + 11, (u8 *)a, size);
        move_down((u8 *)a, (u8 *)a + 9, size);
        move_words(a, a + 2, size);
        move_words_up(a + 3, a, size);
        RUN(u8)
        RUN(u16)
        RUN(s32)
        RUN(u64)
        size -= size / 3;
    }
    return true;
}
