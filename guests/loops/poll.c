// Waits for a word in memory to change, which it does not: most of them give up after a time. The seed selects one that
// does not give up.

#include "loops.h"

const struct guest guest = {"poll", "rounds", 600, 1 << 20, 1};

static volatile u32 status;
static volatile u8 flag;
static volatile u64 ticket, serving;
struct device {
    u32 control;
    u32 state;
    u64 data;
};
static struct device device;

LOOP bool wait_for_bit(volatile u32 *at, u32 bit, u32 timeout) {
    while (!(*at & bit)) {
        if (timeout-- == 0) {
            return false;
        }
    }
    return true;
}
LOOP bool wait_for_flag(volatile u8 *at, u64 timeout) {
    for (u64 i = 0; i < timeout; i++) {
        if (*at) {
            return true;
        }
    }
    return false;
}
LOOP bool wait_while_busy(volatile struct device *of, int timeout) {
    do {
        if ((of->state & 0x80) == 0x80) {
            return true;
        }
    } while (--timeout > 0);
    return false;
}
LOOP bool wait_for_turn(volatile u64 *now, u64 mine, u64 timeout) {
    while (*now != mine && timeout) {
        timeout--;
    }
    return timeout != 0;
}
LOOP bool wait_for_two(volatile u32 *a, volatile u32 *b, u32 timeout) {
    while (*a == 0 && *b == 0 && timeout > 0) {
        timeout -= 1;
    }
    return timeout;
}
LOOP void forever_flag(volatile u8 *at) {
    while (!*at) {
    }
}
LOOP void forever_bit(volatile u32 *at) {
    while ((*at & 4) == 0) {
    }
}
LOOP void forever_turn(volatile u64 *now, u64 mine) {
    while (*now < mine) {
    }
}
LOOP void forever_state(volatile struct device *of) {
    while (of->state != 3) {
    }
}
LOOP void forever_either(volatile u8 *a, volatile u32 *b) {
    while (!*a && !*b) {
    }
}

bool run(u64 size, u64 seed) {
    sink = wait_for_bit(&status, 2, (u32)size);
    sink = wait_for_flag(&flag, size);
    sink = wait_while_busy(&device, (int)size);
    sink = wait_for_turn(&serving, 7, size);
    sink = wait_for_two(&status, (volatile u32 *)&device.control, (u32)size);
    switch (seed % 6) {
    case 1:
        forever_flag(&flag);
        break;
    case 2:
        forever_bit(&status);
        break;
    case 3:
        ticket = 1;
        forever_turn(&serving, ticket);
        break;
    case 4:
        forever_state(&device);
        break;
    case 5:
        forever_either(&flag, &status);
        break;
    }
    return true;
}
