// Memory that processes share: anonymous, of files, segments of System V, and futexes in it.
#include "processes.h"

enum { SHMGET = 194, SHMCTL = 195, SHMAT = 196, SHMDT = 197, MSYNC = 227, MEMFD_CREATE = 279 };

enum { SHARED_ANONYMOUS = 0x21, SHARED = 1, PRIVATE = 2, READ_WRITE = 3 };

static char buffer[4096];

int program(int, char **, char **, u64 *)
{
    // Four processes count under a lock.
    volatile u32 *words = (u32 *)CALL(MMAP, 0, 16384, READ_WRITE, SHARED_ANONYMOUS, -1, 0);
    i64 children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork_process();
        if (children[i] == 0) {
            for (int round = 0; round < 200; round++) {
                lock(words);
                words[1]++;
                words[1000 + i * 700]++;
                unlock(words);
            }
            CALL(EXIT_GROUP, 0);
        }
    }
    for (int i = 0; i < 4; i++)
        wait_for(children[i], 0);
    put_number("counted", words[1]);
    put_number("each", words[1000] + words[1700] + words[2400] + words[3100]);

    // A file: mappings, calls and processes see the same bytes.
    int file = CALL(MEMFD_CREATE, "file", 0);
    put_number("size", CALL(FTRUNCATE, file, 6000));
    char *map = (char *)CALL(MMAP, 0, 8192, READ_WRITE, SHARED, file, 0);
    memcpy(map, "written", 7);
    put_number("read", CALL(PREAD64, file, buffer, 7, 0));
    put_number("same", buffer[6] == 'n');
    put_number("write", CALL(PWRITE64, file, "call", 4, 5000));
    put_number("same", map[5003] == 'l');
    i64 child = fork_process();
    if (child == 0) {
        map[100] = 'c';
        char *other = (char *)CALL(MMAP, 0, 4096, READ_WRITE, SHARED, file, 4096);
        put_number("same", other[904] == 'c');
        other[1] = 'o';
        put_number("munmap", CALL(MUNMAP, other, 4096));
        CALL(EXIT_GROUP, 0);
    }
    put_number("status", wait_for(child, 0));
    put_number("of the child", map[100] == 'c' && map[4097] == 'o');
    char *own = (char *)CALL(MMAP, 0, 4096, READ_WRITE, PRIVATE, file, 0);
    own[0] = 'X';
    put_number("private", map[0] == 'w');
    child = fork_process();
    if (child == 0) {
        map[200] = 'k';
        CALL(KILL, CALL(GETPID), 9);
    }
    put_number("killed", wait_for(child, 0));
    put_number("outlives", map[200] == 'k');
    put_number("msync", CALL(MSYNC, map, 8192, 4));
    put_number("msync", CALL(MSYNC, map, 8192, 5));
    put_number("msync", CALL(MSYNC, map + 1, 1, 4));
    map[300] = 'u';
    put_number("munmap", CALL(MUNMAP, map, 8192));
    put_number("read", CALL(PREAD64, file, buffer, 1, 300));
    put_number("same", buffer[0] == 'u');

    // Segments of System V.
    u64 status[14];
    i64 id = CALL(SHMGET, 0, 5000, 0600);
    char *at = (char *)CALL(SHMAT, id, 0, 0);
    memcpy(at + 4200, "segment", 7);
    put_number("stat", CALL(SHMCTL, id, 2, status));
    put_number("bytes", status[6]);
    put_number("attached", status[11]);
    child = fork_process();
    if (child == 0) {
        char *again = (char *)CALL(SHMAT, id, 0, 010000);
        put_number("same", again[4206] == 't');
        at[1] = 'a';
        CALL(SHMCTL, id, 2, status);
        put_number("attached", status[11]);
        put_number("shmdt", CALL(SHMDT, again));
        put_number("shmdt", CALL(SHMDT, again));
        CALL(EXIT_GROUP, 0);
    }
    wait_for(child, 0);
    put_number("of the child", at[1] == 'a');
    put_number("remove", CALL(SHMCTL, id, 0, 0));
    put_number("stays", at[4200] == 's');
    put_number("shmdt", CALL(SHMDT, at));
    put_number("gone", CALL(SHMAT, id, 0, 0));

    // A wait that a process ends.
    volatile u32 *word = words + 8;
    *word = 0;
    child = fork_process();
    if (child == 0) {
        *word = 1;
        CALL(FUTEX, word, FUTEX_WAKE, 1);
        CALL(EXIT_GROUP, 0);
    }
    while (*word == 0)
        CALL(FUTEX, word, FUTEX_WAIT, 0, 0);
    put_number("woken", *word);
    put_number("status", wait_for(child, 0));
    return 0;
}
