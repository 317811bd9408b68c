// What /proc and /dev say about the program: its files, name, arguments, mappings and children.
#include "threads.h"

enum { PRCTL = 167, DIRECTORY = 040000, NOFOLLOW = 0100000 };

static char text[1 << 16];
static char link[4096];
static char path[256];

// Joins texts into `path`.
static const char *joined(const char *a, const char *b, const char *c)
{
    u64 at = 0;
    const char *parts[] = {a, b, c};
    for (u64 part = 0; part < LENGTH(parts); part++)
        for (const char *from = parts[part]; *from; from++)
            path[at++] = *from;
    path[at] = 0;
    return path;
}

// The decimal digits of a number.
static const char *digits(i64 number)
{
    static char out[24];
    u64 at = sizeof out - 1;
    do {
        out[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    return out + at;
}

// Reads a file in pieces of `piece` bytes, and returns its length, or the error of the first call that fails.
static i64 read_file(const char *name, u64 piece)
{
    i64 file = CALL(OPENAT, AT_FDCWD, name, 0), count, total = 0;
    if (file < 0)
        return file;
    while ((count = CALL(READ, file, text + total, piece)) > 0)
        total += count;
    CALL(CLOSE, file);
    if (count < 0)
        return count;
    text[total] = 0;
    return total;
}

// Returns what follows a field name such as "Pid:\t" in `text`.
static i64 field(const char *name)
{
    for (const char *at = text; *at; at++) {
        u64 n = 0;
        while (name[n] && at[n] == name[n])
            n++;
        if (name[n])
            continue;
        i64 value = 0;
        while (at[n] == ' ' || at[n] == '\t')
            n++;
        for (; at[n] >= '0' && at[n] <= '9'; n++)
            value = 10 * value + at[n] - '0';
        return value;
    }
    return -1;
}

// The last name of the path that a link leads to, or its error.
static void put_link(const char *title, const char *name)
{
    i64 count = CALL(READLINKAT, AT_FDCWD, name, link, sizeof link - 1);
    if (count < 0) {
        put_number(title, count);
        return;
    }
    link[count] = 0;
    const char *last = link;
    for (char *at = link; *at; at++)
        if (*at == '/')
            last = at + 1;
    put_text(title, last);
}

// The permissions of the mapping in `text` that contains an address; 0 if there is none.
static const char *mapping(u64 address)
{
    static char permissions[5];
    for (const char *at = text; *at; at++) {
        u64 ends[2] = {0, 0};
        for (u64 end = 0; end < 2; end++, at++)
            for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
                ends[end] = ends[end] << 4 | (u64)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
        if (ends[0] <= address && address < ends[1]) {
            memcpy(permissions, at, 4);
            return permissions;
        }
        while (*at != '\n')
            at++;
    }
    return "none";
}

// The state of a process in `text`, which has `stat`.
static char state(void)
{
    char *at = text;
    for (char *from = text; *from; from++)
        if (*from == ')')
            at = from;
    return at[2];
}

int program(int argc, char **argv, char **, u64 *)
{
    if (argc < 2)
        return 2;
    put_link("exe", "/proc/self/exe");
    i64 count = read_file("/proc/self/cmdline", 3);
    put_number("arguments end with a NUL", count > 0 && text[count - 1] == 0);
    put_text("last argument", text + count - 1 - length(argv[argc - 1]));
    if (same(argv[1], "executed"))
        return 7;

    CALL(PRCTL, 15, "a name\n");
    read_file("/proc/thread-self/comm", 100);
    put_text("name", text);
    i64 own = CALL(GETPID);
    read_file("/proc/self/status", 7);
    put_number("own ID", field("\nPid:") == own);
    put_number("group of threads", field("\nTgid:") == own);
    put_number("tracer", field("\nTracerPid:"));
    read_file("/proc/self/stat", 1000);
    put_number("stat begins with the ID", field("") == own);

    // The mappings.
    char *page = (char *)CALL(MMAP, 0, 12288, 3, 0x22, -1, 0);
    CALL(MPROTECT, page + 4096, 4096, 1);
    read_file("/proc/self/maps", 4096);
    // QEMU does not show that code can be executed.
    const char *permissions = mapping((u64)program);
    put_number("code can be read", permissions[0] == 'r' && permissions[1] == '-');
    put_text("data", mapping((u64)text));
    put_text("stack", mapping((u64)&count));
    put_text("first page", mapping((u64)page));
    put_text("second page", mapping((u64)page + 4096));
    put_text("third page", mapping((u64)page + 8192));
    CALL(MUNMAP, page, 12288);
    read_file("/proc/self/maps", 4096);
    put_text("gone", mapping((u64)page + 4096));

    // Open files.
    put_number("directory", CALL(MKDIRAT, AT_FDCWD, argv[1], 0755));
    put_number("change", CALL(CHDIR, argv[1]));
    put_link("cwd", "/proc/self/cwd");
    put_link("root", "/proc/self/root");
    i64 file = CALL(OPENAT, AT_FDCWD, "first", 0102, 0644);
    CALL(WRITE, file, "contents", 8);
    CALL(LSEEK, file, 5, 0);
    put_link("file", joined("/proc/self/fd/", digits(file), ""));
    CALL(RENAMEAT, AT_FDCWD, "first", AT_FDCWD, "second");
    put_link("after a rename", path);
    put_number("not followed", CALL(OPENAT, AT_FDCWD, path, NOFOLLOW));
    put_number("no directory", CALL(OPENAT, AT_FDCWD, path, DIRECTORY));
    put_number("removed", CALL(UNLINKAT, AT_FDCWD, "second", 0));
    put_link("after its removal", path);
    i64 again = CALL(OPENAT, AT_FDCWD, path, 0);
    i64 bytes = CALL(READ, again, text, 100);
    text[bytes > 0 ? bytes : 0] = 0;
    put_text("opened again", text);
    CALL(CLOSE, again);
    read_file(joined("/proc/self/fdinfo/", digits(file), ""), 100);
    put_number("position", field("pos:"));
    int ends[2];
    CALL(PIPE2, ends, 0);
    i64 writer = CALL(OPENAT, AT_FDCWD, joined("/dev/fd/", digits(ends[0]), ""), 1);
    put_number("through another end", CALL(WRITE, writer, "pipe", 4));
    put_number("from the pipe", CALL(READ, ends[0], text, 100));
    put_number("closed", CALL(CLOSE, writer));
    put_link("no such descriptor", "/proc/self/fd/99");

    // What cannot be changed.
    put_number("new directory", CALL(MKDIRAT, AT_FDCWD, "/proc/self/new", 0755));
    put_number("new file", CALL(OPENAT, AT_FDCWD, "/proc/self/new", 0101, 0644));
    put_number("removal", CALL(UNLINKAT, AT_FDCWD, "/proc/self/status", 0));
    put_number("write", CALL(WRITE, CALL(OPENAT, AT_FDCWD, "/proc/self/statm", 1), "1", 1));
    put_number("no such process", CALL(OPENAT, AT_FDCWD, "/proc/0/status", 0));
    put_number("no such name", CALL(OPENAT, AT_FDCWD, "/proc/self/status/x", 0));

    // A text that is read again from its beginning is made anew.
    file = CALL(OPENAT, AT_FDCWD, "/proc/self/comm", 2);
    put_number("before", CALL(READ, file, text, 100));
    put_number("new name", CALL(WRITE, file, "other", 5));
    CALL(LSEEK, file, 0, 0);
    bytes = CALL(READ, file, text, 100);
    text[bytes > 0 ? bytes : 0] = 0;
    put_text("after", text);
    put_number("at the end", CALL(READ, file, text, 100));

    // A child, while it waits and after its end.
    CALL(PIPE2, ends, 0);
    i64 child = CALL(CLONE, 17);
    if (child == 0) {
        CALL(READ, ends[0], text, 1);
        CALL(EXIT_GROUP, 3);
    }
    u64 time[2] = {0, 100000000};
    CALL(NANOSLEEP, time, 0);
    read_file(joined("/proc/", digits(child), "/stat"), 1000);
    text[0] = state(), text[1] = 0;
    put_text("waits", text);
    read_file(joined("/proc/", digits(child), "/status"), 1000);
    put_number("its parent", field("\nPPid:") == own);
    CALL(WRITE, ends[1], "x", 1);
    CALL(NANOSLEEP, time, 0);
    read_file(path, 1000);
    put_number("ended", field("\nPid:") == child);
    read_file(joined("/proc/", digits(child), "/stat"), 1000);
    text[0] = state(), text[1] = 0;
    put_text("has ended", text);
    put_number("its arguments", read_file(joined("/proc/", digits(child), "/cmdline"), 100));
    int status = 0;
    CALL(WAIT4, child, &status, 0, 0);
    put_number("status", status);
    put_number("waited for", read_file(joined("/proc/", digits(child), "/stat"), 1000));

    // A program can be executed after its removal. QEMU would execute itself.
    if (argc < 3)
        return 0;
    char *arguments[] = {"other name", "executed", "last", 0};
    i64 path_bytes = CALL(READLINKAT, AT_FDCWD, "/proc/self/exe", link, sizeof link - 1);
    link[path_bytes] = 0;
    put_number("removed", CALL(UNLINKAT, AT_FDCWD, link, 0));
    child = CALL(CLONE, 17);
    if (child == 0) {
        char *none[] = {0};
        CALL(EXECVE, "/proc/self/exe", arguments, none);
        CALL(EXIT_GROUP, 1);
    }
    CALL(WAIT4, child, &status, 0, 0);
    put_number("status", status);
    return 0;
}
