// Fourier transforms of random signals, in single precision, and back.

#include "guest.h"

enum { BITS = 8, POINTS = 1 << BITS };
const struct guest guest = {"fft", "signals", 100, 100000000, 1};

// The roots of unity, exp(-2 pi i k / POINTS).
static double exact_real[POINTS], exact_imaginary[POINTS];
// Those of each round of the transform, one after the other: the first has one, the last has POINTS / 2.
static float root_real[POINTS], root_imaginary[POINTS];

static void prepare(void) {
    // Halving an angle takes a square root; the angles of single bits multiply to all others.
    double real = -1;
    exact_real[0] = 1;
    exact_real[POINTS / 2] = -1;
    for (u32 k = POINTS / 4; k; k /= 2) {
        double half = __builtin_sqrt((1 + real) / 2);
        exact_imaginary[k] = -__builtin_sqrt((1 - real) / 2);
        exact_real[k] = real = half;
    }
    for (u32 k = 1; k < POINTS; k++) {
        u32 a = k & (k - 1), b = k ^ a;
        if (a) {
            exact_real[k] = exact_real[a] * exact_real[b] - exact_imaginary[a] * exact_imaginary[b];
            exact_imaginary[k] = exact_real[a] * exact_imaginary[b] + exact_imaginary[a] * exact_real[b];
        }
    }
    for (u32 half = 1; half < POINTS; half *= 2) {
        for (u32 k = 0; k < half; k++) {
            root_real[half + k] = (float)exact_real[k * (POINTS / 2 / half)];
            root_imaginary[half + k] = (float)exact_imaginary[k * (POINTS / 2 / half)];
        }
    }
}

static void swap(float *a, float *b) {
    float kept = *a;
    *a = *b;
    *b = kept;
}

// In place. With real and imaginary parts exchanged it is the inverse, times POINTS.
static __attribute__((noinline)) void transform(float *restrict real, float *restrict imaginary) {
    for (u32 i = 0, reversed = 0; i < POINTS; i++) {
        if (i < reversed) {
            swap(&real[i], &real[reversed]);
            swap(&imaginary[i], &imaginary[reversed]);
        }
        u32 bit = POINTS / 2;
        for (; bit & reversed; bit /= 2) {
            reversed ^= bit;
        }
        reversed ^= bit;
    }
    for (u32 half = 1; half < POINTS; half *= 2) {
        for (u32 first = 0; first < POINTS; first += 2 * half) {
            float *restrict low_real = real + first, *restrict high_real = low_real + half;
            float *restrict low_imaginary = imaginary + first, *restrict high_imaginary = low_imaginary + half;
            for (u32 k = 0; k < half; k++) {
                float c = root_real[half + k], s = root_imaginary[half + k];
                float x = __builtin_fmaf(high_real[k], c, -(high_imaginary[k] * s));
                float y = __builtin_fmaf(high_real[k], s, high_imaginary[k] * c);
                high_real[k] = low_real[k] - x;
                high_imaginary[k] = low_imaginary[k] - y;
                low_real[k] += x;
                low_imaginary[k] += y;
            }
        }
    }
}

static bool is_near(double a, double b, double tolerance) {
    return __builtin_fabs(a - b) <= tolerance;
}

// One number of the transform, by its definition.
static bool agrees(const float *signal, u32 frequency, float real, float imaginary) {
    double sum_real = 0, sum_imaginary = 0;
    for (u32 i = 0; i < POINTS; i++) {
        u32 k = i * frequency % POINTS;
        sum_real += signal[i] * exact_real[k];
        sum_imaginary += signal[i] * exact_imaginary[k];
    }
    return is_near(sum_real, real, 1e-4) && is_near(sum_imaginary, imaginary, 1e-4);
}

bool run(u64 size, u64 seed) {
    static float signal[POINTS], real[POINTS], imaginary[POINTS];
    prepare();
    bool all_agree = true;
    u64 hash = 0;
    for (u64 round = 0; round < size; round++) {
        for (u32 i = 0; i < POINTS; i++) {
            real[i] = signal[i] = (float)(int)random(&seed) * 0x1p-31f;
            imaginary[i] = 0;
        }
        transform(real, imaginary);
        for (u32 i = 0; i < POINTS; i++) {
            u32 bits[2];
            memcpy(&bits[0], &real[i], sizeof *bits);
            memcpy(&bits[1], &imaginary[i], sizeof *bits);
            hash = fold(hash, (u64)bits[0] << 32 | bits[1]);
        }
        u32 frequency = (u32)random(&seed) % POINTS;
        all_agree &= agrees(signal, frequency, real[frequency], imaginary[frequency]);
        transform(imaginary, real);
        for (u32 i = 0; i < POINTS; i++) {
            all_agree &= is_near(real[i] / POINTS, signal[i], 1e-5) && is_near(imaginary[i] / POINTS, 0, 1e-5);
        }
    }
    put_hex("hash", hash);
    return all_agree;
}
