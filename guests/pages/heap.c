// A binary heap: numbers are put in, and the least ones are taken out.

#include "guest.h"

enum { LARGEST = 1 << 18 };
const struct guest guest = {"heap", "numbers", LARGEST, LARGEST, 1};

static struct item {
    u64 key, value;
} heap[LARGEST + 1];
static u64 used;

static __attribute__((noinline)) void put_in(u64 key) {
    u64 at = ++used;
    for (; at > 1 && heap[at / 2].key > key; at /= 2) {
        heap[at] = heap[at / 2];
    }
    heap[at] = (struct item){key, ~key};
}

static __attribute__((noinline)) struct item take_out(void) {
    struct item least = heap[1], last = heap[used--];
    u64 at = 1;
    while (2 * at <= used) {
        u64 child = 2 * at;
        child += child < used && heap[child + 1].key < heap[child].key;
        if (heap[child].key >= last.key) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return least;
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size; i++) {
        put_in(random(&seed) >> 1);
    }
    bool right = true;
    u64 last = 0, hash = 0;
    for (u64 i = 0; i < size / 2; i++) {
        struct item item = take_out();
        right &= item.key >= last && item.value == ~item.key;
        last = item.key;
        hash = fold(hash, item.key);
    }
    for (u64 at = 2; at <= used; at++) {
        right &= heap[at / 2].key <= heap[at].key && heap[at].key >= last;
    }
    put_hex("hash", hash);
    return right;
}
