// Numbers bit by bit: counts, roots, divisors, powers.

#include "loops.h"

const struct guest guest = {"bits", "numbers", 300, 1 << 20, 1};

LOOP u64 ones(u64 x) {
    u64 n = 0;
    while (x) {
        x &= x - 1;
        n++;
    }
    return n;
}
LOOP u64 width(u64 x) {
    u64 n = 0;
    for (; x; x >>= 1) {
        n++;
    }
    return n;
}
LOOP u64 divisor(u64 a, u64 b) {
    while (b) {
        u64 t = a % b;
        a = b;
        b = t;
    }
    return a;
}
LOOP u64 power(u64 base, u32 exponent) {
    u64 value = 1;
    for (u32 i = 0; i < exponent; i++) {
        value *= base;
    }
    return value;
}
LOOP u64 collatz(u64 x) {
    u64 n = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
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
LOOP u64 sum_to(u64 n) {
    u64 sum = 0;
    for (u64 i = 1; i <= n; i++) {
        sum += i;
    }
    return sum;
}
LOOP u64 factorial(u32 n) {
    u64 product = 1;
    while (n > 1) {
        product *= n--;
    }
    return product;
}
LOOP u64 fibonacci(u32 n) {
    u64 a = 0, b = 1;
    while (n--) {
        u64 c = a + b;
        a = b;
        b = c;
    }
    return a;
}
LOOP u64 digits(u64 x) {
    u64 n = 0;
    do {
        x /= 10;
        n++;
    } while (x);
    return n;
}
LOOP u32 crc(u32 value, u8 byte) {
    value ^= byte;
    for (int bit = 0; bit < 8; bit++) {
        value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
    }
    return value;
}
LOOP void delay(u64 n) {
    while (n--) {
        asm volatile("");
    }
}
LOOP void delay_word(u32 n) {
    for (u32 i = 0; i < n; i++) {
        asm volatile("");
    }
}
LOOP u64 triple(s64 from, s64 to) {
    u64 n = 0;
    for (s64 i = from; i < to; i += 3) {
        n ^= (u64)i;
    }
    return n;
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size; i++) {
        u64 x = random(&seed) >> i % 50;
        sink = ones(x) + width(x) + divisor(x, i + 3) + power(x, (u32)i % 60) + collatz(i + 1) + root(i * 9);
        sink = sum_to(i) + factorial((u32)i % 40) + fibonacci((u32)i % 90) + digits(x) + crc((u32)x, (u8)i);
        delay(i % 77 + 1);
        delay_word((u32)i * 3);
        sink = triple(-(s64)i, (s64)i * 2);
    }
    return sum_to(10) == 55;
}
