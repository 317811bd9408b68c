// Processes and what they share. The argument names the part.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void show_status(const char *name, int status) {
    if (WIFEXITED(status))
        printf("%s: exit %d\n", name, WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        printf("%s: signal %d\n", name, WTERMSIG(status));
    else if (WIFSTOPPED(status))
        printf("%s: stop %d\n", name, WSTOPSIG(status));
    else
        printf("%s: continued %d\n", name, WIFCONTINUED(status));
    fflush(stdout);
}

static void test_fork(void) {
    for (int n = 0; n < 8; n++) {
        pid_t child = fork();
        if (!child)
            _exit(n * 3);
        int status;
        waitpid(child, &status, 0);
        show_status("child", status);
    }
    int status;
    printf("no child: %d %s\n", wait(&status), strerror(errno));
}

static void test_killed(void) {
    int signals[] = {SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGUSR1, SIGRTMIN};
    for (int n = 0; n < 6; n++) {
        pid_t child = fork();
        if (!child)
            for (;;)
                pause();
        kill(child, signals[n]);
        int status;
        waitpid(child, &status, 0);
        show_status("killed", status);
    }
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    int status;
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    show_status("stopped", status);
    kill(child, SIGCONT);
    waitpid(child, &status, WCONTINUED);
    show_status("continued", status);
    kill(child, SIGTERM);
    siginfo_t info = {0};
    waitid(P_PID, child, &info, WEXITED | WNOWAIT);
    printf("waitid: code %d, status %d, is the child %d\n", info.si_code, info.si_status, info.si_pid == child);
    waitpid(child, &status, 0);
    show_status("at last", status);
}

static void test_pipes(void) {
    int ends[2];
    if (pipe(ends))
        exit(1);
    for (int n = 0; n < 4; n++)
        if (!fork()) {
            close(ends[0]);
            for (int round = 0; round < 100; round++) {
                char record[16];
                snprintf(record, sizeof record, "%15d", n * 1000 + round);
                if (write(ends[1], record, sizeof record) != sizeof record)
                    _exit(1);
            }
            _exit(0);
        }
    close(ends[1]);
    long sum = 0, records = 0;
    char record[16];
    while (read(ends[0], record, sizeof record) == sizeof record)
        sum += atol(record), records++;
    while (wait(NULL) > 0)
        ;
    printf("%ld records, sum %ld\n", records, sum);
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends))
        exit(1);
    close(ends[0]);
    ssize_t written = write(ends[1], "x", 1);
    printf("no reader: %zd %s\n", written, strerror(errno));
}

static void test_shared(void) {
    volatile int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    for (int n = 0; n < 4; n++)
        if (!fork()) {
            for (int round = 0; round < 1000; round++)
                __atomic_add_fetch(shared, 1, __ATOMIC_SEQ_CST);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    printf("shared %d\n", *shared);
}

static volatile sig_atomic_t seen[65];

static void count_signal(int number) {
    seen[number]++;
}

static void test_signals(void) {
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigset_t blocked, pending;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    for (int n = 0; n < 3; n++)
        kill(getpid(), SIGUSR1), sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = n});
    sigpending(&pending);
    printf("pending %d %d, seen %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2), seen[SIGUSR1]);
    sigset_t waited;
    sigemptyset(&waited);
    sigaddset(&waited, SIGRTMIN + 1);
    siginfo_t info;
    int number = sigwaitinfo(&waited, &info);
    printf("waited for %d, value %d\n", number - SIGRTMIN, info.si_value.sival_int);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    printf("seen %d and %d\n", seen[SIGUSR1], seen[SIGRTMIN + 1]);
    if (!fork())
        _exit(0);
    wait(NULL);
    printf("children %d\n", seen[SIGCHLD]);
    struct itimerval timer = {{0, 0}, {0, 1000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (!seen[SIGALRM])
        pause();
    printf("alarms %d\n", seen[SIGALRM]);
}

static void test_events(void) {
    int event = eventfd(0, EFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, 0), ends[2];
    if (pipe(ends))
        exit(1);
    int poller = epoll_create1(0);
    int files[] = {event, timer, ends[0]};
    for (int n = 0; n < 3; n++) {
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = n};
        epoll_ctl(poller, EPOLL_CTL_ADD, files[n], &interest);
    }
    struct epoll_event ready[4];
    printf("ready %d\n", epoll_wait(poller, ready, 4, 0));
    unsigned long value = 5;
    if (write(event, &value, 8) != 8 || write(ends[1], "abc", 3) != 3)
        exit(1);
    int count = epoll_wait(poller, ready, 4, -1);
    unsigned set = 0;
    for (int n = 0; n < count; n++)
        set |= 1u << ready[n].data.u32;
    printf("ready %d, set %u\n", count, set);
    if (read(event, &value, 8) != 8)
        exit(1);
    printf("event %lu, then %zd %s\n", value, read(event, &value, 8), strerror(errno));
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    timerfd_settime(timer, 0, &once, NULL);
    struct pollfd wait_for = {timer, POLLIN, 0};
    printf("poll %d, %x\n", poll(&wait_for, 1, -1), wait_for.revents);
    ssize_t size = read(timer, &value, 8);
    printf("timer %zd %lu\n", size, value);
}

static void test_spawn(void) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    char *arguments[] = {"sh", "-c", "echo from a child; exit 9", NULL};
    pid_t child;
    int error = posix_spawn(&child, "/bin/sh", &actions, NULL, arguments, environ), status;
    printf("spawn: %s\n", strerror(error));
    waitpid(child, &status, 0);
    show_status("spawned", status);
    FILE *pipe = popen("wc -c", "w");
    fputs("twelve bytes", pipe);
    printf("popen: %d\n", pclose(pipe));
    printf("system: %d\n", WEXITSTATUS(system("exit 5")));
}

