// Transfers between descriptors: vectors at positions, pipes that splice, copies within the kernel, batches of messages, and
// calls that write to the disk. The argument names the part.
#include "results.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[100];
static int ends[2], others[2];

// Makes a file with this text.
static int make(const char *path, const char *contents, int flags) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | flags, 0644);
    if (file < 0 || write(file, contents, strlen(contents)) < 0)
        exit(1);
    return file;
}

static void make_pipes(void) {
    if (pipe(ends) || pipe(others))
        exit(1);
}

// Reads what a descriptor has, and prints it.
static void put_read(const char *what, int file) {
    long count = of(read(file, text, sizeof text));
    put_number(what, count);
    if (count > 0)
        put_bytes("text", text, count);
}

static void test_vectors(void) {
    int file = make("file", "0123456789", 0);
    char first[4], second[8];
    struct iovec in[] = {{first, 4}, {NULL, 0}, {second, 8}};
    struct iovec out[] = {{"abc", 3}, {"", 0}, {"defg", 4}};
    put_number("preadv", of(preadv(file, in, 3, 1)));
    put_bytes("first", first, 4);
    put_bytes("second", second, 5);
    put_number("at end", of(preadv(file, in, 3, 10)));
    put_number("behind end", of(preadv(file, in, 3, 1000)));
    put_number("negative", of(preadv(file, in, 3, -1)));
    put_number("no vector", of(preadv(file, in, 0, 0)));
    put_number("too many", of(preadv(file, in, 1025, 0)));
    put_number("negative count", of(preadv(file, in, -1, 0)));
    put_number("bad vector", of(preadv(file, NULL, 1, 0)));
    put_number("pwritev", of(pwritev(file, out, 3, 5)));
    put_number("hole", of(pwritev(file, out, 1, 20)));
    put_number("negative", of(pwritev(file, out, 3, -5)));
    put_number("no vector", of(pwritev(file, out, 0, 0)));
    put_number("too many", of(pwritev(file, out, 1025, 0)));
    put_number("position", of(lseek(file, 0, SEEK_CUR)));
    lseek(file, 0, SEEK_SET);
    put_read("contents", file);
    struct iovec negative[] = {{first, 4}, {second, (size_t)-1}};
    put_number("negative length", of(preadv(file, negative, 2, 0)));
    struct iovec wrong[] = {{first, 2}, {(void *)8, 4}};
    put_number("bad second buffer", of(preadv(file, wrong, 2, 0)));
    put_number("bad first buffer", of(preadv(file, wrong + 1, 1, 0)));
    int reader = open("file", O_RDONLY), writer = open("file", O_WRONLY), path = open("file", O_PATH);
    put_number("write to reader", of(pwritev(reader, out, 3, 0)));
    put_number("read from writer", of(preadv(writer, in, 3, 0)));
    put_number("path only", of(preadv(path, in, 3, 0)));
    put_number("path only", of(pwritev(path, out, 3, 0)));
    put_number("no descriptor", of(preadv(99, in, 3, 0)));
    put_number("no descriptor", of(pwritev(99, out, 3, 0)));
    put_number("directory", of(preadv(open(".", O_RDONLY), in, 3, 0)));
    make_pipes();
    put_number("pipe", of(preadv(ends[0], in, 3, 0)));
    put_number("pipe", of(pwritev(ends[1], out, 3, 0)));
    int end = make("end", "end", O_APPEND);
    put_number("append", of(pwritev(end, out, 3, 0)));
    lseek(end, 0, SEEK_SET);
    put_read("contents", end);
}

