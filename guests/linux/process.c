// Arguments, environment, standard input, pipes, signals; ends by a signal of its own if the last argument says so.
#include "linux.h"

static u8 buffer[1 << 17];

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    put_number("argc", argc);
    for (int i = 1; i < argc; i++)
        put_text("argument", argv[i]);
    for (; *envp; envp++)
        if ((*envp)[0] == 'K')
            put_text("variable", *envp);
    for (; *auxv; auxv += 2)
        switch (auxv[0]) {
        case 6: put_number("page", auxv[1]); break;
        case 15: put_text("platform", (char *)auxv[1]); break;
        case 17: put_number("ticks", auxv[1]); break;
        case 23: put_number("secure", auxv[1]); break;
        }
    i64 count, total = 0;
    u64 hash = 0;
    while ((count = CALL(READ, 0, buffer, 100)) > 0) {
        total += count;
        for (i64 i = 0; i < count; i++)
            hash = hash * 31 + buffer[i];
    }
    put_number("input", total);
    put_number("hash", (i64)hash);
    put_number("to the end", CALL(READ, 0, buffer, 100));
    put_number("seek", CALL(LSEEK, 1, 0, 1));
    put_number("terminal", CALL(IOCTL, 1, 0x5401, buffer));

    int ends[2];
    put_number("pipe", CALL(PIPE2, ends, 04000));
    put_number("ends", ends[0] * 10 + ends[1]);
    put_number("empty", CALL(READ, ends[0], buffer, 10));
    put_number("into", CALL(WRITE, ends[1], "through the pipe", 16));
    struct { int fd; u16 events, answer; } polled[] = {{ends[0], 1, 0}, {ends[1], 4, 0}, {99, 1, 0}};
    u64 no_time[2] = {0, 0};
    put_number("poll", CALL(PPOLL, polled, 3, no_time, 0, 8));
    put_number("ready", polled[0].answer * 10000 + polled[1].answer * 100 + polled[2].answer);
    put_number("out of", CALL(READ, ends[0], buffer, 7));
    // How much more fits is the kernel's affair.
    i64 more = CALL(WRITE, ends[1], buffer, sizeof buffer);
    put_number("too much", more > 50000 && more <= 65536 - 9);
    while (CALL(WRITE, ends[1], buffer, 1) == 1)
        more++;
    put_number("full", CALL(WRITE, ends[1], buffer, 1));
    put_number("dup", CALL(DUP3, ends[1], 20, 0));
    put_number("dup to itself", CALL(DUP3, 20, 20, 0));
    CALL(CLOSE, ends[1]);
    CALL(CLOSE, 20);
    for (total = 0; (count = CALL(READ, ends[0], buffer, sizeof buffer)) > 0;)
        total += count;
    put_number("rest", total - more);
    put_number("end", count);
    put_number("write to a reader", CALL(WRITE, ends[0], "x", 1));

    u64 before[2], after[2];
    u64 nap[2] = {0, 30000000};
    CALL(CLOCK_GETTIME, 1, before);
    put_number("sleep", CALL(NANOSLEEP, nap, 0));
    CALL(CLOCK_GETTIME, 1, after);
    u64 passed = (after[0] - before[0]) * 1000000000 + after[1] - before[1];
    put_number("later", passed >= 30000000);
    put_number("no such clock", CALL(CLOCK_GETTIME, 1000, before));
    u32 word = 7;
    put_number("futex", CALL(FUTEX, &word, 128, 8, nap));
    put_number("futex in time", CALL(FUTEX, &word, 128, 7, nap));
    put_number("wake", CALL(FUTEX, &word, 129, 1));
    put_number("random", CALL(GETRANDOM, buffer, 100, 0));
    put_number("no such call", CALL(999));
    put_number("wild pointer", CALL(WRITE, 1, 1ul << 47, 100));

    u64 blocked = 1ul << 9, ignored[4] = {1, 0, 0, 0}; // SIGUSR1
    put_number("block", CALL(SIGPROCMASK, 0, &blocked, 0, 8));
    put_number("blocked", CALL(KILL, CALL(GETPID), 10));
    put_number("ignore", CALL(SIGACTION, 10, ignored, 0, 8));
    put_number("unblock", CALL(SIGPROCMASK, 1, &blocked, 0, 8));
    put_number("no such signal", CALL(KILL, CALL(GETPID), 65));
    if (argc > 1 && same(argv[argc - 1], "abort"))
        CALL(KILL, CALL(GETPID), 6);
    if (argc > 1 && same(argv[argc - 1], "sigpipe")) {
        CALL(PIPE2, ends, 0);
        CALL(CLOSE, ends[0]);
        CALL(WRITE, ends[1], "x", 1);
    }
    return argc;
}
