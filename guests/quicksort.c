// Quicksort of SIZE random 64-bit numbers: the median of three as pivot, and insertion sort for short runs.

#include "guest.h"

enum { LARGEST = 1 << 20, SHORT = 16 };
const struct guest guest = {"quicksort", "numbers", 20000, LARGEST, 1};

static void swap(u64 *a, u64 *b) {
    u64 old = *a;
    *a = *b;
    *b = old;
}

static void insertion_sort(u64 *numbers, u64 count) {
    for (u64 i = 1; i < count; i++) {
        u64 x = numbers[i];
        u64 at = i;
        for (; at && numbers[at - 1] > x; at--) {
            numbers[at] = numbers[at - 1];
        }
        numbers[at] = x;
    }
}

// Splits at least three numbers so that none of the first part is larger than any of the rest, and gives the
// length of the first part. Neither part is empty.
static u64 partition(u64 *numbers, u64 count) {
    u64 *first = numbers, *middle = numbers + count / 2, *last = numbers + count - 1;
    if (*first > *middle) {
        swap(first, middle);
    }
    if (*middle > *last) {
        swap(middle, last);
    }
    if (*first > *middle) {
        swap(first, middle);
    }
    u64 pivot = *middle;
    for (;; first++, last--) {
        while (*first < pivot) {
            first++;
        }
        while (*last > pivot) {
            last--;
        }
        if (first >= last) {
            return (u64)(last - numbers) + 1;
        }
        swap(first, last);
    }
}

// Recurs for the shorter part only, so the stack grows with the logarithm of the count.
static __attribute__((noinline)) void quicksort(u64 *numbers, u64 count) {
    while (count > SHORT) {
        u64 split = partition(numbers, count);
        if (split < count - split) {
            quicksort(numbers, split);
            numbers += split;
            count -= split;
        } else {
            quicksort(numbers + split, count - split);
            count = split;
        }
    }
    insertion_sort(numbers, count);
}

// Two values that depend on which numbers there are and not on their order.
struct multiset {
    u64 sum, xor;
};

static struct multiset multiset(const u64 *numbers, u64 count) {
    struct multiset all = {0, 0};
    for (u64 i = 0; i < count; i++) {
        all.sum += fold(1, numbers[i]);
        all.xor ^= fold(2, numbers[i]);
    }
    return all;
}

bool run(u64 size, u64 seed) {
    static u64 numbers[LARGEST];
    for (u64 i = 0; i < size; i++) {
        // Every fourth number is small, so that there are equal ones.
        numbers[i] = random(&seed) >> (i % 4 ? 0 : 56);
    }
    struct multiset before = multiset(numbers, size);
    quicksort(numbers, size);
    struct multiset after = multiset(numbers, size);

    bool sorted = true;
    u64 hash = 0;
    for (u64 i = 0; i < size; i++) {
        sorted &= i == 0 || numbers[i - 1] <= numbers[i];
        hash = fold(hash, numbers[i]);
    }
    put_hex("hash", hash);
    return sorted && before.sum == after.sum && before.xor == after.xor;
}
