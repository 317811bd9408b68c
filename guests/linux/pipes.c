// Pipes: random transfers within a process, a chain of processes, threads that talk in turns, and many small messages.
//
// Arguments: a seed, the number of random operations, the number of kilobytes through the chain, the number of messages, and the
// number of bytes that a pipe may have after a random write. With more than 12,000 there are also transfers that QEMU does in another
// way, and pipes that are full, for which Linux counts pages.
#include "processes.h"

enum {
    PIPES = 3,
    SPLICE = 76,
    EPOLL_CREATE1 = 20,
    EPOLL_CTL = 21,
    EPOLL_PWAIT = 22,
    NONBLOCK = 04000,
    FIONREAD = 0x541b,
    SIGPIPE_NUMBER = 13,
};

static u64 random_state, hash = 0xcbf29ce484222325;

static u64 random_below(u64 bound)
{
    random_state += 0x9e3779b97f4a7c15;
    u64 word = random_state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return (word ^ (word >> 31)) % bound;
}

static void mix(u64 word)
{
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
}

// The result does not depend on how the bytes are divided among calls.
static void mix_bytes(const u8 *bytes, i64 count)
{
    for (i64 i = 0; i < count; i++)
        hash = 31 * hash + bytes[i];
}

static u64 parse(const char *text)
{
    u64 value = 0;
    while (*text)
        value = 10 * value + (u64)(*text++ - '0');
    return value;
}

// Five pages: three that can be read and written, one that can only be read, and one that cannot be accessed.
static u8 pages[5 * 4096] __attribute__((aligned(4096)));
// A page of code that the program changes: `mov w0, #N; ret`.
static u32 *code;

static u64 random_size(void)
{
    switch (random_below(16)) {
    case 0: return 0;
    case 1: return 4096;
    case 2: return 4000 + random_below(200);
    case 3: return random_below(70000);
    case 4: case 5: return random_below(3000);
    default: return 1 + random_below(200);
    }
}

static void fill(u8 *to, u64 count)
{
    u64 word = random_below(1ul << 62);
    for (u64 i = 0; i < count; i++) {
        word += word << 7 | 1;
        to[i] = (u8)(word >> 40);
    }
}

// Random transfers through pipes whose ends are all in this process.
static void transfer(u64 operations, i64 most)
{
    i64 unread[PIPES] = {0};
    int is_plain = most <= 12000;
    int ends[PIPES][2], epoll = (int)CALL(EPOLL_CREATE1, 0), is_watched = 0;
    for (int i = 0; i < PIPES; i++)
        CALL(PIPE2, ends[i], NONBLOCK);
    for (u64 i = 0; i < operations; i++) {
        u64 pipe = random_below(PIPES);
        int *end = ends[pipe];
        u64 place = random_below(8) ? random_below(8192) : random_below(sizeof pages);
        u64 size = random_size();
        // At most the pages that can be written.
        u64 filled = place < 12288 ? 12288 - place : 0;
        // QEMU makes no transfer of which only the first part is possible.
        if (is_plain && filled > 0 && size > filled)
            size = filled;
        i64 result = 0;
        switch (random_below(24)) {
        case 0 ... 8:
            if (unread[pipe] + (i64)size > most)
                break;
            fill(pages + place, size < filled ? size : filled);
            result = CALL(WRITE, end[1], pages + place, size);
            unread[pipe] += result > 0 ? result : 0;
            break;
        case 9 ... 17:
            result = CALL(READ, end[0], pages + place, size);
            if (result > 0)
                mix_bytes(pages + place, result);
            unread[pipe] -= result > 0 ? result : 0;
            break;
        case 18: {
            // Other descriptors for the same ends, some of them large.
            int other = (int)CALL(DUP3, end[size & 1], 6 + 3 * (int)random_below(9) + 9, 0);
            result = size & 1 ? CALL(WRITE, other, "duplicate", 9) : CALL(READ, other, pages, 9);
            CALL(CLOSE, other);
            unread[pipe] += result < 0 ? 0 : size & 1 ? result : -result;
            break;
        }
        case 19: {
            int there = -1;
            result = CALL(IOCTL, end[0], FIONREAD, &there) + there;
            break;
        }
        case 20: {
            struct { int descriptor; u16 events, reported; } all[2] = {{end[0], 1, 0}, {end[1], 4, 0}};
            u64 now[2] = {0, 0};
            result = CALL(PPOLL, all, 2, now, 0, 0);
            mix(all[0].reported + 256 * all[1].reported);
            break;
        }
        case 21: {
            u64 next = (pipe + 1) % PIPES, count = 1 + random_below(3000);
            // Linux moves pages, however few bytes they have.
            if (is_plain || unread[next] + (i64)count > most)
                break;
            result = CALL(SPLICE, end[0], 0, ends[next][1], 0, count, 3);
            if (result > 0) {
                unread[pipe] -= result;
                unread[next] += result;
            }
            break;
        }
        case 22: {
            // Edges of the first pipe are watched half of the time.
            struct { u32 events, padding; u64 data; } event = {1u << 31 | 5, 0, 77}, reported[2];
            if (random_below(3) == 0) {
                result = CALL(EPOLL_CTL, epoll, is_watched ? 2 : 1, ends[0][0], &event);
                is_watched = !is_watched;
            } else {
                result = CALL(EPOLL_PWAIT, epoll, reported, 2, 0, 0, 8);
            }
            break;
        }
        default: {
            u8 *middle = pages + place % 4096;
            u64 parts[4] = {(u64)middle, size % 700, (u64)(middle + 900), 1 + size % 300};
            if (unread[pipe] + 1000 > most)
                break;
            result = size & 1 ? CALL(READV, end[0], parts, 2) : CALL(WRITEV, end[1], parts, 2);
            unread[pipe] += result < 0 ? 0 : size & 1 ? -result : result;
            break;
        }
        }
        mix((u64)result);
    }
    put_number("random transfers", (i64)(hash >> 8));
    for (int i = 0; i < PIPES; i++) {
        CALL(CLOSE, ends[i][0]);
        // Nobody reads any more.
        put_number("write without a reader", CALL(WRITE, ends[i][1], "x", 1));
        CALL(CLOSE, ends[i][1]);
    }
    CALL(CLOSE, epoll);
}

