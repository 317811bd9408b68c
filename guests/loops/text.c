// Text: words, lines, cases, columns.

#include "loops.h"

const struct guest guest = {"text", "rounds", 12, 1000, 1};

static char text[2048], work[2048];

LOOP const char *skip_spaces(const char *at) {
    while (*at == ' ') {
        at++;
    }
    return at;
}
LOOP const char *skip_word(const char *at) {
    while (*at > ' ') {
        at++;
    }
    return at;
}
LOOP const char *next_line(const char *at) {
    while (*at && *at != '\n') {
        at++;
    }
    return at;
}
LOOP u64 measure(const char *at) {
    u64 n = 0;
    while (at[n] != 0) {
        n++;
    }
    return n;
}
LOOP u64 line_end(const char *at, u64 from, u64 size) {
    while (from < size) {
        if (at[from] == '\n') {
            break;
        }
        from++;
    }
    return from;
}
LOOP void upper(char *at) {
    for (; *at; at++) {
        if (*at >= 'a' && *at <= 'z') {
            *at = (char)(*at - 32);
        }
    }
}
LOOP void copy_text(char *to, const char *from) {
    while ((*to++ = *from++)) {
    }
}
LOOP void copy_part(char *to, const char *from, u64 count) {
    u64 i;
    for (i = 0; i < count; i++) {
        to[i] = from[i];
    }
    to[i] = 0;
}
LOOP void pad(char *to, int columns) {
    while (columns-- > 0) {
        *to++ = ' ';
    }
}
LOOP u64 vowels(const char *at) {
    u64 n = 0;
    for (; *at; at++) {
        n += *at == 'a' || *at == 'e' || *at == 'i' || *at == 'o' || *at == 'u';
    }
    return n;
}
LOOP bool same(const char *a, const char *b, u64 count) {
    while (count > 0 && *a == *b) {
        a++;
        b++;
        count--;
    }
    return count == 0;
}
LOOP void reverse(char *from, char *to) {
    while (from < to) {
        char t = *from;
        *from++ = *--to;
        *to = t;
    }
}
LOOP u64 number(const char *at) {
    u64 value = 0;
    while (*at >= '0' && *at <= '9') {
        value = value * 10 + (u64)(*at++ - '0');
    }
    return value;
}

bool run(u64 size, u64 seed) {
    for (u64 round = 0; round < size; round++) {
        u64 length = 200 + random(&seed) % 1500;
        for (u64 i = 0; i < length; i++) {
            u64 r = random(&seed);
            text[i] = (char)(r % 61 == 0 ? '\n' : r % 9 == 0 ? ' ' : 'a' + r / 100 % 26);
        }
        text[length] = 0;
        sink = measure(text) + vowels(text);
        copy_text(work, text);
        copy_part(work, text, length / 2);
        upper(work);
        for (const char *at = text; *at;) {
            const char *end = next_line(at);
            sink = line_end(text, (u64)(at - text), length);
            for (const char *word = at; word < end;) {
                word = skip_word(skip_spaces(word));
                while (*word == '\n') {
                    word++;
                }
                if (!*word) {
                    break;
                }
            }
            pad(work, (int)(end - at));
            at = *end ? end + 1 : end;
        }
        copy_part(work, text, length);
        sink = same(work, text, length);
        reverse(work, work + length);
        copy_part(work, "18446744073709551615", 20 - round % 10);
        sink = number(work);
    }
    return true;
}
