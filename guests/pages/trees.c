// A binary search tree: keys are inserted, looked up, and listed in their order.

#include "guest.h"

enum { LARGEST = 1 << 15, DEPTH = 256 };
const struct guest guest = {"trees", "keys", LARGEST, LARGEST, 1};

struct node {
    u64 key;
    struct node *less, *greater;
    u64 values[13];
};
static struct node nodes[LARGEST];

static __attribute__((noinline)) struct node **find(struct node **at, u64 key) {
    while (*at && (*at)->key != key) {
        at = key < (*at)->key ? &(*at)->less : &(*at)->greater;
    }
    return at;
}

// Whether the keys are in order, and how many there are.
static __attribute__((noinline)) bool list(struct node *at, u64 *count) {
    struct node *stack[DEPTH];
    u64 depth = 0, last = 0;
    bool right = true;
    *count = 0;
    while (at || depth) {
        if (at) {
            if (depth == DEPTH) {
                return false;
            }
            stack[depth++] = at;
            at = at->less;
        } else {
            at = stack[--depth];
            right &= *count == 0 || last < at->key;
            last = at->key;
            ++*count;
            at = at->greater;
        }
    }
    return right;
}

bool run(u64 size, u64 seed) {
    struct node *root = 0;
    u64 first = seed, used = 0, sum = 0, count;
    for (u64 i = 0; i < size; i++) {
        u64 key = random(&seed);
        struct node **at = find(&root, key);
        if (!*at) {
            *at = &nodes[used++];
            (*at)->key = key;
            (*at)->values[12] = i;
        }
    }
    bool right = list(root, &count) && count == used;
    for (u64 n = 0; n < 3; n++) {
        seed = first;
        for (u64 i = 0; i < size; i++) {
            struct node *at = *find(&root, random(&seed));
            right &= at != 0;
            sum += at ? at->values[12] : 0;
        }
    }
    put_decimal("keys", used);
    return right && (used < size || sum == 3 * (size * (size - 1) / 2));
}
