// doom SEED STEPS: plays the first level of Freedoom with random keys, and prints a checksum of all frames.
//
// This is the platform of doomgeneric, the DOOM engine without a platform. A step lasts 4 tics, which are a 35th of a
// second of the game each, and draws one frame of 320x200 pixels with 8 bits. Keys change between steps. SEED is the
// seed of their random numbers.
//
// Nothing but the steps lets time pass, so the frames depend on SEED alone. `kvrm_started` is called once, when the
// level has been loaded and its first frame drawn. `kvrm_seed` is read after that: a host may stop the program there,
// fork it, and write another seed.
//
// Lumps are used where they lie in the WAD, which is a part of the program's constants. So all forks share them.

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "d_iwad.h"
#include "doomgeneric.h"
#include "doomkeys.h"
#include "f_wipe.h"
#include "w_file.h"

// The engine takes its first time other than 0 for the beginning.
enum { TICS_A_STEP = 4, TICS_A_SECOND = 35, BEGIN_MS = 1000 };
// The engine multiplies its time with 35 in 31 bits, which are enough for some more steps than these.
enum { STEPS_MAX = 500000 };

// The seed of the random keys.
volatile uint64_t kvrm_seed;

// The level has been loaded, and nothing random has happened. An empty function, so that it can be stopped at.
__attribute__((noinline)) void kvrm_started(void)
{
    __asm__ volatile("" ::: "memory");
}

// ---- time ----

static uint32_t now_ms = BEGIN_MS;

uint32_t DG_GetTicksMs(void)
{
    return now_ms;
}

void DG_SleepMs(uint32_t ms)
{
    now_ms += ms;
}

static uint32_t tics(void)
{
    return (now_ms - BEGIN_MS) * TICS_A_SECOND / 1000;
}

// Returns the first millisecond of a tic.
static uint32_t begin_of(uint32_t tic)
{
    return BEGIN_MS + (tic * 1000 + TICS_A_SECOND - 1) / TICS_A_SECOND;
}

// ---- keys ----

// Indices are bits of sets of keys.
static const unsigned char KEYS[] = {KEY_UPARROW,  KEY_DOWNARROW, KEY_LEFTARROW, KEY_RIGHTARROW,
                                     KEY_STRAFE_L, KEY_STRAFE_R,  KEY_FIRE,      KEY_USE};
enum { FORWARD = 1, BACK = 2, LEFT = 4, RIGHT = 8, STRAFE_LEFT = 16, STRAFE_RIGHT = 32, FIRE = 64, USE = 128 };

// The keys that are to be down, and those that the engine knows to be down.
static uint32_t wanted, down;

int DG_GetKey(int *pressed, unsigned char *key)
{
    // The engine takes one released key in a tic, and none after it. So keys are pressed first.
    uint32_t presses = wanted & ~down, changes = presses ? presses : down & ~wanted;
    if (!changes) return 0;
    int index = __builtin_ctz(changes);
    down ^= 1u << index;
    *pressed = presses != 0;
    *key = KEYS[index];
    return 1;
}