static void test_files(void) {
    int file = open("scratch", O_RDWR | O_CREAT | O_EXCL, 0640);
    printf("again: %d %s\n", open("scratch", O_RDWR | O_CREAT | O_EXCL, 0640), strerror(errno));
    struct iovec parts[] = {{"hello ", 6}, {"world", 5}};
    printf("writev %zd\n", writev(file, parts, 2));
    printf("pwrite %zd\n", pwrite(file, "HOLE", 4, 5000));
    struct stat data;
    fstat(file, &data);
    printf("size %ld, mode %o, links %ld\n", (long)data.st_size, data.st_mode, (long)data.st_nlink);
    link("scratch", "second");
    rename("second", "third");
    unlink("scratch");
    fstat(file, &data);
    printf("links %ld, there %d\n", (long)data.st_nlink, access("third", R_OK));
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    printf("mapped %.11s %.4s\n", map, map + 5000);
    memcpy(map, "private", 7);
    char text[8] = "";
    printf("file %zd %.5s\n", pread(file, text, 5, 0), text);
    ftruncate(file, 3);
    printf("seek %ld\n", (long)lseek(file, 0, SEEK_END));
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 20);
    printf("copy %d, flags %d\n", copy, fcntl(copy, F_GETFD));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    printf("lock %d\n", fcntl(file, F_SETLK, &lock));
    printf("mkdir %d, again %s\n", mkdir("dir", 0755), mkdir("dir", 0755) ? strerror(errno) : "no error");
    printf("rmdir %d, read %s\n", rmdir("dir"), read(99, text, 1) < 0 ? strerror(errno) : "no error");
    int temporary = open(".", O_TMPFILE | O_RDWR, 0600);
    printf("O_TMPFILE %s\n", temporary < 0 ? strerror(errno) : "works");
    printf("memfd %d\n", memfd_create("memory", 0) >= 0);
}

static int in_clone(void *argument) {
    return *(int *)argument;
}

static void test_clone(void) {
    static char stack[65536];
    int value = 17, status;
    pid_t child = clone(in_clone, stack + sizeof stack, SIGCHLD | CLONE_VM | CLONE_VFORK, &value);
    waitpid(child, &status, 0);
    show_status("clone", status);
    child = vfork();
    if (!child)
        execl("/bin/sh", "sh", "-c", "exit 11", NULL);
    waitpid(child, &status, 0);
    show_status("vfork", status);
}

static void test_limits(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 8;
    setrlimit(RLIMIT_NOFILE, &limit);
    int last = -1, file;
    while ((file = open("/dev/null", O_RDONLY)) >= 0)
        last = file;
    printf("last %d, %s\n", last, strerror(errno));
}

static void test_pages(void) {
    char *pages = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(pages, 7, 16384);
    printf("munmap %d, mprotect %d\n", munmap(pages + 4096, 4096), mprotect(pages + 8192, 4096, PROT_READ));
    int ends[2];
    if (pipe(ends))
        exit(1);
    printf("bad buffer: %zd %s\n", write(ends[1], pages + 4096, 10), strerror(errno));
    pid_t child = fork();
    int status;
    if (!child)
        pages[8192] = 1, _exit(0);
    waitpid(child, &status, 0);
    show_status("write to a read-only page", status);
    char *moved = mremap(pages + 12288, 4096, 65536, MREMAP_MAYMOVE);
    printf("moved %d %d\n", moved[0], moved[8192]);
    madvise(moved, 4096, MADV_DONTNEED);
    printf("dropped %d\n", moved[0]);
    char present[1];
    printf("mincore %d\n", mincore(moved, 4096, (void *)present));
    printf("bad mmap: %s\n", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? strerror(errno) : "");
    printf("bad file: %s\n", mmap(NULL, 1, PROT_READ, MAP_PRIVATE, 77, 0) == MAP_FAILED ? strerror(errno) : "");
}

int main(int argc, char **argv) {
    struct { const char *name; void (*test)(void); } tests[] = {
        {"fork", test_fork}, {"killed", test_killed}, {"pipes", test_pipes}, {"shared", test_shared},
        {"signals", test_signals}, {"events", test_events}, {"spawn", test_spawn}, {"files", test_files},
        {"clone", test_clone}, {"limits", test_limits}, {"pages", test_pages},
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t n = 0; argc > 1 && n < sizeof tests / sizeof *tests; n++)
        if (!strcmp(argv[1], tests[n].name))
            return tests[n].test(), 0;
    return 2;
}
