 /* The judge: executes floating-point instructions on inputs from the standard input, under qemu-aarch64 or on a
 * processor. KVRM's results are compared with its answers. The instructions are in a generated assembly file. */

#include <stdint.h>

/* A case: the number of an instruction, FPCR, and the values of v1, v2 and v3. x1 has the value of v1. */
struct inputs {
    uint32_t instruction, fpcr;
    uint64_t operands[3];
};

/* An answer: the registers after the instruction. */
struct outputs {
    uint64_t v0, x0;
    uint32_t nzcv, fpsr;
};

/* The addresses of functions with one instruction each. */
extern const uint64_t instructions[];

static struct outputs execute(const struct inputs *in) {
    struct outputs out;
    uint64_t nzcv, fpsr;
    __asm__ volatile(
        "msr fpcr, %[fpcr]\n\t"
        "msr fpsr, xzr\n\t"
        "movi v0.2d, #0\n\t"
        "ldr d1, [%[operands]]\n\t"
        "ldr d2, [%[operands], #8]\n\t"
        "ldr d3, [%[operands], #16]\n\t"
        "ldr x1, [%[operands]]\n\t"
        "mov x0, #0\n\t"
        "blr %[instruction]\n\t"
        "mrs %[nzcv], nzcv\n\t"
        "mrs %[fpsr], fpsr\n\t"
        "str d0, [%[out]]\n\t"
        "str x0, [%[out], #8]\n\t"
        "msr fpcr, xzr"
        : [nzcv] "=&r"(nzcv), [fpsr] "=&r"(fpsr)
        : [fpcr] "r"((uint64_t)in->fpcr), [operands] "r"(in->operands),
          [instruction] "r"(instructions[in->instruction]), [out] "r"(&out)
        : "x0", "x1", "x30", "v0", "v1", "v2", "v3", "cc", "memory");
    out.nzcv = (uint32_t)(nzcv >> 28);
    out.fpsr = (uint32_t)fpsr;
    return out;
}

/* Makes a system call of Linux. The judge uses no C library, so that only a compiler has to be installed. */
static int64_t system_call(int64_t number, int64_t first, void *second, int64_t third) {
    register int64_t x8 __asm__("x8") = number;
    register int64_t x0 __asm__("x0") = first;
    register void *x1 __asm__("x1") = second;
    register int64_t x2 __asm__("x2") = third;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}

enum { READ = 63, WRITE = 64, EXIT = 93 };

void _start(void) {
    struct inputs in;
    while (system_call(READ, 0, &in, sizeof in) == sizeof in) {
        struct outputs out = execute(&in);
        system_call(WRITE, 1, &out, sizeof out);
    }
    system_call(EXIT, 0, 0, 0);
}
