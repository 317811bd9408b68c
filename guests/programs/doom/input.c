// Keys and mouse, in place of i_input.c: events for what has changed since the last tic.

#include <string.h>

#include "d_event.h"
#include "doomkeys.h"
#include "doomtype.h"
#include "i_video.h"
#include "platform.h"

int vanilla_keyboard_mapping = 1;

SHARED uint32_t doom_keys[8];
SHARED int32_t doom_mouse[3];

// Keys that actions hold down, besides those of the host.
static uint32_t action_keys[8];
// What the engine knows to be held down.
static uint32_t known_keys[8];
static int32_t known_buttons;

void hold_key(unsigned char key, bool is_held)
{
    uint32_t bit = 1u << (key & 31);
    action_keys[key >> 5] = is_held ? action_keys[key >> 5] | bit : action_keys[key >> 5] & ~bit;
}

static uint32_t held_keys(int word)
{
    return doom_keys[word] | action_keys[word];
}

static bool is_held(unsigned char key)
{
    return held_keys(key >> 5) >> (key & 31) & 1;
}

// Returns the character of a key of an American keyboard.
static int character(unsigned char key)
{
    static const char PLAIN[] = "1234567890-=[];'`,./\\";
    static const char SHIFTED[] = "!@#$%^&*()_+{}:\"~<>?|";
    if (key >= 128 || !is_held(KEY_RSHIFT)) return key;
    if (key >= 'a' && key <= 'z') return key - 'a' + 'A';
    const char *found = key ? strchr(PLAIN, key) : NULL;
    return found ? SHIFTED[found - PLAIN] : key;
}

void I_StartTic(void)
{
    for (int word = 0; word < 8; word++) {
        uint32_t changes = held_keys(word) ^ known_keys[word];
        for (; changes; changes &= changes - 1) {
            unsigned char key = word * 32 + __builtin_ctz(changes);
            event_t event = {.type = is_held(key) ? ev_keydown : ev_keyup, .data1 = key};
            if (event.type == ev_keydown) event.data2 = character(key);
            D_PostEvent(&event);
        }
        known_keys[word] = held_keys(word);
    }
    if (doom_mouse[0] || doom_mouse[1] || doom_mouse[2] != known_buttons) {
        event_t event = {
            .type = ev_mouse, .data1 = doom_mouse[2], .data2 = doom_mouse[0], .data3 = doom_mouse[1]};
        D_PostEvent(&event);
        known_buttons = doom_mouse[2];
        doom_mouse[0] = doom_mouse[1] = 0;
    }
}
