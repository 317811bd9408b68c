// A heap, a queue in order, cards: loops with moves and exchanges.

#include "loops.h"

const struct guest guest = {"heap", "items", 80, 1024, 1};

struct item {
    u32 key;
    u32 value;
};

LOOP void sift_down(u32 *a, u64 at, u64 end) {
    for (;;) {
        u64 child = 2 * at + 1;
        if (child >= end) {
            break;
        }
        if (child + 1 < end && a[child + 1] > a[child]) {
            child++;
        }
        if (a[at] >= a[child]) {
            break;
        }
        u32 t = a[at];
        a[at] = a[child];
        a[child] = t;
        at = child;
    }
}
LOOP void sift_up(u32 *a, u64 at) {
    while (at && a[(at - 1) / 2] < a[at]) {
        u64 parent = (at - 1) / 2;
        u32 t = a[at];
        a[at] = a[parent];
        a[parent] = t;
        at = parent;
    }
}
LOOP bool bubble_items(struct item *items, u32 count) {
    bool moved = false;
    for (u32 i = 0; i + 1 < count; i++) {
        if (items[i].key > items[i + 1].key) {
            struct item t = items[i];
            items[i] = items[i + 1];
            items[i + 1] = t;
            moved = true;
        }
    }
    return moved;
}
LOOP void bubble_longs(s64 *a, s64 count) {
    for (s64 i = 0; i < count - 1; i++) {
        if (a[i + 1] < a[i]) {
            s64 t = a[i];
            a[i] = a[i + 1];
            a[i + 1] = t;
        }
    }
}
LOOP void bubble_bytes(s8 *a, s8 *end) {
    while (++a < end) {
        s8 x = a[-1], y = a[0];
        if (x > y) {
            a[-1] = y;
            a[0] = x;
        }
    }
}
LOOP void bubble_down(u16 *a, u32 from) {
    for (u32 i = from; i > 0; i--) {
        u16 x = a[i - 1], y = a[i];
        if (x < y) {
            a[i - 1] = y;
            a[i] = x;
        }
    }
}
LOOP u64 partition(u32 *a, u64 count) {
    u32 pivot = a[count - 1];
    u64 to = 0;
    for (u64 i = 0; i < count - 1; i++) {
        if (a[i] < pivot) {
            u32 t = a[i];
            a[i] = a[to];
            a[to++] = t;
        }
    }
    return to;
}
LOOP void exchange(u32 *a, u32 *b, u64 count) {
    for (u64 i = 0; i < count; i++) {
        u32 t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}
LOOP void make_room(u32 *a, u64 from, u64 count) {
    for (u64 i = count; i > from; i--) {
        a[i] = a[i - 1];
    }
}

bool run(u64 size, u64 seed) {
    static u32 a[1100];
    static s64 longs[1100];
    static struct item items[1100];
    for (u64 i = 0; i < size; i++) {
        a[i] = (u32)random(&seed);
        longs[i] = (s64)random(&seed);
        items[i].key = (u32)random(&seed) % 1000;
        sift_up(a, i);
    }
    for (u64 end = size; end > 1; end--) {
        u32 t = a[0];
        a[0] = a[end - 1];
        a[end - 1] = t;
        sift_down(a, 0, end - 1);
        bubble_longs(longs, (s64)end);
        bubble_bytes((s8 *)longs, (s8 *)longs + end);
        bubble_down((u16 *)longs, (u32)end - 1);
        sink = partition(a, end);
        make_room(a, end / 3, end);
        exchange(a, a + size, end);
    }
    while (bubble_items(items, (u32)size)) {
    }
    return true;
}
