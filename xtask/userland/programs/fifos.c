// Named pipes: creation, opening that waits for the other end or does not, readiness, ends that close, removal.
#include "results.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RDONLY = 0, WRONLY = 1, RDWR = 2, NONBLOCK = 04000 };

static char text[64];
static const char *path;
static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    alarms += number == SIGALRM;
}

static long open_pipe(int flags) {
    return of(open(path, flags));
}

static int wait_for(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// Returns the events for which a descriptor is ready now.
static long ready(long descriptor) {
    struct pollfd one = {(int)descriptor, POLLIN | POLLOUT, 0};
    long count = of(poll(&one, 1, 0));
    return count < 0 ? count : one.revents;
}

static void rest(void) {
    usleep(50000);
}

static long mode_of(long descriptor) {
    struct stat status;
    long result = of(descriptor < 0 ? stat(path, &status) : fstat((int)descriptor, &status));
    return result < 0 ? result : (long)status.st_mode;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    path = argv[1];
    umask(022);
    put_number("directory", of(mknod(path, 0040666, 0)));
    put_number("unknown type", of(mknod(path, 0030666, 0)));
    put_number("file", of(mknod(path, 0100666, 0)));
    put_number("mode", mode_of(-1));
    put_number("unlink", of(unlink(path)));
    put_number("pipe", of(mknod(path, 0010666, 0)));
    put_number("again", of(mknod(path, 0010666, 0)));
    put_number("mode", mode_of(-1));

    // Without waiting: a writer needs a reader.
    put_number("writer alone", open_pipe(WRONLY | NONBLOCK));
    long reader = open_pipe(RDONLY | NONBLOCK);
    put_number("reader alone", reader);
    put_number("ready", ready(reader));
    put_number("read", of(read(reader, text, 10)));
    long writer = open_pipe(WRONLY | NONBLOCK);
    put_number("writer", writer);
    put_number("empty", of(read(reader, text, 10)));
    put_number("write", of(write(writer, "hello", 5)));
    put_number("ready", ready(reader));
    put_number("read", of(read(reader, text, 3)));
    put_number("seek", of(lseek(reader, 0, 0)));
    put_number("mode", mode_of(reader));
    put_number("close", of(close(writer)));
    put_number("ready", ready(reader));
    put_number("read", of(read(reader, text, 10)));
    put_number("ready", ready(reader));
    put_number("end", of(read(reader, text, 10)));
    of(close(reader));

    // Both ends at once.
    long both = open_pipe(RDWR | NONBLOCK);
    put_number("empty", of(read(both, text, 10)));
    put_number("ready", ready(both));
    put_number("write", of(write(both, "both", 4)));
    put_number("ready", ready(both));
    reader = open_pipe(RDONLY);
    put_number("read", of(read(reader, text, 2)));
    put_number("read", of(read(both, text, 10)));
    of(close(reader));
    of(close(both));

    // The contents end with the last end.
    both = open_pipe(RDWR);
    of(write(both, "lost", 4));
    of(close(both));
    both = open_pipe(RDWR | NONBLOCK);
    put_number("lost", of(read(both, text, 10)));
    of(close(both));

    // A reader waits for a writer, and a writer for a reader.
    for (int first = 0; first < 2; first++) {
        long child = fork();
        if (child == 0) {
            if (first)
                rest();
            long own = open_pipe(WRONLY);
            of(write(own, "from the child", 14));
            _exit(3);
        }
        if (!first)
            rest();
        reader = open_pipe(RDONLY);
        long count = of(read(reader, text, sizeof text));
        put_number("waited", count);
        put_number("end", of(read(reader, text, sizeof text)));
        put_number("status", wait_for(child));
        of(close(reader));
    }

    // A writer that does not stay still ends the wait of a reader.
    long child = fork();
    if (child == 0) {
        rest();
        of(close(open_pipe(WRONLY)));
        _exit(0);
    }
    reader = open_pipe(RDONLY);
    wait_for(child);
    put_number("ready", ready(reader));
    put_number("end", of(read(reader, text, 10)));
    of(close(reader));

    // A signal ends the wait.
    struct sigaction action = {.sa_handler = count_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    put_number("interrupted", open_pipe(RDONLY));
    put_number("alarms", alarms);
    put_number("writer alone", open_pipe(WRONLY | NONBLOCK));

    // So does the end of the process.
    child = fork();
    if (child == 0) {
        open_pipe(RDONLY);
        _exit(0);
    }
    rest();
    kill(child, SIGKILL);
    put_number("status", wait_for(child));
    put_number("writer alone", open_pipe(WRONLY | NONBLOCK));

    // A pipe that is removed stays while it is open.
    both = open_pipe(RDWR);
    put_number("unlink", of(unlink(path)));
    put_number("write", of(write(both, "still there", 11)));
    put_number("read", of(read(both, text, sizeof text)));
    put_number("mode", mode_of(both));
    put_number("gone", open_pipe(RDWR));
    put_number("close", of(close(both)));
    return 4;
}