// A pipe writes code that was executed before.
static void transfer_code(void)
{
    int ends[2];
    CALL(PIPE2, ends, 0);
    i64 sum = 0;
    for (u32 i = 0; i < 8; i++) {
        u32 words[2] = {0x52800000 | (100 + i) << 5, 0xd65f03c0};
        CALL(WRITE, ends[1], words, 8);
        CALL(READ, ends[0], code, 8);
        __asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" : : "r"(code) : "memory");
        sum = 1000 * sum % 1000003 + ((int (*)(void))code)();
    }
    put_number("code through a pipe", sum);
    CALL(CLOSE, ends[0]);
    CALL(CLOSE, ends[1]);
}

// Processes in a chain: one writes, one changes every byte, this one reads. The sizes of their calls differ.
static void chain(u64 kilobytes)
{
    int first[2], second[2];
    CALL(PIPE2, first, 0);
    i64 writer = fork_process();
    if (writer == 0) {
        u64 left = 1024 * kilobytes;
        CALL(CLOSE, first[0]);
        while (left > 0) {
            u64 size = random_below(4) ? 1 + random_below(300) : 4096;
            size = size < left ? size : left;
            fill(pages, size);
            if (CALL(WRITE, first[1], pages, size) != (i64)size)
                CALL(EXIT_GROUP, 1);
            left -= size;
        }
        CALL(EXIT_GROUP, 0);
    }
    CALL(CLOSE, first[1]);
    CALL(PIPE2, second, 0);
    i64 filter = fork_process();
    if (filter == 0) {
        i64 count;
        CALL(CLOSE, second[0]);
        while ((count = CALL(READ, first[0], pages, 1 + random_below(5000))) > 0) {
            for (i64 i = 0; i < count; i++)
                pages[i] ^= 0x5a;
            if (CALL(WRITE, second[1], pages, count) != count)
                CALL(EXIT_GROUP, 2);
        }
        CALL(EXIT_GROUP, (u64)-count);
    }
    CALL(CLOSE, first[0]);
    CALL(CLOSE, second[1]);
    i64 count, total = 0;
    hash = 0;
    while ((count = CALL(READ, second[0], pages, 1 + random_below(9000))) > 0) {
        mix_bytes(pages, count);
        total += count;
    }
    put_number("through the chain", total);
    put_number("its contents", (i64)(hash >> 8));
    put_number("the writer", wait_for(writer, 0));
    put_number("the filter", wait_for(filter, 0));
    CALL(CLOSE, second[0]);
}

static int to_other[2], to_main[2];

// Answers each byte with its successor, until there are none left.
static void answer(u64)
{
    u8 byte;
    while (CALL(READ, to_other[0], &byte, 1) == 1) {
        byte++;
        CALL(WRITE, to_main[1], &byte, 1);
    }
    CALL(CLOSE, to_main[1]);
}

static void ask(u64 messages)
{
    static thread other;
    i64 sum = 0;
    CALL(PIPE2, to_other, 0);
    CALL(PIPE2, to_main, 0);
    start(&other, answer, 0, 0);
    for (u64 i = 0; i < messages; i++) {
        u8 byte = (u8)(3 * i), reply = 0;
        CALL(WRITE, to_other[1], &byte, 1);
        CALL(READ, to_main[0], &reply, 1);
        sum += reply;
    }
    CALL(CLOSE, to_other[1]);
    put_number("replies", sum);
    put_number("end", CALL(READ, to_main[0], pages, 1));
    join(&other);
    CALL(CLOSE, to_other[0]);
    CALL(CLOSE, to_main[0]);
}

// Messages to oneself, as event loops send them.
static void messages_to_oneself(u64 messages)
{
    int ends[2];
    i64 sum = 0;
    CALL(PIPE2, ends, 0);
    for (u64 i = 0; i < messages; i++) {
        u64 message[8] = {i, i * i, 3, 4, 5, 6, 7, 8}, got[8];
        CALL(WRITE, ends[1], message, sizeof message);
        CALL(READ, ends[0], got, sizeof got);
        sum += (i64)got[1];
    }
    put_number("messages", sum);
    CALL(CLOSE, ends[0]);
    CALL(CLOSE, ends[1]);
}

int program(int argc, char **argv, char **, u64 *)
{
    u64 numbers[5] = {1, 600, 40, 100, 12000};
    for (int i = 0; i < 5 && i + 1 < argc; i++)
        numbers[i] = parse(argv[i + 1]);
    random_state = numbers[0];
    u64 ignore[4] = {1, 0, 0, 0};
    CALL(SIGACTION, SIGPIPE_NUMBER, ignore, 0, 8);
    code = (u32 *)CALL(MMAP, 0, 4096, 7, 0x22, -1, 0);
    CALL(MPROTECT, pages + 3 * 4096, 4096, 1);
    CALL(MPROTECT, pages + 4 * 4096, 4096, 0);
    transfer(numbers[1], (i64)numbers[4]);
    transfer_code();
    chain(numbers[2]);
    ask(numbers[3]);
    messages_to_oneself(numbers[3]);
    return 0;
}
