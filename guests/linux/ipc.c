// Communication of processes: named pipes, locks of files, semaphores and message queues of System V, queues of POSIX, inotify.
#include "processes.h"

enum {
    MKNODAT = 33, FLOCK = 32, INOTIFY_INIT1 = 26, INOTIFY_ADD_WATCH = 27, INOTIFY_RM_WATCH = 28, MQ_OPEN = 180,
    MQ_UNLINK = 181, MQ_TIMEDSEND = 182, MQ_TIMEDRECEIVE = 183, MQ_GETSETATTR = 185, MSGGET = 186, MSGCTL = 187,
    MSGRCV = 188, MSGSND = 189, SEMGET = 190, SEMCTL = 191, SEMTIMEDOP = 192, SEMOP = 193, FCHOWNAT = 54,
    NONBLOCK = 04000, NOWAIT = 04000, UNDO = 010000, READING = 0, WRITING = 1, UNLOCKED = 2,
};

static u8 buffer[8192];

static void sleep_milliseconds(u64 count)
{
    u64 time[2] = {0, count * 1000000};
    CALL(NANOSLEEP, time, 0);
}

static i64 open(const char *path, int flags)
{
    return CALL(OPENAT, AT_FDCWD, path, flags, 0644);
}

static void named_pipes(void)
{
    put_number("mkfifo", CALL(MKNODAT, AT_FDCWD, "pipe", 010644, 0));
    put_number("exists", CALL(MKNODAT, AT_FDCWD, "pipe", 010644, 0));
    put_number("no reader", open("pipe", WRITING | NONBLOCK));
    i64 child = fork_process();
    if (child == 0) {
        i64 end = open("pipe", WRITING);
        CALL(EXIT_GROUP, CALL(WRITE, end, "through the pipe", 16));
    }
    i64 end = open("pipe", READING);
    put_number("read", CALL(READ, end, buffer, 100));
    put_number("end", CALL(READ, end, buffer, 100));
    put_number("status", wait_for(child, 0));
    CALL(CLOSE, end);
    put_number("both", (end = open("pipe", 2)) > 0);
    put_number("write", CALL(WRITE, end, "x", 1));
    put_number("read", CALL(READ, end, buffer, 100));
    CALL(CLOSE, end);
    put_number("unlink", CALL(UNLINKAT, AT_FDCWD, "pipe", 0));
}

static i64 record(i64 file, int command, u16 kind, u64 start, u64 bytes)
{
    u64 request[4] = {kind, start, bytes, 0};
    i64 done = CALL(FCNTL, file, command, request);
    if (command != 5 || done < 0)
        return done;
    return (u16)request[0] == UNLOCKED ? -1 : (i64)(request[1] * 1000 + request[2]);
}

static void locks(void)
{
    i64 file = open("locked", 0102), other = open("locked", 2);
    CALL(WRITE, file, buffer, 100);
    put_number("lock", record(file, 6, WRITING, 10, 20));
    put_number("part", record(file, 6, READING, 15, 5));
    i64 child = fork_process();
    if (child == 0) {
        put_number("first", record(file, 5, WRITING, 0, 0));
        put_number("second", record(file, 5, WRITING, 16, 2));
        put_number("readers", record(file, 5, READING, 15, 5));
        put_number("excluded", record(file, 6, WRITING, 0, 11));
        put_number("free", record(file, 6, WRITING, 0, 10));
        CALL(EXIT_GROUP, 3 + record(file, 7, WRITING, 10, 1));
    }
    sleep_milliseconds(400);
    put_number("unlock", record(file, 6, UNLOCKED, 10, 1));
    put_number("status", wait_for(child, 0));

    int ends[2];
    CALL(PIPE2, ends, 0);
    put_number("lock", record(file, 6, WRITING, 1, 1));
    child = fork_process();
    if (child == 0) {
        record(file, 6, WRITING, 2, 1);
        CALL(WRITE, ends[1], "", 1);
        CALL(EXIT_GROUP, 4 + record(file, 7, WRITING, 1, 1));
    }
    CALL(READ, ends[0], buffer, 1);
    sleep_milliseconds(400);
    put_number("deadlock", record(file, 7, WRITING, 2, 1));
    put_number("unlock", record(file, 6, UNLOCKED, 1, 1));
    put_number("status", wait_for(child, 0));

    put_number("of the file", record(file, 37, WRITING, 0, 10));
    put_number("other file", record(other, 37, WRITING, 5, 10));
    put_number("flock", CALL(FLOCK, file, 2));
    put_number("excluded", CALL(FLOCK, other, 1 | 4));
    put_number("shared", CALL(FLOCK, file, 1));
    put_number("shared", CALL(FLOCK, other, 1 | 4));
    CALL(CLOSE, file);
    CALL(CLOSE, other);
    CALL(UNLINKAT, AT_FDCWD, "locked", 0);
}

