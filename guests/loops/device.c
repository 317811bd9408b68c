// Drivers that wait for registers of devices, which do not change here: with masks, timeouts and pauses. The seed selects one
// that waits for ever.

#include "loops.h"

const struct guest guest = {"device", "rounds", 600, 1 << 20, 1};

#define REG(T, base, offset) (*(volatile T *)((volatile u8 *)(base) + (offset)))

struct port {
    volatile u32 data, status, mask, control;
    volatile u16 line, level;
    volatile u8 ready, error;
    volatile u64 clock;
};
static struct port port, other;

LOOP int wait_set(volatile u32 *reg, u32 mask, int tries) {
    int i;
    for (i = 0; i < tries; i++) {
        if ((*reg & mask) == mask) {
            return i;
        }
    }
    return -1;
}
LOOP int wait_clear(volatile u32 *reg, u32 mask, u32 tries) {
    while (*reg & mask) {
        if (!--tries) {
            return -1;
        }
    }
    return 0;
}
LOOP bool wait_equal(volatile u32 *reg, u32 mask, u32 value, u64 tries) {
    do {
        if ((*reg & mask) == value) {
            return true;
        }
    } while (tries--);
    return false;
}
LOOP bool wait_ready(struct port *of, u64 tries) {
    for (u64 i = tries; i != 0; --i) {
        if (of->ready) {
            return true;
        }
    }
    return false;
}
LOOP int wait_ready_or_error(struct port *of, int tries) {
    while (tries > 0) {
        if (of->ready) {
            return 1;
        }
        if (of->error) {
            return 2;
        }
        tries--;
    }
    return 0;
}
LOOP bool wait_pausing(struct port *of, u32 tries) {
    while (!(of->status >> 5 & 1) && tries) {
        __asm__ volatile("yield");
        tries--;
    }
    return tries;
}
LOOP bool wait_offset(void *base, u64 tries) {
    while (tries-- > 0) {
        if (REG(u32, base, 4) == 0x80) {
            return true;
        }
    }
    return false;
}
LOOP bool wait_level(struct port *of, u16 level, int tries) {
    for (int i = 0; i != tries; i++) {
        if (of->level >= level) {
            return true;
        }
    }
    return false;
}
LOOP bool wait_line(struct port *of, u32 tries) {
    u32 i = 0;
    while (i < tries && (of->line & 0x300) != 0x100) {
        i += 1;
    }
    return i < tries;
}
LOOP bool wait_negative(volatile s32 *reg, u64 tries) {
    while (*reg >= 0) {
        if (tries-- == 0) {
            return false;
        }
    }
    return true;
}
LOOP bool wait_change(volatile u64 *reg, u64 tries) {
    u64 old = *reg;
    while (*reg == old) {
        if (--tries == 0) {
            return false;
        }
    }
    return true;
}
LOOP bool wait_either(struct port *a, struct port *b, u64 tries) {
    for (u64 i = 0; i < tries; i++) {
        if (a->status | b->status) {
            return true;
        }
    }
    return false;
}
LOOP bool wait_through_pointer(volatile u32 **at, u32 tries) {
    while (**at == 0 && tries > 0) {
        tries--;
    }
    return tries;
}
LOOP bool wait_signed_byte(volatile s8 *at, int tries) {
    while (tries-- && *at >= 0) {
    }
    return tries > 0;
}
LOOP bool wait_for_time(volatile u64 *now, u64 until, u64 tries) {
    while ((s64)(*now - until) < 0 && tries != 0) {
        tries--;
    }
    return tries != 0;
}
// Not these: reading changes what is read, all values count, or something is written.
LOOP u32 drain(struct port *of, u32 tries) {
    u32 sum = 0;
    while (tries--) {
        sum += of->data;
    }
    return sum;
}
LOOP bool poke(struct port *of, u32 tries) {
    while (!of->ready && tries--) {
        of->control = 1;
    }
    return of->ready;
}
LOOP void feed(struct port *of, const u32 *words, u32 count) {
    for (u32 i = 0; i < count; i++) {
        while (of->status & 8) {
        }
        of->data = words[i];
    }
}

LOOP void forever_set(volatile u32 *reg, u32 mask) {
    while ((*reg & mask) != mask) {
    }
}
LOOP void forever_clear(volatile u32 *reg) {
    while (!(*reg & 0x40)) {
        __asm__ volatile("yield");
    }
}
LOOP void forever_equal(struct port *of) {
    do {
    } while (of->line != 0x55);
}
LOOP void forever_less(struct port *of, u64 until) {
    while (of->clock < until) {
    }
}
LOOP void forever_two(struct port *a, struct port *b) {
    while (!a->ready || !b->ready) {
    }
}
LOOP void forever_sign(volatile s64 *at) {
    while (*at >= 0) {
    }
}

bool run(u64 size, u64 seed) {
    static volatile u32 *at = &port.mask;
    sink = (u64)wait_set(&port.status, 3, (int)size);
    port.status = 0x1c;
    sink = (u64)wait_clear(&port.status, 0x18, (u32)size);
    sink = wait_equal(&port.status, 0x30, 0x20, size) + wait_ready(&port, size);
    sink = (u64)wait_ready_or_error(&port, (int)size) + wait_pausing(&port, (u32)size);
    sink = wait_offset(&port, size) + wait_level(&port, 5, (int)size) + wait_line(&port, (u32)size);
    sink = wait_negative((volatile s32 *)&port.data, size) + wait_change(&port.clock, size);
    sink = wait_either(&other, &other, size) + wait_through_pointer(&at, (u32)size);
    sink = wait_signed_byte((volatile s8 *)&port.error, (int)size) + wait_for_time(&port.clock, 900, size);
    sink = drain(&port, (u32)size) + poke(&other, (u32)size);
    port.status = 0;
    static u32 words[100];
    feed(&port, words, 100);
    switch (seed % 6) {
    case 0:
        forever_sign((volatile s64 *)&port.clock);
        break;
    case 1:
        forever_set(&port.control, 6);
        break;
    case 2:
        forever_clear(&port.control);
        break;
    case 3:
        forever_equal(&port);
        break;
    case 4:
        forever_less(&port, 17);
        break;
    case 5:
        forever_two(&port, &other);
        break;
    }
    return true;
}
