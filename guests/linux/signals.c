// Signals: handlers and what they are told, masks, stacks of their own, faults that are mended, vectors that come back.
#include "linux.h"

enum {
    SIGILL = 4, SIGTRAP = 5, SIGUSR1 = 10, SIGSEGV = 11, SIGUSR2 = 12, SIGPIPE = 13, SIGRT = 40,
    SA_SIGINFO = 4, SA_RESTORER = 0x04000000, SA_ONSTACK = 0x08000000, SA_NODEFER = 0x40000000,
    FPSIMD_MAGIC = 0x46508001,
    SIGALTSTACK = 132, SIGSUSPEND = 133, SIGPENDING = 136, SIGTIMEDWAIT = 137, SIGQUEUEINFO = 138, TGKILL = 131,
    SIGRETURN = 139,
};
static const u64 SA_RESETHAND = 0x80000000;

struct info {
    int number, error, code, pad;
    u64 value, more[13];
};
struct stack {
    u64 start, flags, bytes;
};
struct context {
    u64 flags, link;
    struct stack stack;
    u64 mask, unused[15];
    u64 fill, fault, x[31], sp, pc, state, align;
    u32 magic, bytes, fpsr, fpcr;
    u64 v[64];
};
typedef void handler(int number, struct info *info, struct context *context);

static volatile int seen, depth;
static u64 stack[2048];

static i64 on(int number, handler *handler, u64 flags, u64 mask)
{
    u64 action[4] = {(u64)handler, flags, 0, mask};
    return CALL(SIGACTION, number, action, 0, 8);
}

static i64 mask(int how, u64 signals)
{
    return CALL(SIGPROCMASK, how, &signals, 0, 8);
}

static u64 bit(int number)
{
    return 1ul << (number - 1);
}

