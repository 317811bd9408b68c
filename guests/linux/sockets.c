// Sockets within the machine: pairs, names, TCP and UDP over the loopback interface, passed descriptors, errors and poll events.
#include "threads.h"

enum {
    FCNTL_ = 25, SOCKET = 198, SOCKETPAIR = 199, BIND = 200, LISTEN = 201, ACCEPT = 202, CONNECT = 203,
    GETSOCKNAME = 204, GETPEERNAME = 205, SENDTO = 206, RECVFROM = 207, SETSOCKOPT = 208, GETSOCKOPT = 209,
    SHUTDOWN = 210, SENDMSG = 211, RECVMSG = 212, ACCEPT4 = 242, RECVMMSG = 243, SENDMMSG = 269,
    UNIX = 1, INET = 2, INET6 = 10, STREAM = 1, DGRAM = 2, PACKETS = 5, NONBLOCK = 04000,
    PEEK = 2, TRUNC = 0x20, DONTWAIT = 0x40, WAITALL = 0x100, NOSIGNAL = 0x4000,
};

typedef struct {
    u16 family;
    u8 port[2];
    u8 host[4];
    u64 zero;
} address;

typedef struct {
    u64 name;
    u64 name_bytes;
    u64 buffers;
    u64 count;
    u64 control;
    u64 control_bytes;
    u64 flags;
} message;

static u8 buffer[1 << 18];
static volatile u32 pipes;

static void count_pipe(int)
{
    pipes++;
}

static i64 ready(i64 socket)
{
    struct { int socket; u16 wanted, ready; } poll = {(int)socket, 0x2005, 0};
    u64 at_once[2] = {0, 0};
    CALL(PPOLL, &poll, 1, at_once);
    return poll.ready;
}

static i64 send(i64 socket, const char *text, int flags)
{
    return CALL(SENDTO, socket, text, length(text), flags);
}

static i64 receive(i64 socket, u64 room, int flags)
{
    return CALL(RECVFROM, socket, buffer, room, flags);
}

static i64 option(i64 socket, int level, int name)
{
    int value = -1, bytes = 4;
    i64 got = CALL(GETSOCKOPT, socket, level, name, &value, &bytes);
    return got < 0 ? got : value;
}

static void pairs(void)
{
    int ends[2];
    put_number("pair", CALL(SOCKETPAIR, UNIX, STREAM, 0, ends));
    put_number("ready", ready(ends[0]));
    put_number("send", send(ends[0], "some bytes", 0));
    put_number("ready", ready(ends[1]));
    put_number("peek", receive(ends[1], 4, PEEK));
    put_number("receive", receive(ends[1], 100, 0));
    put_number("none", receive(ends[1], 100, DONTWAIT));
    put_number("shutdown", CALL(SHUTDOWN, ends[0], 1));
    put_number("ready", ready(ends[1]));
    put_number("end", receive(ends[1], 100, 0));
    put_number("broken", send(ends[0], "x", 0));
    put_number("signals", pipes);
    put_number("broken", send(ends[0], "x", NOSIGNAL));
    put_number("signals", pipes);
    put_number("unread", send(ends[1], "y", 0));
    CALL(CLOSE, ends[0]);
    put_number("reset", receive(ends[1], 9, 0));
    put_number("end", receive(ends[1], 9, 0));
    CALL(CLOSE, ends[1]);

    put_number("packets", CALL(SOCKETPAIR, UNIX, PACKETS, 0, ends));
    send(ends[0], "first", 0);
    send(ends[0], "second", 0);
    put_number("truncated", receive(ends[1], 2, TRUNC));
    put_number("whole", receive(ends[1], 100, 0));
    put_number("too large", CALL(SENDTO, ends[0], buffer, sizeof buffer, 0));
    CALL(CLOSE, ends[0]);
    CALL(CLOSE, ends[1]);

    // A descriptor goes through a socket, with the bytes before it and not with those after it.
    int pipe[2];
    CALL(PIPE2, pipe, 0);
    CALL(SOCKETPAIR, UNIX, STREAM, 0, ends);
    u64 control[3] = {20, 1 | 1UL << 32, (u64)pipe[1]};
    u64 parts[2] = {(u64)"with", 4};
    message out = {0, 0, (u64)parts, 1, (u64)control, 24, 0};
    send(ends[0], "before ", 0);
    put_number("sendmsg", CALL(SENDMSG, ends[0], &out, 0));
    send(ends[0], " after", 0);
    CALL(CLOSE, pipe[1]);
    u64 got[8], room[2] = {(u64)buffer, 100};
    message in = {0, 0, (u64)room, 1, (u64)got, sizeof got, 0};
    put_number("recvmsg", CALL(RECVMSG, ends[1], &in, 0));
    put_number("control", in.control_bytes);
    put_number("write", CALL(WRITE, (int)got[2], "through", 7));
    put_number("read", CALL(READ, pipe[0], buffer, 100));
    in.control_bytes = sizeof got;
    put_number("recvmsg", CALL(RECVMSG, ends[1], &in, 0));
    put_number("control", in.control_bytes);
    int on = 1;
    put_number("setsockopt", CALL(SETSOCKOPT, ends[1], 1, 16, &on, 4));
    send(ends[0], "x", 0);
    in.control_bytes = sizeof got;
    put_number("recvmsg", CALL(RECVMSG, ends[1], &in, 0));
    put_number("sender", (u32)got[2] == CALL(GETPID));
    for (int i = 0; i < 2; i++)
        CALL(CLOSE, ends[i]);
}

