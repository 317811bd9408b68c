// A ring of nodes in random order, which is followed several times.

#include "guest.h"

enum { LARGEST = 1 << 15, ROUNDS = 6 };
const struct guest guest = {"chase", "nodes", 1 << 14, LARGEST, 1};

struct node {
    struct node *next;
    u64 visits;
    u64 values[62];
};
static struct node nodes[LARGEST];

static __attribute__((noinline)) u64 follow(struct node *at, u64 count) {
    u64 sum = 0;
    for (u64 n = 0; n < count; n++) {
        at->visits++;
        sum += at->values[n % 4] + at->values[61];
        at = at->next;
    }
    return sum;
}

bool run(u64 size, u64 seed) {
    static u32 order[LARGEST];
    if (size == 0) {
        return true;
    }
    for (u64 i = 0; i < size; i++) {
        order[i] = (u32)i;
        nodes[i].values[0] = nodes[i].values[61] = i;
    }
    for (u64 i = size - 1; i > 0; i--) {
        u64 other = random(&seed) % (i + 1);
        u32 old = order[i];
        order[i] = order[other];
        order[other] = old;
    }
    for (u64 i = 0; i < size; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % size]];
    }
    u64 hash = 0;
    for (int round = 0; round < ROUNDS; round++) {
        hash = fold(hash, follow(&nodes[0], size));
    }
    put_hex("hash", hash);
    bool right = true;
    for (u64 i = 0; i < size; i++) {
        right &= nodes[i].visits == ROUNDS;
    }
    return right;
}
