// The primes up to SIZE by the sieve of Eratosthenes, a bit for each odd number.

#include "guest.h"

enum { LARGEST = 100000000, LARGEST_ROOT = 10000, SAMPLES = 50 };
const struct guest guest = {"sieve", "numbers", 300000, LARGEST, 1};

// Bit i says that 2i + 1 is composite.
static u64 composite[LARGEST / 128 + 1];

static bool is_composite(u64 odd) {
    return composite[odd / 128] >> odd / 2 % 64 & 1;
}

static __attribute__((noinline)) u64 sieve(u64 limit) {
    for (u64 p = 3; p * p <= limit; p += 2) {
        if (!is_composite(p)) {
            for (u64 multiple = p * p; multiple <= limit; multiple += 2 * p) {
                composite[multiple / 128] |= 1UL << multiple / 2 % 64;
            }
        }
    }
    u64 count = limit >= 2; // of 2 itself
    for (u64 odd = 3; odd <= limit; odd += 2) {
        count += !is_composite(odd);
    }
    return count;
}

// Legendre's way to count primes without naming them. Of each value v that limit / k takes, it keeps how many
// numbers from 2 to v remain when the multiples of the first primes are taken out, and takes out one prime
// after another.
static u64 count_primes(u64 limit) {
    static u64 low[LARGEST_ROOT + 1];  // low[v] is for v,
    static u64 high[LARGEST_ROOT + 1]; // high[k] for limit / k
    u64 root = 0;
    while ((root + 1) * (root + 1) <= limit) {
        root++;
    }
    if (root == 0) {
        return 0;
    }
    for (u64 i = 1; i <= root; i++) {
        low[i] = i - 1;
        high[i] = limit / i - 1;
    }
    for (u64 p = 2; p <= root; p++) {
        if (low[p] == low[p - 1]) {
            continue; // taken out with a smaller prime
        }
        u64 smaller = low[p - 1];
        for (u64 k = 1; k <= root && limit / k >= p * p; k++) {
            high[k] -= (k * p <= root ? high[k * p] : low[limit / k / p]) - smaller;
        }
        for (u64 v = root; v >= p * p; v--) {
            low[v] -= low[v / p] - smaller;
        }
    }
    return high[1];
}

static bool has_divisor(u64 odd) {
    for (u64 divisor = 3; divisor * divisor <= odd; divisor += 2) {
        if (odd % divisor == 0) {
            return true;
        }
    }
    return false;
}

bool run(u64 size, u64 seed) {
    u64 primes = sieve(size);
    put_decimal("primes", primes);

    bool samples_agree = true;
    for (int i = 0; size >= 3 && i < SAMPLES; i++) {
        u64 odd = 3 + random(&seed) % (size - 2) / 2 * 2;
        samples_agree &= is_composite(odd) == has_divisor(odd);
    }
    return samples_agree && primes == count_primes(size);
}
