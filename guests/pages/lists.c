// Many lists whose nodes come from one pool: built in turns, followed one after another, and turned round.

#include "guest.h"

enum { LARGEST = 1 << 15, LISTS = 64, ROUNDS = 4 };
const struct guest guest = {"lists", "nodes", LARGEST, LARGEST, 1};

struct node {
    struct node *next;
    u64 value;
    u64 more[14];
};
static struct node nodes[LARGEST];
static struct node *lists[LISTS];

static __attribute__((noinline)) u64 follow(const struct node *at) {
    u64 sum = 0;
    for (; at; at = at->next) {
        sum += at->value + at->more[13];
    }
    return sum;
}

static __attribute__((noinline)) struct node *turn(struct node *at) {
    struct node *done = 0;
    while (at) {
        struct node *next = at->next;
        at->next = done;
        done = at;
        at = next;
    }
    return done;
}

bool run(u64 size, u64 seed) {
    u64 expected = 0, sum = 0, hash = 0;
    for (u64 i = 0; i < size; i++) {
        // The first half goes round, and the second one goes anywhere.
        u64 list = i < size / 2 ? i % LISTS : random(&seed) % LISTS;
        nodes[i].value = i;
        nodes[i].more[13] = 2 * i;
        nodes[i].next = lists[list];
        lists[list] = &nodes[i];
        expected += 3 * i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (u64 list = 0; list < LISTS; list++) {
            u64 part = follow(lists[list]);
            hash = fold(hash, part);
            sum += part;
            lists[list] = turn(lists[list]);
        }
    }
    put_hex("hash", hash);
    return sum == ROUNDS * expected;
}
