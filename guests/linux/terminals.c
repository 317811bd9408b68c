// Pseudo terminals: lines and their editing, echoes, raw input, signals of keys, sizes, sessions, job control, hang-ups.
#include "processes.h"

enum {
    TCGETS = 0x5401, TCSETS = 0x5402, TCFLSH = 0x540b, TIOCSCTTY = 0x540e, TIOCGPGRP = 0x540f, TIOCSPGRP = 0x5410,
    TIOCGWINSZ = 0x5413, TIOCSWINSZ = 0x5414, FIONREAD = 0x541b, TIOCNOTTY = 0x5422, TIOCGSID = 0x5429,
    TIOCSPTLCK = 0x40045431, TIOCGPTN = 0x80045430,
    ISIG = 1, ICANON = 2, ECHO = 8, ECHOPRT = 02000, TOSTOP = 0400,
    O_RDWR = 2, O_NOCTTY = 0400, O_NONBLOCK = 04000, WUNTRACED = 2,
};

struct termios {
    u32 input, output, control, local;
    u8 discipline, characters[19];
} usual, changed;

static int master, slave;
static char path[32] = "/dev/pts/";
static volatile u32 signals;

static void note_signal(int number)
{
    signals = signals * 100 + (u32)number;
}

static void handle(int number, u64 handler)
{
    u64 action[4] = {handler};
    CALL(SIGACTION, number, action, 0, 8);
}

// Prints bytes, those that are no text as numbers.
static void put_bytes(const char *name, const char *bytes, i64 count)
{
    put(name);
    put("=");
    for (i64 at = 0; at < count; at++) {
        char text[5] = {bytes[at], 0};
        u8 byte = (u8)bytes[at];
        if (byte < 32 || byte > 126) {
            static const char digits[] = "0123456789abcdef";
            text[0] = '\\', text[1] = digits[byte >> 4], text[2] = digits[byte & 15], text[3] = 0;
        }
        put(text);
    }
    put("\n");
}

static i64 poll(int file, u16 events, i64 milliseconds)
{
    struct { int file; u16 wanted, found; } polled = {file, events, 0};
    i64 timeout[2] = {0, milliseconds * 1000000};
    i64 count = CALL(PPOLL, &polled, 1, timeout, 0, 8);
    return count > 0 ? polled.found & (1 | 4 | 8 | 16) : count;
}

// Reads from the master until it has so many bytes, or none come any more.
static void show_master(const char *name, i64 wanted)
{
    static char bytes[9000];
    i64 have = 0;
    while (have < wanted && poll(master, 1, 300) & 1) {
        i64 now = CALL(READ, master, bytes + have, sizeof bytes - have);
        if (now <= 0)
            break;
        have += now;
    }
    put_bytes(name, bytes, have);
}

static void show_slave(const char *name, i64 count)
{
    static char bytes[5000];
    i64 found = CALL(READ, slave, bytes, count);
    if (found < 0)
        put_number(name, found);
    else
        put_bytes(name, bytes, found);
}

static void type(const char *text)
{
    CALL(WRITE, master, text, length(text));
}

static void set(u32 local)
{
    changed = usual;
    changed.local = local;
    CALL(IOCTL, slave, TCSETS, &changed);
}

static void open_both(void)
{
    int number = -1, unlocked = 0;
    master = (int)CALL(OPENAT, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NOCTTY);
    CALL(IOCTL, master, TIOCGPTN, &number);
    char digits[12], *at = path + 9;
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *at++ = digits[--count];
    *at = 0;
    put_number("locked", CALL(OPENAT, AT_FDCWD, path, O_RDWR | O_NOCTTY));
    CALL(IOCTL, master, TIOCSPTLCK, &unlocked);
    slave = (int)CALL(OPENAT, AT_FDCWD, path, O_RDWR | O_NOCTTY);
    put_number("opened", slave >= 0);
}

static void lines(void)
{
    type("abc\x7f" "d\n");
    show_master("echo", 11);
    show_slave("line", 100);
    type("foo bar_1\x17" "baz\n");
    show_master("word", 29);
    show_slave("line", 100);
    type("zzz\x15ok\n");
    show_master("kill", 15);
    show_slave("line", 100);
    type("a\tb\x7f\x7f\x7f\x7f" "c\n");
    show_master("tab", 17);
    show_slave("line", 100);
    type("\x16\x03x\x12y\n");
    show_master("literal", 20);
    show_slave("line", 100);
    type("\x01\x7f" "e\r");
    show_master("control", 13);
    show_slave("line", 100);
    type("ab\x04" "cd\n");
    show_master("end of file", 6);
    show_slave("part", 100);
    show_slave("few", 2);
    show_slave("rest", 100);
    type("\x04");
    poll(slave, 1, 300);
    show_slave("end", 100);
    set(usual.local | ECHOPRT);
    type("abc\x7f\x7f" "d\n");
    show_master("print", 12);
    show_slave("line", 100);
    set(usual.local & ~ECHO);
    type("quiet\n");
    show_master("no echo", 1);
    show_slave("line", 100);
    set(usual.local);
    CALL(WRITE, slave, "x\ty\nz\r", 6);
    show_master("written", 7);
    changed.output = 0;
    CALL(IOCTL, slave, TCSETS, &changed);
    CALL(WRITE, slave, "x\ny", 3);
    show_master("raw", 3);
    set(usual.local);
}

