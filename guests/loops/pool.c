// A pool of blocks: free lists, bit maps, pages that are cleared, copied and compared.

#include "loops.h"

const struct guest guest = {"pool", "blocks", 60, 128, 1};

enum { PAGE = 512 };
static u64 pages[128][PAGE / 8];
static u64 *free_list;
static u8 used[128];

LOOP void clear_page(u64 *page) {
    for (u64 i = 0; i < PAGE / 8; i++) {
        page[i] = 0;
    }
}
LOOP void clear_page_by_four(u64 *page, u64 *end) {
    do {
        page[0] = 0;
        page[1] = 0;
        page[2] = 0;
        page[3] = 0;
        page += 4;
    } while (page < end);
}
LOOP void copy_page(u64 *to, const u64 *from) {
    u64 n = PAGE / 16;
    do {
        u64 a = from[0], b = from[1];
        to[0] = a;
        to[1] = b;
        to += 2;
        from += 2;
    } while (--n);
}
LOOP bool same_page(const u64 *a, const u64 *b) {
    for (u64 i = 0; i < PAGE / 8; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}
LOOP void poison(u32 *at, u32 *end) {
    for (; at < end; at++) {
        *at = 0xdeadbeef;
    }
}
LOOP s32 first_unused(const u8 *map, s32 count) {
    s32 i = 0;
    for (; i < count; i++) {
        if (!map[i]) {
            break;
        }
    }
    return i;
}
LOOP u64 count_free(u64 *at) {
    u64 n = 0;
    while (at) {
        n++;
        at = (u64 *)*at;
    }
    return n;
}
LOOP u64 count_used(const u8 *map, u64 count) {
    u64 n = 0;
    for (u64 i = 0; i < count; i++) {
        n += map[i];
    }
    return n;
}
LOOP void release(u8 *map, u64 from, u64 to) {
    for (; from < to; from++) {
        map[from] = 0;
    }
}
LOOP void take(u8 *map, u8 *end) {
    for (; map != end; ++map) {
        *map = 1;
    }
}
LOOP void link_all(u64 (*of)[PAGE / 8], u64 count) {
    for (u64 i = 0; i < count; i++) {
        of[i][0] = i + 1 < count ? (u64)of[i + 1] : 0;
    }
}

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 5; round++) {
        for (u64 i = 0; i < size; i++) {
            clear_page(pages[i]);
            pages[i][random(&seed) % 64] = round;
            clear_page_by_four(pages[i], pages[i] + PAGE / 8);
            pages[i][random(&seed) % 64] = seed;
            copy_page(pages[(i + 1) % size], pages[i]);
            sink = same_page(pages[i], pages[(i + 1) % size]);
            poison((u32 *)pages[i], (u32 *)pages[i] + random(&seed) % 128 + 1);
        }
        link_all(pages, size);
        free_list = pages[0];
        sink = count_free(free_list);
        take(used, used + size);
        release(used, size / 3, size / 2);
        for (u64 i = 0; i < 9; i++) {
            used[first_unused(used, (s32)size)] = 1;
        }
        sink = count_used(used, size);
    }
    return true;
}
