// Child processes.
#pragma once
#include "threads.h"

// Makes a child that is a copy. Returns its ID in the parent and 0 in the child.
static inline i64 fork_process(void)
{
    return CALL(CLONE, 17);
}

// Waits for a child, and returns its status, or what the call returned if it ended for another reason.
static inline i64 wait_for(i64 child, int options)
{
    int status = -1;
    i64 ended = CALL(WAIT4, child, &status, options, 0);
    return ended == child ? status : ended;
}
