// Timers and mailboxes that are polled.

#include "loops.h"

const struct guest guest = {"watchdog", "polls", 500, 1 << 20, 1};

static volatile s32 alarm;
static volatile u64 clock_low;
static volatile s8 mailbox[16];
static volatile u32 *registers[4];
static u32 banks[4][8];

LOOP u64 until_alarm(u64 limit) {
    u64 polls = 0;
    while (alarm >= 0 && polls < limit) {
        polls++;
    }
    return polls;
}
LOOP u64 until_clock(volatile u64 *clock, u64 deadline, u64 limit) {
    do {
        if (*clock >= deadline) {
            break;
        }
    } while (limit-- > 1);
    return limit;
}
LOOP u64 until_mail(volatile s8 *box, s64 limit) {
    s64 left = limit;
    for (; left; left--) {
        if (*box < 0) {
            break;
        }
    }
    return (u64)left;
}
LOOP u64 until_bank(volatile u32 *bank, u32 limit) {
    u32 n = limit;
    while (bank[2] == bank[3]) {
        if (!--n) {
            break;
        }
    }
    return n;
}
LOOP u64 until_mask(volatile u32 *bank, u32 mask, u32 want, u32 limit) {
    u32 n = 0;
    for (;;) {
        if ((bank[1] & mask) == want || n >= limit) {
            return n;
        }
        n += 1;
    }
}
LOOP void stuck_alarm(void) {
    while (alarm >= 0) {
    }
}
LOOP void stuck_clock(volatile u64 *clock) {
    u64 before = *clock;
    while (*clock == before) {
    }
}
LOOP void stuck_bank(volatile u32 *bank) {
    while (!(bank[5] & 0x100)) {
    }
}

bool run(u64 size, u64 seed) {
    for (u32 i = 0; i < 4; i++) {
        registers[i] = banks[i];
    }
    for (u64 n = size; n > 20; n /= 2) {
        sink = until_alarm(n) + until_clock(&clock_low, 1000, n) + until_mail(&mailbox[3], (s64)n);
        sink = until_bank(registers[n % 4], (u32)n) + until_mask(registers[1], 0xf0, 0x30, (u32)n);
    }
    switch (seed % 6) {
    case 1:
        stuck_alarm();
        break;
    case 2:
        stuck_clock(&clock_low);
        break;
    case 3:
        stuck_bank(registers[2]);
        break;
    }
    return true;
}
