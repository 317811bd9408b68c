// Ends of strings, as C libraries look for them: by bytes, by words of four and eight bytes, and up to a limit.

#include "loops.h"

const struct guest guest = {"lengths", "bytes", 700, 4096, 1};

#define ONES 0x0101010101010101ul
#define HIGHS 0x8080808080808080ul

LOOP u64 length_by_index(const char *s) {
    u64 n = 0;
    while (s[n]) {
        n++;
    }
    return n;
}
LOOP u64 length_by_pointer(const char *s) {
    const char *p = s;
    for (; *p != '\0'; ++p) {
    }
    return (u64)(p - s);
}
LOOP int length_with_count(const char *s) {
    int n = 0;
    while (*s++) {
        ++n;
    }
    return n;
}
LOOP u64 limited_length(const char *s, u64 most) {
    u64 n;
    for (n = 0; n < most && s[n] != 0; n++) {
    }
    return n;
}
LOOP u64 limited_by_pointer(const char *s, u64 most) {
    const char *p = s;
    while (most-- && *p) {
        p++;
    }
    return (u64)(p - s);
}

// A word has a zero byte if the subtraction of ones borrows into the high bit of a byte that had it clear.
LOOP const u64 *zero_in_words(const u64 *w) {
    while (!((*w - ONES) & ~*w & HIGHS)) {
        w++;
    }
    return w;
}
LOOP const u64 *zero_in_words_loaded_once(const u64 *w) {
    for (;;) {
        u64 v = *w++;
        if ((v - ONES) & (v ^ HIGHS) & HIGHS) {
            return w - 1;
        }
    }
}
LOOP const u32 *zero_in_halves(const u32 *w) {
    u32 v;
    do {
        v = *w++;
    } while (((v + 0xfefefeffu) & ~v & 0x80808080u) == 0);
    return w - 1;
}
// For bytes below 128 the complement is not needed.
LOOP const u64 *zero_in_ascii(const u64 *w, const u64 *end) {
    while (w < end && ((*w - ONES) & HIGHS) == 0) {
        ++w;
    }
    return w;
}
LOOP u64 zero_in_sums(const u64 *w) {
    u64 i = 0;
    while ((((w[i] & ~HIGHS) + ~HIGHS) | w[i] | ~HIGHS) == ~0ul) {
        i++;
    }
    return i;
}
// The byte that is looked for becomes zero by an exclusive or.
LOOP const u64 *byte_in_words(const u64 *w, u64 count, u64 pattern) {
    for (; count > 0; count--, w++) {
        u64 v = *w ^ pattern;
        if ((v - ONES) & ~v & HIGHS) {
            break;
        }
    }
    return w;
}
LOOP const u64 *byte_in_words_up_to(const u64 *w, const u64 *end, u64 pattern) {
    u64 v;
    while (w != end && (v = *w ^ pattern, ((v - ONES) & ~v & HIGHS) == 0)) {
        w++;
    }
    return w;
}
LOOP const u32 *byte_in_halves(const u32 *w, int count, u32 pattern) {
    while (count-- > 0) {
        u32 v = *w ^ pattern;
        if (((v - 0x01010101u) & ~v) & 0x80808080u) {
            return w;
        }
        w++;
    }
    return 0;
}
// Both the byte and the end.
LOOP const u64 *byte_or_zero(const u64 *w, u64 pattern) {
    u64 v, x;
    do {
        v = *w++;
        x = v ^ pattern;
    } while (!((((v - ONES) & ~v) | ((x - ONES) & ~x)) & HIGHS));
    return w - 1;
}
// Two words at a time.
LOOP const u64 *zero_in_pairs(const u64 *w) {
    for (;; w += 2) {
        u64 a = w[0], b = w[1];
        if ((((a - ONES) & ~a) | ((b - ONES) & ~b)) & HIGHS) {
            return w;
        }
    }
}
// Bytes above 127 end an ASCII text.
LOOP u64 ascii_words(const u64 *w, u64 count) {
    u64 i = 0;
    while (i < count && !(w[i] & HIGHS)) {
        i++;
    }
    return i;
}
LOOP u64 ascii_bytes(const u8 *s, u64 count) {
    for (u64 i = 0; i < count; i++) {
        if (s[i] & 0x80) {
            return i;
        }
    }
    return count;
}
// Texts of wider characters.
#define WIDE(T)                                                                                                        \
    LOOP u64 length_##T(const T *s) {                                                                                  \
        const T *p = s;                                                                                                \
        while (*p) {                                                                                                   \
            p++;                                                                                                       \
        }                                                                                                              \
        return (u64)(p - s);                                                                                           \
    }                                                                                                                  \
    LOOP u64 limited_##T(const T *s, u64 most) {                                                                       \
        u64 n = 0;                                                                                                     \
        for (; n < most; n++) {                                                                                        \
            if (!s[n]) {                                                                                               \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return n;                                                                                                      \
    }
WIDE(u16)
WIDE(s16)
WIDE(u32)
WIDE(s32)
WIDE(u64)

static u64 text[520];

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < 6; round++) {
        u8 *bytes = (u8 *)text;
        for (u64 i = 0; i < sizeof text; i++) {
            bytes[i] = (u8)(33 + random(&seed) % 90);
        }
        u64 end = size / 8 * 8 % 4080 + random(&seed) % 8;
        for (u64 i = end; i < end + 24; i++) {
            bytes[i] = 0;
        }
        const char *s = (const char *)text;
        sink = length_by_index(s) + length_by_pointer(s) + (u64)length_with_count(s);
        sink = limited_length(s, end / 2) + limited_length(s, 4096) + limited_by_pointer(s, end / 3);
        sink = (u64)zero_in_words(text) + (u64)zero_in_words_loaded_once(text) + zero_in_sums(text);
        sink = (u64)zero_in_halves((u32 *)text) + (u64)zero_in_ascii(text, text + 512);
        u64 pattern = ONES * (round < 3 ? 7 : 64);
        sink = (u64)byte_in_words(text, end / 8, pattern) + (u64)byte_in_words_up_to(text, text + end / 8, pattern);
        sink = (u64)byte_in_halves((u32 *)text, (int)(end / 4), (u32)pattern) + (u64)byte_or_zero(text, pattern);
        sink = (u64)zero_in_pairs(text) + ascii_words(text, end / 8) + ascii_bytes(bytes, end);
        sink = length_u16((u16 *)text) + length_s16((s16 *)text) + length_u32((u32 *)text);
        sink = length_s32((s32 *)text) + length_u64(text) + limited_u16((u16 *)text, end) + limited_s16((s16 *)text, 9);
        sink = limited_u32((u32 *)text, end / 8) + limited_s32((s32 *)text, end / 4) + limited_u64(text, end / 16);
        size -= size / 4;
    }
    return true;
}
