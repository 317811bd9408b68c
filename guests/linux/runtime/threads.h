// Threads without a library: clone, locks and joins on futexes.
#pragma once
#include "linux.h"

enum {
    SET_TID_ADDRESS = 96, GETTID = 178, TGKILL = 131, CLONE = 220, EXECVE = 221, WAIT4 = 260, WAITID = 95,
    SETPGID = 154, GETPGID = 155, GETSID = 156, SETSID = 157, GETPPID = 173, CLONE3 = 435,
    FUTEX_WAIT = 0, FUTEX_WAKE = 1, FUTEX_REQUEUE = 3, FUTEX_CMP_REQUEUE = 4, FUTEX_WAKE_OP = 5,
    FUTEX_WAIT_BITSET = 9, FUTEX_WAKE_BITSET = 10,
    // CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID.
    THREAD_FLAGS = 0x3d0f00,
};

typedef struct {
    // The ID of the thread, which Linux sets to 0 when it ends.
    volatile u32 id;
    u64 stack[2048] __attribute__((aligned(16)));
} thread;

// Starts a thread that calls `run` with `argument`, and whose thread pointer is `tls`.
static inline i64 start(thread *new, void (*run)(u64), u64 argument, u64 tls)
{
    u64 *top = new->stack + LENGTH(new->stack);
    *--top = argument;
    *--top = (u64)run;
    register u64 x8 __asm__("x8") = CLONE;
    register u64 x0 __asm__("x0") = THREAD_FLAGS;
    register u64 x1 __asm__("x1") = (u64)top;
    register u64 x2 __asm__("x2") = (u64)&new->id;
    register u64 x3 __asm__("x3") = tls;
    register u64 x4 __asm__("x4") = (u64)&new->id;
    __asm__ volatile("svc #0\n"
                     "cbnz x0, 1f\n"
                     "ldp x1, x0, [sp], #16\n"
                     "blr x1\n"
                     "mov x8, #93\n"
                     "mov x0, #0\n"
                     "svc #0\n"
                     "1:"
                     : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x8)
                     :
                     : "memory", "cc", "x30");
    return (i64)x0;
}

// Waits for the end of a thread.
static inline void join(thread *other)
{
    for (u32 id; (id = other->id) != 0;)
        CALL(FUTEX, &other->id, FUTEX_WAIT, id, 0);
}

static inline u32 add(volatile u32 *word, u32 more)
{
    u32 before, after, failed;
    __asm__ volatile("1: ldaxr %w0, %3\n"
                     "add %w1, %w0, %w4\n"
                     "stlxr %w2, %w1, %3\n"
                     "cbnz %w2, 1b"
                     : "=&r"(before), "=&r"(after), "=&r"(failed), "+Q"(*word)
                     : "r"(more)
                     : "memory");
    return before;
}

static inline u32 exchange(volatile u32 *word, u32 value)
{
    u32 before, failed;
    __asm__ volatile("1: ldaxr %w0, %2\n"
                     "stlxr %w1, %w3, %2\n"
                     "cbnz %w1, 1b"
                     : "=&r"(before), "=&r"(failed), "+Q"(*word)
                     : "r"(value)
                     : "memory");
    return before;
}

// A lock: 0 if it is free, 1 if it is taken, 2 if a thread may wait for it.
static inline void lock(volatile u32 *word)
{
    if (add(word, 1) == 0)
        return;
    while (exchange(word, 2) != 0)
        CALL(FUTEX, word, FUTEX_WAIT, 2, 0);
}

static inline void unlock(volatile u32 *word)
{
    if (exchange(word, 0) != 1)
        CALL(FUTEX, word, FUTEX_WAKE, 1);
}
