// Memory that comes and goes: the heap, mappings, permissions, code that is made at run time.
#include "code.h"

#define PAGE 4096ul
enum { READ_ = 1, WRITE_ = 2, EXEC_ = 4, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20 };

static i64 map(u64 at, u64 bytes, u64 protection, u64 flags)
{
    return CALL(MMAP, at, bytes, protection, PRIVATE | ANONYMOUS | flags, -1, 0);
}

// A sum that depends on every word and its place.
static u64 sum(const u64 *at, u64 words)
{
    u64 hash = 0;
    for (u64 i = 0; i < words; i++)
        hash = hash * 31 + at[i];
    return hash;
}

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    (void)argc, (void)argv, (void)envp, (void)auxv;
    u64 heap = CALL(BRK, 0);
    put_number("more", CALL(BRK, heap + 5 * PAGE + 100) - heap);
    u64 *words = (u64 *)heap;
    u64 fresh = sum(words, 5 * PAGE / 8);
    put_number("fresh", fresh);
    for (u64 i = 0; i < 5 * PAGE / 8; i++)
        words[i] = i * i;
    put_number("written", sum(words, 5 * PAGE / 8));
    put_number("less", CALL(BRK, heap + PAGE) - heap);
    put_number("more", CALL(BRK, heap + 5 * PAGE) - heap);
    put_number("some kept", sum(words, 5 * PAGE / 8));
    put_number("too much", CALL(BRK, -1ul) - heap);

    u64 a = map(0, 10 * PAGE, READ_ | WRITE_, 0);
    words = (u64 *)a;
    for (u64 i = 0; i < 10 * PAGE / 8; i++)
        words[i] = i ^ a;
    for (u64 i = 0; i < 10 * PAGE / 8; i++)
        words[i] ^= a;
    put_number("mapped", sum(words, 10 * PAGE / 8));
    put_number("hole", CALL(MUNMAP, a + 4 * PAGE, 2 * PAGE));
    put_number("before", is_there(a + 3 * PAGE));
    put_number("in", is_there(a + 4 * PAGE));
    put_number("behind", is_there(a + 6 * PAGE));
    put_number("protect over a hole", CALL(MPROTECT, a, 10 * PAGE, READ_));
    put_number("fill", map(a + 4 * PAGE, 2 * PAGE, READ_ | WRITE_, FIXED) - a);
    put_number("filled", sum(words, 10 * PAGE / 8));
    put_number("protect", CALL(MPROTECT, a + PAGE, PAGE, READ_));
    put_number("write", CALL(READ, 0, a + PAGE, 0));
    put_number("getcwd", CALL(GETCWD, a + PAGE, 100));
    put_number("none", CALL(MPROTECT, a + PAGE, PAGE, 0));
    put_number("there", is_there(a + PAGE));
    put_number("again", CALL(MPROTECT, a + PAGE, PAGE, READ_ | WRITE_));
    put_number("kept", sum(words, 10 * PAGE / 8));
    put_number("dontneed", CALL(MADVISE, a + 2 * PAGE, PAGE, 4));
    put_number("less", sum(words, 10 * PAGE / 8));
    CALL(MUNMAP, a, 10 * PAGE);
    a = map(0, 10 * PAGE, READ_ | WRITE_, 0);
    words = (u64 *)a;
    for (u64 i = 0; i < 10 * PAGE / 8; i++)
        words[i] = i * 7;
    u64 b = CALL(MREMAP, a, 10 * PAGE, 20 * PAGE, 1);
    words = (u64 *)b;
    put_number("moved", sum(words, 20 * PAGE / 8));
    put_number("shrunk", CALL(MREMAP, b, 20 * PAGE, 3 * PAGE, 0) == (i64)b);
    put_number("behind", is_there(b + 3 * PAGE));
    put_number("unaligned", CALL(MUNMAP, b + 1, PAGE));
    put_number("nothing", map(0, 0, READ_, 0));
    put_number("too large", map(0, 1ul << 50, READ_, 0));
    put_number("no such protection", map(0, PAGE, 0x100, 0) < 0);
    put_number("unmapped", CALL(MUNMAP, b, 3 * PAGE));
    put_number("again", CALL(MUNMAP, b, 3 * PAGE));

    u64 code = map(0, PAGE, READ_ | WRITE_ | EXEC_, 0);
    i64 total = 0;
    for (u32 i = 1; i <= 5; i++)
        total = total * 10 + make(code, i);
    put_number("made", total);
    CALL(MUNMAP, code, PAGE);
    map(code, PAGE, READ_ | WRITE_ | EXEC_, FIXED);
    put_number("made again", make(code, 42));

    i64 file = CALL(OPENAT, AT_FDCWD, "/tmp/kvrm-mapped", 0102, 0600);
    CALL(WRITE, file, "mapped file", 11);
    i64 mapped = CALL(MMAP, 0, 100, READ_, PRIVATE, file, 0);
    put_text("file", (char *)mapped);
    put_number("not a file", CALL(MMAP, 0, 100, READ_, PRIVATE, 77, 0));
    CALL(UNLINKAT, AT_FDCWD, "/tmp/kvrm-mapped", 0);
    return 0;
}