static void names(void)
{
    struct { u16 family; char name[8]; } name = {UNIX, "\0kvrm"};
    i64 server = CALL(SOCKET, UNIX, STREAM, 0), client = CALL(SOCKET, UNIX, STREAM, 0), socket;
    put_number("nobody", CALL(CONNECT, client, &name, 7));
    put_number("bind", CALL(BIND, server, &name, 7));
    put_number("in use", CALL(BIND, client, &name, 7));
    put_number("not yet", CALL(CONNECT, client, &name, 7));
    put_number("listen", CALL(LISTEN, server, 3));
    put_number("connect", CALL(CONNECT, client, &name, 7));
    put_number("again", CALL(CONNECT, client, &name, 7));
    put_number("ready", ready(server));
    put_number("accept", (socket = CALL(ACCEPT4, server, 0, 0, 02000000)) > 0);
    put_number("closes", CALL(FCNTL, socket, 1));
    u32 who[3] = {0}, bytes = 12;
    put_number("peer", CALL(GETSOCKOPT, socket, 1, 17, who, &bytes));
    put_number("own", who[0] == CALL(GETPID));
    u32 size = sizeof buffer;
    put_number("name", CALL(GETPEERNAME, client, buffer, &size));
    put_number("size", size);
    CALL(CLOSE, server);
    CALL(CLOSE, client);
    put_number("end", receive(socket, 9, 0));
    CALL(CLOSE, socket);
    put_number("family", CALL(SOCKET, 77, STREAM, 0));
    put_number("type", CALL(SOCKET, INET, PACKETS, 0));
    put_number("protocol", CALL(SOCKET, INET, STREAM, 17));
    put_number("no socket", CALL(LISTEN, 1, 1));
}

static void internet(void)
{
    address at = {INET, {0, 0}, {127, 0, 0, 1}, 0}, none = {INET, {0, 1}, {127, 0, 0, 1}, 0}, from;
    u32 size = sizeof at;
    i64 server = CALL(SOCKET, INET, STREAM, 0), client, socket, status = 0;
    put_number("ready", ready(server));
    put_number("bind", CALL(BIND, server, &at, sizeof at));
    put_number("listen", CALL(LISTEN, server, 5));
    put_number("name", CALL(GETSOCKNAME, server, &at, &size));
    put_number("port", at.port[0] > 3);
    client = CALL(SOCKET, INET, STREAM, 0);
    put_number("refused", CALL(CONNECT, client, &none, sizeof none));
    put_number("not connected", receive(client, 1, 0));
    CALL(CLOSE, client);
    client = CALL(SOCKET, INET, STREAM | NONBLOCK, 0);
    put_number("in progress", CALL(CONNECT, client, &at, sizeof at));
    put_number("accept", (socket = CALL(ACCEPT, server, &from, &size)) > 0);
    put_number("done", CALL(CONNECT, client, &at, sizeof at));
    put_number("connected", CALL(CONNECT, client, &at, sizeof at));
    put_number("error", option(client, 1, 4));
    CALL(FCNTL, client, 4, 0);

    // More bytes than the buffers hold, in both processes.
    i64 child = CALL(CLONE, 17);
    if (child == 0) {
        CALL(CLOSE, socket);
        i64 written = 0;
        for (int i = 0; i < 6; i++)
            written += CALL(WRITE, client, buffer, sizeof buffer);
        CALL(EXIT_GROUP, written == 6 * sizeof buffer);
    }
    CALL(CLOSE, client);
    i64 total = 0, count;
    put_number("all", receive(socket, sizeof buffer, WAITALL));
    while ((count = CALL(READ, socket, buffer, 100000)) > 0)
        total += count;
    put_number("rest", total);
    CALL(WAIT4, child, &status, 0, 0);
    put_number("status", status);
    put_number("ready", ready(socket) & 0x2011);
    CALL(CLOSE, socket);

    // A connection that ends with bytes that were not read.
    client = CALL(SOCKET, INET, STREAM, 0);
    put_number("connect", CALL(CONNECT, client, &at, sizeof at));
    socket = CALL(ACCEPT, server, 0, 0);
    send(client, "x", 0);
    CALL(READ, socket, buffer, 0);
    CALL(CLOSE, socket);
    put_number("reset", receive(client, 9, 0));
    put_number("end", receive(client, 9, 0));
    put_number("broken", send(client, "x", 0));
    CALL(CLOSE, client);
    CALL(CLOSE, server);

    at = none;
    at.port[1] = 0;
    i64 first = CALL(SOCKET, INET, DGRAM, 0), second = CALL(SOCKET, INET, DGRAM, 0);
    put_number("bind", CALL(BIND, first, &at, sizeof at));
    CALL(GETSOCKNAME, first, &at, &size);
    put_number("in use", CALL(BIND, second, &at, sizeof at));
    put_number("nowhere", send(second, "x", 0));
    put_number("send", CALL(SENDTO, second, "datagram", 8, 0, &at, sizeof at));
    put_number("connect", CALL(CONNECT, second, &at, sizeof at));
    put_number("send", send(second, "more", 0));
    put_number("truncated", receive(first, 3, TRUNC));
    put_number("receive", receive(first, 100, 0));
    put_number("none", receive(first, 100, DONTWAIT));
    u64 limit[2] = {0, 1000};
    put_number("limit", CALL(SETSOCKOPT, first, 1, 20, limit, 16));
    put_number("timeout", receive(first, 100, 0));
    put_number("type", option(first, 1, 3));
    put_number("buffer", option(first, 1, 8));
    put_number("no option", option(first, 1, 999));
    CALL(CLOSE, first);
    put_number("sent", send(second, "x", 0));
    put_number("refused", send(second, "x", 0));
}

int program(int, char **, char **, u64 *)
{
    u64 action[4] = {(u64)count_pipe, 0x10000000, 0, 0};
    CALL(SIGACTION, 13, action, 0, 8);
    pairs();
    names();
    internet();
    return 0;
}
