// Results of system calls as lines of text, for programs whose outputs are compared.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

// Programs pass invalid arguments on purpose.
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"

// Returns the result of a call, or the negated errno.
static inline long of(long result) {
    return result < 0 ? -errno : result;
}

static inline void put_number(const char *name, long value) {
    printf("%s=%ld\n", name, value);
    fflush(stdout);
}

// Prints bytes. Control characters appear as dots.
static inline void put_bytes(const char *name, const char *bytes, long count) {
    printf("%s=", name);
    for (long at = 0; at < count; at++)
        putchar(bytes[at] < ' ' || bytes[at] > '~' ? '.' : bytes[at]);
    putchar('\n');
    fflush(stdout);
}

// A part of a program, which its first argument chooses.
struct part {
    const char *name;
    void (*test)(void);
};

static inline int run_part(const struct part *parts, int argc, char **argv) {
    for (; argc > 1 && parts->name; parts++)
        if (!strcmp(argv[1], parts->name))
            return parts->test(), 0;
    return 2;
}
