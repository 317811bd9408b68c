// Threads: locks, condition variables, thread pointers, and all operations of futex.
#include "threads.h"

enum { THREADS = 4, ROUNDS = 40 };

static thread threads[THREADS];
static volatile u32 mutex, counter, turn, word, other, ready;
static u64 pointers[THREADS];

static u64 thread_pointer(void)
{
    u64 value;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(value));
    return value;
}

static void count(u64 number)
{
    for (u32 round = 0; round < ROUNDS; round++) {
        lock(&mutex);
        counter++;
        unlock(&mutex);
        if (round % 10 == 0)
            CALL(SCHED_YIELD);
    }
    *(u64 *)thread_pointer() = number + 1;
    // The threads print in the order of their numbers.
    for (u32 now; (now = turn) != number;)
        CALL(FUTEX, &turn, FUTEX_WAIT, now, 0);
    put_number("thread", (i64)number);
    add(&turn, 1);
    CALL(FUTEX, &turn, FUTEX_WAKE, THREADS);
}

// Waits at `word`, and says whether it was woken.
static void wait(u64 bits)
{
    add(&ready, 1);
    i64 result = bits == 0 ? CALL(FUTEX, &word, FUTEX_WAIT, 0, 0)
                           : CALL(FUTEX, &word, FUTEX_WAIT_BITSET, 0, 0, 0, bits);
    if (result == 0)
        add(&turn, 1);
}

static void start_waiting(u32 threads_that_wait, const u64 *bits)
{
    u64 nap[2] = {0, 20000000};
    turn = ready = 0;
    for (u32 i = 0; i < threads_that_wait; i++)
        start(&threads[i], wait, bits ? bits[i] : 0, 0);
    while (ready != threads_that_wait)
        CALL(SCHED_YIELD);
    CALL(NANOSLEEP, nap, 0);
}

int program(int, char **, char **, u64 *)
{
    put_number("the first thread", CALL(GETTID) == CALL(GETPID));
    u32 started = 0;
    for (u64 i = 0; i < THREADS; i++)
        started += start(&threads[i], count, i, (u64)&pointers[i]) > 0;
    for (u64 i = 0; i < THREADS; i++)
        join(&threads[i]);
    put_number("started", started);
    put_number("count", counter);
    for (u64 i = 0; i < THREADS; i++)
        put_number("pointer", (i64)pointers[i]);

    start_waiting(3, 0);
    put_number("nobody", CALL(FUTEX, &other, FUTEX_WAKE, 9));
    put_number("one", CALL(FUTEX, &word, FUTEX_WAKE, 1));
    put_number("the rest", CALL(FUTEX, &word, FUTEX_WAKE, 9));
    for (u32 i = 0; i < 3; i++)
        join(&threads[i]);
    put_number("woken", turn);

    start_waiting(4, 0);
    put_number("unequal", CALL(FUTEX, &word, FUTEX_CMP_REQUEUE, 1, 9, &other, 7));
    put_number("requeued", CALL(FUTEX, &word, FUTEX_CMP_REQUEUE, 1, 2, &other, 0));
    put_number("there", CALL(FUTEX, &other, FUTEX_WAKE, 9));
    put_number("here", CALL(FUTEX, &word, FUTEX_WAKE, 9));
    for (u32 i = 0; i < 4; i++)
        join(&threads[i]);

    u64 bits[] = {1, 2, 3};
    start_waiting(3, bits);
    put_number("no bits", CALL(FUTEX, &word, FUTEX_WAKE_BITSET, 9, 0, 0, 0));
    put_number("bit 0", CALL(FUTEX, &word, FUTEX_WAKE_BITSET, 9, 0, 0, 1));
    put_number("bit 1", CALL(FUTEX, &word, FUTEX_WAKE_BITSET, 9, 0, 0, 2));
    for (u32 i = 0; i < 3; i++)
        join(&threads[i]);

    start_waiting(2, 0);
    // Add 5 to `other`; wake one at `word`, and one at `other` if it was equal to 0.
    put_number("operation", CALL(FUTEX, &word, FUTEX_WAKE_OP, 1, 1, &other, 1u << 28 | 5u << 12));
    put_number("its result", other);
    put_number("the last", CALL(FUTEX, &word, FUTEX_WAKE, 9));
    for (u32 i = 0; i < 2; i++)
        join(&threads[i]);

    u64 short_time[2] = {0, 1000000}, past[2] = {0, 0};
    put_number("time", CALL(FUTEX, &word, FUTEX_WAIT, 0, short_time));
    put_number("past", CALL(FUTEX, &word, FUTEX_WAIT_BITSET, 0, past, 0, ~0u));
    put_number("other value", CALL(FUTEX, &word, FUTEX_WAIT, 1, 0));
    put_number("not aligned", CALL(FUTEX, (u64)&word + 1, FUTEX_WAKE, 1));
    return 5;
}
