// Searches in tables of numbers and of structures: the first that is equal, greater or out of order; limits and sentinels.

#include "loops.h"

const struct guest guest = {"lookups", "entries", 500, 1000, 1};

struct entry {
    u32 key, flags;
    u64 value;
};

LOOP const struct entry *entry_of(const struct entry *entries, u64 count, u32 key) {
    for (u64 i = 0; i < count; i++) {
        if (entries[i].key == key) {
            return &entries[i];
        }
    }
    return 0;
}
LOOP const struct entry *entry_to_end(const struct entry *at, u32 key) {
    while (at->key != key && at->value) {
        at++;
    }
    return at;
}
LOOP const struct entry *entry_with_flag(const struct entry *at, const struct entry *end, u32 flag) {
    for (; at != end && !(at->flags & flag); at++) {
    }
    return at;
}
LOOP int free_slot(const struct entry *entries, int count) {
    for (int i = count - 1; i >= 0; i--) {
        if (entries[i].value == 0) {
            return i;
        }
    }
    return -1;
}
LOOP u32 probe(const u32 *table, u32 mask, u32 hash, u32 key) {
    u32 i = hash & mask;
    while (table[i] != key && table[i] != 0) {
        i = (i + 1) & mask;
    }
    return i;
}
#define LOOKUPS(T)                                                                                                     \
    LOOP int index_of_##T(const T *a, int count, T value) {                                                            \
        for (int i = 0; i < count; i++) {                                                                              \
            if (a[i] == value) {                                                                                       \
                return i;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        return -1;                                                                                                     \
    }                                                                                                                  \
    LOOP u64 before_sentinel_##T(const T *a, T value) {                                                                \
        u64 i = 0;                                                                                                     \
        while (a[i] != value) {                                                                                        \
            i++;                                                                                                       \
        }                                                                                                              \
        return i;                                                                                                      \
    }                                                                                                                  \
    LOOP const T *first_greater_##T(const T *p, const T *end, T than) {                                                \
        while (p < end && *p <= than) {                                                                                \
            p++;                                                                                                       \
        }                                                                                                              \
        return p;                                                                                                      \
    }                                                                                                                  \
    LOOP u64 last_less_##T(const T *a, u64 count, T than) {                                                            \
        while (count > 0) {                                                                                            \
            if (a[--count] < than) {                                                                                   \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return count;                                                                                                  \
    }                                                                                                                  \
    LOOP bool is_sorted_##T(const T *a, u64 count) {                                                                   \
        for (u64 i = 1; i < count; i++) {                                                                              \
            if (a[i - 1] > a[i]) {                                                                                     \
                return false;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 run_length_##T(const T *a, u64 count) {                                                                   \
        T first = a[0];                                                                                                \
        u64 n = 1;                                                                                                     \
        while (n < count && a[n] == first) {                                                                           \
            n++;                                                                                                       \
        }                                                                                                              \
        return n;                                                                                                      \
    }                                                                                                                  \
    LOOP const T *not_zero_##T(const T *p, u64 count) {                                                                \
        while (count && !*p) {                                                                                         \
            ++p;                                                                                                       \
            --count;                                                                                                   \
        }                                                                                                              \
        return p;                                                                                                      \
    }                                                                                                                  \
    LOOP bool has_bit_##T(const T *p, int count, T mask) {                                                             \
        do {                                                                                                           \
            if (*p++ & mask) {                                                                                         \
                return true;                                                                                           \
            }                                                                                                          \
        } while (--count > 0);                                                                                         \
        return false;                                                                                                  \
    }                                                                                                                  \
    LOOP u64 lower_bound_##T(const T *a, u64 count, T value) {                                                         \
        u64 low = 0, high = count;                                                                                     \
        while (low < high) {                                                                                           \
            u64 middle = (low + high) / 2;                                                                             \
            if (a[middle] < value) {                                                                                   \
                low = middle + 1;                                                                                      \
            } else {                                                                                                   \
                high = middle;                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        return low;                                                                                                    \
    }                                                                                                                  \
    LOOP T greatest_##T(const T *a, u64 count) {                                                                       \
        T best = a[0];                                                                                                 \
        for (u64 i = 1; i < count; i++) {                                                                              \
            if (a[i] > best) {                                                                                         \
                best = a[i];                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        return best;                                                                                                   \
    }
LOOKUPS(u8)
LOOKUPS(s16)
LOOKUPS(u32)
LOOKUPS(s32)
LOOKUPS(u64)

#define RUN(T)                                                                                                         \
    {                                                                                                                  \
        T *t = (T *)a;                                                                                                 \
        sink = (u64)index_of_##T(t, (int)size, 77) + before_sentinel_##T(t, t[size - 1]);                              \
        sink = is_sorted_##T(t, size) + run_length_##T(t, size) + (u64)not_zero_##T(t, size);                          \
        sink = has_bit_##T(t, (int)size, 64) + lower_bound_##T(t, size, 40) + (u64)greatest_##T(t, size);              \
        sink = (u64)first_greater_##T(t, t + size, 100) + last_less_##T(t, size, 2);                                   \
    }

bool run(u64 size, u64 seed) {
    static u64 a[1024];
    static struct entry entries[1024];
    static u32 table[512];
    for (u64 round = 0; round < 8; round++) {
        for (u64 i = 0; i < size; i++) {
            a[i] = round % 4 == 0 ? 0 : round % 4 == 1 ? i : round % 4 == 2 ? random(&seed) : random(&seed) % 99;
            entries[i] = (struct entry){(u32)random(&seed) % 600, (u32)(i == size - 9) << 4, i + 2};
            table[i % 512] = i % 512 < 300 ? (u32)random(&seed) | 1 : 0;
        }
        a[size - 1] = ~0ul;
        entries[size] = (struct entry){0, 0, 0};
        sink = (u64)entry_of(entries, size, 9) + (u64)entry_to_end(entries, 10);
        sink = (u64)entry_with_flag(entries, entries + size, 16) + (u64)free_slot(entries, (int)size);
        sink = probe(table, 511, 30, 8);
        RUN(u8)
        RUN(s16)
        RUN(u32)
        RUN(s32)
        RUN(u64)
    }
    return true;
}
