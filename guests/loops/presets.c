// Fills of several arrays and of parts of structures, and loops that are nearly fills: the value moves, comes from memory,
// or goes to places that depend on it.

#include "loops.h"

const struct guest guest = {"presets", "elements", 150, 200, 1};

struct slot {
    u64 owner;
    u32 next;
    u16 state;
    u8 age, kind;
};

LOOP void empty_slots(struct slot *slots, u64 count) {
    for (u64 i = 0; i < count; i++) {
        slots[i].owner = 0;
        slots[i].state = 1;
    }
}
LOOP void set_ages(struct slot *slot, const struct slot *end, u8 age) {
    for (; slot < end; slot++) {
        slot->age = age;
    }
}
LOOP void set_states(struct slot *slots, int count, u16 state, u32 next) {
    while (--count >= 0) {
        slots[count].state = state;
        slots[count].next = next;
        slots[count].kind = 3;
    }
}
LOOP void chain_slots(struct slot *slots, u32 count) {
    for (u32 i = 0; i < count; i++) {
        slots[i].next = i + 1;
        slots[i].state = 0;
    }
}
LOOP void point_to_next(u64 *nodes, u64 count) {
    for (u64 i = 0; i + 2 < count; i += 2) {
        nodes[i] = (u64)&nodes[i + 2];
        nodes[i + 1] = 0;
    }
}

