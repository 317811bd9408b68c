// A dictionary of strings: copied, joined, compared, searched.

#include "loops.h"

const struct guest guest = {"dict", "words", 120, 1024, 1};

static char words[1024][24];
static char buffer[4096];

LOOP u64 length(const char *s) {
    const char *p = s;
    for (; *p; ++p) {
    }
    return (u64)(p - s);
}
LOOP u32 bounded_length(const char *s, u32 most) {
    u32 n = 0;
    while (n < most && s[n]) {
        n++;
    }
    return n;
}
LOOP char *end_of(char *s) {
    while (*s != '\0') {
        s++;
    }
    return s;
}
LOOP const char *locate(const char *s, int c) {
    while (*s != (char)c) {
        if (!*s) {
            return 0;
        }
        s++;
    }
    return s;
}
LOOP const char *locate_last(const char *s, const char *end, char c) {
    do {
        --end;
    } while (end > s && *end != c);
    return end;
}
LOOP int order(const char *a, const char *b) {
    u64 i = 0;
    while (a[i] == b[i] && a[i]) {
        i++;
    }
    return a[i] - b[i];
}
LOOP void append(char *to, const char *from) {
    while (*from) {
        *to++ = *from++;
    }
    *to = 0;
}
LOOP void append_sized(char *to, const char *from, u64 n) {
    while (n != 0) {
        *to++ = *from++;
        n--;
    }
}
LOOP void dots(char *to, u32 n) {
    for (u32 i = 0; i < n; i++) {
        to[i] = '.';
    }
}
LOOP u32 hash(const char *s) {
    u32 h = 0;
    for (; *s; s++) {
        h = h * 31 + (u32)*s;
    }
    return h;
}
LOOP void lower(char *s, u64 n) {
    for (u64 i = 0; i < n; i++) {
        s[i] |= 0x20;
    }
}
LOOP u64 spaces(const char *s, u64 n) {
    u64 count = 0;
    while (n-- > 0) {
        if (*s++ == ' ') {
            count++;
        }
    }
    return count;
}

bool run(u64 size, u64 seed) {
    for (u64 i = 0; i < size; i++) {
        u64 n = 3 + random(&seed) % 20;
        for (u64 j = 0; j < n; j++) {
            words[i][j] = (char)('A' + random(&seed) % 26);
        }
        words[i][n] = 0;
    }
    for (u64 round = 0; round < 8; round++) {
        buffer[0] = 0;
        char *at = buffer;
        for (u64 i = 0; i + 1 < size; i++) {
            u64 n = length(words[i]);
            if (at - buffer > 4000) {
                break;
            }
            append(at, words[i]);
            at = end_of(at);
            append_sized(at, words[i], n);
            sink = hash(words[i]) + bounded_length(words[i], 12) + (u64)order(words[i], words[i + 1]);
            sink = (u64)locate(words[i], 'Q') + (u64)locate_last(words[i], words[i] + n, 'E');
            lower(words[i], n);
        }
        sink = spaces(buffer, (u64)(at - buffer));
        dots(buffer, (u32)size + 40 * (u32)round);
        sink = length(buffer);
        lower(buffer, size);
    }
    return true;
}