static u64 stack_pointer(void)
{
    u64 sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

static void tell(int number, struct info *info, struct context *context)
{
    put_number("signal", number);
    put_number("told", info->number * 1000 + info->code);
    put_number("flags", (i64)context->flags);
    put_number("blocked", (i64)context->mask);
    put_number("aligned", stack_pointer() % 16 == 0 && (u64)info % 16 == 0);
    put_number("record", context->magic == FPSIMD_MAGIC && context->bytes == 528);
    seen++;
}

static void trash(int number, struct info *info, struct context *context)
{
    put_number("vector in the frame", (i64)context->v[16]);
    context->v[17]++;
    context->x[20] += 5;
    __asm__ volatile("movi v8.16b, #255; movi v31.16b, #1; msr fpsr, xzr; mov x19, #1; mov x20, #2; cmp xzr, xzr" ::: "x19", "x20", "cc");
    (void)number, (void)info;
}

static void again(int number, struct info *info, struct context *context)
{
    put_number("depth", ++depth);
    if (seen++ < 1)
        CALL(TGKILL, CALL(GETPID), CALL(178), number);
    put_number("leaves", depth--);
    (void)info, (void)context;
}

static void mend(int number, struct info *info, struct context *context)
{
    put_number("mends", number);
    // Emulators differ about the code of undefined instructions.
    put_number("code", number == SIGILL ? 0 : info->code);
    put_number("at the instruction", info->value == context->pc);
    put_number("address", number == SIGSEGV ? (i64)info->value : 0);
    context->pc += 4;
}

static void elsewhere(int number, struct info *info, struct context *context)
{
    struct stack now;
    put_number("on the stack", stack_pointer() - (u64)stack < sizeof stack);
    put_number("stack of the frame", context->stack.start == (u64)stack && context->stack.bytes == sizeof stack);
    put_number("asked", CALL(SIGALTSTACK, 0, &now));
    put_number("is on it", (i64)now.flags);
    put_number("change", CALL(SIGALTSTACK, &now, 0));
    (void)number, (void)info;
}

static void queued(int number, struct info *info, struct context *context)
{
    put_number("queued", number * 1000 + (info->code == -1 ? (i64)info->value : info->code));
    (void)context;
}

void restorer(void);
__asm__("restorer: mov x8, #139; svc #0");

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    (void)argv, (void)envp, (void)auxv;
    i64 self = CALL(GETPID);
    put_number("action", on(SIGUSR1, tell, SA_SIGINFO, bit(SIGUSR2)));
    put_number("kill", CALL(KILL, self, SIGUSR1));
    put_number("thread", CALL(TGKILL, self, CALL(178), SIGUSR1));
    put_number("seen", seen);

    // Registers, flags and vectors are those of before, but for what the handler wrote into its frame.
    on(SIGUSR1, trash, SA_SIGINFO, 0);
    u64 results[6];
    __asm__ volatile("mov x19, #1234; mov x20, #10; mov x9, #42; fmov d8, x9; mov v8.d[1], x9; movi v31.16b, #9;"
                     "mov x9, #16; msr fpsr, x9; mov x0, %1; mov x1, #10; mov x8, #129; cmp x8, #129; svc #0;"
                     "cset x9, eq; stp x19, x20, [%0]; fmov x19, d8; mov x20, v8.d[1]; stp x19, x20, [%0, #16];"
                     "mov x19, v31.d[1]; mrs x20, fpsr; add x20, x20, x9, lsl #8; stp x19, x20, [%0, #32]"
                     :: "r"(results), "r"(self) : "x0", "x1", "x8", "x9", "x19", "x20", "memory", "cc");
    for (u64 i = 0; i < LENGTH(results); i++)
        put_number("result", (i64)results[i]);

    // A signal waits while its handler runs, unless it need not.
    on(SIGUSR1, again, SA_SIGINFO, seen = 0);
    CALL(KILL, self, SIGUSR1);
    on(SIGUSR1, again, SA_SIGINFO | SA_NODEFER, seen = 0);
    CALL(KILL, self, SIGUSR1);

    // What is blocked comes later: the last one on top, each once, but for those of real time.
    on(SIGUSR1, queued, SA_SIGINFO, 0), on(SIGUSR2, queued, SA_SIGINFO, 0), on(SIGRT, queued, SA_SIGINFO, 0);
    mask(0, bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGRT));
    struct info info = {SIGRT, 0, -1, 0, 1, {0}};
    for (info.value = 1; info.value < 4; info.value++)
        put_number("queue", CALL(SIGQUEUEINFO, self, SIGRT, &info));
    info.value = 7;
    CALL(SIGQUEUEINFO, self, SIGUSR2, &info);
    CALL(SIGQUEUEINFO, self, SIGUSR1, &info);
    CALL(SIGQUEUEINFO, self, SIGUSR1, &info);
    u64 waiting = 0, set = bit(SIGUSR2), no_time[2] = {0, 0};
    put_number("pending", CALL(SIGPENDING, &waiting, 8));
    put_number("waiting", (i64)waiting);
    put_number("taken", CALL(SIGTIMEDWAIT, &set, &info, no_time, 8));
    put_number("value", (i64)info.value);
    put_number("none left", CALL(SIGTIMEDWAIT, &set, 0, no_time, 8));
    set = bit(SIGUSR2);
    put_number("suspend", CALL(SIGSUSPEND, &set, 8));
    put_number("unblock", mask(1, ~0ul));

    // Once only, and then as if there were none.
    on(28, queued, SA_RESETHAND | SA_SIGINFO, 0);
    CALL(KILL, self, 28), CALL(KILL, self, 28);

    // A stack for handlers, and a way back of one's own.
    struct stack new = {(u64)stack, 0, sizeof stack}, small = {(u64)stack, 0, 1000}, old;
    put_number("too small", CALL(SIGALTSTACK, &small, 0));
    put_number("stack", CALL(SIGALTSTACK, &new, &old));
    put_number("none before", (i64)old.flags);
    u64 action[4] = {(u64)elsewhere, SA_SIGINFO | SA_ONSTACK | SA_RESTORER, (u64)restorer, 0};
    CALL(SIGACTION, SIGUSR1, action, 0, 8);
    put_number("kill", CALL(KILL, self, SIGUSR1));
    put_number("off it", stack_pointer() - (u64)stack >= sizeof stack);

    // Faults, and going on behind them.
    on(SIGSEGV, mend, SA_SIGINFO, 0), on(SIGILL, mend, SA_SIGINFO, 0), on(SIGTRAP, mend, SA_SIGINFO, 0);
    u64 page = (u64)CALL(MMAP, 0, 4096, 1, 0x22, -1, 0);
    register u64 kept __asm__("x21") = 77;
    __asm__ volatile("str %0, [%1]" : "+r"(kept) : "r"(16) : "memory");
    __asm__ volatile("ldr %0, [%1]" : "+r"(kept) : "r"(8) : "memory");
    put_number("kept", (i64)kept);
    CALL(MUNMAP, page, 4096);
    __asm__ volatile("udf #0");
    __asm__ volatile("brk #1");

    int ends[2];
    on(SIGPIPE, queued, SA_SIGINFO, 0);
    CALL(PIPE2, ends, 0);
    CALL(CLOSE, ends[0]);
    put_number("write", CALL(WRITE, ends[1], "x", 1));

    // A frame that is none ends it.
    if (argc > 1) {
        on(SIGSEGV, 0, 0, 0);
        __asm__ volatile("sub sp, sp, #8192; mov x8, #139; svc #0");
    }
    return 3;
}
