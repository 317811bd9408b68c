// Rows of a picture of the Mandelbrot set at random heights, in double and in single precision.

#include "guest.h"

enum { POINTS = 32, LIMIT = 64 };
const struct guest guest = {"mandelbrot", "rows", 100, 1000000000, 1};

// One point, and as many as a register of 128 bits holds: how many steps each of them stays near.
#define STEPS_OF(real, integer, lanes)                                                                                 \
    static u32 steps_##real(real a, real b) {                                                                          \
        real x = 0, y = 0;                                                                                             \
        u32 steps = 0;                                                                                                 \
        while (steps < LIMIT && x * x + y * y <= 4) {                                                                  \
            real next = x * x - y * y + a;                                                                             \
            y = (x + x) * y + b;                                                                                       \
            x = next;                                                                                                  \
            steps++;                                                                                                   \
        }                                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    typedef real real##s __attribute__((vector_size(16)));                                                             \
    typedef integer integer##s __attribute__((vector_size(16)));                                                       \
    static real##s choose_##real##s(integer##s chosen, real##s x, real##s y) {                                           \
        return (real##s)((chosen & (integer##s)x) | (~chosen & (integer##s)y));                                        \
    }                                                                                                                  \
    static integer##s steps_##real##s(real##s a, real##s b) {                                                          \
        real##s x = {0}, y = {0};                                                                                      \
        integer##s steps = {0}, is_near = ~steps;                                                                      \
        for (u32 i = 0; i < LIMIT; i++) {                                                                              \
            is_near &= x * x + y * y <= 4;                                                                             \
            steps -= is_near;                                                                                          \
            real##s next = x * x - y * y + a;                                                                          \
            y = choose_##real##s(is_near, (x + x) * y + b, y);                                                           \
            x = choose_##real##s(is_near, next, x);                                                                      \
        }                                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    static bool row_##real(double height, u64 *hash) {                                                                 \
        bool agrees = true;                                                                                            \
        for (u32 i = 0; i < POINTS; i += lanes) {                                                                      \
            real##s a, b;                                                                                              \
            for (u32 lane = 0; lane < lanes; lane++) {                                                                 \
                a[lane] = (real)(i + lane) * (real)(2.5 / POINTS) - 2;                                                 \
                b[lane] = (real)height;                                                                                \
            }                                                                                                          \
            integer##s together = steps_##real##s(a, b);                                                               \
            for (u32 lane = 0; lane < lanes; lane++) {                                                                 \
                u32 alone = steps_##real(a[lane], b[lane]);                                                            \
                agrees &= alone == (u32)together[lane];                                                                \
                *hash = fold(*hash, alone);                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        return agrees;                                                                                                 \
    }
STEPS_OF(double, long, 2)
STEPS_OF(float, int, 4)

bool run(u64 size, u64 seed) {
    bool agrees = true;
    u64 in_double = 0;
    u64 in_single = 0;
    for (u64 i = 0; i < size; i++) {
        double height = (double)(long)random(&seed) * 0x1.4p-63; // from -1.25 to 1.25
        agrees &= row_double(height, &in_double);
        agrees &= row_float(height, &in_single);
    }
    put_hex("double", in_double);
    put_hex("single", in_single);
    return agrees;
}
