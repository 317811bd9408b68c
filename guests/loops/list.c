// Linked lists and hash tables: pointers that are followed.

#include "loops.h"

const struct guest guest = {"list", "nodes", 400, 4096, 1};

struct node {
    struct node *next;
    u64 key;
    struct node *before;
};
static struct node nodes[4096];
static struct node *buckets[256];

LOOP void empty(struct node **table, u64 count) {
    for (u64 i = 0; i < count; i++) {
        table[i] = 0;
    }
}
LOOP u64 length(const struct node *at) {
    u64 n = 0;
    for (; at; at = at->next) {
        n++;
    }
    return n;
}
LOOP struct node *last(struct node *at) {
    while (at->next) {
        at = at->next;
    }
    return at;
}
LOOP struct node *find(struct node *at, u64 key) {
    while (at && at->key != key) {
        at = at->next;
    }
    return at;
}
LOOP struct node *turn(struct node *at) {
    struct node *done = 0;
    while (at) {
        struct node *next = at->next;
        at->next = done;
        done = at;
        at = next;
    }
    return done;
}
LOOP void set_before(struct node *at) {
    struct node *before = 0;
    for (; at; at = at->next) {
        at->before = before;
        before = at;
    }
}
LOOP u64 sum(const struct node *at) {
    u64 total = 0;
    while (at) {
        total += at->key;
        at = at->next;
    }
    return total;
}
LOOP struct node *nth(struct node *at, u64 n) {
    while (n--) {
        at = at->next;
    }
    return at;
}
LOOP void clear_keys(struct node *all, u64 count, u64 key) {
    for (u64 i = 0; i < count; i++) {
        all[i].key = key;
    }
}
LOOP u64 index_of(const struct node *all, u64 key) {
    u64 i = 0;
    while (all[i].key != key) {
        i++;
    }
    return i;
}

bool run(u64 size, u64 seed) {
    for (u64 n = size; n > 20; n -= n / 4) {
        empty(buckets, 256);
        clear_keys(nodes, n, 5);
        struct node *first = 0;
        for (u64 i = 0; i < n; i++) {
            nodes[i].key = random(&seed);
            nodes[i].next = first;
            first = &nodes[i];
        }
        sink = length(first) + sum(first) + (u64)last(first) + (u64)nth(first, n / 2);
        sink = (u64)find(first, nodes[n / 3].key) + index_of(nodes, nodes[n - 2].key);
        set_before(first);
        first = turn(first);
        for (struct node *at = first; at;) {
            struct node *next = at->next;
            struct node **bucket = &buckets[at->key & 255];
            at->next = *bucket;
            *bucket = at;
            at = next;
        }
        for (u64 i = 0; i < 256; i++) {
            sink = length(buckets[i]);
        }
    }
    return true;
}
