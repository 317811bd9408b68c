// Everything between _start and run(): semihosting, the command line, the line of output, and memory.

#include "guest.h"

// Arm semihosting: the operation in w0, the address of its parameters in x1, the result in x0.
enum {
    SYS_OPEN = 0x01,
    SYS_WRITE = 0x05,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
};

static u64 semihosting(u64 operation, u64 *parameters) {
    register u64 x0 asm("x0") = operation;
    register u64 *x1 asm("x1") = parameters;
    asm volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

static _Noreturn void exit(u64 status) {
    enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026 };
    semihosting(SYS_EXIT_EXTENDED, (u64[]){ADP_STOPPED_APPLICATION_EXIT, status});
    __builtin_trap();
}

// The line is collected here and written by one call. What does not fit is left out: no guest prints that
// much.
static char line[512];
static u64 used;

static void put_char(char c) {
    if (used < sizeof line) {
        line[used++] = c;
    }
}

static void put(const char *text) {
    while (*text) {
        put_char(*text++);
    }
}

static void put_number(u64 value, u64 base) {
    char digits[20]; // of 2^64 - 1 in decimal
    u64 count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (count) {
        put_char(digits[--count]);
    }
}

static void put_name(const char *name) {
    put_char(' ');
    put(name);
    put_char('=');
}

void put_decimal(const char *name, u64 value) {
    put_name(name);
    put_number(value, 10);
}

void put_hex(const char *name, u64 value) {
    put_name(name);
    put("0x");
    put_number(value, 16);
}

void put_bytes(const char *name, const u8 *bytes, u64 count) {
    put_name(name);
    for (u64 i = 0; i < count; i++) {
        put_number(bytes[i] >> 4, 16);
        put_number(bytes[i] & 15, 16);
    }
}

// SYS_WRITE0 would need no handle, but QEMU's user mode sends it to standard error.
static void write_line(void) {
    enum { WRITE = 4 };
    put_char('\n');
    u64 handle = semihosting(SYS_OPEN, (u64[]){(u64) ":tt", WRITE, 3});
    semihosting(SYS_WRITE, (u64[]){handle, (u64)line, used});
}

static _Noreturn void refuse(const char *why) {
    used = 0;
    put(guest.name);
    put(": ");
    put(why);
    put("; expected [SIZE [SEED]], where SIZE is the number of ");
    put(guest.unit);
    put(", at most ");
    put_number(guest.largest, 10);
    put(", and both are decimal or 0x hexadecimal");
    write_line();
    exit(2);
}

// The next word of the command line, ended in place, or null. Words are whatever spaces separate: semihosting
// has one string and no quotes.
static char *next_word(char **rest) {
    char *word = *rest;
    while (*word == ' ') {
        word++;
    }
    char *end = word;
    while (*end && *end != ' ') {
        end++;
    }
    *rest = *end ? end + 1 : end;
    *end = 0;
    return *word ? word : 0;
}

static u64 parse(const char *word) {
    u64 base = 10;
    if (word[0] == '0' && (word[1] | 0x20) == 'x') {
        base = 16;
        word += 2;
    }
    u64 value = 0;
    do {
        u64 digit = (u64)*word - '0';
        if (digit > 9) {
            u64 letter = ((u64)*word | 0x20) - 'a';
            digit = letter < 6 ? letter + 10 : base;
        }
        if (digit >= base) {
            refuse("not a number");
        }
        u128 longer = (u128)value * base + digit;
        if (longer >> 64) {
            refuse("number too large");
        }
        value = (u64)longer;
    } while (*++word);
    return value;
}

// Called by _start.
_Noreturn void start(void) {
    static char arguments[4096];
    if (semihosting(SYS_GET_CMDLINE, (u64[]){(u64)arguments, sizeof arguments}) != 0) {
        refuse("command line too long");
    }
    char *rest = arguments;
    next_word(&rest); // the name of the program
    char *size_word = next_word(&rest);
    char *seed_word = next_word(&rest);
    if (next_word(&rest)) {
        refuse("too many arguments");
    }
    u64 size = size_word ? parse(size_word) : guest.size;
    u64 seed = seed_word ? parse(seed_word) : guest.seed;
    if (size > guest.largest) {
        refuse("size too large");
    }

    put(guest.name);
    put_decimal("size", size);
    put_decimal("seed", seed);
    bool agrees = run(size, seed);
    put(agrees ? " ok" : " FAILED");
    write_line();
    exit(agrees ? 0 : 1);
}

// Splitmix64: a counter with an odd step, and a bijection that mixes it.
u64 random(u64 *state) {
    u64 x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

u64 fold(u64 hash, u64 value) {
    hash = (hash ^ value) * 0xd6e8feb86659fd93;
    return hash ^ hash >> 32;
}

// Eight bytes at any address.
typedef u64 __attribute__((may_alias, aligned(1))) word;

void *memset(void *to, int byte, u64 count) {
    u8 *t = to;
    u64 bytes = (u8)byte * 0x0101010101010101;
    for (; count >= 8; t += 8, count -= 8) {
        *(word *)t = bytes;
    }
    for (; count; t++, count--) {
        *t = (u8)byte;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, u64 count) {
    u8 *t = to;
    const u8 *f = from;
    for (; count >= 8; t += 8, f += 8, count -= 8) {
        *(word *)t = *(const word *)f;
    }
    for (; count; t++, f++, count--) {
        *t = *f;
    }
    return to;
}

// Bytes move away from the end that would be overwritten first.
void *memmove(void *to, const void *from, u64 count) {
    u8 *t = to;
    const u8 *f = from;
    if ((u64)t - (u64)f < count) {
        while (count >= 8) {
            count -= 8;
            *(word *)(t + count) = *(const word *)(f + count);
        }
        while (count) {
            count--;
            t[count] = f[count];
        }
        return to;
    }
    for (; count >= 8; t += 8, f += 8, count -= 8) {
        *(word *)t = *(const word *)f;
    }
    for (; count; t++, f++, count--) {
        *t = *f;
    }
    return to;
}

int memcmp(const void *a, const void *b, u64 count) {
    const u8 *p = a;
    const u8 *q = b;
    for (; count >= 8 && *(const word *)p == *(const word *)q; count -= 8) {
        p += 8;
        q += 8;
    }
    for (; count; p++, q++, count--) {
        if (*p != *q) {
            return *p < *q ? -1 : 1;
        }
    }
    return 0;
}