static void modes(void)
{
    int waiting = -1;
    set(usual.local & ~(ECHO | ICANON));
    type("one\rtwo");
    poll(slave, 1, 300);
    CALL(IOCTL, slave, FIONREAD, &waiting);
    put_number("waiting", waiting);
    show_slave("raw", 2);
    show_slave("raw", 100);
    changed.characters[6] = 3;
    CALL(IOCTL, slave, TCSETS, &changed);
    type("ab");
    put_number("too few", poll(slave, 1, 100));
    type("c");
    put_number("enough", poll(slave, 1, 300));
    show_slave("three", 100);
    changed.characters[6] = 0;
    CALL(IOCTL, slave, TCSETS, &changed);
    show_slave("none", 100);
    changed.characters[5] = 2;
    CALL(IOCTL, slave, TCSETS, &changed);
    show_slave("later", 100);
    type("d");
    show_slave("in time", 100);
    changed.characters[6] = 9;
    CALL(IOCTL, slave, TCSETS, &changed);
    type("ef");
    show_slave("between", 100);
    set(usual.local & ~(ECHO | ICANON));
    type("part");
    poll(slave, 1, 300);
    set(usual.local & ~ECHO);
    show_slave("a line now", 100);
    type("typed");
    put_number("incomplete", poll(slave, 1, 100));
    set(usual.local & ~(ECHO | ICANON));
    show_slave("bytes now", 100);
    type("gone");
    poll(slave, 1, 300);
    put_number("flush", CALL(IOCTL, slave, TCFLSH, 0));
    put_number("flushed", poll(slave, 1, 100));
    int again = (int)CALL(OPENAT, AT_FDCWD, path, O_RDWR | O_NOCTTY | O_NONBLOCK);
    char byte;
    put_number("would wait", CALL(READ, again, &byte, 1));
    CALL(CLOSE, again);
    set(usual.local);
    u16 size[4] = {30, 100, 0, 0};
    put_number("resize", CALL(IOCTL, master, TIOCSWINSZ, size));
    size[0] = size[1] = 0;
    put_number("size", CALL(IOCTL, slave, TIOCGWINSZ, size));
    put_number("rows", size[0]);
    put_number("columns", size[1]);
    put_number("no session", CALL(IOCTL, slave, TIOCGSID, &waiting));
    put_number("not ours", CALL(IOCTL, slave, TIOCGPGRP, &waiting));
}