// Returns 64 random bits, also for seeds that are near each other (SplitMix64).
static uint64_t random_bits(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

// Returns the keys of a step. They go forward more often than back, so that lanes get to different places.
static uint32_t random_keys(uint64_t *state)
{
    static const uint8_t MOVES[8] = {FORWARD, FORWARD, FORWARD, FORWARD, BACK, 0, 0, 0};
    static const uint8_t TURNS[8] = {LEFT, LEFT, RIGHT, RIGHT, 0, 0, 0, 0};
    static const uint8_t STRAFES[8] = {STRAFE_LEFT, STRAFE_RIGHT, 0, 0, 0, 0, 0, 0};
    static const uint8_t ACTIONS[8] = {FIRE, FIRE, USE, USE, 0, 0, 0, 0};
    uint64_t bits = random_bits(state);
    return MOVES[bits & 7] | TURNS[bits >> 3 & 7] | STRAFES[bits >> 6 & 7] | ACTIONS[bits >> 9 & 7];
}

// ---- frames ----

static uint64_t frames, checksum;

void DG_DrawFrame(void)
{
    const char *frame = (const char *)DG_ScreenBuffer;
    uint64_t sum = checksum;
    for (size_t i = 0; i < DOOMGENERIC_RESX * DOOMGENERIC_RESY; i += 8) {
        uint64_t pixels;
        memcpy(&pixels, frame + i, 8);
        sum = (sum ^ pixels) * 0x100000001b3;
    }
    // The lower bits of a product do not depend on the higher bits of its factors.
    checksum = sum ^ sum >> 32;
    frames++;
}

void DG_Init(void) {}

void DG_SetWindowTitle(const char *title) {}

// ---- in place of f_wipe.c: no effect between two screens, which would take as long as a hundred frames ----

int wipe_StartScreen(int x, int y, int width, int height)
{
    return 0;
}

int wipe_EndScreen(int x, int y, int width, int height)
{
    return 0;
}

// Returns whether the effect is at its end.
int wipe_ScreenWipe(int effect, int x, int y, int width, int height, int tics)
{
    return 1;
}

// ---- in place of d_iwad.c, w_file.c and w_file_stdc.c: one WAD, which is a part of the program ----

#define WAD_NAME "freedoom1.wad"

extern const unsigned char wad_begin[], wad_end[];

// The assembler is told the folder of the WAD. The symbols are global, because the linker takes the addresses of two
// local ones for the same.
__asm__(".pushsection .rodata\n"
        ".global wad_begin, wad_end\n"
        ".balign 4096\n"
        "wad_begin: .incbin \"" WAD_NAME "\"\n"
        "wad_end:\n"
        ".popsection\n");

static wad_file_t wad;

wad_file_t *W_OpenFile(char *path)
{
    if (strcmp(path, WAD_NAME)) return NULL;
    // The engine does not write lumps; if it did, that would be a fault at the write.
    wad.mapped = (byte *)wad_begin;
    wad.length = wad_end - wad_begin;
    return &wad;
}

void W_CloseFile(wad_file_t *file) {}

size_t W_Read(wad_file_t *file, unsigned int offset, void *buffer, size_t bytes)
{
    if (offset > file->length) return 0;
    if (bytes > file->length - offset) bytes = file->length - offset;
    memcpy(buffer, file->mapped + offset, bytes);
    return bytes;
}

char *D_FindIWAD(int mask, GameMission_t *mission)
{
    *mission = doom;
    return WAD_NAME;
}

char *D_FindWADByName(char *name)
{
    return NULL;
}

char *D_TryFindWADByName(char *name)
{
    return name;
}

char *D_SaveGameIWADName(GameMission_t mission)
{
    return WAD_NAME;
}

char *D_SuggestGameName(GameMission_t mission, GameMode_t mode)
{
    return WAD_NAME;
}

// ---- the rest of the platform ----

// In place of the C library's. The engine makes a folder for saved games as it starts; nobody saves one here.
int mkdir(const char *path, mode_t mode)
{
    errno = EROFS;
    return -1;
}

// Reads a decimal number of at most `max`, or exits.
static uint64_t number(const char *text, uint64_t max)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || value > max) {
        fprintf(stderr, "doom: '%s': expected a number of at most %llu\n", text, (unsigned long long)max);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: doom SEED STEPS\n");
        return 2;
    }
    kvrm_seed = number(argv[1], UINT64_MAX);
    uint64_t steps = number(argv[2], STEPS_MAX);

    // The engine reports on its standard output how it starts. The output of this program is one line.
    FILE *output = stdout;
    stdout = fopen("/dev/null", "w");
    if (!stdout) {
        fprintf(stderr, "doom: cannot open /dev/null\n");
        return 1;
    }
    static char *arguments[] = {"doom", "-warp", "1", "1", "-skill", "3", NULL};
    doomgeneric_Create(sizeof arguments / sizeof *arguments - 1, arguments);
    kvrm_started();

    uint64_t state = kvrm_seed;
    frames = checksum = 0;
    uint32_t tic = tics();
    for (uint64_t step = 0; step < steps; step++) {
        wanted = random_keys(&state);
        tic += TICS_A_STEP;
        // What the engine has slept is a part of the step.
        if (now_ms < begin_of(tic)) now_ms = begin_of(tic);
        doomgeneric_Tick();
    }
    fprintf(output, "doom frames=%llu checksum=%016llx\n", (unsigned long long)frames, (unsigned long long)checksum);
    return fclose(output) ? 1 : 0;
}
