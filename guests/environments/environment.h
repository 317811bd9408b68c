// The interface of an environment: how a program is stepped by its host. docs/environments.md explains it.
//
// A program fills one `struct kvrm_environment` and calls kvrm_yield() when it has started. From then on, the host writes
// `input` and lets the program go on; the program does what `input` says, writes `output`, and yields again.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    KVRM_ENVIRONMENT_VERSION = 1,
    KVRM_ACTIONS_MAX = 16,
    // The yield is `svc #KVRM_YIELD`. On Linux it is a system call with a number that does not exist, so a program can find
    // out that it has no host.
    KVRM_YIELD = 0x4b56,
    KVRM_YIELD_NUMBER = 0x4b56524d,
};

// The format of the pixels of a frame.
enum {
    KVRM_FRAME_NONE = 0,
    // A byte a pixel: an index into the palette, which has 256 words 0x00RRGGBB.
    KVRM_FRAME_PALETTE = 1,
    // A word a pixel: 0x00RRGGBB.
    KVRM_FRAME_XRGB = 2,
    // A byte a pixel: from black to white.
    KVRM_FRAME_GREY = 3,
};

// A component of an action: a number in low..=high.
struct kvrm_action {
    char name[24]; // ends with a zero
    int32_t low, high;
};

// A frame in the memory of the program.
struct kvrm_frame {
    uint64_t pixels;  // the address of the first row; a multiple of 4 if pixels are words
    uint64_t palette; // the address of the palette, a multiple of 4; ignored by formats without one
    uint32_t format, width, height;
    uint32_t stride; // the bytes from a row to the next; a multiple of 4 if pixels are words
};

// What the host writes before the program goes on.
struct kvrm_input {
    // 1: an episode begins. The program prepares it as seed and scenario say, draws its first frame, and yields without a
    // step. 0: the program takes a step.
    uint32_t begins;
    // The number of the task, which the program defines. 0 is the task with which the program started.
    uint32_t scenario;
    // The seed of everything in the episode that is random.
    uint64_t seed;
    // The number of the program's units of time that a step lasts. The action is repeated in each.
    uint32_t ticks;
    // 1: draw a frame at the end of the step.
    uint32_t draws;
    int32_t action[KVRM_ACTIONS_MAX];
};

// What the program writes before it yields.
struct kvrm_output {
    // What the step has earned.
    double reward;
    // 1 if the task has come to its end, else 0.
    uint32_t terminated;
    // 1 if the program ends the episode for another reason, such as a limit of time, else 0.
    uint32_t truncated;
    // For each component of the action, which values make sense in the next step: bit i is for low + i. Ignored for
    // components of more than 64 values.
    uint64_t mask[KVRM_ACTIONS_MAX];
};

struct kvrm_environment {
    char magic[4];    // "KVRM"
    uint32_t version; // KVRM_ENVIRONMENT_VERSION
    // These do not change after the first yield.
    struct kvrm_frame frame;
    uint32_t actions; // the number of components
    uint32_t reserved;
    struct kvrm_action action[KVRM_ACTIONS_MAX];
    struct kvrm_input input;
    struct kvrm_output output;
};

// Waits for the host. Returns false if there is none, as in a program for another processor. All calls have the same argument.
static inline bool kvrm_yield(struct kvrm_environment *environment)
{
#if defined(__aarch64__)
    register uint64_t x0 __asm__("x0") = (uint64_t)environment;
    register uint64_t x8 __asm__("x8") = KVRM_YIELD_NUMBER;
    __asm__ volatile("svc %2" : "+r"(x0) : "r"(x8), "i"(KVRM_YIELD) : "memory");
    return x0 == (uint64_t)environment;
#else
    (void)environment;
    return false;
#endif
}