static i64 operate(i64 set, u16 number, short change, u16 flags)
{
    u16 operation[3] = {number, (u16)change, flags};
    return CALL(SEMOP, set, operation, 1);
}

static void semaphores(void)
{
    i64 set = CALL(SEMGET, 0, 2, 0600);
    put_number("set", CALL(SEMCTL, set, 0, 16, 2));
    put_number("take", operate(set, 0, -1, 0));
    put_number("too many", operate(set, 0, -2, NOWAIT));
    put_number("not zero", operate(set, 0, 0, NOWAIT));
    put_number("no such", operate(set, 2, 1, 0));
    u16 both[6] = {0, 0xffff, 0, 1, 0xffff, NOWAIT};
    put_number("all or none", CALL(SEMOP, set, both, 2));
    put_number("value", CALL(SEMCTL, set, 0, 12));
    i64 child = fork_process();
    if (child == 0) {
        put_number("undo", operate(set, 0, -1, UNDO));
        CALL(EXIT_GROUP, 0);
    }
    put_number("status", wait_for(child, 0));
    put_number("value", CALL(SEMCTL, set, 0, 12));
    child = fork_process();
    if (child == 0) {
        CALL(EXIT_GROUP, 5 + operate(set, 1, -3, 0));
    }
    sleep_milliseconds(400);
    put_number("waiting", CALL(SEMCTL, set, 1, 14));
    put_number("give", operate(set, 1, 3, 0));
    put_number("status", wait_for(child, 0));
    u64 time[2] = {0, 1000000};
    u16 take[3] = {1, 0xffff, 0};
    put_number("timeout", CALL(SEMTIMEDOP, set, take, 1, time));
    child = fork_process();
    if (child == 0) {
        // EIDRM.
        CALL(EXIT_GROUP, 43 + operate(set, 1, -1, 0));
    }
    sleep_milliseconds(400);
    put_number("remove", CALL(SEMCTL, set, 0, 0));
    put_number("status", wait_for(child, 0));
}

static struct { i64 type; char text[64]; } note;

static i64 send(i64 queue, i64 type, const char *text)
{
    note.type = type;
    memcpy(note.text, text, length(text));
    return CALL(MSGSND, queue, &note, length(text), NOWAIT);
}

static void receive(i64 queue, i64 type, int flags)
{
    memset(&note, 0, sizeof note);
    i64 got = CALL(MSGRCV, queue, &note, 10, type, flags);
    put_number("receive", got);
    if (got >= 0)
        put_text("text", note.text);
}

