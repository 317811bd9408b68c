// Searches in texts: delimiters, blanks, last places, quotes, lines; forwards and backwards.

#include "loops.h"

const struct guest guest = {"tokens", "bytes", 900, 4000, 1};

LOOP const char *find_char(const char *s, int c) {
    while (*s != (char)c && *s) {
        s++;
    }
    return s;
}
LOOP const char *find_char_or_end(const char *s, char c) {
    for (;; s++) {
        if (*s == c || *s == '\0') {
            return s;
        }
    }
}
LOOP const u8 *find_byte(const u8 *p, u8 c, u64 count) {
    for (; count != 0; p++, count--) {
        if (*p == c) {
            return p;
        }
    }
    return 0;
}
LOOP const u8 *find_byte_unlimited(const u8 *p, u8 c) {
    while (*p != c) {
        p++;
    }
    return p;
}
LOOP const u8 *find_last_byte(const u8 *p, u8 c, u64 count) {
    p += count;
    while (count-- != 0) {
        if (*--p == c) {
            return p;
        }
    }
    return 0;
}
LOOP int last_index(const char *s, int length, char c) {
    int i = length - 1;
    while (i >= 0 && s[i] != c) {
        i--;
    }
    return i;
}
LOOP const char *skip_blanks(const char *s) {
    while (*s == ' ' || *s == '\t') {
        ++s;
    }
    return s;
}
LOOP const char *skip_space(const char *s) {
    while (*s == ' ') {
        s++;
    }
    return s;
}
LOOP const char *end_of_word(const char *s) {
    while (*s > ' ') {
        s++;
    }
    return s;
}
LOOP u64 end_of_digits(const char *s) {
    u64 i = 0;
    while ((u8)(s[i] - '0') < 10) {
        i++;
    }
    return i;
}
LOOP const char *end_of_letters(const char *s, const char *end) {
    while (s < end && (u32)((*s | 32) - 'a') <= 25) {
        s++;
    }
    return s;
}
LOOP u64 end_of_line(const u8 *s, u64 at, u64 size) {
    while (at < size && s[at] != '\n') {
        at++;
    }
    return at;
}
LOOP u64 begin_of_line(const u8 *s, u64 at) {
    while (at > 0 && s[at - 1] != '\n') {
        --at;
    }
    return at;
}
LOOP const u8 *end_of_quote(const u8 *p, const u8 *end) {
    while (p != end) {
        if (*p == '"') {
            break;
        }
        p += 1;
    }
    return p;
}
LOOP u64 trim(const char *s, u64 length) {
    while (length && s[length - 1] == ' ') {
        length--;
    }
    return length;
}
LOOP const u8 *end_of_set(const u8 *p, const u8 *is_member) {
    while (is_member[*p]) {
        p++;
    }
    return p;
}
LOOP u64 begin_of_set(const u8 *p, u64 count, const u32 *bits) {
    u64 i = 0;
    for (; i < count; i++) {
        if (bits[p[i] >> 5] >> (p[i] & 31) & 1) {
            break;
        }
    }
    return i;
}
LOOP const u8 *adjacent(const u8 *p, const u8 *end) {
    for (; p + 1 < end; p++) {
        if (p[0] == p[1]) {
            return p;
        }
    }
    return end;
}
LOOP const u8 *two_bytes(const u8 *p, u64 count, u8 a, u8 b) {
    while (count-- > 1) {
        if (p[0] == a && p[1] == b) {
            return p;
        }
        p++;
    }
    return 0;
}
LOOP const u8 *high_byte(const s8 *p) {
    while (*p >= 0) {
        p++;
    }
    return (const u8 *)p;
}
LOOP const u8 *continuation(const u8 *p) {
    while ((*p & 0xc0) != 0x80) {
        ++p;
    }
    return p;
}
LOOP u64 end_of_varint(const u8 *p) {
    u64 n = 0;
    while (p[n] & 0x80) {
        n++;
    }
    return n;
}
// Not these: the value of what is passed matters.
LOOP u64 number(const char *s) {
    u64 value = 0;
    while ((u8)(*s - '0') < 10) {
        value = value * 10 + (u64)(*s++ - '0');
    }
    return value;
}
LOOP u32 hash(const u8 *s) {
    u32 h = 5381;
    while (*s) {
        h = h * 33 ^ *s++;
    }
    return h;
}
LOOP u64 occurrences(const u8 *s, u64 count, u8 c) {
    u64 n = 0;
    for (u64 i = 0; i < count; i++) {
        n += s[i] == c;
    }
    return n;
}
LOOP void copy_string(char *to, const char *from) {
    while ((*to++ = *from++)) {
    }
}
LOOP void copy_limited(char *to, const char *from, u64 count) {
    while (count && *from) {
        *to++ = *from++;
        count--;
    }
}
LOOP void lower(char *s, u64 count) {
    for (u64 i = 0; i < count; i++) {
        s[i] |= 32;
    }
}

static u8 text[4200];
static u8 member[256];

bool run(u64 size, u64 seed) {
    static u32 bits[8] = {0, 1, 0, 0, 0, 0, 0, 0};
    for (u64 i = 'a'; i <= 'z'; i++) {
        member[i] = 1;
    }
    for (u64 round = 0; round < 12; round++) {
        for (u64 i = 0; i < size; i++) {
            text[i] = (u8)(round % 3 == 0 ? 'a' + random(&seed) % 4 : 33 + random(&seed) % 90);
            if (round % 3 == 1 && random(&seed) % 40 == 0) {
                text[i] = " \n\"0"[random(&seed) % 4];
            }
            if (round % 3 == 2) {
                text[i] = i < size / 2 ? ' ' : '7';
            }
        }
        text[size] = 0, text[size + 1] = 0x80, text[size + 2] = '~';
        const char *s = (const char *)text;
        sink = (u64)find_char(s, '!') + (u64)find_char_or_end(s, '#') + (u64)find_byte(text, 'y', size);
        sink = (u64)find_byte_unlimited(text, '~') + (u64)find_last_byte(text, 'x', size);
        sink = (u64)last_index(s, (int)size, '"') + (u64)skip_blanks(s) + (u64)skip_space(s) + (u64)end_of_word(s);
        sink = end_of_digits(s + size / 2) + (u64)end_of_letters(s, s + size) + end_of_line(text, 0, size);
        sink = begin_of_line(text, size) + (u64)end_of_quote(text, text + size) + trim(s, size / 2);
        sink = (u64)end_of_set(text, member) + begin_of_set(text, size, bits) + (u64)adjacent(text, text + size);
        sink = (u64)two_bytes(text, size, 'q', 'x') + (u64)high_byte((s8 *)text) + (u64)continuation(text);
        sink = end_of_varint(text + size + 1) + number(s + size / 2) + hash(text) + occurrences(text, size, 'e');
        static char copy[4200];
        copy_string(copy, s);
        copy_limited(copy, s, size / 2);
        lower(copy, size);
    }
    return true;
}
