// Copies of blocks: structures, rows with a distance, unrolled copies, rings, and copies to and from a device.

#include "loops.h"

const struct guest guest = {"blocks", "elements", 300, 500, 1};

struct point {
    s64 x, y;
};
struct record {
    u64 key;
    u32 count, flags;
    u64 data[2];
};
struct pixel {
    u8 r, g, b;
};

LOOP void copy_points(struct point *to, const struct point *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[i];
    }
}
LOOP void copy_points_back(struct point *to, const struct point *from, u64 count) {
    while (count > 0) {
        count--;
        to[count] = from[count];
    }
}
LOOP void copy_records(struct record *to, const struct record *from, int count) {
    while (count-- > 0) {
        *to++ = *from++;
    }
}
LOOP void copy_fields(struct record *to, const struct record *from, u32 count) {
    for (u32 i = 0; i < count; i++) {
        to[i].key = from[i].key;
        to[i].count = from[i].count;
    }
}
LOOP void copy_pixels(struct pixel *to, const struct pixel *from, const struct pixel *end) {
    for (; from < end; from++, to++) {
        to->r = from->r;
        to->g = from->g;
        to->b = from->b;
    }
}
LOOP void copy_keys(u64 *to, const struct record *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[i].key;
    }
}
#define COPIES(T)                                                                                                      \
    LOOP void four_##T(T *to, const T *from, u64 count) {                                                              \
        for (u64 i = 0; i < count / 4; i++) {                                                                          \
            T a = from[0], b = from[1], c = from[2], d = from[3];                                                      \
            to[0] = a;                                                                                                 \
            to[1] = b;                                                                                                 \
            to[2] = c;                                                                                                 \
            to[3] = d;                                                                                                 \
            to += 4;                                                                                                   \
            from += 4;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void two_in_order_##T(T *to, const T *from, int count) {                                                      \
        while ((count -= 2) >= 0) {                                                                                    \
            *to++ = *from++;                                                                                           \
            *to++ = *from++;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void with_offset_##T(T *base, u64 from, u64 to, u64 count) {                                                  \
        while (count != 0) {                                                                                           \
            base[to++] = base[from++];                                                                                 \
            count -= 1;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void strided_##T(T *to, const T *from, u64 count, u64 stride) {                                               \
        for (u64 i = 0; i < count; i++) {                                                                              \
            *to = *from;                                                                                               \
            to += stride;                                                                                              \
            from += stride;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void every_third_##T(T *to, const T *from, u64 count) {                                                       \
        for (u64 i = 0; i < count; i += 3) {                                                                           \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void column_##T(T *to, const T *from, int rows, int width) {                                                  \
        for (int y = 0; y < rows; y++) {                                                                               \
            to[y * width] = from[y * width];                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void to_ring_##T(T *ring, const T *from, u32 count, u32 head, u32 mask) {                                     \
        for (u32 i = 0; i < count; i++) {                                                                              \
            ring[head++ & mask] = from[i];                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void to_device_##T(volatile T *port, const T *from, u64 count) {                                              \
        while (count--) {                                                                                              \
            *port = *from++;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void from_device_##T(T *to, const volatile T *port, const T *end) {                                           \
        while (to < end) {                                                                                             \
            *to++ = *port;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    LOOP void one_by_one_##T(volatile T *to, const volatile T *from, u64 count) {                                      \
        for (u64 i = 0; i != count; i++) {                                                                             \
            to[i] = from[i];                                                                                           \
        }                                                                                                              \
    }
COPIES(u8)
COPIES(s16)
COPIES(u32)
COPIES(u64)

static u64 a[4096], b[4096];

#define RUN(T)                                                                                                         \
    four_##T((T *)a, (T *)b, size);                                                                                    \
    two_in_order_##T((T *)b, (T *)a, (int)size);                                                                       \
    with_offset_##T((T *)a, size, 0, size);                                                                            \
    strided_##T((T *)a, (T *)b, size, 5);                                                                              \
    every_third_##T((T *)b, (T *)a, size);                                                                             \
    column_##T((T *)a, (T *)b, (int)size / 8, 16);                                                                     \
    to_ring_##T((T *)a, (T *)b, (u32)size, 30, 63);                                                                    \
    to_device_##T((T *)a, (T *)b, size);                                                                               \
    from_device_##T((T *)b, (T *)a, (T *)b + size);                                                                    \
    one_by_one_##T((T *)a, (T *)b, size);

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < 4096; i++) {
        b[i] = random(&seed);
    }
    for (u64 round = 0; round < 5; round++) {
        copy_points((struct point *)a, (struct point *)b, size);
        copy_points_back((struct point *)b, (struct point *)a, size);
        copy_records((struct record *)a, (struct record *)b, (int)size);
        copy_fields((struct record *)b, (struct record *)a, (u32)size);
        copy_pixels((struct pixel *)a, (struct pixel *)b, (struct pixel *)b + size);
        copy_keys(a, (struct record *)b, size);
        RUN(u8)
        RUN(s16)
        RUN(u32)
        RUN(u64)
        size -= size / 3;
    }
    return true;
}
