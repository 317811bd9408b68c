// Distances in a random graph by breadth-first search from several vertices.

#include "guest.h"

enum { LARGEST = 1 << 16, DEGREE = 8, SEARCHES = 2, FAR = 0xffffffff };
const struct guest guest = {"graph", "vertices", LARGEST, LARGEST, 1};

static u32 starts[LARGEST + 1], edges[DEGREE * LARGEST], distances[LARGEST], queue[LARGEST];

static __attribute__((noinline)) u64 search(u64 size, u32 from) {
    for (u64 i = 0; i < size; i++) {
        distances[i] = FAR;
    }
    u64 head = 0, tail = 0;
    distances[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        u32 at = queue[head++];
        for (u32 edge = starts[at]; edge < starts[at + 1]; edge++) {
            u32 to = edges[edge];
            if (distances[to] == FAR) {
                distances[to] = distances[at] + 1;
                queue[tail++] = to;
            }
        }
    }
    return tail;
}

bool run(u64 size, u64 seed) {
    if (size == 0) {
        return true;
    }
    u32 count = 0;
    for (u64 i = 0; i < size; i++) {
        starts[i] = count;
        for (u64 degree = random(&seed) % (DEGREE + 1); degree; degree--) {
            // Half of the edges go to near vertices.
            u64 any = random(&seed), near = i + any / 2 % 512;
            edges[count++] = (u32)((any % 2 ? near : any / 2) % size);
        }
    }
    starts[size] = count;
    bool right = true;
    u64 hash = 0;
    for (u64 n = 0; n < SEARCHES; n++) {
        u32 from = (u32)(random(&seed) % size);
        hash = fold(hash, search(size, from));
        for (u64 i = 0; i < size; i++) {
            for (u32 edge = starts[i]; edge < starts[i + 1]; edge++) {
                right &= distances[i] == FAR || distances[edges[edge]] <= distances[i] + 1;
            }
            hash = fold(hash, distances[i]);
        }
        right &= distances[from] == 0;
    }
    put_hex("hash", hash);
    return right;
}
