// What the runtime gives a guest program, and what a guest program defines.
#pragma once

#include <stdbool.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned __int128 u128;

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

// Each guest takes SIZE and SEED from its command line and prints one line: its name, both numbers, the
// fields that it adds, and its verdict.
struct guest {
    const char *name;
    const char *unit; // what SIZE counts
    u64 size;         // when the command line has none
    u64 largest;      // SIZE
    u64 seed;         // when the command line has none
};

// The two things that a guest defines. run() does the work, adds its results to the line, and says whether
// they agree with an independent way to get them.
extern const struct guest guest;
bool run(u64 size, u64 seed);

// Add " name=value" to the line.
void put_decimal(const char *name, u64 value);
void put_hex(const char *name, u64 value);
void put_bytes(const char *name, const u8 *bytes, u64 count);

// The next of a sequence of well mixed numbers that any first state gives.
u64 random(u64 *state);

// One step of a hash that depends on the order of its values.
u64 fold(u64 hash, u64 value);

// The compiler calls these four on its own account too.
void *memset(void *to, int byte, u64 count);
void *memcpy(void *restrict to, const void *restrict from, u64 count);
void *memmove(void *to, const void *from, u64 count);
int memcmp(const void *a, const void *b, u64 count);