// Runs in a session of its own; the parent types.
static void session(int ready, int go)
{
    char byte;
    int group = 0;
    handle(2, (u64)note_signal);
    handle(3, (u64)note_signal);
    handle(20, (u64)note_signal);
    handle(28, (u64)note_signal);
    put_number("no terminal", CALL(OPENAT, AT_FDCWD, "/dev/tty", O_RDWR));
    put_number("take", CALL(IOCTL, slave, TIOCSCTTY, 0));
    put_number("again", CALL(IOCTL, slave, TIOCSCTTY, 0));
    CALL(IOCTL, slave, TIOCGPGRP, &group);
    put_number("in front", group == CALL(GETPID));
    CALL(IOCTL, slave, TIOCGSID, &group);
    put_number("session", group == CALL(GETPID));
    int tty = (int)CALL(OPENAT, AT_FDCWD, "/dev/tty", O_RDWR);
    put_number("/dev/tty", CALL(WRITE, tty, "tty\n", 4));
    CALL(CLOSE, tty);
    for (int round = 0; round < 4; round++) {
        signals = 0;
        CALL(WRITE, ready, "", 1);
        // A signal ends the wait.
        CALL(READ, slave, &byte, 1);
        put_number("signal", signals);
    }
    // A child in the background stops when it reads.
    i64 child = fork_process();
    if (child == 0) {
        handle(21, 0);
        CALL(SETPGID, 0, 0);
        CALL(EXIT_GROUP, CALL(READ, slave, &byte, 1) == 1 ? byte : 99);
    }
    CALL(SETPGID, child, child);
    put_number("stopped", wait_for(child, WUNTRACED));
    put_number("front", CALL(IOCTL, slave, TIOCSPGRP, &child));
    CALL(KILL, child, 18);
    CALL(WRITE, ready, "", 1);
    put_number("read", wait_for(child, 0));
    // Now this process is in the background itself, and without the signal it cannot change the terminal.
    handle(22, 1);
    handle(21, 1);
    group = (int)CALL(GETPID);
    put_number("unread", CALL(READ, slave, &byte, 1));
    put_number("front", CALL(IOCTL, slave, TIOCSPGRP, &group));
    int nobody = 99999;
    put_number("nobody", CALL(IOCTL, slave, TIOCSPGRP, &nobody));
    handle(1, (u64)note_signal);
    handle(18, (u64)note_signal);
    signals = 0;
    CALL(WRITE, ready, "", 1);
    // The signals of the hang-up interrupt it.
    while (CALL(READ, go, &byte, 1) != 1)
        ;
    put_number("hang-up", signals == 118 || signals == 1801);
    show_slave("read", 10);
    put_number("write", CALL(WRITE, slave, "x", 1));
    put_number("poll", poll(slave, 1 | 4, 0));
    put_number("settings", CALL(IOCTL, slave, TCGETS, &changed));
    put_number("no terminal", CALL(OPENAT, AT_FDCWD, "/dev/tty", O_RDWR));
    put_number("gone", CALL(OPENAT, AT_FDCWD, path, O_RDWR));
    CALL(EXIT_GROUP, 7);
}

int program(int, char **, char **, u64 *)
{
    open_both();
    put_number("settings", CALL(IOCTL, slave, TCGETS, &usual));
    put_number("input", usual.input);
    put_number("output", usual.output);
    put_number("local", usual.local);
    put_bytes("characters", (char *)usual.characters, 17);
    lines();
    modes();

    int ready[2], go[2];
    char byte;
    CALL(PIPE2, ready, 0);
    CALL(PIPE2, go, 0);
    i64 child = fork_process();
    if (child == 0) {
        CALL(CLOSE, master);
        CALL(CLOSE, go[1]);
        CALL(SETSID);
        session(ready[1], go[0]);
    }
    CALL(READ, ready[0], &byte, 1);
    i64 pause[2] = {0, 50000000};
    CALL(NANOSLEEP, pause, 0);
    show_master("from tty", 5);
    type("lost\x03");
    CALL(READ, ready[0], &byte, 1);
    show_master("interrupt", 2);
    CALL(NANOSLEEP, pause, 0);
    type("\x1c");
    CALL(READ, ready[0], &byte, 1);
    CALL(NANOSLEEP, pause, 0);
    type("\x1a");
    CALL(READ, ready[0], &byte, 1);
    show_master("keys", 4);
    CALL(NANOSLEEP, pause, 0);
    u16 size[4] = {31, 101, 0, 0};
    CALL(IOCTL, master, TIOCSWINSZ, size);
    CALL(READ, ready[0], &byte, 1);
    type("7\n");
    CALL(READ, ready[0], &byte, 1);
    CALL(CLOSE, slave);
    CALL(CLOSE, master);
    CALL(WRITE, go[1], "", 1);
    put_number("status", wait_for(child, 0));

    open_both();
    CALL(CLOSE, slave);
    put_number("closed slave", poll(master, 1 | 4, 100));
    put_number("read", CALL(READ, master, &byte, 1));
    slave = (int)CALL(OPENAT, AT_FDCWD, path, O_RDWR | O_NOCTTY);
    CALL(WRITE, slave, "back\n", 5);
    show_master("opened again", 6);

    // The end of the leader takes the terminal away from its session.
    child = fork_process();
    if (child == 0) {
        CALL(SETSID);
        CALL(IOCTL, slave, TIOCSCTTY, 0);
        if (fork_process() == 0) {
            handle(1, (u64)note_signal);
            CALL(WRITE, ready[1], "", 1);
            CALL(READ, slave, &byte, 1);
            put_number("end of session", signals);
            put_number("still open", poll(slave, 1 | 4, 0));
            put_number("no terminal", CALL(OPENAT, AT_FDCWD, "/dev/tty", O_RDWR));
            CALL(WRITE, go[1], "", 1);
            CALL(EXIT_GROUP, 0);
        }
        CALL(READ, ready[0], &byte, 1);
        CALL(NANOSLEEP, pause, 0);
        CALL(EXIT_GROUP, 8);
    }
    CALL(READ, go[0], &byte, 1);
    put_number("leader", wait_for(child, 0));
    return 0;
}
