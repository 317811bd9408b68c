// madvise: pages that children do not get or get as zeros, holes in shared memory, private pages of files read again.
#include "processes.h"

enum {
    DONTNEED = 4, REMOVE = 9, DONTFORK = 10, DOFORK = 11, WIPEONFORK = 18, KEEPONFORK = 19,
    PAGE = 4096, SHARED = 1, PRIVATE = 2, ANONYMOUS = 0x20,
};

static char *map(int flags, i64 file)
{
    return (char *)CALL(MMAP, 0, 4 * PAGE, 3, flags, file, 0);
}

// Returns what a child finds at an address, or the signal that ends it.
static i64 in_child(volatile char *address)
{
    i64 child = fork_process();
    if (child == 0)
        CALL(EXIT_GROUP, *address);
    i64 status = wait_for(child, 0);
    return status & 0x7f ? -(status & 0x7f) : status >> 8;
}

int program(int argc, char **argv, char **, u64 *)
{
    const char *path = argc > 1 ? argv[1] : "/tmp/kvrm-guest-advice";
    char *own = map(PRIVATE | ANONYMOUS, -1), *common = map(SHARED | ANONYMOUS, -1);
    i64 file = CALL(OPENAT, AT_FDCWD, path, 0102, 0600);
    CALL(FTRUNCATE, file, 2 * PAGE + 10);
    CALL(PWRITE64, file, "file", 4, PAGE);
    char *copy = map(PRIVATE, file), *shown = map(SHARED, file);
    for (int page = 0; page < 4; page++)
        own[page * PAGE] = common[page * PAGE] = (char)(page + 1);

    put_number("wipe", CALL(MADVISE, own + PAGE, PAGE, WIPEONFORK));
    put_number("before", in_child(own));
    put_number("wiped", in_child(own + PAGE));
    put_number("after", in_child(own + 2 * PAGE));
    put_number("own", own[PAGE]);
    put_number("keep", CALL(MADVISE, own + PAGE, PAGE, KEEPONFORK));
    put_number("kept", in_child(own + PAGE));
    put_number("wipe shared", CALL(MADVISE, common, PAGE, WIPEONFORK));
    put_number("wipe file", CALL(MADVISE, copy, PAGE, WIPEONFORK));

    if (argc > 2) {
        // QEMU ignores this advice.
        put_number("leave out", CALL(MADVISE, own + PAGE, 2 * PAGE, DONTFORK));
        put_number("before", in_child(own));
        put_number("left out", in_child(own + 2 * PAGE));
        put_number("leave out", CALL(MADVISE, common, PAGE, DONTFORK));
        put_number("left out", in_child(common));
        put_number("there", in_child(common + PAGE));
        put_number("share", CALL(MADVISE, own + 2 * PAGE, PAGE, DOFORK));
        put_number("there", in_child(own + 2 * PAGE));
        put_number("left out", in_child(own + PAGE));
        char *moved = (char *)CALL(MREMAP, own + PAGE, PAGE, 2 * PAGE, 1);
        put_number("left out", in_child(moved));
        put_number("left out", in_child(moved + PAGE));
        put_number("unmap", CALL(MUNMAP, moved, PAGE));
        CALL(MMAP, moved, PAGE, 3, PRIVATE | ANONYMOUS | 0x10, -1, 0);
        put_number("there", in_child(moved));
    }

    copy[PAGE] = 'm', copy[PAGE + 10] = 'n', copy[3] = 'x';
    put_number("changed", copy[PAGE]);
    put_number("read again", CALL(MADVISE, copy, 3 * PAGE, DONTNEED));
    put_number("first", copy[3]);
    put_number("file", copy[PAGE]);
    put_number("rest", copy[PAGE + 10]);
    put_number("own", CALL(MADVISE, own, PAGE, DONTNEED));
    put_number("zero", own[0]);

    put_number("remove", CALL(MADVISE, common + PAGE, 2 * PAGE, REMOVE));
    for (int page = 0; page < 4; page++)
        put_number("common", common[page * PAGE]);
    put_number("remove private", CALL(MADVISE, own, PAGE, REMOVE));
    put_number("remove copy", CALL(MADVISE, copy, PAGE, REMOVE));
    shown[5] = 'q';
    put_number("remove file", CALL(MADVISE, shown + PAGE, 2 * PAGE, REMOVE));
    put_number("kept", shown[5]);
    put_number("removed", shown[PAGE]);
    char bytes[4] = "....";
    put_number("size", CALL(LSEEK, file, 0, 2));
    CALL(PREAD64, file, bytes, 4, PAGE);
    put_number("in the file", bytes[0]);
    put_number("unknown", CALL(MADVISE, own, PAGE, 77));
    CALL(MUNMAP, own, PAGE);
    put_number("no pages", CALL(MADVISE, own, 2 * PAGE, DONTNEED));
    CALL(UNLINKAT, AT_FDCWD, path, 0);
    return 0;
}
