// A position independent program: where it is, what the kernel says of that, and the thread pointer.
#include "linux.h"

extern const u8 __ehdr_start[] __attribute__((visibility("hidden")));

int program(int argc, char **argv, char **envp, u64 *auxv)
{
    (void)argc, (void)argv, (void)envp;
    u64 headers = 0, count = 0, size = 0, base = 1, entry = 0, random = 0;
    for (; *auxv; auxv += 2)
        switch (auxv[0]) {
        case 3: headers = auxv[1]; break;
        case 4: size = auxv[1]; break;
        case 5: count = auxv[1]; break;
        case 7: base = auxv[1]; break;
        case 9: entry = auxv[1]; break;
        case 25: random = auxv[1]; break;
        }
    u64 start = (u64)__ehdr_start;
    put_number("headers", headers - start);
    put_number("size", size);
    u64 loads = 0;
    for (u64 i = 0; i < count; i++)
        loads += *(u32 *)(headers + i * size) == 1;
    put_number("loads", loads > 0);
    put_number("entry", entry - start == *(u64 *)(start + 24));
    put_number("no interpreter", base == 0 || base == start);
    put_number("random", random != 0);
    static u64 block[4] = {1, 2, 3, 4};
    __asm__ volatile("msr tpidr_el0, %0" ::"r"(block));
    CALL(SCHED_YIELD);
    u64 *pointer;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
    put_number("thread", pointer == block && pointer[2] == 3);
    return 0;
}