#define FILLS(T)                                                                                                       \
    LOOP void two_arrays_##T(T *a, u64 *b, T value, u64 other, u64 count) {                                            \
        for (u64 i = 0; i < count; i++) {                                                                              \
            a[i] = value;                                                                                              \
            b[i] = other;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void three_arrays_##T(T *a, T *b, T *c, int count) {                                                          \
        for (int i = 0; i < count; i++) {                                                                              \
            a[i] = 0;                                                                                                  \
            b[i] = 1;                                                                                                  \
            c[i] = (T)-1;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_and_number_##T(T *a, T *b, T value, u64 count) {                                                    \
        for (u64 i = 0; i < count; i++) {                                                                              \
            a[i] = value;                                                                                              \
            b[i] = (T)i;                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_and_copy_##T(T *a, T *b, const T *from, T value, u64 count) {                                       \
        for (u64 i = 0; i < count; i++) {                                                                              \
            a[i] = value;                                                                                              \
            b[i] = from[i];                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void numbers_from_##T(T *p, const T *end, T first) {                                                          \
        while (p != end) {                                                                                             \
            *p++ = first++;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void numbers_down_##T(T *p, u32 count) {                                                                      \
        while (count != 0) {                                                                                           \
            *p++ = (T)--count;                                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void number_and_value_##T(T *p, T value, u64 count) {                                                         \
        for (u64 i = 0; i < count; i++) {                                                                              \
            p[2 * i] = (T)i;                                                                                           \
            p[2 * i + 1] = value;                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_values_##T(T *p, T even, T odd, const T *end) {                                                      \
        for (; p < end; p += 2) {                                                                                      \
            p[0] = even;                                                                                               \
            p[1] = odd;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void successors_##T(T *next, T count) {                                                                       \
        for (T i = 0; i < count; i++) {                                                                                \
            next[i] = i + 1;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void predecessors_##T(T *next, u64 count) {                                                                   \
        for (u64 i = 1; i <= count; i++) {                                                                             \
            next[i] = (T)(i - 1);                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void multiples_##T(T *p, u64 count, T by) {                                                                   \
        for (u64 i = 0; i < count; i++) {                                                                              \
            p[i] = (T)(i * by);                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void doubling_##T(T *p, u64 count) {                                                                          \
        T value = 1;                                                                                                   \
        for (u64 i = 0; i < count; i++) {                                                                              \
            p[i] = value;                                                                                              \
            value *= 2;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void alternating_##T(T *p, u64 count, T value) {                                                              \
        while (count--) {                                                                                              \
            *p++ = value;                                                                                              \
            value = (T)~value;                                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void from_index_##T(T *p, u32 first, u32 last, T value) {                                                     \
        for (u32 i = first; i < last; i++) {                                                                           \
            p[i + 9] = value;                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void by_stride_##T(T *p, u64 stride, u64 count, T value) {                                                    \
        for (u64 i = 0; i < count; i++, p += stride) {                                                                 \
            *p = value;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void by_stride_down_##T(T *p, u32 stride, u32 at, T value) {                                                  \
        do {                                                                                                           \
            at -= stride;                                                                                              \
            p[at] = value;                                                                                             \
        } while (at != 0);                                                                                             \
    }                                                                                                                  \
    LOOP void towards_zero_##T(T *end, s64 count, T value) {                                                           \
        for (s64 i = -count; i < 0; i++) {                                                                             \
            end[i] = value;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void rest_##T(T *p, u64 bytes, T value) {                                                                     \
        while (bytes >= 4 * sizeof(T)) {                                                                               \
            p[0] = value;                                                                                              \
            p[1] = value;                                                                                              \
            p[2] = value;                                                                                              \
            p[3] = value;                                                                                              \
            p += 4;                                                                                                    \
            bytes -= 4 * sizeof(T);                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_tests_##T(T *p, u64 count, T value) {                                                                \
        while (count != 0) {                                                                                           \
            *p++ = value;                                                                                              \
            if (--count == 0) {                                                                                        \
                break;                                                                                                 \
            }                                                                                                          \
            *p++ = value;                                                                                              \
            --count;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void to_places_##T(T *p, const u8 *places, const u8 *end, T value) {                                          \
        while (places < end) {                                                                                         \
            p[*places++] = value;                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void numbers_to_places_##T(T *p, const u8 *places, int count) {                                               \
        for (int i = 0; i < count; i++) {                                                                              \
            p[places[i]] = (T)i;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void add_to_all_##T(T *p, u64 count, T value) {                                                               \
        for (u64 i = 0; i < count; i++) {                                                                              \
            p[i] += value;                                                                                             \
        }                                                                                                              \
    }
FILLS(u8)
FILLS(u16)
FILLS(s32)
FILLS(u64)

static u64 a[2048], b[2048];
static u8 places[256];

#define RUN(T)                                                                                                         \
    two_arrays_##T((T *)a, b, 3, seed, size);                                                                          \
    three_arrays_##T((T *)a, (T *)a + size, (T *)b, (int)size);                                                        \
    fill_and_number_##T((T *)a, (T *)b, 7, size);                                                                      \
    fill_and_copy_##T((T *)a, (T *)a + size, (T *)b, 9, size);                                                         \
    numbers_from_##T((T *)a, (T *)a + size, 5);                                                                        \
    numbers_down_##T((T *)a, (u32)size);                                                                               \
    number_and_value_##T((T *)a, 1, size);                                                                             \
    two_values_##T((T *)a, 1, 2, (T *)a + size);                                                                       \
    successors_##T((T *)a, (T)(size & 127));                                                                           \
    predecessors_##T((T *)a, size);                                                                                    \
    multiples_##T((T *)a, size, (T)seed);                                                                              \
    doubling_##T((T *)a, size);                                                                                        \
    alternating_##T((T *)a, size, (T)seed);                                                                            \
    from_index_##T((T *)a, 2, (u32)size, (T)seed);                                                                     \
    by_stride_##T((T *)a, 5, size, 4);                                                                                 \
    by_stride_down_##T((T *)a, 3, 3 * (u32)size, 4);                                                                   \
    towards_zero_##T((T *)a + size, (s64)size, 8);                                                                     \
    rest_##T((T *)a, 8 * size, 6);                                                                                     \
    two_tests_##T((T *)a, size, 2);                                                                                    \
    to_places_##T((T *)a, places, places + size, 1);                                                                   \
    numbers_to_places_##T((T *)a, places, (int)size);                                                                  \
    add_to_all_##T((T *)a, size, 3);

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < 256; i++) {
        places[i] = (u8)random(&seed);
    }
    for (u64 round = 0; round < 4; round++) {
        empty_slots((struct slot *)a, size);
        set_ages((struct slot *)a, (struct slot *)a + size, (u8)seed);
        set_states((struct slot *)a, (int)size, 2, (u32)seed);
        chain_slots((struct slot *)a, (u32)size);
        point_to_next(a, size);
        RUN(u8)
        RUN(u16)
        RUN(s32)
        RUN(u64)
        size -= size / 3;
    }
    return true;
}
