// A lock-order deadlock: one thread takes two locks in one order, another thread in the other order.
#include "threads.h"

static thread threads[2];
static volatile u32 locks[2], transfers;

static void transfer(u64 first)
{
    for (u32 i = 0; i < 3; i++) {
        lock(&locks[first]);
        lock(&locks[!first]);
        transfers++;
        unlock(&locks[!first]);
        unlock(&locks[first]);
    }
}

int program(int, char **, char **, u64 *)
{
    for (u64 i = 0; i < 2; i++)
        start(&threads[i], transfer, i, 0);
    for (u64 i = 0; i < 2; i++)
        join(&threads[i]);
    put_number("transfers", transfers);
    return 0;
}
