// Long numbers of 32-bit limbs.

#include "loops.h"

const struct guest guest = {"bignum", "limbs", 64, 256, 1};

LOOP void set_zero(u32 *a, u64 n) {
    while (n > 0) {
        a[--n] = 0;
    }
}
LOOP void assign(u32 *to, const u32 *from, u64 n) {
    for (; n; n--) {
        *to++ = *from++;
    }
}
LOOP u32 add(u32 *to, const u32 *a, const u32 *b, u64 n) {
    u64 carry = 0;
    for (u64 i = 0; i < n; i++) {
        carry += (u64)a[i] + b[i];
        to[i] = (u32)carry;
        carry >>= 32;
    }
    return (u32)carry;
}
LOOP u32 multiply_row(u32 *to, const u32 *a, u64 n, u32 by) {
    u64 carry = 0;
    for (u64 i = 0; i < n; i++) {
        carry += (u64)a[i] * by + to[i];
        to[i] = (u32)carry;
        carry >>= 32;
    }
    return (u32)carry;
}
LOOP void shift_left(u32 *a, u64 n) {
    for (u64 i = n - 1; i > 0; i--) {
        a[i] = a[i] << 1 | a[i - 1] >> 31;
    }
    a[0] <<= 1;
}
LOOP u64 significant(const u32 *a, u64 n) {
    while (n && a[n - 1] == 0) {
        n--;
    }
    return n;
}
LOOP int compare(const u32 *a, const u32 *b, s64 n) {
    for (s64 i = n - 1; i >= 0; i--) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}
LOOP u64 trailing(const u32 *a) {
    u64 n = 0;
    while (!a[n]) {
        n++;
    }
    return n;
}
LOOP u32 divide(u32 *a, u64 n, u32 by) {
    u64 rest = 0;
    while (n--) {
        rest = rest << 32 | a[n];
        a[n] = (u32)(rest / by);
        rest %= by;
    }
    return (u32)rest;
}

bool run(u64 size, u64 seed) {
    static u32 a[512], b[512], c[512];
    for (u64 n = size; n > 4; n -= n / 5 + 1) {
        set_zero(c, 2 * n);
        for (u64 i = 0; i < n; i++) {
            a[i] = (u32)random(&seed);
            b[i] = (u32)random(&seed);
        }
        for (u64 i = 0; i < n; i++) {
            c[i + n] = multiply_row(c + i, a, n, b[i]);
        }
        assign(b, a, n);
        sink = (u64)compare(a, b, (s64)n) + add(b, a, c, n) + significant(c, 2 * n);
        shift_left(b, n);
        while (significant(c, n)) {
            sink = divide(c, n, 1000000007);
            sink = trailing(a);
        }
        set_zero(a, n / 2);
        a[n / 2] = 1;
        sink = trailing(a);
    }
    return true;
}
