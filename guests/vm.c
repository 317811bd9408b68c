// A machine in the machine: bytecode that follows the Collatz sequences of SIZE numbers.

#include "guest.h"

const struct guest guest = {"vm", "sequences", 400, 10000000, 1};

enum opcode {
    HALT, SET, COPY, ADD, SUBTRACT, MULTIPLY, AND, SHIFT_RIGHT, LESS, JUMP, JUMP_IF_ZERO, CALL, RETURN
};
enum name { START, LEFT, TOTAL, LONGEST, AT, X, STEPS, T, ONE, THREE, REGISTERS };

struct instruction {
    u8 opcode;
    u8 to; // a register, or where to jump or call
    u8 a;  // a register, or the number to set
    u8 b;  // a register
};

// Where the labels are. A wrong one leaves a gap or an overlap, and the compiler warns of the latter.
enum { NEXT = 2, KEEP = 10, DONE = 13, COLLATZ = 14, STEP = 15, HALVE = 23, FINISHED = 25 };

static const struct instruction program[] = {
    {SET, ONE, 1},
    {SET, THREE, 3},
    [NEXT] = {JUMP_IF_ZERO, DONE, LEFT},
    {COPY, X, START},
    {CALL, COLLATZ},
    {ADD, TOTAL, TOTAL, STEPS},
    {LESS, T, LONGEST, STEPS},
    {JUMP_IF_ZERO, KEEP, T},
    {COPY, LONGEST, STEPS},
    {COPY, AT, START},
    [KEEP] = {ADD, START, START, ONE},
    {SUBTRACT, LEFT, LEFT, ONE},
    {JUMP, NEXT},
    [DONE] = {HALT},

    // How many steps X takes to 1.
    [COLLATZ] = {SET, STEPS, 0},
    [STEP] = {SUBTRACT, T, X, ONE},
    {JUMP_IF_ZERO, FINISHED, T},
    {ADD, STEPS, STEPS, ONE},
    {AND, T, X, ONE},
    {JUMP_IF_ZERO, HALVE, T},
    {MULTIPLY, X, X, THREE},
    {ADD, X, X, ONE},
    {JUMP, STEP},
    [HALVE] = {SHIFT_RIGHT, X, X, ONE},
    {JUMP, STEP},
    [FINISHED] = {RETURN},
};

// Runs the program to its end, and counts its instructions.
static __attribute__((noinline)) u64 interpret(u64 *r) {
    const struct instruction *next = program, *calls[8];
    u64 depth = 0;
    for (u64 executed = 1;; executed++) {
        struct instruction i = *next++;
        switch ((enum opcode)i.opcode) {
        case HALT: return executed;
        case SET: r[i.to] = i.a; break;
        case COPY: r[i.to] = r[i.a]; break;
        case ADD: r[i.to] = r[i.a] + r[i.b]; break;
        case SUBTRACT: r[i.to] = r[i.a] - r[i.b]; break;
        case MULTIPLY: r[i.to] = r[i.a] * r[i.b]; break;
        case AND: r[i.to] = r[i.a] & r[i.b]; break;
        case SHIFT_RIGHT: r[i.to] = r[i.a] >> r[i.b]; break;
        case LESS: r[i.to] = r[i.a] < r[i.b]; break;
        case JUMP: next = program + i.to; break;
        case JUMP_IF_ZERO: next = r[i.a] ? next : program + i.to; break;
        case CALL: calls[depth++] = next; next = program + i.to; break;
        case RETURN: next = calls[--depth]; break;
        }
    }
}

bool run(u64 size, u64 seed) {
    u64 start = 1 + seed % 1000000;
    u64 r[REGISTERS] = {[START] = start, [LEFT] = size};
    u64 executed = interpret(r);
    put_decimal("steps", r[TOTAL]);
    put_decimal("longest", r[LONGEST]);
    put_decimal("at", r[AT]);
    put_decimal("executed", executed);

    // The same without the bytecode, and all halvings of a number at once.
    u64 total = 0, longest = 0, at = 0;
    for (u64 first = start; first < start + size; first++) {
        u64 x = first >> __builtin_ctzl(first);
        u64 steps = (u64)__builtin_ctzl(first);
        while (x != 1) {
            x = 3 * x + 1;
            steps += 1 + (u64)__builtin_ctzl(x);
            x >>= __builtin_ctzl(x);
        }
        total += steps;
        if (steps > longest) {
            longest = steps;
            at = first;
        }
    }
    return r[TOTAL] == total && r[LONGEST] == longest && r[AT] == at;
}
