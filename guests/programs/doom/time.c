// Time of the engine, in place of i_timer.c. It passes when the main program or the engine says so.

#include "i_timer.h"
#include "platform.h"

static int now_ms, now_tics;

void pass_tics(int tics)
{
    now_tics += tics;
    // What the engine has slept is a part of these tics.
    int begin = (now_tics * 1000 + TICRATE - 1) / TICRATE;
    if (now_ms < begin) now_ms = begin;
}

int I_GetTime(void)
{
    return now_ms * TICRATE / 1000;
}

int I_GetTimeMS(void)
{
    return now_ms;
}

// The engine sleeps where it waits for the next tic.
void I_Sleep(int ms)
{
    now_ms += ms;
}

void I_WaitVBL(int count) {}

void I_InitTimer(void) {}
