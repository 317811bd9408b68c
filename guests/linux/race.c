// A data race: two threads increment a counter without a lock. The status is the number of updates that were lost.
#include "threads.h"

static thread threads[2];
static volatile u32 counter;

static void count(u64 times)
{
    for (u64 i = 0; i < times; i++)
        counter = counter + 1;
}

int program(int, char **, char **, u64 *)
{
    u32 times = 5;
    for (u32 i = 0; i < 2; i++)
        start(&threads[i], count, times, 0);
    for (u32 i = 0; i < 2; i++)
        join(&threads[i]);
    put_number("counter", counter);
    return 2 * (int)times - (int)counter;
}
