// Files, directories and links, in a directory of their own; every answer is printed. Arguments: where to make it.
#include "linux.h"

static u8 buffer[4096];

static i64 open(const char *path, u64 flags)
{
    return CALL(OPENAT, AT_FDCWD, path, flags, 0644);
}

static void show(const char *path)
{
    i64 file = open(path, 0);
    if (file < 0) {
        put_number("open", file);
        return;
    }
    i64 count = CALL(READ, file, buffer, sizeof buffer - 1);
    buffer[count < 0 ? 0 : count] = 0;
    put_text(path, (char *)buffer);
    CALL(CLOSE, file);
}

// Names of a directory, sorted, as file systems list them as they like.
static void list(const char *path)
{
    static char names[16][32];
    u64 found = 0;
    i64 directory = open(path, 040000), count;
    while ((count = CALL(GETDENTS64, directory, buffer, sizeof buffer)) > 0)
        for (u8 *at = buffer; at < buffer + count; at += *(u16 *)(at + 16))
            if (found < LENGTH(names)) {
                char type[] = {'0' + at[18], ' ', 0};
                memcpy(names[found], type, 2);
                memcpy(names[found++] + 2, at + 19, length((char *)at + 19) + 1);
            }
    put_number("getdents", count);
    for (u64 i = 0; i < found; i++)
        for (u64 j = i + 1; j < found; j++) {
            u64 k = 0;
            while (names[i][k] && names[i][k] == names[j][k])
                k++;
            if (names[j][k] < names[i][k]) {
                char other[32];
                memcpy(other, names[i], 32);
                memcpy(names[i], names[j], 32);
                memcpy(names[j], other, 32);
            }
        }
    for (u64 i = 0; i < found; i++)
        put_text("name", names[i]);
    CALL(CLOSE, directory);
}

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    (void)envp, (void)auxv;
    if (argc < 2)
        return 2;
    CALL(UMASK, 022);
    put_number("mkdir", CALL(MKDIRAT, AT_FDCWD, argv[1], 0755));
    put_number("chdir", CALL(CHDIR, argv[1]));
    i64 file = open("a", 0102 | 0200);
    put_number("write", CALL(WRITE, file, "hello, world", 12));
    put_number("seek", CALL(LSEEK, file, 7, 0));
    put_number("pwrite", CALL(PWRITE64, file, "HELL", 4, 0));
    put_number("write", CALL(WRITE, file, "there", 5));
    put_number("end", CALL(LSEEK, file, 0, 2));
    put_number("before", CALL(LSEEK, file, -1, 0));
    put_number("hole", CALL(PWRITE64, file, "!", 1, 15));
    put_number("pread", CALL(PREAD64, file, buffer, 100, 12));
    put_number("byte", buffer[1]);
    put_number("truncate", CALL(FTRUNCATE, file, 10));
    put_number("exclusive", open("a", 0302));
    put_number("no file", open("b", 0));
    put_number("a file as a directory", open("a/b", 0));
    put_number("a directory to write", open(".", 1));
    struct { const void *at; u64 bytes; } vectors[] = {{"one ", 4}, {"", 0}, {"two", 3}};
    put_number("append", CALL(FCNTL, file, 4, 02000));
    put_number("writev", CALL(WRITEV, file, vectors, 3));
    show("a");
    put_number("link", CALL(LINKAT, AT_FDCWD, "a", AT_FDCWD, "b"));
    put_number("symlink", CALL(SYMLINKAT, "b", AT_FDCWD, "c"));
    put_number("loop", CALL(SYMLINKAT, "loop", AT_FDCWD, "loop"));
    put_number("open loop", open("loop", 0));
    put_number("nofollow", open("c", 0100000));
    put_number("readlink", CALL(READLINKAT, AT_FDCWD, "c", buffer, 100));
    put_number("readlink of a file", CALL(READLINKAT, AT_FDCWD, "a", buffer, 100));
    show("c");
    put_number("stat", CALL(NEWFSTATAT, AT_FDCWD, "c", buffer, 0));
    put_number("mode", *(u32 *)(buffer + 16));
    put_number("links", *(u32 *)(buffer + 20));
    put_number("size", *(u64 *)(buffer + 48));
    put_number("lstat", CALL(NEWFSTATAT, AT_FDCWD, "c", buffer, 0x100));
    put_number("mode", *(u32 *)(buffer + 16));
    put_number("statx", CALL(STATX, AT_FDCWD, "a", 0, 0x7ff, buffer));
    put_number("size", *(u64 *)(buffer + 40));
    put_number("mkdir", CALL(MKDIRAT, AT_FDCWD, "d", 0700));
    put_number("mkdir again", CALL(MKDIRAT, AT_FDCWD, "d", 0700));
    put_number("into itself", CALL(RENAMEAT, AT_FDCWD, "d", AT_FDCWD, "d/e"));
    put_number("rename", CALL(RENAMEAT, AT_FDCWD, "b", AT_FDCWD, "d/e"));
    list(".");
    list("d");
    put_number("rmdir full", CALL(UNLINKAT, AT_FDCWD, "d", 0x200));
    put_number("unlink directory", CALL(UNLINKAT, AT_FDCWD, "d", 0) < 0);
    put_number("rmdir of a file", CALL(UNLINKAT, AT_FDCWD, "a", 0x200));
    put_number("dangling", open("c", 0));
    put_number("access", CALL(FACCESSAT, AT_FDCWD, "d/e", 4));
    put_number("up", CALL(NEWFSTATAT, AT_FDCWD, "d/../d/./e", buffer, 0));
    put_number("unlink", CALL(UNLINKAT, AT_FDCWD, "d/e", 0));
    put_number("unlink", CALL(UNLINKAT, AT_FDCWD, "a", 0));
    put_number("still open", CALL(PREAD64, file, buffer, 4, 0));
    put_number("fstat", CALL(FSTAT, file, buffer));
    put_number("links", *(u32 *)(buffer + 20));
    put_number("close", CALL(CLOSE, file));
    put_number("close again", CALL(CLOSE, file));
    put_number("rmdir", CALL(UNLINKAT, AT_FDCWD, "d", 0x200));
    CALL(UNLINKAT, AT_FDCWD, "c", 0);
    CALL(UNLINKAT, AT_FDCWD, "loop", 0);
    // A file without a path.
    put_number("temporary to read", CALL(OPENAT, AT_FDCWD, ".", 020040000, 0600));
    put_number("temporary without a directory", CALL(OPENAT, AT_FDCWD, "missing", 020040002, 0600));
    file = CALL(OPENAT, AT_FDCWD, ".", 020040002, 0640);
    put_number("temporary", file > 2);
    put_number("write", CALL(WRITE, file, "text", 4));
    put_number("fstat", CALL(FSTAT, file, buffer));
    put_number("mode", *(u32 *)(buffer + 16));
    put_number("links", *(u32 *)(buffer + 20));
    put_number("size", *(u64 *)(buffer + 48));
    put_number("close", CALL(CLOSE, file));
    list(".");
    put_number("out", CALL(CHDIR, "/"));
    put_number("above the root", CALL(CHDIR, "../../.."));
    put_number("getcwd", CALL(GETCWD, buffer, 100));
    put_text("cwd", (char *)buffer);
    put_number("rmdir", CALL(UNLINKAT, AT_FDCWD, argv[1], 0x200));
    return 3;
}
