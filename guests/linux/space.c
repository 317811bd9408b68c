// The address space: mappings at the address that was asked for, far ones, huge ones of which little is touched, and moves.
#include "code.h"

#define PAGE 4096ul
#define MIB (1ul << 20)
#define GIB (1ul << 30)
#define FAR (1ul << 38)
#define END (1ul << 46)
enum { READ_ = 1, WRITE_ = 2, EXEC_ = 4, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20, NORESERVE = 0x4000 };
enum { NO_REPLACE = 0x100000, MAY_MOVE = 1, MOVE_TO = 2 };

static i64 map(u64 at, u64 bytes, u64 protection, u64 flags)
{
    return CALL(MMAP, at, bytes, protection, PRIVATE | ANONYMOUS | NORESERVE | flags, -1, 0);
}

static volatile u64 *word(u64 at)
{
    return (volatile u64 *)at;
}

// Writes a word every `step` bytes, and returns the sum of what is there afterwards, with the words between.
static u64 touch(u64 at, u64 bytes, u64 step)
{
    u64 sum = 0;
    for (u64 i = 0; i < bytes; i += step)
        *word(at + i) += i / step + 1;
    for (u64 i = 0; i < bytes; i += step / 2)
        sum = sum * 31 + *word(at + i);
    return sum;
}

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    (void)argc, (void)argv, (void)envp, (void)auxv;
    // What a run time with its own allocator does: it reserves much, and uses a little of it.
    put_number("asked for", map(FAR, 64 * MIB, 0, 0) == (i64)FAR);
    put_number("taken", map(FAR + PAGE, PAGE, READ_ | WRITE_, 0) != (i64)(FAR + PAGE));
    put_number("not to replace", map(FAR + PAGE, PAGE, READ_ | WRITE_, NO_REPLACE) != (i64)(FAR + PAGE));
    put_number("behind", map(FAR + 64 * MIB, PAGE, READ_ | WRITE_, NO_REPLACE) == (i64)(FAR + 64 * MIB));
    put_number("reserved", is_there(FAR));
    put_number("opened", map(FAR, 4 * MIB, READ_ | WRITE_, FIXED) == (i64)FAR);
    put_number("touched", (i64)touch(FAR, 4 * MIB, 256 * 1024));
    put_number("there", is_there(FAR + 4 * MIB - 8));
    put_number("behind", is_there(FAR + 4 * MIB));
    put_number("protected", CALL(MPROTECT, FAR, 4 * MIB, READ_));
    put_number("cannot write", CALL(GETCWD, FAR, 100));
    put_number("kept", *word(FAR + 256 * 1024));
    put_number("given back", CALL(MADVISE, FAR, 4 * MIB, 4));
    put_number("zero", *word(FAR + 256 * 1024));

    // Large mappings: whole nodes of page tables, with odd ends, in several places.
    for (u64 at = 8 * GIB; at < END; at *= 16) {
        u64 from = at + 3 * PAGE, bytes = 12 * GIB + 5 * PAGE;
        put_number("huge", map(from, bytes, READ_ | WRITE_, FIXED) == (i64)from);
        put_number("touched", (i64)touch(from, bytes, 3 * GIB + 8));
        put_number("middle", CALL(MPROTECT, at + 4 * GIB, 4 * GIB, 0));
        put_number("below", is_there(at + 4 * GIB - 1));
        put_number("inside", is_there(at + 4 * GIB));
        put_number("inside", is_there(at + 8 * GIB - 1));
        put_number("above", is_there(at + 8 * GIB));
        put_number("opened", CALL(MPROTECT, at + 4 * GIB, 4 * GIB, READ_ | WRITE_));
        put_number("the same", (i64)touch(from, bytes, 3 * GIB + 8));
        put_number("hole", CALL(MUNMAP, at + 5 * GIB, 5 * GIB));
        put_number("below", is_there(at + 5 * GIB - 1));
        put_number("inside", is_there(at + 5 * GIB));
        put_number("above", is_there(at + 10 * GIB));
        put_number("protect over a hole", CALL(MPROTECT, from, bytes, READ_));
        put_number("filled", map(at + 5 * GIB, 5 * GIB, READ_ | WRITE_, FIXED) == (i64)(at + 5 * GIB));
        put_number("zero", *word(at + 6 * GIB + 3 * PAGE + 16));
    }

    // A page at an address of 47 bits, and code in it.
    u64 last = (100ul << 40) - PAGE;
    put_number("last", map(last, PAGE, READ_ | WRITE_ | EXEC_, FIXED) == (i64)last);
    put_number("code", make(last, 7));
    put_number("code", make(last, 8));
    put_number("unmapped", CALL(MUNMAP, last, PAGE));
    put_number("gone", is_there(last));

    // Moves.
    u64 a = map(0, 8 * PAGE, READ_ | WRITE_, 0);
    touch(a, 8 * PAGE, PAGE);
    u64 far = FAR * 2;
    put_number("moved", CALL(MREMAP, a, 8 * PAGE, 10 * PAGE, MAY_MOVE | MOVE_TO, far) == (i64)far);
    put_number("gone", is_there(a));
    put_number("there", (i64)touch(far, 10 * PAGE, PAGE));
    put_number("moved over itself", CALL(MREMAP, far, 8 * PAGE, 8 * PAGE, MAY_MOVE | MOVE_TO, far + 4 * PAGE));
    put_number("moved back", CALL(MREMAP, far, 10 * PAGE, 5 * PAGE, MAY_MOVE | MOVE_TO, a) == (i64)a);
    put_number("there", (i64)touch(a, 5 * PAGE, PAGE));
    put_number("grown", CALL(MREMAP, a, 5 * PAGE, 5 * GIB, MAY_MOVE) > 0);
    return 0;
}
