// Shared by the programs of this folder, which consist of loops that compilers translate in many ways.
#pragma once

#include "guest.h"

typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef int s32;
typedef long s64;

// Each loop stays a function of its own, so that its limits are not known when it is compiled.
#define LOOP static __attribute__((noinline))

// The results go here, so that no loop is removed.
static volatile u64 sink;
