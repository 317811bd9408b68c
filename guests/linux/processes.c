// Processes: fork, shared and copied state, exit statuses, pipes, signals between processes, process groups, execution.
#include "processes.h"

static u8 buffer[1 << 17];
static int value = 5;
static volatile u32 children;

static void count_child(int)
{
    children++;
}

int program(int argc, char **argv, char **envp, u64 *)
{
    if (argc > 1 && same(argv[1], "executed")) {
        put_text("argument", argv[2]);
        put_text("variable", envp[0]);
        // Descriptor 20 stays open; 21 closes when a program is executed.
        put_number("kept", CALL(WRITE, 20, "", 0));
        put_number("closed", CALL(WRITE, 21, "", 0));
        return 42;
    }
    put_number("no child", CALL(WAIT4, -1, 0, 0, 0));

    // A child has a copy of the memory, and shares the open files.
    int ends[2];
    CALL(PIPE2, ends, 0);
    i64 child = fork_process();
    if (child == 0) {
        CALL(CLOSE, ends[0]);
        value = 9;
        i64 written = CALL(WRITE, ends[1], buffer, sizeof buffer);
        CALL(EXIT_GROUP, written == sizeof buffer ? value : 1);
    }
    CALL(CLOSE, ends[1]);
    i64 total = 0, count;
    while ((count = CALL(READ, ends[0], buffer, 5000)) > 0)
        total += count;
    put_number("through the pipe", total);
    put_number("status", wait_for(child, 0));
    put_number("own value", value);
    CALL(CLOSE, ends[0]);

    // A child that borrows the memory; the parent waits until it ends.
    static u64 stack[512] __attribute__((aligned(16)));
    register u64 x8 __asm__("x8") = CLONE;
    register u64 x0 __asm__("x0") = 0x4100 | 17;
    register u64 x1 __asm__("x1") = (u64)(stack + LENGTH(stack));
    __asm__ volatile("svc #0\n"
                     "cbnz x0, 1f\n"
                     "mov w0, #77\n"
                     "str w0, [%3]\n"
                     "mov x8, #93\n"
                     "mov x0, #3\n"
                     "svc #0\n"
                     "1:"
                     : "+r"(x0), "+r"(x1), "+r"(x8)
                     : "r"(&value)
                     : "memory");
    put_number("status", wait_for((i64)x0, 0));
    int borrowed = value;

    // Signals: the status of a child that one ends, SIGCHLD, stopping and continuing.
    u64 long_time[2] = {1000, 0};
    child = fork_process();
    if (child == 0)
        for (;;)
            CALL(NANOSLEEP, long_time, 0);
    put_number("none yet", CALL(WAIT4, child, 0, 1, 0));
    put_number("kill", CALL(KILL, child, 15));
    put_number("status", wait_for(child, 0));
    put_number("gone", CALL(KILL, child, 0));

    u64 action[4] = {(u64)count_child, 0x10000000, 0, 0};
    CALL(SIGACTION, 17, action, 0, 8);
    child = fork_process();
    if (child == 0) {
        CALL(KILL, CALL(GETPID), 19);
        CALL(EXIT_GROUP, 4);
    }
    put_number("stopped", wait_for(child, 2));
    put_number("continue", CALL(KILL, child, 18));
    put_number("status", wait_for(child, 0));
    put_number("signals", children > 0);

    // Groups and sessions.
    child = fork_process();
    if (child == 0) {
        i64 own = CALL(GETPID);
        put_number("own group", CALL(SETPGID, 0, 0) == 0 && CALL(GETPGID, 0) == own);
        put_number("no new session", CALL(SETSID));
        i64 grandchild = fork_process();
        if (grandchild == 0) {
            put_number("new session", CALL(SETSID) == CALL(GETPID) && CALL(GETSID, 0) == CALL(GETPID));
            CALL(EXIT_GROUP, CALL(GETPPID) == own);
        }
        CALL(EXIT_GROUP, wait_for(grandchild, 0) == 0x100);
    }
    put_number("status", wait_for(child, 0));

    // waitid leaves the child there if it is asked to.
    int info[32];
    child = fork_process();
    if (child == 0)
        CALL(EXIT_GROUP, 6);
    put_number("waitid", CALL(WAITID, 1, child, info, 4 | 0x1000000, 0));
    put_number("code and status", info[2] * 100 + info[6]);
    put_number("status", wait_for(child, 0));

    CALL(DUP3, 1, 20, 0);
    CALL(DUP3, 1, 21, 02000000);
    if (argc > 1 && same(argv[1], "execute")) {
        char *arguments[] = {"any name", "executed", "an argument", 0};
        char *variables[] = {"NAME=a value", 0};
        // QEMU's user mode copies the memory, and leaves programs to its host.
        put_number("borrowed", borrowed);
        child = fork_process();
        if (child == 0)
            CALL(EXIT_GROUP, CALL(EXECVE, "/proc/self/exe", arguments, variables));
        put_number("status", wait_for(child, 0));
    }
    put_number("nothing there", CALL(EXECVE, "/nowhere", 0, 0));
    put_number("no program", CALL(EXECVE, "/dev/null", 0, 0));
    return 0;
}
