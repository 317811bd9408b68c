// Locks, mailboxes and counters that others would change: waits with limits. The seed selects one that waits for ever.

#include "loops.h"

const struct guest guest = {"locks", "rounds", 500, 1 << 20, 1};

struct mailbox {
    volatile u32 head, tail;
    volatile u64 sequence;
    volatile u8 full;
};
static struct mailbox box;
static volatile u16 turn;
static volatile u64 word;
static volatile s32 balance;

LOOP bool until_unlocked(volatile u32 *lock, u32 limit) {
    for (u32 i = 0; *lock != 0; i++) {
        if (i >= limit) {
            return false;
        }
    }
    return true;
}
LOOP bool until_not_empty(struct mailbox *of, u64 limit) {
    while (of->head == of->tail) {
        if (limit-- == 0) {
            return false;
        }
    }
    return true;
}
LOOP bool until_space(struct mailbox *of, u32 capacity, int limit) {
    while (of->head - of->tail >= capacity && --limit > 0) {
    }
    return limit > 0;
}
LOOP bool until_even(struct mailbox *of, u64 limit) {
    u64 i = 0;
    while ((of->sequence & 1) && i < limit) {
        i++;
    }
    return i < limit;
}
LOOP bool until_sequence(struct mailbox *of, u64 sequence, u64 limit) {
    for (; limit; limit--) {
        if (of->sequence > sequence) {
            return true;
        }
    }
    return false;
}
LOOP bool until_full(struct mailbox *of, int limit) {
    int left = limit;
    do {
        if (of->full == 1) {
            return true;
        }
        left -= 1;
    } while (left != 0);
    return false;
}
LOOP bool until_turn(volatile u16 *now, u16 mine, u64 limit) {
    while (*now != mine) {
        __asm__ volatile("yield");
        if (--limit == 0) {
            return false;
        }
    }
    return true;
}
LOOP bool until_bit(volatile u64 *at, u32 bit, u64 limit) {
    for (u64 i = 0; i < limit; i++) {
        if (*at >> bit & 1) {
            return true;
        }
    }
    return false;
}
LOOP bool until_bit_40(volatile u64 *at, u32 limit) {
    while (!(*at & 1ul << 40) && limit != 0) {
        limit--;
    }
    return limit;
}
LOOP bool until_positive(volatile s32 *at, int limit) {
    while (*at <= 0) {
        if (limit-- <= 0) {
            return false;
        }
    }
    return true;
}
LOOP bool until_both(volatile u64 *a, volatile u16 *b, u64 limit) {
    while (!(*a && *b)) {
        limit -= 2;
        if (limit < 2) {
            return false;
        }
    }
    return true;
}
LOOP bool until_backed_off(volatile u32 *lock, u32 limit) {
    u32 pause = 1;
    while (*lock != 0 && pause < limit) {
        for (volatile u32 i = 0; i < pause; i++) {
        }
        pause *= 2;
    }
    return pause < limit;
}

LOOP void forever_locked(volatile u32 *lock) {
    while (*lock) {
    }
}
LOOP void forever_empty(struct mailbox *of) {
    while (of->head == of->tail) {
    }
}
LOOP void forever_below(volatile u64 *at, u64 than) {
    while (*at < than) {
        __asm__ volatile("yield");
    }
}
LOOP void forever_bit(volatile u64 *at) {
    while (!(*at >> 33 & 1)) {
    }
}
LOOP void forever_other(volatile u16 *at, u16 mine) {
    while (*at != mine) {
    }
}
LOOP void forever_negative(volatile s32 *at) {
    while (*at <= 0) {
    }
}

bool run(u64 size, u64 seed) {
    static volatile u32 lock = 1;
    sink = until_unlocked(&lock, (u32)size) + until_not_empty(&box, size);
    box.head = 16, box.sequence = 1;
    sink = until_space(&box, 16, (int)size) + until_even(&box, size) + until_sequence(&box, 1, size);
    sink = until_full(&box, (int)size) + until_turn(&turn, 5, size) + until_bit(&word, 3, size);
    sink = until_bit_40(&word, (u32)size) + until_positive(&balance, (int)size) + until_both(&word, &turn, size);
    sink = until_backed_off(&lock, 64);
    switch (seed % 6) {
    case 0:
        forever_locked(&lock);
        break;
    case 1:
        box.tail = box.head;
        forever_empty(&box);
        break;
    case 2:
        forever_below(&word, 3);
        break;
    case 3:
        forever_bit(&word);
        break;
    case 4:
        forever_other(&turn, 9);
        break;
    case 5:
        forever_negative(&balance);
        break;
    }
    return true;
}
