// Memory and code in it.
#pragma once
#include "linux.h"

// Whether the kernel can read there, which is to say whether it is mapped and readable.
static inline i64 is_there(u64 at)
{
    return CALL(FACCESSAT, AT_FDCWD, at, 0) != -14;
}

// Makes a function that returns `value`, and calls it.
static inline i64 make(u64 code, u32 value)
{
    u32 *words = (u32 *)code;
    words[0] = 0x52800000 | value << 5; // mov w0, #value
    words[1] = 0xd65f03c0;              // ret
    __asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" ::"r"(code) : "memory");
    return ((int (*)(void))code)();
}
