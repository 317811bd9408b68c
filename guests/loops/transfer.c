// Copies in the forms of libraries: by the rest of a length, towards zero, of several arrays at once, of parts of
// structures, unrolled with a test after each element, and from within the same buffer.

#include "loops.h"

const struct guest guest = {"transfer", "elements", 150, 200, 1};

struct item {
    u64 key;
    u32 size;
    u16 kind, flags;
    u8 name[8];
};
struct pair {
    u32 first, second;
};

LOOP void copy_item_sizes(struct item *to, const struct item *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i].size = from[i].size;
    }
}
LOOP void copy_item_parts(struct item *to, const struct item *from, const struct item *end) {
    for (; from != end; from++, to++) {
        to->kind = from->kind;
        to->flags = from->flags;
        to->key = from->key;
    }
}
LOOP void copy_items_down(struct item *to, const struct item *from, int count) {
    while (--count >= 0) {
        to[count].key = from[count].key;
        to[count].size = from[count].size;
    }
}
LOOP void copy_pairs(struct pair *to, const struct pair *from, u64 count) {
    while (count--) {
        *to++ = *from++;
    }
}
LOOP void swap_pairs(struct pair *to, const struct pair *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i].first = from[i].second;
        to[i].second = from[i].first;
    }
}
// By bytes that are left, as large elements as possible.
#define RESTS(T)                                                                                                       \
    LOOP void rest_down_##T(u8 *to, const u8 *from, u64 bytes) {                                                       \
        while (bytes >= sizeof(T)) {                                                                                   \
            *(T *)to = *(const T *)from;                                                                               \
            to += sizeof(T);                                                                                           \
            from += sizeof(T);                                                                                         \
            bytes -= sizeof(T);                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rest_up_##T(u8 *to, const u8 *from, u64 bytes) {                                                         \
        for (u64 done = 0; bytes - done >= sizeof(T); done += sizeof(T)) {                                             \
            *(T *)(to + done) = *(const T *)(from + done);                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rest_back_##T(u8 *to, const u8 *from, u64 bytes) {                                                       \
        while (bytes > sizeof(T) - 1) {                                                                                \
            bytes -= sizeof(T);                                                                                        \
            *(T *)(to + bytes) = *(const T *)(from + bytes);                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rest_to_end_##T(u8 *to, const u8 *end, const u8 *from) {                                                 \
        while ((u64)(end - to) >= 2 * sizeof(T)) {                                                                     \
            T low = ((const T *)from)[0], high = ((const T *)from)[1];                                                 \
            ((T *)to)[0] = low;                                                                                        \
            ((T *)to)[1] = high;                                                                                       \
            to += 2 * sizeof(T);                                                                                       \
            from += 2 * sizeof(T);                                                                                     \
        }                                                                                                              \
    }
RESTS(u16)
RESTS(u32)
RESTS(u64)

#define COPIES(T)                                                                                                      \
    LOOP void towards_zero_##T(T *to, const T *from, s64 count) {                                                      \
        to += count;                                                                                                   \
        from += count;                                                                                                 \
        for (s64 i = -count; i != 0; i++) {                                                                            \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void last_first_##T(T *to, const T *from, u64 count) {                                                        \
        for (u64 i = count; i > 0; i--) {                                                                              \
            to[i - 1] = from[i - 1];                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void last_included_##T(T *to, const T *from, u32 last) {                                                      \
        for (u32 i = last; i != 0; i--) {                                                                              \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void by_signed_index_##T(T *to, const T *from, int first, int last) {                                         \
        for (int i = first; i <= last; i++) {                                                                          \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void by_narrow_index_##T(T *to, const T *from, u16 count) {                                                   \
        for (u16 i = 0; i < count; i++) {                                                                              \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_arrays_##T(T *to, const T *from, u64 *others, const u64 *values, u64 count) {                        \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = from[i];                                                                                           \
            others[i] = values[i];                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_tests_##T(T *to, const T *from, u64 count) {                                                         \
        for (;;) {                                                                                                     \
            if (count == 0) {                                                                                          \
                break;                                                                                                 \
            }                                                                                                          \
            *to++ = *from++;                                                                                           \
            if (--count == 0) {                                                                                        \
                break;                                                                                                 \
            }                                                                                                          \
            *to++ = *from++;                                                                                           \
            --count;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_back_##T(T *to, const T *from, u64 count) {                                                          \
        while (1) {                                                                                                    \
            count -= 1;                                                                                                \
            to[count] = from[count];                                                                                   \
            if (count == 0) {                                                                                          \
                break;                                                                                                 \
            }                                                                                                          \
            count -= 1;                                                                                                \
            to[count] = from[count];                                                                                   \
            if (count == 0) {                                                                                          \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void three_##T(T *to, const T *from, const T *end) {                                                          \
        for (; from < end; to += 3, from += 3) {                                                                       \
            T a = from[0], b = from[1], c = from[2];                                                                   \
            to[0] = a;                                                                                                 \
            to[1] = b;                                                                                                 \
            to[2] = c;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void three_in_order_##T(T *to, const T *from, u32 count) {                                                    \
        while (count > 2) {                                                                                            \
            *to++ = *from++;                                                                                           \
            *to++ = *from++;                                                                                           \
            *to++ = *from++;                                                                                           \
            count -= 3;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void row_above_##T(T *p, const T *end) {                                                                      \
        for (; p != end; p++) {                                                                                        \
            *p = p[24];                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void row_below_##T(T *p, int count) {                                                                         \
        for (int i = 0; i < count; i++) {                                                                              \
            p[i + 40] = p[i];                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void at_distance_##T(T *p, u64 distance, u64 count) {                                                         \
        do {                                                                                                           \
            *p = *(p - distance);                                                                                      \
            p++;                                                                                                       \
        } while (--count != 0);                                                                                        \
    }                                                                                                                  \
    LOOP void repeated_##T(T *to, u64 from, u64 end) {                                                                 \
        for (u64 at = 0; at < end; at++) {                                                                             \
            to[from + at] = to[at];                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void strides_##T(T *to, const T *from, u64 count) {                                                           \
        for (; count != 0; count--) {                                                                                  \
            *to = *from;                                                                                               \
            to += 4;                                                                                                   \
            from += 4;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void columns_##T(T *to, const T *from, u64 rows) {                                                            \
        for (u64 y = 0; y < rows; y++) {                                                                               \
            to[y * 6 + 1] = from[y * 6 + 2];                                                                           \
        }                                                                                                              \
    }
COPIES(u8)
COPIES(u16)
COPIES(s32)
COPIES(u64)

static u64 a[2048], b[2048], c[256];

#define REST(T)                                                                                                        \
    rest_down_##T((u8 *)a, (u8 *)b, 3 * size);                                                                         \
    rest_up_##T((u8 *)a, (u8 *)b, 3 * size);                                                                           \
    rest_back_##T((u8 *)a, (u8 *)b, 3 * size);                                                                         \
    rest_to_end_##T((u8 *)a, (u8 *)(a + size), (u8 *)b);
#define RUN(T)                                                                                                         \
    towards_zero_##T((T *)a, (T *)b, (s64)size);                                                                       \
    last_first_##T((T *)a, (T *)b, size);                                                                              \
    last_included_##T((T *)a, (T *)b, (u32)size);                                                                      \
    by_signed_index_##T((T *)a, (T *)b, 3, (int)size);                                                                 \
    by_narrow_index_##T((T *)a, (T *)b, (u16)size);                                                                    \
    two_arrays_##T((T *)a, (T *)b, c, b, size);                                                                        \
    two_tests_##T((T *)a, (T *)b, size);                                                                               \
    two_back_##T((T *)a, (T *)b, size);                                                                                \
    three_##T((T *)a, (T *)b, (T *)b + size);                                                                          \
    three_in_order_##T((T *)a, (T *)b, (u32)size);                                                                     \
    row_above_##T((T *)a, (T *)a + size);                                                                              \
    row_below_##T((T *)a, (int)size);                                                                                  \
    at_distance_##T((T *)a + 50, 11, size);                                                                            \
    repeated_##T((T *)a, 60, size);                                                                                    \
    strides_##T((T *)a, (T *)b, size);                                                                                 \
    columns_##T((T *)a, (T *)b, size);

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < 2048; i++) {
        b[i] = random(&seed);
    }
    for (u64 round = 0; round < 4; round++) {
        copy_item_sizes((struct item *)a, (struct item *)b, size);
        copy_item_parts((struct item *)a, (struct item *)b, (struct item *)b + size);
        copy_items_down((struct item *)a, (struct item *)b, (int)size);
        copy_pairs((struct pair *)a, (struct pair *)b, size);
        swap_pairs((struct pair *)a, (struct pair *)b, size);
        REST(u16)
        REST(u32)
        REST(u64)
        RUN(u8)
        RUN(u16)
        RUN(s32)
        RUN(u64)
        size -= size / 3;
    }
    return true;
}
