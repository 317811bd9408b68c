// Copying, filling, comparing and searching pieces of a text, eight bytes at a time or with skips, SIZE
// times; all of it again a byte at a time.

#include "guest.h"

const struct guest guest = {"strings", "rounds", 300, 100000000, 1};

static const char text[] =
    "A small program wakes up with a stack and nothing else. It has no files, no clock that it may trust,\n"
    "no other program to ask. Whatever it wants to know it must already carry, and whatever it finds out\n"
    "it can tell only through a narrow slot in the wall, one line long.\n"
    "\n"
    "So it works. It copies this text from one shelf to another, moves pieces of it over themselves,\n"
    "paints over some of the letters, and looks for words that it saw a moment ago. It does this twice:\n"
    "once in a hurry, eight letters in each hand, and once slowly, letter by letter, with a finger under\n"
    "the line. When both shelves look the same it is content, and says so through the slot.\n"
    "\n"
    "It does not know that a hundred thousand others do the same at this moment, each with a seed of its\n"
    "own, each in a room that looks just like this one. None of them will ever meet. But they all agree\n"
    "about the text, and that is what somebody outside, who reads the lines as they come out of the wall,\n"
    "would like to know.\n";

typedef u64 __attribute__((may_alias)) word;

// The top bit of the lowest zero byte is set, and no lower one.
static u64 zero_bytes(u64 bytes) {
    return (bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080;
}

// Aligned words stay within a page, so reading what follows the end of the string does no harm.
static __attribute__((noinline)) u64 length(const char *string) {
    const char *at = string;
    for (; (u64)at % 8; at++) {
        if (!*at) {
            return (u64)(at - string);
        }
    }
    u64 zeros;
    while (!(zeros = zero_bytes(*(const word *)at))) {
        at += 8;
    }
    return (u64)(at - string) + (u64)__builtin_ctzl(zeros) / 8;
}

static __attribute__((noinline)) u64 plain_length(const char *string) {
    u64 count = 0;
    while (string[count]) {
        count++;
    }
    return count;
}

// Where the byte is first, or the count when it is nowhere.
static __attribute__((noinline)) u64 find_byte(const char *bytes, u64 count, char wanted) {
    u64 at = 0;
    for (; at < count && (u64)(bytes + at) % 8; at++) {
        if (bytes[at] == wanted) {
            return at;
        }
    }
    for (; count - at >= 8; at += 8) {
        u64 zeros = zero_bytes(*(const word *)(bytes + at) ^ (u8)wanted * 0x0101010101010101);
        if (zeros) {
            return at + (u64)__builtin_ctzl(zeros) / 8;
        }
    }
    for (; at < count && bytes[at] != wanted; at++) {
    }
    return at;
}

static __attribute__((noinline)) u64 plain_find_byte(const char *bytes, u64 count, char wanted) {
    u64 at = 0;
    while (at < count && bytes[at] != wanted) {
        at++;
    }
    return at;
}

// Where the piece is first, or the count when it is nowhere. The byte under the end of the piece says how far
// it can move on at least (Horspool's search).
static __attribute__((noinline)) u64 find(const char *bytes, u64 count, const char *piece, u64 size) {
    u8 skip[256];
    memset(skip, (int)size, sizeof skip);
    for (u64 i = 0; i + 1 < size; i++) {
        skip[(u8)piece[i]] = (u8)(size - 1 - i);
    }
    for (u64 at = 0; at + size <= count; at += skip[(u8)bytes[at + size - 1]]) {
        if (memcmp(bytes + at, piece, size) == 0) {
            return at;
        }
    }
    return count;
}

static __attribute__((noinline)) int plain_compare(const char *a, const char *b, u64 count) {
    for (u64 i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return (u8)a[i] < (u8)b[i] ? -1 : 1;
        }
    }
    return 0;
}

static __attribute__((noinline)) u64 plain_find(const char *bytes, u64 count, const char *piece, u64 size) {
    for (u64 at = 0; at + size <= count; at++) {
        if (plain_compare(bytes + at, piece, size) == 0) {
            return at;
        }
    }
    return count;
}

static __attribute__((noinline)) void plain_copy(char *to, const char *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

// The two shelves.
enum { SHELF = 512, MOST = 100 };
static char quick[SHELF], slow[SHELF];

bool run(u64 size, u64 seed) {
    u64 hash = 0;
    bool same = true;
    for (u64 round = 0; round < size; round++) {
        u64 count = random(&seed) % MOST;
        u64 to = random(&seed) % (SHELF - MOST);
        u64 from = random(&seed) % (sizeof text - MOST);
        memcpy(quick + to, text + from, count);
        plain_copy(slow + to, text + from, count);

        count = random(&seed) % MOST;
        to = random(&seed) % (SHELF - MOST);
        u64 apart = random(&seed) % 64;
        u64 near = to + apart < 32 ? 0 : to + apart - 32;
        near = near < SHELF - MOST ? near : SHELF - MOST;
        char held[MOST];
        memmove(quick + to, quick + near, count);
        plain_copy(held, slow + near, count);
        plain_copy(slow + to, held, count);

        count = random(&seed) % 16;
        to = random(&seed) % (SHELF - MOST);
        memset(quick + to, (int)round, count);
        for (u64 i = 0; i < count; i++) {
            slow[to + i] = (char)round;
        }
        same &= memcmp(quick, slow, SHELF) == 0;

        u64 rest = length(text + from);
        same &= rest == plain_length(text + from);

        char wanted = (char)random(&seed);
        u64 at = find_byte(quick + to, SHELF - to, wanted);
        same &= at == plain_find_byte(quick + to, SHELF - to, wanted);
        hash = fold(hash, at);

        const char *piece = text + random(&seed) % (sizeof text - MOST);
        count = 2 + random(&seed) % 10;
        at = find(text, sizeof text - 1, piece, count);
        same &= at == plain_find(text, sizeof text - 1, piece, count);
        hash = fold(hash, at);

        int order = memcmp(text + from, piece, MOST);
        same &= order == plain_compare(text + from, piece, MOST);
        hash = fold(hash, (u64)order);
    }
    same &= plain_compare(quick, slow, SHELF) == 0;
    for (u64 i = 0; i < SHELF; i++) {
        hash = fold(hash, (u8)quick[i]);
    }
    put_hex("hash", hash);
    return same;
}
