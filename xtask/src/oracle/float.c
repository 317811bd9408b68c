/* Executes instructions of floating point on cases from the standard input: a judge of our own arithmetic when it runs
 * under qemu-aarch64, or on a processor. The instructions are in an assembly file that is made for it. */

#include <stdint.h>

/* What the judge is told: the number of an instruction, FPCR, and what v1, v2, v3 and x1 hold. */
struct inputs {
    uint32_t instruction, fpcr;
    uint64_t operands[3];
};

/* What it answers. */
struct outputs {
    uint64_t v0, x0;
    uint32_t nzcv, fpsr;
};

/* Addresses of functions of one instruction each. */
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

/* A system call of Linux. There is no C library, as a compiler alone is easier to come by. */
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
