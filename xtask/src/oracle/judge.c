// Executes single instructions, each on given registers. Runs under qemu-aarch64.
//
// A question is a word and the registers before it, an answer the registers after it and whether the word is UNDEFINED.
// The instruction is written into a copy of the code between `judge_begin` and `judge_end`, at `judge_slot`. While it
// runs, SP is the address of the registers, so the instruction must not use it.

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct registers {
    uint64_t x[31], sp, nzcv, fpcr, fpsr, undefined;
    uint64_t v[32][2];
} __attribute__((aligned(16)));

struct question {
    uint64_t word;
    uint64_t unused;
    struct registers before;
};

extern char judge_begin[], judge_slot[], judge_end[];

#define PAIRS(op) \
    op " q0, q1, [sp, #288]\n" op " q2, q3, [sp, #320]\n" op " q4, q5, [sp, #352]\n" op " q6, q7, [sp, #384]\n" \
    op " q8, q9, [sp, #416]\n" op " q10, q11, [sp, #448]\n" op " q12, q13, [sp, #480]\n" op " q14, q15, [sp, #512]\n" \
    op " q16, q17, [sp, #544]\n" op " q18, q19, [sp, #576]\n" op " q20, q21, [sp, #608]\n" op " q22, q23, [sp, #640]\n" \
    op " q24, q25, [sp, #672]\n" op " q26, q27, [sp, #704]\n" op " q28, q29, [sp, #736]\n" op " q30, q31, [sp, #768]\n"
#define GENERAL(op, last) \
    op " x2, x3, [sp, #16]\n" op " x4, x5, [sp, #32]\n" op " x6, x7, [sp, #48]\n" op " x8, x9, [sp, #64]\n" \
    op " x10, x11, [sp, #80]\n" op " x12, x13, [sp, #96]\n" op " x14, x15, [sp, #112]\n" op " x16, x17, [sp, #128]\n" \
    op " x18, x19, [sp, #144]\n" op " x20, x21, [sp, #160]\n" op " x22, x23, [sp, #176]\n" op " x24, x25, [sp, #192]\n" \
    op " x26, x27, [sp, #208]\n" op " x28, x29, [sp, #224]\n" last " x30, [sp, #240]\n"

__asm__(
    ".global judge_begin, judge_slot, judge_end\n"
    "judge_begin:\n"
    "stp x29, x30, [sp, #-160]!\n"
    "stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n stp x25, x26, [sp, #64]\n"
    "stp x27, x28, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
    "mov x1, sp\n str x1, [x0, #248]\n mov sp, x0\n"
    "ldr x1, [sp, #256]\n msr nzcv, x1\n"
    "ldr x1, [sp, #264]\n msr fpcr, x1\n"
    "ldr x1, [sp, #272]\n msr fpsr, x1\n"
    PAIRS("ldp") GENERAL("ldp", "ldr")
    "ldp x0, x1, [sp]\n"
    "judge_slot:\n"
    ".inst 0\n"
    "stp x0, x1, [sp]\n"
    GENERAL("stp", "str") PAIRS("stp")
    "mrs x1, nzcv\n str x1, [sp, #256]\n"
    "mrs x1, fpcr\n str x1, [sp, #264]\n"
    "mrs x1, fpsr\n str x1, [sp, #272]\n"
    "ldr x1, [sp, #248]\n mov sp, x1\n"
    "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n ldp x25, x26, [sp, #64]\n"
    "ldp x27, x28, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
    "ldp x29, x30, [sp], #160\n"
    "msr fpcr, xzr\n"
    "ret\n"
    "judge_end:\n");

static sigjmp_buf after;
static char signal_stack[1 << 16];

static void undefined(int number) {
    (void)number;
    siglongjmp(after, 1);
}

int main(void) {
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = undefined, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGILL, &action, 0);

    size_t size = judge_end - judge_begin;
    char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, judge_begin, size);
    uint32_t *slot = (uint32_t *)(code + (judge_slot - judge_begin));

    struct question question;
    while (fread(&question, sizeof question, 1, stdin) == 1) {
        *slot = question.word;
        __builtin___clear_cache(code, code + 4096);
        static struct registers registers;
        registers = question.before;
        if (sigsetjmp(after, 1) == 0) {
            ((void (*)(struct registers *))code)(&registers);
            registers.undefined = 0;
        } else {
            __asm__ volatile("msr fpcr, xzr");
            registers = question.before;
            registers.undefined = 1;
        }
        fwrite(&registers, sizeof registers, 1, stdout);
    }
    return 0;
}
