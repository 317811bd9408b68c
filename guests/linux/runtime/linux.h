// What a guest for Linux needs: raw system calls, and just enough of a library to print what they gave.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

// A guest defines this; what it returns is the status it exits with.
int program(int argc, char **argv, char **envp, u64 *auxv);

static inline i64 call6(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
    register u64 x8 __asm__("x8") = number;
    register u64 x0 __asm__("x0") = a;
    register u64 x1 __asm__("x1") = b;
    register u64 x2 __asm__("x2") = c;
    register u64 x3 __asm__("x3") = d;
    register u64 x4 __asm__("x4") = e;
    register u64 x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory", "cc");
    return (i64)x0;
}

// CALL(number, arguments...): those that are not given are zero.
#define CALL(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define CALL_(number, a, b, c, d, e, f, ...)                                                                   \
    call6((u64)(number), (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))

enum {
    AT_FDCWD = -100,
    GETCWD = 17, DUP = 23, DUP3 = 24, FCNTL = 25, IOCTL = 29, MKDIRAT = 34, UNLINKAT = 35, SYMLINKAT = 36,
    LINKAT = 37, RENAMEAT = 38, TRUNCATE = 45, FTRUNCATE = 46, FACCESSAT = 48, CHDIR = 49, FCHDIR = 50,
    FCHMOD = 52, OPENAT = 56, CLOSE = 57, PIPE2 = 59, GETDENTS64 = 61, LSEEK = 62, READ = 63, WRITE = 64,
    READV = 65, WRITEV = 66, PREAD64 = 67, PWRITE64 = 68, SENDFILE = 71, PPOLL = 73, READLINKAT = 78,
    NEWFSTATAT = 79, FSTAT = 80, UTIMENSAT = 88, EXIT = 93, EXIT_GROUP = 94, FUTEX = 98, NANOSLEEP = 101,
    CLOCK_GETTIME = 113, SCHED_YIELD = 124, KILL = 129, SIGACTION = 134, SIGPROCMASK = 135, UNAME = 160,
    UMASK = 166, GETTIMEOFDAY = 169, GETPID = 172, GETUID = 174, BRK = 214, MUNMAP = 215, MREMAP = 216,
    MMAP = 222, MPROTECT = 226, MADVISE = 233, GETRANDOM = 278, STATX = 291,
};

// Print to standard output.
void put(const char *text);
void put_number(const char *name, i64 value);
void put_text(const char *name, const char *text);

u64 length(const char *text);
int same(const char *a, const char *b);

// The compiler calls these on its own account too.
void *memset(void *to, int byte, u64 count);
void *memcpy(void *to, const void *from, u64 count);
