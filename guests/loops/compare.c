// Comparisons of memory and of strings, up to the first difference: by bytes and by words, from both ends.

#include "loops.h"

const struct guest guest = {"compare", "bytes", 700, 4096, 1};

LOOP int compare_strings(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (u8)*a - (u8)*b;
}
LOOP int compare_strings_by_index(const u8 *a, const u8 *b) {
    u64 i = 0;
    while (a[i] == b[i] && a[i] != 0) {
        i++;
    }
    return a[i] - b[i];
}
LOOP int compare_limited(const char *a, const char *b, u64 count) {
    for (; count && *a && *a == *b; a++, b++, count--) {
    }
    return count ? *a - *b : 0;
}
LOOP int compare_bytes(const u8 *a, const u8 *b, u64 count) {
    while (count-- > 0) {
        int d = *a++ - *b++;
        if (d != 0) {
            return d;
        }
    }
    return 0;
}
LOOP bool is_zero(const u8 *a, int count) {
    for (int i = 0; i < count; i++) {
        if (a[i] != 0) {
            return false;
        }
    }
    return true;
}
LOOP int order_of_bytes(const s8 *a, const s8 *b, int count) {
    for (int i = 0; i < count; ++i) {
        if (a[i] < b[i]) {
            return -1;
        }
        if (a[i] > b[i]) {
            return 1;
        }
    }
    return 0;
}
#define COMPARISONS(T)                                                                                                 \
    LOOP u64 mismatch_##T(const T *a, const T *b, u64 count) {                                                         \
        u64 i;                                                                                                         \
        for (i = 0; i < count; i++) {                                                                                  \
            if (a[i] != b[i]) {                                                                                        \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return i;                                                                                                      \
    }                                                                                                                  \
    LOOP bool equal_##T(const T *a, const T *b, const T *end) {                                                        \
        while (a != end) {                                                                                             \
            if (*a++ != *b++) {                                                                                        \
                return false;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 common_suffix_##T(const T *a, const T *b, u64 count) {                                                    \
        u64 n = count;                                                                                                 \
        while (n > 0 && a[n - 1] == b[n - 1]) {                                                                        \
            n--;                                                                                                       \
        }                                                                                                              \
        return count - n;                                                                                              \
    }                                                                                                                  \
    LOOP bool all_same_##T(const T *a, int count, T value) {                                                           \
        do {                                                                                                           \
            if (*a != value) {                                                                                         \
                return false;                                                                                          \
            }                                                                                                          \
            a++;                                                                                                       \
        } while (--count);                                                                                             \
        return true;                                                                                                   \
    }                                                                                                                  \
    LOOP u64 differences_##T(const T *a, const T *b, u64 count) {                                                      \
        u64 all = 0;                                                                                                   \
        for (u64 i = 0; i < count; i++) {                                                                              \
            all |= (u64)(a[i] ^ b[i]);                                                                                 \
        }                                                                                                              \
        return all;                                                                                                    \
    }
COMPARISONS(u8)
COMPARISONS(s16)
COMPARISONS(u32)
COMPARISONS(u64)

static u64 a[513], b[513];

#define RUN(T)                                                                                                         \
    sink = mismatch_##T((T *)a, (T *)b, size / sizeof(T)) + equal_##T((T *)a, (T *)b, (T *)a + size / sizeof(T));      \
    sink = common_suffix_##T((T *)a, (T *)b, size / sizeof(T)) + all_same_##T((T *)a, (int)size / 8 + 1, (T)a[0]);     \
    sink = differences_##T((T *)a, (T *)b, size / sizeof(T));

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 6; round++) {
        for (u64 i = 0; i < 512; i++) {
            a[i] = b[i] = round % 2 ? 0x4141414141414141ul : random(&seed) | 0x0101010101010101ul;
        }
        if (round > 1) {
            b[random(&seed) % (size / 8 + 1)] ^= 1ul << random(&seed) % 64;
        }
        sink = (u64)compare_strings((char *)a, (char *)b) + (u64)compare_strings_by_index((u8 *)a, (u8 *)b);
        sink = (u64)compare_limited((char *)a, (char *)b, size) + (u64)compare_bytes((u8 *)a, (u8 *)b, size);
        sink = is_zero((u8 *)a + size, 8) + (u64)order_of_bytes((s8 *)a, (s8 *)b, (int)size);
        RUN(u8)
        RUN(s16)
        RUN(u32)
        RUN(u64)
        size -= size / 4;
    }
    return true;
}
