// Executes instructions of pointer authentication at EL0, with known keys. Runs under qemu-system-aarch64 without an operating
// system, because the keys of QEMU's user mode are random.
//
// QEMU loads the questions at QUESTIONS: the keys, and for each question a word, the registers and the two pages of data before
// it. The answers, which are the registers after the exception that ends an instruction, are written to the file `answers`.
// Addresses are set up as in a Linux process: 48 bits, and the top byte of those whose bit 55 is 0 is ignored.

#include <stdint.h>

#define QUESTIONS 0x50000000ul
#define ANSWERS 0x70000000ul
#define CODE 0x10000ul
#define DATA 0x30000ul

typedef uint64_t u64;

struct question {
    u64 word, x[31], sp, nzcv, unused[30];
    u64 data[1024];
};

struct answer {
    u64 x[31], sp, nzcv, pc, syndrome, address;
};

struct questions {
    u64 count, keys[5][2];
    struct question all[];
};

// Used by the assembly below: the answer in progress, and the stack pointer of `enter`.
struct answer *current;
u64 kernel_sp;

static u64 level0[512] __attribute__((aligned(4096)));
static u64 level1[512] __attribute__((aligned(4096)));
static u64 level2[512] __attribute__((aligned(4096)));
static u64 level3[512] __attribute__((aligned(4096)));
static u64 code[512] __attribute__((aligned(4096)));
static u64 data[1024] __attribute__((aligned(4096)));
static char stack[1 << 16] __attribute__((aligned(16), used));

extern char vectors[];
void enter(const struct question *question);

__asm__(
    ".global _start, enter, vectors\n"
    "_start:\n"
    "adrp x0, stack\n add x0, x0, :lo12:stack\n add x0, x0, #0x10, lsl #12\n mov sp, x0\n"
    "b run\n"
    "enter:\n"
    "stp x19, x20, [sp, #-96]!\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n stp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
    "adrp x1, kernel_sp\n mov x2, sp\n str x2, [x1, :lo12:kernel_sp]\n"
    "mov x1, #0x10000\n msr elr_el1, x1\n"
    "ldr x1, [x0, #264]\n mov x2, #0x3c0\n orr x1, x1, x2\n msr spsr_el1, x1\n"
    "ldr x1, [x0, #256]\n msr sp_el0, x1\n"
    "ldp x2, x3, [x0, #24]\n ldp x4, x5, [x0, #40]\n ldp x6, x7, [x0, #56]\n ldp x8, x9, [x0, #72]\n"
    "ldp x10, x11, [x0, #88]\n ldp x12, x13, [x0, #104]\n ldp x14, x15, [x0, #120]\n ldp x16, x17, [x0, #136]\n"
    "ldp x18, x19, [x0, #152]\n ldp x20, x21, [x0, #168]\n ldp x22, x23, [x0, #184]\n ldp x24, x25, [x0, #200]\n"
    "ldp x26, x27, [x0, #216]\n ldp x28, x29, [x0, #232]\n ldr x30, [x0, #248]\n"
    "ldp x0, x1, [x0, #8]\n"
    "eret\n"
    "leave:\n"
    "msr tpidr_el1, x0\n"
    "adrp x0, current\n ldr x0, [x0, :lo12:current]\n"
    "stp x2, x3, [x0, #16]\n stp x4, x5, [x0, #32]\n stp x6, x7, [x0, #48]\n stp x8, x9, [x0, #64]\n"
    "stp x10, x11, [x0, #80]\n stp x12, x13, [x0, #96]\n stp x14, x15, [x0, #112]\n stp x16, x17, [x0, #128]\n"
    "stp x18, x19, [x0, #144]\n stp x20, x21, [x0, #160]\n stp x22, x23, [x0, #176]\n stp x24, x25, [x0, #192]\n"
    "stp x26, x27, [x0, #208]\n stp x28, x29, [x0, #224]\n str x30, [x0, #240]\n"
    "mrs x2, tpidr_el1\n stp x2, x1, [x0]\n"
    "mrs x1, sp_el0\n mrs x2, spsr_el1\n stp x1, x2, [x0, #248]\n"
    "mrs x1, elr_el1\n mrs x2, esr_el1\n stp x1, x2, [x0, #264]\n"
    "mrs x1, far_el1\n str x1, [x0, #280]\n"
    "adrp x1, kernel_sp\n ldr x1, [x1, :lo12:kernel_sp]\n mov sp, x1\n"
    "ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n"
    "ldp x29, x30, [sp, #80]\n ldp x19, x20, [sp], #96\n"
    "ret\n"
    ".balign 2048\n"
    "vectors:\n"
    ".rept 8\n b .\n .balign 128\n .endr\n"
    "b leave\n .balign 128\n"
    ".rept 7\n b .\n .balign 128\n .endr\n");

