// Resource limits: rules, inheritance, open files, sizes of files.
#include "processes.h"

enum { GETRLIMIT = 163, SETRLIMIT = 164, PRLIMIT64 = 261, FALLOCATE = 47 };
enum { FILE_SIZE = 1, CORE = 4, OPEN_FILES = 7, LOCKS = 10 };

static u64 limit[2], before[2];
static volatile u32 signals;

static void count_signal(int)
{
    signals++;
}

static i64 set(i64 process, u64 resource, u64 soft, u64 hard)
{
    limit[0] = soft, limit[1] = hard;
    return CALL(PRLIMIT64, process, resource, limit, before);
}

static void show(const char *name, i64 process, u64 resource)
{
    put_number(name, CALL(PRLIMIT64, process, resource, 0, before));
    put_number(" soft", (i64)before[0]);
    put_number(" hard", (i64)before[1]);
}

static i64 last_descriptor(void)
{
    i64 last = -1, now;
    while ((now = CALL(DUP, 1)) >= 0)
        last = now;
    put_number("no more", now);
    for (i64 number = 3; number <= last; number++)
        CALL(CLOSE, number);
    return last;
}

static void sizes(const char *path)
{
    static char data[100];
    i64 file = CALL(OPENAT, AT_FDCWD, path, 0102, 0600);
    put_number("set size", set(0, FILE_SIZE, 60, 80));
    put_number("cut", CALL(WRITE, file, data, 100));
    put_number("nothing", CALL(WRITE, file, data, 0));
    put_number("none left", CALL(WRITE, file, data, 1));
    put_number("signals", signals);
    put_number("inside", CALL(PWRITE64, file, data, 10, 55));
    put_number("outside", CALL(PWRITE64, file, data, 1, 70));
    put_number("extend", CALL(FTRUNCATE, file, 61));
    put_number("keep", CALL(FTRUNCATE, file, 60));
    put_number("shrink", CALL(FTRUNCATE, file, 10));
    put_number("by path", CALL(TRUNCATE, path, 1000));
    put_number("allocate", CALL(FALLOCATE, file, 0, 0, 100));
    put_number("signals", signals);
    int ends[2];
    CALL(PIPE2, ends, 0);
    put_number("pipe", CALL(WRITE, ends[1], data, 100));
    i64 child = fork_process();
    if (child == 0) {
        static u64 action[4];
        CALL(SIGACTION, 25, action, 0, 8);
        CALL(PWRITE64, file, data, 1, 60);
        CALL(EXIT_GROUP, 1);
    }
    // The bit of a core file depends on the system.
    put_number("killed by", wait_for(child, 0) & 0x7f);
    CALL(CLOSE, file);
    CALL(UNLINKAT, AT_FDCWD, path, 0);
}

int program(int argc, char **argv, char **envp, u64 *)
{
    if (argc > 2) {
        show("executed", 0, OPEN_FILES);
        show("executed", 0, LOCKS);
        return 0;
    }
    if (argc > 1 && same(argv[1], "execute")) {
        set(0, OPEN_FILES, 21, 22);
        set(0, LOCKS, 1, 2);
        char *arguments[] = {argv[0], "again", "again", 0};
        put_number("not executed", CALL(EXECVE, "/proc/self/exe", arguments, envp));
        return 1;
    }
    static u64 action[4] = {(u64)count_signal}, polled[21], no_time[2];
    CALL(SIGACTION, 25, action, 0, 8);

    put_number("no resource", set(0, 16, 1, 1));
    put_number("no resource", CALL(GETRLIMIT, 99, limit));
    put_number("no process", set(99999, CORE, 1, 1));
    put_number("soft above hard", set(0, CORE, 2, 1));
    put_number("bad address", CALL(PRLIMIT64, 0, CORE, 8, 0));
    put_number("bad address", CALL(GETRLIMIT, CORE, 0));
    put_number("set", set(0, CORE, 5, 7));
    put_number("exchange", set(0, CORE, 6, 7));
    put_number(" soft", (i64)before[0]);
    limit[0] = 1, limit[1] = 3;
    put_number("setrlimit", CALL(SETRLIMIT, CORE, limit));
    put_number("getrlimit", CALL(GETRLIMIT, CORE, before));
    put_number(" soft", (i64)before[0]);
    put_number(" hard", (i64)before[1]);

    put_number("files", set(0, OPEN_FILES, 20, 30));
    put_number("last", last_descriptor());
    put_number("dup3", CALL(DUP3, 1, 20, 0));
    put_number("F_DUPFD", CALL(FCNTL, 1, 0, 20));
    put_number("poll", CALL(PPOLL, polled, 21, no_time, 0, 8));
    put_number("raise", set(0, OPEN_FILES, 30, 30));
    put_number("dup3", CALL(DUP3, 1, 29, 0));
    put_number("lower", set(0, OPEN_FILES, 25, 30));
    put_number("still open", CALL(FCNTL, 29, 1));
    put_number("close", CALL(CLOSE, 29));

    put_number("locks", set(0, LOCKS, 11, 12));
    int ends[2];
    CALL(PIPE2, ends, 0);
    i64 child = fork_process();
    if (child == 0) {
        char byte;
        set(0, CORE, 0, 0);
        CALL(READ, ends[0], &byte, 1);
        show("child", 0, OPEN_FILES);
        CALL(EXIT_GROUP, last_descriptor());
    }
    put_number("of child", set(child, OPEN_FILES, 12, 13));
    put_number(" inherited", (i64)before[0]);
    CALL(WRITE, ends[1], "", 1);
    put_number("status", wait_for(child, 0));
    show("parent", 0, OPEN_FILES);
    show("parent", 0, CORE);

    sizes(argc > 1 ? argv[1] : "/tmp/kvrm-limits");
    return 0;
}
