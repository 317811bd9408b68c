// Fills: memory that is cleared, poisoned or set up, by elements, by words, by structures and by rows.

#include "loops.h"

const struct guest guest = {"clear", "elements", 300, 800, 1};

struct node {
    u64 next, previous;
    u32 state;
};

LOOP void set_bytes(void *to, int byte, u64 count) {
    u8 *p = to;
    while (count--) {
        *p++ = (u8)byte;
    }
}
LOOP void set_aligned(void *to, int byte, u64 count) {
    u64 *p = to, pattern = 0x0101010101010101ul * (u8)byte;
    for (; count >= 8; count -= 8) {
        *p++ = pattern;
    }
}
LOOP void set_thirty_two(u64 *p, u64 value, u64 bytes) {
    while (bytes >= 32) {
        p[0] = value;
        p[1] = value;
        p[2] = value;
        p[3] = value;
        p += 4;
        bytes -= 32;
    }
}
LOOP void explicit_zero(volatile u8 *p, u64 count) {
    while (count) {
        *p++ = 0;
        count--;
    }
}
LOOP void reset_nodes(struct node *nodes, u64 count) {
    for (u64 i = 0; i < count; i++) {
        nodes[i].next = 0;
        nodes[i].previous = 0;
        nodes[i].state = 7;
    }
}
LOOP void mark_nodes(struct node *node, const struct node *end, u32 state) {
    for (; node != end; node++) {
        node->state = state;
    }
}
LOOP void two_values(u32 *p, u32 even, u32 odd, int pairs) {
    while (pairs > 0) {
        p[0] = even;
        p[1] = odd;
        p += 2;
        pairs--;
    }
}
#define FILLS(T)                                                                                                       \
    LOOP void fill_##T(T *to, T value, u64 count) {                                                                    \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_to_end_##T(T *p, T *end, T value) {                                                                 \
        while (p < end) {                                                                                              \
            *p++ = value;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_back_##T(T *to, T value, int count) {                                                               \
        for (int i = count - 1; i >= 0; i--) {                                                                         \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_down_##T(T *p, u32 count) {                                                                         \
        do {                                                                                                           \
            *--p = (T)~0;                                                                                              \
        } while (--count != 0);                                                                                        \
    }                                                                                                                  \
    LOOP void fill_column_##T(T *to, T value, u64 rows, u64 width) {                                                   \
        for (u64 y = 0; y < rows; y++, to += width) {                                                                  \
            *to = value;                                                                                               \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_diagonal_##T(T *to, int count) {                                                                    \
        for (int i = 0; i < count; i++) {                                                                              \
            to[i * 17] = 1;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void fill_other_##T(T *to, T value, unsigned count) {                                                         \
        for (unsigned i = 1; i < count; i += 2) {                                                                      \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void number_##T(T *to, u64 count) {                                                                           \
        for (u64 i = 0; i < count; i++) {                                                                              \
            to[i] = (T)i;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void ramp_##T(T *to, const T *end, T value, T step) {                                                         \
        for (; to != end; value += step) {                                                                             \
            *to++ = value;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void to_port_##T(volatile T *port, T value, u64 count) {                                                      \
        while (count--) {                                                                                              \
            *port = value;                                                                                             \
        }                                                                                                              \
    }
FILLS(u8)
FILLS(u16)
FILLS(s32)
FILLS(u64)

static u64 a[8192];

#define RUN(T)                                                                                                         \
    fill_##T((T *)a, (T)seed, size);                                                                                   \
    fill_to_end_##T((T *)a, (T *)a + size, 3);                                                                         \
    fill_back_##T((T *)a, (T)seed, (int)size);                                                                         \
    fill_down_##T((T *)a + size, (u32)size);                                                                           \
    fill_column_##T((T *)a, 9, size / 10, 10);                                                                         \
    fill_diagonal_##T((T *)a, (int)size / 17);                                                                         \
    fill_other_##T((T *)a, (T)seed, (unsigned)size);                                                                   \
    number_##T((T *)a, size);                                                                                          \
    ramp_##T((T *)a, (T *)a + size, 5, (T)seed);                                                                       \
    to_port_##T((T *)a, 0, size);

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 5; round++) {
        set_bytes(a, (int)seed, size);
        set_aligned(a, (int)seed, size);
        set_thirty_two(a, seed, size);
        explicit_zero((u8 *)a, size);
        reset_nodes((struct node *)a, size);
        mark_nodes((struct node *)a, (struct node *)a + size, (u32)seed);
        two_values((u32 *)a, 1, (u32)seed, (int)size);
        RUN(u8)
        RUN(u16)
        RUN(s32)
        RUN(u64)
        size -= size / 3;
        seed = random(&seed);
    }
    return true;
}