static void queues(void)
{
    i64 queue = CALL(MSGGET, 0, 0600);
    put_number("no type", send(queue, 0, "x"));
    put_number("send", send(queue, 3, "three"));
    send(queue, 1, "one");
    send(queue, 2, "two");
    send(queue, 4, "a longer message");
    receive(queue, 2, 0);
    receive(queue, -3, 0);
    receive(queue, 4, 0);
    receive(queue, 4, 010000);
    receive(queue, 9, NOWAIT);
    receive(queue, 0, 0);
    i64 child = fork_process();
    if (child == 0) {
        sleep_milliseconds(10);
        CALL(EXIT_GROUP, send(queue, 5, "later"));
    }
    receive(queue, 0, 0);
    put_number("status", wait_for(child, 0));
    put_number("remove", CALL(MSGCTL, queue, 0, 0));
    receive(queue, 0, 0);

    u64 size[8] = {0, 2, 50, 0};
    // As the C library does, without the slash; QEMU puts it back.
    const char *name = "/kvrm-guest" + 1;
    CALL(MQ_UNLINK, name);
    i64 mq = CALL(MQ_OPEN, name, 0302, 0600, size);
    put_number("send", CALL(MQ_TIMEDSEND, mq, "low", 3, 1, 0));
    put_number("send", CALL(MQ_TIMEDSEND, mq, "high", 4, 7, 0));
    u64 past[2] = {1, 0};
    put_number("full", CALL(MQ_TIMEDSEND, mq, "x", 1, 0, past));
    put_number("too large", CALL(MQ_TIMEDSEND, mq, buffer, 51, 0, 0));
    u32 priority = 0;
    put_number("small", CALL(MQ_TIMEDRECEIVE, mq, buffer, 49, &priority, 0));
    put_number("receive", CALL(MQ_TIMEDRECEIVE, mq, buffer, 50, &priority, 0));
    put_number("priority", priority);
    put_number("attributes", CALL(MQ_GETSETATTR, mq, 0, size));
    put_number("left", size[3]);
    put_number("unlink", CALL(MQ_UNLINK, name));
    put_number("receive", CALL(MQ_TIMEDRECEIVE, mq, buffer, 50, &priority, 0));
    CALL(CLOSE, mq);
}

static void show(i64 notices)
{
    i64 count = CALL(READ, notices, buffer, sizeof buffer);
    put_number("read", count);
    for (i64 at = 0; at < count;) {
        u32 *event = (u32 *)(buffer + at);
        put_number(event[3] ? (char *)(event + 4) : "itself", event[1]);
        at += 16 + event[3];
    }
}

static void watches(void)
{
    i64 notices = CALL(INOTIFY_INIT1, NONBLOCK);
    put_number("watch", CALL(INOTIFY_ADD_WATCH, notices, ".", 0xfff));
    i64 file = open("watched", 0102);
    CALL(WRITE, file, "x", 1);
    CALL(WRITE, file, "y", 1);
    CALL(FCHMOD, file, 0600);
    CALL(CLOSE, file);
    show(notices);
    put_number("watch", CALL(INOTIFY_ADD_WATCH, notices, "watched", 0xfff));
    CALL(RENAMEAT, AT_FDCWD, "watched", AT_FDCWD, "moved");
    CALL(MKDIRAT, AT_FDCWD, "made", 0755);
    CALL(UNLINKAT, AT_FDCWD, "made", 0x200);
    CALL(UNLINKAT, AT_FDCWD, "moved", 0);
    show(notices);
    put_number("none", CALL(READ, notices, buffer, sizeof buffer));
    put_number("gone", CALL(INOTIFY_RM_WATCH, notices, 2));
    put_number("remove", CALL(INOTIFY_RM_WATCH, notices, 1));
    show(notices);
}

int program(int argc, char **argv, char **, u64 *)
{
    if (argc < 2)
        return 2;
    put_number("mkdir", CALL(MKDIRAT, AT_FDCWD, argv[1], 0755));
    CALL(CHDIR, argv[1]);
    named_pipes();
    locks();
    semaphores();
    queues();
    watches();
    CALL(CHDIR, "/");
    put_number("rmdir", CALL(UNLINKAT, AT_FDCWD, argv[1], 0x200));
    return 0;
}
