// Ring buffers and queues.

#include "loops.h"

const struct guest guest = {"ring", "items", 500, 4096, 1};

struct ring {
    u32 head, tail;
    u64 items[256];
};

LOOP u32 put_all(struct ring *ring, const u64 *from, u32 count) {
    u32 done = 0;
    while (done < count && ring->head - ring->tail < 256) {
        ring->items[ring->head++ & 255] = from[done++];
    }
    return done;
}
LOOP u32 take_all(struct ring *ring, u64 *to, u32 count) {
    u32 done = 0;
    while (done < count && ring->head != ring->tail) {
        to[done++] = ring->items[ring->tail++ & 255];
    }
    return done;
}
LOOP void put_masked(u64 *items, u64 from, u64 count, u64 value) {
    for (u64 i = 0; i < count; i++) {
        items[(from + i) & 255] = value;
    }
}
LOOP void reset(u64 *items, u64 *end) {
    for (; items < end; items += 2) {
        items[0] = 0;
        items[1] = 0;
    }
}
LOOP u32 wait_empty(volatile struct ring *ring, u32 tries) {
    while (ring->head != ring->tail && tries != 0) {
        tries--;
    }
    return tries;
}
LOOP u64 wait_item(volatile u64 *slot, u64 tries) {
    u64 i = 0;
    while (!*slot && i < tries) {
        i++;
    }
    return i;
}
LOOP void slide(u64 *items, u64 count) {
    for (u64 i = 1; i < count; i++) {
        items[i - 1] = items[i];
    }
}
LOOP void slide_up(u64 *items, u64 count) {
    for (u64 i = count; i > 0; i--) {
        items[i] = items[i - 1];
    }
}
LOOP u64 position(const u64 *items, u64 value) {
    const u64 *at = items;
    while (*at != value) {
        at++;
    }
    return (u64)(at - items);
}

bool run(u64 size, u64 seed) {
    static struct ring ring;
    static u64 in[4200], out[4200];
    for (u64 i = 0; i < size; i++) {
        in[i] = random(&seed);
    }
    for (u64 n = size; n > 8; n -= n / 4) {
        u32 done = put_all(&ring, in, (u32)n);
        sink = wait_empty(&ring, (u32)n);
        done = take_all(&ring, out, done);
        put_masked(ring.items, n, n, 3);
        sink = wait_item(&out[4100], n);
        slide(in, n);
        slide_up(in, n);
        in[n - 3] = 12345;
        sink = position(in, 12345);
        reset(out, out + n);
        in[n - 3] = n;
    }
    return true;
}
