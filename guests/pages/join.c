// A hash join: the rows of one table are put into chains by the hashes of their keys, and those of another look them up.

#include "guest.h"

enum { LARGEST = 1 << 17, BUCKETS = 1 << 17, PROBES = 2 };
const struct guest guest = {"join", "rows", LARGEST, LARGEST, 1};

struct row {
    u64 key, value;
};
static struct row rows[LARGEST];
static u32 next[LARGEST], heads[BUCKETS];
static u64 keys[PROBES * LARGEST];

static u64 bucket(u64 key) {
    return fold(1, key) % BUCKETS;
}

static __attribute__((noinline)) void build(u64 size) {
    for (u64 i = 0; i < size; i++) {
        u64 at = bucket(rows[i].key);
        next[i] = heads[at];
        heads[at] = (u32)i + 1;
    }
}

static __attribute__((noinline)) u64 probe(u64 count) {
    u64 sum = 0;
    for (u64 n = 0; n < count; n++) {
        for (u32 i = heads[bucket(keys[n])]; i; i = next[i - 1]) {
            if (rows[i - 1].key == keys[n]) {
                sum += rows[i - 1].value;
            }
        }
    }
    return sum;
}

bool run(u64 size, u64 seed) {
    if (size == 0) {
        return true;
    }
    // The keys are the odd numbers below 2 * size, in an order that hashes do not see.
    for (u64 i = 0; i < size; i++) {
        rows[i].key = 2 * i + 1;
        rows[i].value = fold(2, rows[i].key);
    }
    for (u64 i = size - 1; i > 0; i--) {
        u64 other = random(&seed) % (i + 1);
        struct row old = rows[i];
        rows[i] = rows[other];
        rows[other] = old;
    }
    u64 expected = 0;
    for (u64 n = 0; n < PROBES * size; n++) {
        keys[n] = random(&seed) % (3 * size);
        expected += keys[n] % 2 && keys[n] < 2 * size ? fold(2, keys[n]) : 0;
    }
    build(size);
    u64 sum = probe(PROBES * size);
    put_hex("sum", sum);
    return sum == expected;
}
