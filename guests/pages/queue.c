// Ring buffers that are filled and emptied in turns, at different speeds.

#include "guest.h"

enum { LARGEST = 10000000, QUEUES = 8, CAPACITY = 1 << 15 };
const struct guest guest = {"queue", "turns", 12000, LARGEST, 1};

static struct queue {
    u64 head, tail;
    u64 numbers[CAPACITY];
} queues[QUEUES];

static __attribute__((noinline)) u64 fill(struct queue *queue, u64 count) {
    u64 room = CAPACITY - (queue->tail - queue->head);
    count = count < room ? count : room;
    for (u64 i = 0; i < count; i++) {
        queue->numbers[queue->tail % CAPACITY] = fold(7, queue->tail);
        queue->tail++;
    }
    return count;
}

// Takes numbers out, and gives how many were not those that were put in.
static __attribute__((noinline)) u64 drain(struct queue *queue, u64 count) {
    u64 there = queue->tail - queue->head, wrong = 0;
    count = count < there ? count : there;
    for (u64 i = 0; i < count; i++) {
        wrong += queue->numbers[queue->head % CAPACITY] != fold(7, queue->head);
        queue->head++;
    }
    return wrong;
}

bool run(u64 size, u64 seed) {
    u64 wrong = 0, moved = 0;
    for (u64 turn = 0; turn < size; turn++) {
        u64 bits = random(&seed);
        moved += fill(&queues[turn % QUEUES], bits % 256 + 32 * (turn % QUEUES));
        wrong += drain(&queues[bits >> 32 & (QUEUES - 1)], bits >> 40 & 511);
    }
    put_decimal("moved", moved);
    return wrong == 0;
}