#define SET(name, value) __asm__ volatile("msr " name ", %0" ::"r"((u64)(value)) : "memory")

static u64 semihosting(u64 operation, const void *block) {
    register u64 x0 __asm__("x0") = operation;
    register const void *x1 __asm__("x1") = block;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

static void set_up(const struct questions *questions) {
    const u64 table = 3, page = 3 | 1 << 10 | 3 << 8, no_execution = 3ul << 53;
    level0[0] = (u64)level1 | table;
    level1[0] = (u64)level2 | table;
    level1[1] = 0x40000000 | 1 | 1 << 10 | 3 << 8 | 1ul << 54;
    level2[0] = (u64)level3 | table;
    level3[CODE >> 12] = (u64)code | page | 3 << 6;
    for (u64 n = 0; n < 2; n++) {
        level3[(DATA >> 12) + n] = ((u64)data + 4096 * n) | page | 1 << 6 | no_execution;
    }
    SET("mair_el1", 0xff);
    SET("ttbr0_el1", level0);
    // T0SZ and T1SZ 16, 40-bit physical addresses, TBI0; no upper addresses.
    SET("tcr_el1", 16 | 3 << 12 | 1 << 10 | 1 << 8 | 16 << 16 | 1 << 23 | 2ul << 30 | 2ul << 32 | 1ul << 37);
    SET("vbar_el1", vectors);
    const u64(*keys)[2] = questions->keys;
    SET("s3_0_c2_c1_1", keys[0][0]);
    SET("s3_0_c2_c1_0", keys[0][1]);
    SET("s3_0_c2_c1_3", keys[1][0]);
    SET("s3_0_c2_c1_2", keys[1][1]);
    SET("s3_0_c2_c2_1", keys[2][0]);
    SET("s3_0_c2_c2_0", keys[2][1]);
    SET("s3_0_c2_c2_3", keys[3][0]);
    SET("s3_0_c2_c2_2", keys[3][1]);
    SET("s3_0_c2_c3_1", keys[4][0]);
    SET("s3_0_c2_c3_0", keys[4][1]);
    __asm__ volatile("tlbi vmalle1\n dsb sy\n isb" ::: "memory");
    // M, C, I, EnIA, EnIB, EnDA, EnDB, and the bits that are always 1.
    SET("sctlr_el1", 1 | 1 << 2 | 1 << 12 | 1ul << 31 | 1 << 30 | 1 << 27 | 1 << 13 | 1 << 29 | 1 << 28 | 1 << 23 |
                         1 << 22 | 1 << 20 | 1 << 11);
    __asm__ volatile("isb" ::: "memory");
}

void run(void) {
    const struct questions *questions = (const void *)QUESTIONS;
    struct answer *answers = (void *)ANSWERS;
    set_up(questions);
    for (u64 n = 0; n < questions->count; n++) {
        const struct question *question = &questions->all[n];
        // BRK follows the instruction.
        code[0] = question->word | 0xd4200000ul << 32;
        for (int i = 0; i < 1024; i++) {
            data[i] = question->data[i];
        }
        __asm__ volatile("dsb sy\n ic iallu\n dsb sy\n isb" ::: "memory");
        current = &answers[n];
        enter(question);
    }
    const u64 name[] = {(u64) "answers", 5, 7};
    u64 file = semihosting(1, name);
    const u64 write[] = {file, ANSWERS, questions->count * sizeof(struct answer)};
    semihosting(5, write);
    semihosting(2, &file);
    const u64 exit[] = {0x20026, 0};
    semihosting(0x18, exit);
}