static void test_splice(void) {
    int file = make("file", "0123456789", 0), copy = make("copy", "", 0);
    make_pipes();
    loff_t from = 2, to = 3;
    put_number("file to pipe", of(splice(file, &from, ends[1], NULL, 5, 0)));
    put_number("from", from);
    put_number("pipe to file", of(splice(ends[0], NULL, copy, &to, 3, 0)));
    put_number("to", to);
    put_number("position", of(lseek(copy, 0, SEEK_CUR)));
    put_number("pipe to pipe", of(splice(ends[0], NULL, others[1], NULL, 100, 0)));
    put_read("others", others[0]);
    put_number("empty", of(splice(ends[0], NULL, others[1], NULL, 10, SPLICE_F_NONBLOCK)));
    put_number("empty", of(splice(ends[0], NULL, copy, NULL, 10, SPLICE_F_NONBLOCK)));
    put_number("at end", of(splice(file, NULL, ends[1], NULL, 10, 0)));
    lseek(file, 7, SEEK_SET);
    put_number("own position", of(splice(file, NULL, ends[1], NULL, 10, SPLICE_F_MOVE | SPLICE_F_MORE)));
    put_number("position", of(lseek(file, 0, SEEK_CUR)));
    put_number("own position", of(splice(ends[0], NULL, copy, NULL, 10, SPLICE_F_GIFT)));
    put_number("position", of(lseek(copy, 0, SEEK_CUR)));
    lseek(copy, 0, SEEK_SET);
    put_read("copy", copy);
    put_number("nothing", of(splice(file, NULL, ends[1], NULL, 0, 0)));
    put_number("nothing of nothing", of(splice(99, NULL, 98, NULL, 0, 0)));
    put_number("bad flags", of(splice(file, NULL, ends[1], NULL, 1, 16)));
    put_number("no pipe", of(splice(file, NULL, copy, NULL, 1, 0)));
    put_number("no descriptor", of(splice(99, NULL, ends[1], NULL, 1, 0)));
    put_number("no descriptor", of(splice(ends[0], NULL, 99, NULL, 1, 0)));
    put_number("position of pipe", of(splice(ends[0], &from, copy, NULL, 1, 0)));
    put_number("position of pipe", of(splice(file, NULL, ends[1], &to, 1, 0)));
    put_number("write end", of(splice(ends[1], NULL, copy, NULL, 1, 0)));
    put_number("read end", of(splice(file, NULL, ends[0], NULL, 1, 0)));
    put_number("itself", of(splice(ends[0], NULL, ends[1], NULL, 1, 0)));
    put_number("directory", of(splice(open(".", O_RDONLY), NULL, ends[1], NULL, 1, 0)));
    put_number("reader", of(splice(ends[0], NULL, open("file", O_RDONLY), NULL, 1, 0)));
    put_number("writer", of(splice(open("file", O_WRONLY), NULL, ends[1], NULL, 1, 0)));
    put_number("append", of(splice(ends[0], NULL, make("end", "", O_APPEND), NULL, 1, 0)));
    from = -1;
    put_number("negative", of(splice(file, &from, ends[1], NULL, 1, 0)));
    close(others[0]);
    signal(SIGPIPE, SIG_IGN);
    from = 0;
    put_number("no reader", of(splice(file, &from, others[1], NULL, 4, 0)));
    close(ends[1]);
    put_number("no writer", of(splice(ends[0], NULL, copy, NULL, 4, 0)));
}

static void test_tee(void) {
    make_pipes();
    put_number("write", of(write(ends[1], "to both", 7)));
    put_number("part", of(tee(ends[0], others[1], 2, 0)));
    put_number("all", of(tee(ends[0], others[1], 100, 0)));
    put_read("others", others[0]);
    put_read("ends", ends[0]);
    put_number("empty", of(tee(ends[0], others[1], 100, SPLICE_F_NONBLOCK)));
    put_number("nothing", of(tee(ends[0], others[1], 0, 0)));
    put_number("bad flags", of(tee(ends[0], others[1], 1, 16)));
    put_number("itself", of(tee(ends[0], ends[1], 1, 0)));
    put_number("wrong ends", of(tee(ends[1], others[0], 1, 0)));
    put_number("file", of(tee(make("file", "text", 0), ends[1], 1, 0)));
    put_number("no descriptor", of(tee(99, ends[1], 1, 0)));
    // A reader waits for a writer.
    pid_t child = fork();
    if (!child) {
        usleep(20000);
        _exit(write(ends[1], "late", 4) != 4);
    }
    put_number("waited", of(tee(ends[0], others[1], 100, 0)));
    put_read("others", others[0]);
    waitpid(child, NULL, 0);
    // With vmsplice, memory becomes the contents of a pipe, and those of a pipe become memory.
    struct iovec parts[] = {{"from ", 5}, {"memory", 6}};
    put_read("late", ends[0]);
    put_number("vmsplice", of(vmsplice(ends[1], parts, 2, 0)));
    put_read("ends", ends[0]);
    write(ends[1], "to memory", 9);
    struct iovec in[] = {{text, 3}, {text + 3, 50}};
    put_number("vmsplice", of(vmsplice(ends[0], in, 2, 0)));
    put_bytes("text", text, 9);
    put_number("nothing", of(vmsplice(ends[1], parts, 0, 0)));
    put_number("bad flags", of(vmsplice(ends[1], parts, 1, 16)));
    put_number("too many", of(vmsplice(ends[1], parts, 1025, 0)));
    put_number("file", of(vmsplice(open("file", O_RDWR), parts, 1, 0)));
    put_number("no descriptor", of(vmsplice(99, parts, 1, 0)));
    put_number("bad buffer", of(vmsplice(ends[1], (struct iovec[]){{(void *)8, 4}}, 1, 0)));
    int full = 0;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    static char block[4096];
    while (write(ends[1], block, sizeof block) == sizeof block)
        full++;
    put_number("full", full);
    put_number("full", of(vmsplice(ends[1], parts, 2, SPLICE_F_NONBLOCK)));
    put_number("full", of(tee(others[0], ends[1], 1, SPLICE_F_NONBLOCK)));
}

