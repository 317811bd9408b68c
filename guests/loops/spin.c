// Locks, tickets and barriers that are waited for without atomic instructions.

#include "loops.h"

const struct guest guest = {"spin", "spins", 400, 1 << 20, 1};

struct lock {
    volatile u32 held;
    volatile u32 next;
    volatile u64 owner;
    volatile u8 waiters;
};

LOOP u64 try_lock(struct lock *lock, u64 spins) {
    while (lock->held) {
        if (--spins == 0) {
            break;
        }
    }
    return spins;
}
LOOP u64 try_ticket(struct lock *lock, u32 mine, u32 spins) {
    for (u32 i = 0; i != spins; i++) {
        if (lock->next == mine) {
            return i;
        }
    }
    return spins;
}
LOOP u64 try_owner(struct lock *lock, u64 spins) {
    while (lock->owner != 0 && spins > 0) {
        spins--;
    }
    return spins;
}
LOOP u64 try_barrier(volatile u8 *arrived, u8 all, s32 spins) {
    s32 n = 0;
    while (*arrived < all && n < spins) {
        n++;
    }
    return (u64)n;
}
LOOP u64 try_epoch(volatile u64 *epoch, u64 seen, u64 spins) {
    u64 n = 0;
    do {
        n++;
    } while (*epoch <= seen && n < spins);
    return n;
}
LOOP void never_unlocked(struct lock *lock) {
    while (lock->held) {
    }
}
LOOP void never_owned(struct lock *lock, u64 me) {
    while (lock->owner != me) {
    }
}
LOOP void never_waiting(struct lock *lock) {
    while (!lock->waiters) {
    }
}
LOOP void pause(u64 count) {
    for (u64 i = 0; i < count; i++) {
        asm volatile("yield");
    }
}

bool run(u64 size, u64 seed) {
    static struct lock lock = {1, 3, 9, 0};
    for (u64 n = size; n > 10; n -= n / 3) {
        sink = try_lock(&lock, n) + try_ticket(&lock, 5, (u32)n) + try_owner(&lock, n);
        sink = try_barrier(&lock.waiters, 4, (s32)n) + try_epoch(&lock.owner, 12, n);
        pause(n);
    }
    switch (seed % 6) {
    case 1:
        never_unlocked(&lock);
        break;
    case 2:
        never_owned(&lock, 1);
        break;
    case 3:
        never_waiting(&lock);
        break;
    }
    return true;
}
