// DOOM as an environment.
#pragma once

#include "environment.h"

extern struct kvrm_environment kvrm_environment;

// Fills the environment when the game has started.
void prepare(void);

// Does what the input of the environment says, and writes its output.
void answer(void);