// Calls that wait for the other process: it reads and writes with pauses.
static void test_waits(void) {
    static char much[80000], all[80000];
    memset(much, 'm', sizeof much);
    int file = make("file", "", 0);
    make_pipes();
    pid_t child = fork();
    if (!child) {
        long count, sum = 0;
        usleep(10000);
        while (sum < (long)sizeof all && (count = read(ends[0], all, sizeof all)) > 0)
            sum += count;
        usleep(10000);
        _exit(write(others[1], "late", 4) != 4);
    }
    put_number("a long write", of(write(ends[1], much, sizeof much)));
    put_number("waited", of(splice(others[0], NULL, ends[1], NULL, 10, 0)));
    int status;
    waitpid(child, &status, 0);
    put_read("late", ends[0]);
    put_number("status", status);
    // More than a pipe has room for.
    put_number("truncate", of(ftruncate(file, 3 * 65536)));
    put_number("part", of(splice(file, &(loff_t){0}, ends[1], NULL, 3 * 65536, 0)));
    put_number("full", of(splice(file, &(loff_t){0}, ends[1], NULL, 1, SPLICE_F_NONBLOCK)));
    child = fork();
    if (!child) {
        usleep(10000);
        _exit(read(ends[0], all, 65536) != 65536);
    }
    put_number("waited for room", of(splice(file, &(loff_t){0}, ends[1], NULL, 4096, 0)));
    waitpid(child, &status, 0);
    put_number("status", status);
    put_number("part", of(sendfile(others[1], file, &(off_t){0}, 3 * 65536)));
    child = fork();
    if (!child) {
        usleep(10000);
        _exit(read(others[0], all, 65536) != 65536);
    }
    put_number("waited for room", of(tee(ends[0], others[1], 100, 0)));
    waitpid(child, &status, 0);
    put_number("status", status);
}

static void test_sendfile(void) {
    int file = make("file", "0123456789", 0), copy = make("copy", "", 0);
    make_pipes();
    off_t at = 4;
    put_number("to file", of(sendfile(copy, file, &at, 3)));
    put_number("position", at);
    put_number("to pipe", of(sendfile(ends[1], file, &at, 100)));
    put_number("at end", of(sendfile(ends[1], file, &at, 100)));
    put_read("pipe", ends[0]);
    put_number("own position", of(sendfile(ends[1], file, NULL, 100)));
    lseek(file, 8, SEEK_SET);
    put_number("own position", of(sendfile(ends[1], file, NULL, 100)));
    put_number("nothing", of(sendfile(copy, file, NULL, 0)));
    put_number("from pipe", of(sendfile(copy, ends[0], NULL, 1)));
    put_number("from pipe", of(sendfile(others[1], ends[0], NULL, 1)));
    put_number("position of pipe", of(sendfile(copy, ends[0], &at, 1)));
    put_number("append", of(sendfile(make("end", "", O_APPEND), file, &at, 1)));
    put_number("reader", of(sendfile(open("copy", O_RDONLY), file, NULL, 1)));
    put_number("writer", of(sendfile(copy, open("file", O_WRONLY), NULL, 1)));
    put_number("no descriptor", of(sendfile(99, file, NULL, 1)));
    put_number("no descriptor", of(sendfile(copy, 99, NULL, 1)));
    at = -1;
    put_number("negative", of(sendfile(copy, file, &at, 1)));
    put_number("directory", of(sendfile(copy, open(".", O_RDONLY), NULL, 1)));
    loff_t from = 1, to = 6;
    put_number("range", of(copy_file_range(file, &from, copy, &to, 4, 0)));
    put_number("from", from);
    put_number("to", to);
    put_number("overlap", of(copy_file_range(file, &(loff_t){0}, file, &(loff_t){2}, 5, 0)));
    put_number("within", of(copy_file_range(file, &(loff_t){0}, file, &(loff_t){20}, 5, 0)));
    put_number("pipe", of(copy_file_range(file, NULL, ends[1], NULL, 1, 0)));
    put_number("pipe", of(copy_file_range(ends[0], NULL, file, NULL, 1, 0)));
    put_number("bad flags", of(copy_file_range(file, NULL, copy, NULL, 1, 1)));
    put_number("append", of(copy_file_range(file, NULL, open("end", O_RDWR | O_APPEND), NULL, 1, 0)));
    put_number("directory", of(copy_file_range(open(".", O_RDONLY), NULL, copy, NULL, 1, 0)));
    put_number("reader", of(copy_file_range(file, NULL, open("copy", O_RDONLY), NULL, 1, 0)));
}

