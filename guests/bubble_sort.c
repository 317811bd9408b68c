// Bubble sort of SIZE random 32-bit numbers, signed ones, up to the pass that swaps nothing.

#include "guest.h"

enum { LARGEST = 1 << 16 };
const struct guest guest = {"bubble_sort", "numbers", 800, LARGEST, 1};

// The number of swaps.
static __attribute__((noinline)) u64 bubble_sort(int *numbers, u64 count) {
    u64 swaps = 0;
    // What follows the last swap of a pass is in its place.
    for (u64 end = count, last; end > 1; end = last) {
        last = 0;
        for (u64 i = 1; i < end; i++) {
            int left = numbers[i - 1], right = numbers[i];
            if (left > right) {
                numbers[i - 1] = right;
                numbers[i] = left;
                last = i;
                swaps++;
            }
        }
    }
    return swaps;
}

bool run(u64 size, u64 seed) {
    static int numbers[LARGEST];
    u64 sum = 0, xor = 0;
    for (u64 i = 0; i < size; i++) {
        numbers[i] = (int)random(&seed);
        sum += fold(1, (u64)numbers[i]);
        xor ^= fold(2, (u64)numbers[i]);
    }
    u64 swaps = bubble_sort(numbers, size);

    bool sorted = true;
    u64 hash = 0;
    for (u64 i = 0; i < size; i++) {
        sorted &= i == 0 || numbers[i - 1] <= numbers[i];
        sum -= fold(1, (u64)numbers[i]);
        xor ^= fold(2, (u64)numbers[i]);
        hash = fold(hash, (u64)numbers[i]);
    }
    put_decimal("swaps", swaps);
    put_hex("hash", hash);
    return sorted && sum == 0 && xor == 0;
}
