// A driver of a serial port that is memory: waits until it is ready, and sends and receives buffers.

#include "loops.h"

const struct guest guest = {"uart", "bytes", 300, 4096, 1};

struct port {
    u32 data;
    u32 pad[5];
    u32 flags;
    u32 baud;
    u16 line;
    u16 mask;
};
enum { FULL = 1 << 5, EMPTY = 1 << 4, BUSY = 1 << 3 };

LOOP int wait_not(volatile struct port *port, u32 bits) {
    int left = 50;
    while ((port->flags & bits) && left) {
        left--;
    }
    return left;
}
LOOP int wait_set(volatile struct port *port, u32 bits) {
    u64 spins = 0;
    while ((port->flags & bits) != bits) {
        spins++;
        if (spins > 90) {
            return 0;
        }
    }
    return 1;
}
LOOP int wait_line(volatile u16 *line) {
    for (s32 tries = 200; tries >= 0; tries -= 2) {
        if (!(*line & 1)) {
            return tries;
        }
    }
    return -1;
}
LOOP int wait_baud(volatile u32 *baud, u32 old) {
    u32 n = 0;
    while (*baud == old) {
        if (++n == 128) {
            return 1;
        }
    }
    return 0;
}
LOOP void send(volatile struct port *port, const u8 *bytes, u64 count) {
    for (u64 i = 0; i < count; i++) {
        port->data = bytes[i];
    }
}
LOOP void receive(volatile struct port *port, u8 *bytes, u64 count) {
    for (u64 i = 0; i < count; i++) {
        bytes[i] = (u8)port->data;
    }
}
LOOP void drain(volatile struct port *port, u32 count) {
    while (count--) {
        (void)port->data;
    }
}
LOOP void hang(volatile struct port *port) {
    while (port->flags & FULL) {
    }
}
LOOP void hang_line(volatile u16 *line) {
    while (!(*line >> 15)) {
    }
}

bool run(u64 size, u64 seed) {
    static struct port port;
    static u8 buffer[4096];
    port.flags = FULL | BUSY;
    port.line = 1;
    for (u64 i = 0; i < size; i += 20) {
        sink = (u64)wait_not(&port, FULL) + (u64)wait_set(&port, EMPTY) + (u64)wait_line(&port.line);
        sink = (u64)wait_baud(&port.baud, 0);
        send(&port, buffer, size - i);
        receive(&port, buffer, size);
        drain(&port, (u32)size);
    }
    if (seed % 6 == 1) {
        hang(&port);
    } else if (seed % 6 == 2) {
        hang_line(&port.line);
    }
    return true;
}