static void test_messages(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
        exit(1);
    static char room[4][8];
    struct iovec out[] = {{"one", 3}, {"second", 6}, {"third one is long", 17}}, in[4];
    struct mmsghdr messages[4] = {0};
    for (int n = 0; n < 3; n++)
        messages[n].msg_hdr = (struct msghdr){.msg_iov = out + n, .msg_iovlen = 1};
    put_number("send", of(sendmmsg(pair[0], messages, 3, 0)));
    for (int n = 0; n < 3; n++)
        put_number("sent", messages[n].msg_len);
    for (int n = 0; n < 4; n++) {
        in[n] = (struct iovec){room[n], 8};
        messages[n] = (struct mmsghdr){.msg_hdr = {.msg_iov = in + n, .msg_iovlen = 1}};
    }
    put_number("receive", of(recvmmsg(pair[1], messages, 4, MSG_DONTWAIT, NULL)));
    for (int n = 0; n < 3; n++) {
        put_number("received", messages[n].msg_len);
        put_number("truncated", messages[n].msg_hdr.msg_flags & MSG_TRUNC);
        put_bytes("text", room[n], messages[n].msg_len);
    }
    put_number("empty", of(recvmmsg(pair[1], messages, 4, MSG_DONTWAIT, NULL)));
    put_number("none", of(sendmmsg(pair[0], messages, 0, 0)));
    put_number("no descriptor", of(sendmmsg(99, messages, 1, 0)));
    put_number("no descriptor", of(recvmmsg(99, messages, 1, 0, NULL)));
    put_number("no socket", of(sendmmsg(1, messages, 1, 0)));
    put_number("no socket", of(recvmmsg(0, messages, 1, 0, NULL)));
}

static void test_disk(void) {
    int file = make("file", "0123456789", 0), writer = open("file", O_WRONLY), path = open("file", O_PATH);
    int flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    make_pipes();
    sync();
    put_number("range", of(sync_file_range(file, 0, 0, flags)));
    put_number("part", of(sync_file_range(file, 2, 1000, SYNC_FILE_RANGE_WRITE)));
    put_number("bad flags", of(sync_file_range(file, 0, 0, 8)));
    put_number("negative", of(sync_file_range(file, -1, 1, flags)));
    put_number("negative", of(sync_file_range(file, 0, -1, flags)));
    put_number("pipe", of(sync_file_range(ends[1], 0, 0, flags)));
    put_number("directory", of(sync_file_range(open(".", O_RDONLY), 0, 0, flags)));
    put_number("device", of(sync_file_range(open("/dev/null", O_RDONLY), 0, 0, flags)));
    put_number("no descriptor", of(sync_file_range(99, 0, 0, flags)));
    put_number("path only", of(sync_file_range(path, 0, 0, flags)));
    put_number("fsync", of(fsync(file)));
    put_number("pipe", of(fsync(ends[1])));
    put_number("path only", of(fsync(path)));
    put_number("fdatasync", of(fdatasync(file)));
    put_number("pipe", of(fdatasync(ends[0])));
    put_number("syncfs", of(syncfs(file)));
    put_number("pipe", of(syncfs(ends[0])));
    put_number("path only", of(syncfs(path)));
    put_number("no descriptor", of(syncfs(99)));
    put_number("readahead", of(readahead(file, 0, 4096)));
    put_number("writer", of(readahead(writer, 0, 4096)));
    put_number("pipe", of(readahead(ends[0], 0, 4096)));
    put_number("directory", of(readahead(open(".", O_RDONLY), 0, 4096)));
    put_number("path only", of(readahead(path, 0, 4096)));
    put_number("no descriptor", of(readahead(99, 0, 4096)));
    put_number("advice", of(posix_fadvise(file, 0, 100, POSIX_FADV_WILLNEED)));
    put_number("bad advice", posix_fadvise(file, 0, 100, 8));
    put_number("negative", posix_fadvise(file, 0, -1, POSIX_FADV_NORMAL));
    put_number("pipe", posix_fadvise(ends[0], 0, 1, POSIX_FADV_NORMAL));
    put_number("no descriptor", posix_fadvise(99, 0, 1, POSIX_FADV_NORMAL));
}

int main(int argc, char **argv) {
    const struct part parts[] = {
        {"vectors", test_vectors}, {"splice", test_splice}, {"tee", test_tee}, {"waits", test_waits}, {"sendfile", test_sendfile},
        {"messages", test_messages}, {"disk", test_disk}, {0},
    };
    return run_part(parts, argc, argv);
}
