// Threads of POSIX: the first argument names the means of synchronization, the second is the number of threads, the third
// the number of rounds. Each part prints results that do not depend on the interleaving.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64

static int threads = 4, rounds = 1000;
static long total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void check(int error, const char *call) {
    if (error) {
        fprintf(stderr, "%s: %s\n", call, strerror(error));
        exit(1);
    }
}

static void run(void *(*body)(void *)) {
    pthread_t ids[THREADS_MAX];
    for (long n = 0; n < threads; n++)
        check(pthread_create(&ids[n], NULL, body, (void *)n), "pthread_create");
    for (int n = 0; n < threads; n++)
        check(pthread_join(ids[n], NULL), "pthread_join");
}

static void *add_locked(void *argument) {
    for (int round = 0; round < rounds; round++) {
        pthread_mutex_lock(&mutex);
        total += (long)argument + 1;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void test_mutex(void) {
    run(add_locked);
    printf("total %ld\n", total);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t checked;
    pthread_mutex_init(&checked, &attributes);
    pthread_mutex_lock(&checked);
    printf("again: %s, try: %s\n", strerror(pthread_mutex_lock(&checked)), strerror(pthread_mutex_trylock(&checked)));
    pthread_mutex_unlock(&checked);
    printf("unlocked: %s\n", strerror(pthread_mutex_unlock(&checked)));
    struct timespec past = {1, 0};
    pthread_mutex_lock(&mutex);
    printf("timed: %s\n", strerror(pthread_mutex_timedlock(&mutex, &past)));
}

#define ROOM 8
static int queue[ROOM], first, count, open_producers;

static void *produce(void *argument) {
    for (int round = 0; round < rounds; round++) {
        pthread_mutex_lock(&mutex);
        while (count == ROOM)
            pthread_cond_wait(&changed, &mutex);
        queue[(first + count++) % ROOM] = (int)(long)argument * rounds + round;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    open_producers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void test_condvar(void) {
    pthread_t ids[THREADS_MAX];
    open_producers = threads;
    for (long n = 0; n < threads; n++)
        check(pthread_create(&ids[n], NULL, produce, (void *)n), "pthread_create");
    long sum = 0, items = 0;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!count && open_producers)
            pthread_cond_wait(&changed, &mutex);
        if (!count)
            break;
        sum += queue[first], items++;
        first = (first + 1) % ROOM, count--;
        pthread_cond_broadcast(&changed);
    }
    struct timespec past = {1, 0};
    int error = pthread_cond_timedwait(&changed, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    for (int n = 0; n < threads; n++)
        pthread_join(ids[n], NULL);
    printf("%ld items, sum %ld, timed wait: %s\n", items, sum, strerror(error));
}

static pthread_barrier_t barrier;
static int levels[THREADS_MAX], wrong, serial;

static void *pass_barriers(void *argument) {
    long me = (long)argument;
    for (int round = 1; round <= rounds; round++) {
        levels[me] = round;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
        for (int n = 0; n < threads; n++)
            if (levels[n] != round)
                __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_barrier(void) {
    check(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
    run(pass_barriers);
    printf("wrong %d, serial %d\n", wrong, serial);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long left, right;

static void *read_and_write(void *argument) {
    for (int round = 0; round < rounds; round++) {
        if ((round + (long)argument) % 4 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            left++;
            if (round % 64 == 0)
                sched_yield();
            right--;
            pthread_rwlock_unlock(&rwlock);
        } else {
            pthread_rwlock_rdlock(&rwlock);
            if (left + right)
                __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            pthread_rwlock_unlock(&rwlock);
        }
    }
    return NULL;
}

static void test_rwlock(void) {
    run(read_and_write);
    printf("wrong %d, left %ld, right %ld\n", wrong, left, right);
    pthread_rwlock_rdlock(&rwlock);
    printf("read again: %s, write: %s\n", strerror(pthread_rwlock_tryrdlock(&rwlock)), strerror(pthread_rwlock_trywrlock(&rwlock)));
}

static __thread long local = 7;
static __thread char large[10000];
static pthread_key_t key;

static void destroy(void *value) {
    __atomic_add_fetch(&total, (long)value, __ATOMIC_RELAXED);
}

static void *use_locals(void *argument) {
    long me = (long)argument + 1;
    pthread_setspecific(key, (void *)me);
    for (int round = 0; round < rounds; round++) {
        local += me;
        large[round % sizeof large] = (char)me;
        if (round % 16 == 0)
            sched_yield();
        if (large[round % sizeof large] != (char)me || (long)pthread_getspecific(key) != me)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    }
    if (local != 7 + me * rounds)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void test_tls(void) {
    check(pthread_key_create(&key, destroy), "pthread_key_create");
    run(use_locals);
    printf("wrong %d, destroyed %ld, main %ld\n", wrong, total, local);
}

static void clean_up(void *argument) {
    printf("cleaned up %s\n", (const char *)argument);
}

static void unlock(void *locked) {
    pthread_mutex_unlock(locked);
}

static void *wait_for_ever(void *argument) {
    pthread_cleanup_push(clean_up, "a wait");
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    while (!argument)
        pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *sleep_for_ever(void *argument) {
    pthread_cleanup_push(clean_up, "a sleep");
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return argument;
}

static void *spin_for_ever(void *argument) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (volatile long n = 0;; n++)
        ;
    return argument;
}

static void test_cancel(void) {
    void *(*bodies[])(void *) = {wait_for_ever, sleep_for_ever, spin_for_ever};
    for (int n = 0; n < 3; n++) {
        pthread_t id;
        void *result;
        check(pthread_create(&id, NULL, bodies[n], NULL), "pthread_create");
        usleep(1000);
        check(pthread_cancel(id), "pthread_cancel");
        check(pthread_join(id, &result), "pthread_join");
        printf("%d was cancelled: %d\n", n, result == PTHREAD_CANCELED);
    }
    printf("the mutex is free: %d\n", !pthread_mutex_trylock(&mutex));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_once(void) {
    sched_yield();
    total++;
}

static void *call_once(void *argument) {
    for (int round = 0; round < rounds; round++)
        pthread_once(&once, count_once);
    return argument;
}

static void test_once(void) {
    run(call_once);
    printf("once: %ld\n", total);
}

static sem_t semaphore;

static void *take_and_give(void *argument) {
    for (int round = 0; round < rounds; round++) {
        sem_wait(&semaphore);
        if (__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) > 2)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        if (round % 32 == 0)
            sched_yield();
        __atomic_sub_fetch(&count, 1, __ATOMIC_SEQ_CST);
        sem_post(&semaphore);
    }
    return argument;
}

static void test_semaphore(void) {
    int value;
    sem_init(&semaphore, 0, 2);
    run(take_and_give);
    sem_getvalue(&semaphore, &value);
    printf("wrong %d, value %d\n", wrong, value);
    struct timespec past = {1, 0};
    sem_wait(&semaphore), sem_wait(&semaphore);
    int result = sem_timedwait(&semaphore, &past);
    printf("timed: %d %s\n", result, strerror(errno));
}

static void *exit_all(void *argument) {
    puts("a thread exits");
    exit((int)(long)argument + 3);
}

static void test_exit(void) {
    threads = 1;
    run(exit_all);
}

static void *detached(void *argument) {
    __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
    return argument;
}

static void test_detached(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 65536);
    for (int n = 0; n < threads * rounds; n++) {
        pthread_t id;
        check(pthread_create(&id, &attributes, detached, NULL), "pthread_create");
        while (__atomic_load_n(&total, __ATOMIC_SEQ_CST) <= n)
            usleep(100);
    }
    printf("detached: %ld\n", total);
}

int main(int argc, char **argv) {
    struct { const char *name; void (*test)(void); } tests[] = {
        {"mutex", test_mutex}, {"condvar", test_condvar}, {"barrier", test_barrier}, {"rwlock", test_rwlock},
        {"tls", test_tls}, {"cancel", test_cancel}, {"once", test_once}, {"semaphore", test_semaphore},
        {"exit", test_exit}, {"detached", test_detached},
    };
    if (argc > 2)
        threads = atoi(argv[2]);
    if (argc > 3)
        rounds = atoi(argv[3]);
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    for (size_t n = 0; argc > 1 && n < sizeof tests / sizeof *tests; n++)
        if (!strcmp(argv[1], tests[n].name))
            return tests[n].test(), 0;
    return 2;
}
