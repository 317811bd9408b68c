// Pointer authentication: keys of processes, threads and programs. The output has no codes, because keys are random.
#include "threads.h"

__asm__(".arch armv8.3-a");

enum { AT_HWCAP = 16, PRCTL = 167, RESET_KEYS = 54, SET_ENABLED_KEYS = 60, GET_ENABLED_KEYS = 61 };

static u64 in_thread;

#define SIGN(op, pointer, modifier) __asm__ volatile(op " %0, %1" : "+r"(pointer) : "r"(modifier))

static u64 sign(int key, u64 pointer, u64 modifier)
{
    switch (key) {
    case 0: SIGN("pacia", pointer, modifier); break;
    case 1: SIGN("pacib", pointer, modifier); break;
    case 2: SIGN("pacda", pointer, modifier); break;
    case 3: SIGN("pacdb", pointer, modifier); break;
    default: __asm__ volatile("pacga %0, %0, %1" : "+r"(pointer) : "r"(modifier));
    }
    return pointer;
}

static u64 authenticate(int key, u64 pointer, u64 modifier)
{
    switch (key) {
    case 0: SIGN("autia", pointer, modifier); break;
    case 1: SIGN("autib", pointer, modifier); break;
    case 2: SIGN("autda", pointer, modifier); break;
    default: SIGN("autdb", pointer, modifier);
    }
    return pointer;
}

// A number that follows from all codes of a key for 16 pointers.
static u64 fingerprint(int key)
{
    u64 all = 0;
    for (u64 n = 0; n < 16; n++)
        all = all * 1000003 + (sign(key, 0x123456789abc + n, n) >> 32);
    return all;
}

static void take_fingerprint(u64 key)
{
    in_thread = fingerprint(key);
}

static u64 number(const char *text)
{
    u64 value = 0;
    while (*text)
        value = value * 16 + (*text++ - 'a');
    return value;
}

static char *letters(u64 value)
{
    static char text[17];
    for (int i = 0; i < 16; i++)
        text[i] = 'a' + (value >> (60 - 4 * i) & 15);
    return text;
}

static i64 twice(i64 value)
{
    return 2 * value;
}

// Calls twice() and returns with an authenticated address.
i64 protected_call(i64 (*function)(i64), i64 value);
__asm__("protected_call:\n"
        "paciasp\n stp x29, x30, [sp, #-16]!\n"
        "mov x16, #7\n mov x17, x0\n pacia1716\n mov x2, x17\n mov x0, x1\n blraa x2, x16\n"
        "ldp x29, x30, [sp], #16\n retaa\n");

int program(int argc, char **argv, char **, u64 *auxv)
{
    u64 features = 0;
    for (; *auxv; auxv += 2)
        features = *auxv == AT_HWCAP ? auxv[1] : features;
    put_number("features", features >> 30 & 3);
    if ((features >> 30 & 3) != 3)
        return 0;
    if (argc > 2) {
        put_number("keys of another program are the same", number(argv[2]) == fingerprint(0));
        // A disabled key does nothing. QEMU's user mode does not have these operations.
        u64 before = fingerprint(2);
        put_number("enabled", CALL(PRCTL, GET_ENABLED_KEYS));
        put_number("disable", CALL(PRCTL, SET_ENABLED_KEYS, 1 << 2 | 1 << 3, 1 << 3));
        put_number("enabled", CALL(PRCTL, GET_ENABLED_KEYS));
        put_number("signs", sign(2, 0x1000, 1) != 0x1000);
        put_number("authenticates", authenticate(2, 1ul << 50, 1) != 1ul << 50);
        put_number("enable", CALL(PRCTL, SET_ENABLED_KEYS, 1 << 2, 1 << 2));
        put_number("same", before == fingerprint(2));
        put_number("enable one that was not chosen", CALL(PRCTL, SET_ENABLED_KEYS, 1, 3));
        put_number("disable the key of numbers", CALL(PRCTL, SET_ENABLED_KEYS, 1 << 4, 0));
        return 0;
    }
    if (argc > 1) {
        char *arguments[] = {argv[0], argv[1], letters(fingerprint(0)), 0}, *none[] = {0};
        return CALL(EXECVE, "/proc/self/exe", arguments, none);
    }
    for (int key = 0; key < 4; key++) {
        u64 changed = 0, wrong = 0, kept = 0;
        for (u64 n = 0; n < 1000; n++) {
            u64 pointer = 0x1000 * n + 8, signed_pointer = sign(key, pointer, n), stripped = signed_pointer;
            changed += signed_pointer != pointer;
            kept += authenticate(key, signed_pointer, n) == pointer;
            wrong += authenticate(key, signed_pointer, n + 1) == pointer;
            __asm__ volatile("xpaci %0" : "+r"(stripped));
            kept += stripped == pointer;
        }
        put_number("authenticated and stripped", kept);
        put_number("most have a code", changed > 900);
        put_number("most fail with another modifier", wrong < 100);
    }
    put_number("call", protected_call(twice, 21));
    u64 value = 77, loaded, at = sign(2, (u64)&value - 8, 0);
    __asm__ volatile("ldraa %0, [%1, #8]!" : "=&r"(loaded), "+r"(at) : : "memory");
    put_number("loaded", loaded);
    put_number("address", at == (u64)&value);

    u64 own[5];
    for (int key = 0; key < 5; key++)
        own[key] = fingerprint(key);
    put_number("keys differ", own[0] != own[1] && own[1] != own[2] && own[2] != own[3]);

    // Children and threads have the same keys.
    i64 child = CALL(CLONE, 17);
    if (child == 0) {
        int same_keys = 0;
        for (int key = 0; key < 5; key++)
            same_keys += own[key] == fingerprint(key);
        // Not those of the parent.
        CALL(PRCTL, RESET_KEYS, 0);
        CALL(EXIT_GROUP, same_keys + 10 * (own[0] != fingerprint(0)));
    }
    int status = 0;
    CALL(WAIT4, child, &status);
    put_number("keys of a child", status >> 8);
    static thread other;
    start(&other, take_fingerprint, 3, 0);
    join(&other);
    put_number("keys of a thread", in_thread == own[3]);

    // New keys.
    put_number("reset", CALL(PRCTL, RESET_KEYS, 1 << 1 | 1 << 4));
    for (int key = 0; key < 5; key++)
        put_number("same", own[key] == fingerprint(key));
    put_number("reset of no key", CALL(PRCTL, RESET_KEYS, 1 << 5));
    put_number("reset with an argument", CALL(PRCTL, RESET_KEYS, 1, 1));
    return 0;
}
