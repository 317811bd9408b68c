// The parts of DOOM's platform, and what its main program knows of them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A variable that the host reads or writes. Optimization of the whole program would remove it otherwise.
#define SHARED __attribute__((used))

// Lets so many tics pass, which are a 35th of a second each. Nothing but this and waits of the engine lets time pass.
void pass_tics(int tics);

// Keys that are held down, as bits with the numbers of doomkeys.h, and how far the mouse moves in the next tic: to the
// right and forward. They are what a host writes to play.
extern uint32_t doom_keys[8];
extern int32_t doom_mouse[3]; // right, forward, and bits of buttons: left, right, middle

// Holds a key down for an action, or releases it.
void hold_key(unsigned char key, bool is_held);

// The frame of 320x200 pixels, its palette of words 0x00RRGGBB, and how often it was drawn.
extern uint8_t doom_frame[];
extern uint32_t doom_palette[256];
extern uint64_t frames_drawn;
