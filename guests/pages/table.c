// A hash table with open addressing: keys are inserted, counted and looked up.

#include "guest.h"

enum { LARGEST = 1 << 17, SLOTS = 1 << 18 };
const struct guest guest = {"table", "keys", LARGEST, LARGEST, 1};

static struct {
    u64 key, count;
} slots[SLOTS];

static __attribute__((noinline)) u64 find(u64 key) {
    u64 at = fold(3, key) % SLOTS;
    while (slots[at].key && slots[at].key != key) {
        at = (at + 1) % SLOTS;
    }
    return at;
}

bool run(u64 size, u64 seed) {
    u64 first = seed, total = 0, used = 0;
    for (u64 i = 0; i < size; i++) {
        u64 key = random(&seed) | 1, at = find(key);
        slots[at].key = key;
        slots[at].count++;
    }
    for (u64 at = 0; at < SLOTS; at++) {
        total += slots[at].count;
        used += slots[at].key != 0;
    }
    bool right = total == size;
    seed = first;
    for (u64 i = 0; i < size; i++) {
        // No even key was inserted.
        u64 key = random(&seed) | 1;
        right &= slots[find(key)].key == key && slots[find(key + 1 ? key + 1 : 2)].key == 0;
    }
    put_decimal("used", used);
    return right;
}
