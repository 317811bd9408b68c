// Searches in memory: lengths of strings, first places of values, first differences.

#include "loops.h"

const struct guest guest = {"search", "elements", 900, 4096, 1};

#define SEARCHES(T)                                                                                                    \
    LOOP u64 length_##T(const T *text) {                                                                               \
        const T *end = text;                                                                                           \
        while (*end) {                                                                                                 \
            end++;                                                                                                     \
        }                                                                                                              \
        return (u64)(end - text);                                                                                      \
    }                                                                                                                  \
    LOOP u64 index_##T(const T *text, T value) {                                                                       \
        u64 i = 0;                                                                                                     \
        while (text[i] != value) {                                                                                     \
            i++;                                                                                                       \
        }                                                                                                              \
        return i;                                                                                                      \
    }                                                                                                                  \
    LOOP const T *find_##T(const T *from, const T *end, T value) {                                                     \
        while (from < end && *from != value) {                                                                         \
            from++;                                                                                                    \
        }                                                                                                              \
        return from;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 last_##T(const T *from, u64 count, T value) {                                                             \
        while (count && from[count - 1] != value) {                                                                    \
            count--;                                                                                                   \
        }                                                                                                              \
        return count;                                                                                                  \
    }                                                                                                                  \
    LOOP u64 difference_##T(const T *a, const T *b, u64 count) {                                                       \
        u64 i = 0;                                                                                                     \
        for (; i < count; i++) {                                                                                       \
            if (a[i] != b[i]) {                                                                                        \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return i;                                                                                                      \
    }                                                                                                                  \
    LOOP u64 greater_##T(const T *a, T value) {                                                                        \
        u64 i = 0;                                                                                                     \
        while (a[i] <= value) {                                                                                        \
            i++;                                                                                                       \
        }                                                                                                              \
        return i;                                                                                                      \
    }

SEARCHES(u8)
SEARCHES(u16)
SEARCHES(u32)
SEARCHES(s64)

LOOP int compare(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a - *b;
}
// Not searches: they go on.
LOOP u64 count(const u8 *text, u64 size, u8 value) {
    u64 found = 0;
    for (u64 i = 0; i < size; i++) {
        found += text[i] == value;
    }
    return found;
}
LOOP u64 hash(const u8 *text) {
    u64 value = 5381;
    while (*text) {
        value = value * 33 + *text++;
    }
    return value;
}

#define RUN(T)                                                                                                         \
    for (u64 i = 0; i < size; i++) {                                                                                   \
        ((T *)a)[i] = ((T *)b)[i] = (T)(i % 7 + 1);                                                                    \
    }                                                                                                                  \
    ((T *)a)[size] = 0;                                                                                                \
    ((T *)b)[size] = 0;                                                                                                \
    ((T *)b)[size - size / 4] = 99;                                                                                    \
    sink = length_##T((T *)a) + index_##T((T *)b, 99) + last_##T((T *)b, size, 99);                                    \
    sink = difference_##T((T *)a, (T *)b, size) + (u64)find_##T((T *)b, (T *)b + size, 77);                            \
    sink = greater_##T((T *)b, 60);

bool run(u64 size, u64 seed) {
    static u64 a[4200], b[4200];
    for (u64 round = 0; round < 6; round++) {
        RUN(u8)
        RUN(u16)
        RUN(u32)
        RUN(s64)
        for (u64 i = 0; i < size; i++) {
            ((u8 *)a)[i] = ((u8 *)b)[i] = (u8)(random(&seed) | 1);
        }
        ((u8 *)a)[size] = ((u8 *)b)[size] = 0;
        sink = (u64)compare((char *)a, (char *)b) + count((u8 *)a, size, 5) + hash((u8 *)a);
        size -= size / 3;
    }
    return true;
}
