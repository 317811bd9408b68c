// Extended attributes, sizes and root directories of files. The argument names the part.
#include "results.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char value[70000];

// Makes a file with this text.
static int make(const char *path, const char *text) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, text, strlen(text)) < 0)
        exit(1);
    return file;
}

static int by_name(const void *one, const void *other) {
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

// Prints the names of a list, sorted: file systems have different orders.
static void put_list(const char *what, long bytes) {
    const char *names[16];
    int count = 0;
    for (long at = 0; at < bytes && count < 16; at += (long)strlen(value + at) + 1)
        names[count++] = value + at;
    qsort(names, count, sizeof *names, by_name);
    put_number(what, bytes);
    for (int n = 0; n < count; n++)
        puts(names[n]);
}

static void put_value(const char *what, long bytes) {
    put_number(what, bytes);
    if (bytes > 0)
        put_bytes("value", value, bytes);
}

static void test_paths(void) {
    close(make("file", "text"));
    put_number("missing", of(getxattr("file", "user.one", value, 10)));
    put_number("set", of(setxattr("file", "user.one", "first", 5, 0)));
    put_value("get", of(getxattr("file", "user.one", value, 10)));
    put_number("create", of(setxattr("file", "user.one", "x", 1, XATTR_CREATE)));
    put_number("replace nothing", of(setxattr("file", "user.two", "x", 1, XATTR_REPLACE)));
    put_number("replace", of(setxattr("file", "user.one", "second value", 12, XATTR_REPLACE)));
    put_number("both flags", of(setxattr("file", "user.one", "x", 1, XATTR_CREATE | XATTR_REPLACE)));
    put_number("bad flags", of(setxattr("file", "user.one", "x", 1, 4)));
    put_number("size", of(getxattr("file", "user.one", NULL, 0)));
    put_number("short buffer", of(getxattr("file", "user.one", value, 11)));
    put_value("exact buffer", of(getxattr("file", "user.one", value, 12)));
    put_number("create two", of(setxattr("file", "user.two", "", 0, XATTR_CREATE)));
    put_value("empty value", of(getxattr("file", "user.two", value, 5)));
    put_list("list", of(listxattr("file", value, sizeof value)));
    put_number("size of list", of(listxattr("file", NULL, 0)));
    put_number("short list", of(listxattr("file", value, 17)));
    put_number("remove", of(removexattr("file", "user.one")));
    put_number("remove again", of(removexattr("file", "user.one")));
    put_list("list", of(listxattr("file", value, sizeof value)));
    put_number("no file", of(setxattr("none", "user.one", "x", 1, 0)));
    put_number("no file", of(getxattr("none", "user.one", value, 1)));
    put_number("no file", of(removexattr("none", "user.one")));
    put_number("no directory", of(setxattr("file/none", "user.one", "x", 1, 0)));
    put_number("directory", of(setxattr(".", "user.of directory", "x", 1, 0)));
    put_value("directory", of(getxattr(".", "user.of directory", value, 1)));
    put_number("directory", of(removexattr(".", "user.of directory")));
}

static void test_names(void) {
    int file = make("file", "text");
    static char name[300];
    memcpy(name, "user.", 5);
    memset(name + 5, 'n', sizeof name - 6);
    put_number("name too long", of(setxattr("file", name, "x", 1, 0)));
    put_number("name too long", of(getxattr("file", name, value, 1)));
    put_number("name too long", of(removexattr("file", name)));
    name[255] = 0;
    put_number("longest name", of(setxattr("file", name, "x", 1, 0)));
    put_value("longest name", of(getxattr("file", name, value, 1)));
    put_number("empty name", of(setxattr("file", "", "x", 1, 0)));
    put_number("empty name", of(getxattr("file", "", value, 1)));
    put_number("empty name", of(removexattr("file", "")));
    put_number("only a prefix", of(setxattr("file", "user.", "x", 1, 0)));
    put_number("only a prefix", of(getxattr("file", "user.", value, 1)));
    put_number("only a prefix", of(removexattr("file", "user.")));
    put_number("no prefix", of(setxattr("file", "name", "x", 1, 0)));
    put_number("unknown prefix", of(setxattr("file", "kvrm.name", "x", 1, 0)));
    put_number("unknown prefix", of(getxattr("file", "kvrm.name", value, 1)));
    put_number("unknown prefix", of(removexattr("file", "kvrm.name")));
    put_number("value too long", of(setxattr("file", "user.x", value, 65537, 0)));
    put_number("descriptor", of(fsetxattr(file, "user.x", "by descriptor", 13, 0)));
    put_value("descriptor", of(fgetxattr(file, "user.x", value, 100)));
    put_value("path", of(getxattr("file", "user.x", value, 100)));
    put_number("descriptor", of(fremovexattr(file, "user.x")));
    put_number("descriptor", of(fremovexattr(file, "user.x")));
    put_number("descriptor", of(flistxattr(file, NULL, 0)));
    put_number("no descriptor", of(fsetxattr(99, "user.x", "x", 1, 0)));
    put_number("no descriptor", of(fgetxattr(99, "user.x", value, 1)));
    put_number("no descriptor", of(fremovexattr(99, "user.x")));
    put_number("no descriptor", of(flistxattr(-1, value, 1)));
    int path = open("file", O_PATH);
    put_number("path only", of(fsetxattr(path, "user.x", "x", 1, 0)));
    put_number("path only", of(fgetxattr(path, "user.x", value, 1)));
    put_number("path only", of(fremovexattr(path, "user.x")));
    put_number("path only", of(flistxattr(path, value, 1)));
    int reader = open("file", O_RDONLY);
    put_number("reader", of(fsetxattr(reader, "user.x", "x", 1, 0)));
}

static void test_links(void) {
    close(make("file", "text"));
    if (symlink("file", "link") || symlink("none", "dangling") || mkfifo("pipe", 0600))
        exit(1);
    put_number("through", of(setxattr("link", "user.x", "through a link", 14, 0)));
    put_value("of file", of(getxattr("file", "user.x", value, 100)));
    put_value("through", of(getxattr("link", "user.x", value, 100)));
    put_number("of link", of(lsetxattr("link", "user.x", "x", 1, 0)));
    put_number("of link", of(lgetxattr("link", "user.x", value, 100)));
    put_number("of link", of(lremovexattr("link", "user.x")));
    put_number("list of link", of(llistxattr("link", value, 100)));
    put_number("not a link", of(lsetxattr("file", "user.y", "y", 1, 0)));
    put_value("not a link", of(lgetxattr("file", "user.y", value, 100)));
    put_number("not a link", of(lremovexattr("file", "user.y")));
    put_number("through", of(removexattr("link", "user.x")));
    put_number("dangling", of(setxattr("dangling", "user.x", "x", 1, 0)));
    put_number("dangling", of(lsetxattr("dangling", "user.x", "x", 1, 0)));
    put_number("pipe", of(setxattr("pipe", "user.x", "x", 1, 0)));
    put_number("pipe", of(getxattr("pipe", "user.x", value, 1)));
    put_number("pipe", of(removexattr("pipe", "user.x")));
    put_number("pipe", of(listxattr("pipe", value, 1)));
    unlink("pipe");
}

static long size_of(const char *path) {
    struct stat status;
    return stat(path, &status) ? -1 : (long)status.st_size;
}

static void test_sizes(void) {
    int file = make("file", "the text");
    put_number("shorter", of(truncate("file", 3)));
    put_number("size", size_of("file"));
    put_number("longer", of(truncate("file", 5000)));
    put_number("size", size_of("file"));
    put_bytes("text", value, of(pread(file, value, 6, 0)));
    put_number("negative", of(truncate("file", -1)));
    put_number("negative of nothing", of(truncate("none", -1)));
    put_number("nothing", of(truncate("none", 1)));
    put_number("empty path", of(truncate("", 1)));
    put_number("not a directory", of(truncate("file/none", 1)));
    put_number("directory", of(truncate(".", 1)));
    if (symlink("file", "link") || mkfifo("pipe", 0600))
        exit(1);
    put_number("link", of(truncate("link", 2)));
    put_number("size", size_of("file"));
    put_number("pipe", of(truncate("pipe", 0)));
    put_number("device", of(truncate("/dev/null", 0)));
    put_number("descriptor", of(ftruncate(file, 4)));
    put_number("size", size_of("file"));
    put_number("negative", of(ftruncate(file, -1)));
    put_number("no descriptor", of(ftruncate(99, 1)));
    int reader = open("file", O_RDONLY);
    put_number("reader", of(ftruncate(reader, 1)));
    int path = open("file", O_PATH);
    put_number("path only", of(ftruncate(path, 1)));
    put_number("position", of(lseek(file, 0, SEEK_CUR)));
    unlink("pipe");
}

// Prints the current directory. A path outside of the root directory depends on the system around it.
static void put_directory(const char *what) {
    char path[1000];
    long count = of(syscall(SYS_getcwd, path, sizeof path));
    int is_outside = count > 0 && path[0] != '/';
    put_number(what, is_outside ? 0 : count);
    puts(is_outside ? "outside" : path);
}

static void in_root(void) {
    put_number("nothing", of(chroot("none")));
    put_number("file", of(chroot("file")));
    put_number("root", of(chroot("inner")));
    put_number("absolute", of(open("/outer", O_RDONLY)));
    put_number("absolute", size_of("/part/text"));
    put_number("relative", size_of("file"));
    put_number("above", size_of("/../../../part/text"));
    put_number("link", size_of("/link"));
    put_number("make", of(mkdir("/made", 0755)));
    put_number("enter", of(chdir("/part")));
    put_directory("directory");
    put_number("out", of(chdir("../../..")));
    put_directory("directory");
    put_number("again", of(chroot("part")));
    put_directory("directory within");
    put_number("text", size_of("/text"));
    put_number("enter", of(chdir("/")));
    put_directory("directory");
}

static void test_roots(void) {
    close(make("file", "four"));
    if (mkdir("inner", 0755) || mkdir("inner/part", 0755) || symlink("/part/text", "inner/link"))
        exit(1);
    close(make("inner/part/text", "inside"));
    pid_t child = fork();
    if (!child) {
        in_root();
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    put_number("status", status);
    put_number("made", of(rmdir("inner/made")));
    put_number("own root", size_of("/data/file"));
}

int main(int argc, char **argv) {
    const struct part parts[] = {
        {"paths", test_paths}, {"names", test_names}, {"links", test_links},
        {"sizes", test_sizes}, {"roots", test_roots}, {0},
    };
    return run_part(parts, argc, argv);
}
