// DOOM, the engine doomgeneric on a platform of ours: an environment, if a host steps it, and two programs of their own.
//
// doom [OPTIONS]             an environment (../../environments/environment.h), with options of the engine
// doom -frames [N] [OPTIONS] prints a checksum of each frame, a frame a tic, until the game ends or N are printed: for demos
// doom SEED STEPS            plays the first level of Freedoom with random keys, and prints a checksum of all frames
//
// Nothing but tics lets time pass, so frames depend on nothing but options and input.
//
// Steps of random keys last 4 tics and draw a frame. `kvrm_started` is called once, when the level has been loaded and its
// first frame drawn. `kvrm_seed` is read after that: a host may stop the program there, fork it, and write another seed.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doomstat.h"
#include "doomtype.h"
#include "i_video.h"
#include "m_argv.h"
#include "m_misc.h"
#include "platform.h"
#include "steps.h"

// Of m_menu.c and g_game.c.
extern int screenblocks, detailLevel;
extern char *defdemoname;
void D_DoomMain(void);
void M_FindResponseFile(void);
void doomgeneric_Tick(void);

enum { TICS_A_STEP = 4, STEPS_MAX = 500000 };

// The seed of the random keys.
volatile uint64_t kvrm_seed;

// The level has been loaded, and nothing random has happened. An empty function, so that it can be stopped at.
__attribute__((noinline)) void kvrm_started(void)
{
    __asm__ volatile("" ::: "memory");
}

// Whether the game may make a folder for saved games, as it does when it starts.
static bool saves;

// In place of the C library's.
int mkdir(const char *path, mode_t mode)
{
    if (saves) return mkdirat(AT_FDCWD, path, mode);
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

// Starts the engine up to its first frame.
static void start(int argc, char **argv)
{
    myargc = argc;
    myargv = argv;
    M_FindResponseFile();
    // The size of the view, from 3 to 11: the whole screen. In low detail, columns are drawn two pixels wide.
    int option = M_CheckParmWithArgs("-blocks", 1);
    if (option) screenblocks = number(argv[option + 1], 11);
    detailLevel = M_CheckParm("-low") > 0;
    D_DoomMain();
    // At the end of a demo, the engine uses its name, which was on the stack of the function that has just returned.
    static char demo[9];
    option = M_CheckParmWithArgs("-playdemo", 1);
    if (!option) return;
    M_ExtractFileBase(argv[option + 1], demo);
    defdemoname = demo;
}

// Returns the checksum of some bytes, a multiple of 8, that follow others with the checksum `sum`.
static uint64_t checksum(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i, 8);
        sum = (sum ^ word) * 0x100000001b3;
    }
    // The lower bits of a product do not depend on the higher bits of its factors.
    return sum ^ sum >> 32;
}

static uint64_t frame_checksum(uint64_t sum)
{
    return checksum(sum, doom_frame, SCREENWIDTH * SCREENHEIGHT);
}

// Returns 64 random bits, also for seeds that are near each other (SplitMix64).
static uint64_t random_bits(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

// Sets a random action. It goes forward more often than back, so that lanes get to different places.
static void random_action(uint64_t *state, int32_t *action)
{
    static const int8_t MOVES[8] = {1, 1, 1, 1, -1}, TURNS[8] = {-1, -1, 1, 1}, STRAFES[8] = {-1, 1};
    uint64_t bits = random_bits(state);
    int kind = bits >> 9 & 7;
    action[0] = MOVES[bits & 7];
    action[1] = STRAFES[bits >> 6 & 7];
    action[2] = TURNS[bits >> 3 & 7];
    action[4] = kind < 2;
    action[5] = kind == 2 || kind == 3;
}

// Opens the output of a program that prints something itself: the engine reports on its standard output how it starts.
static FILE *own_output(void)
{
    FILE *output = stdout;
    stdout = fopen("/dev/null", "w");
    if (stdout) return output;
    fprintf(stderr, "doom: cannot open /dev/null\n");
    exit(1);
}

static int play(uint64_t seed, uint64_t steps)
{
    kvrm_seed = seed;
    FILE *output = own_output();
    static char *arguments[] = {"doom", "-warp", "1", "1", "-skill", "3", NULL};
    start(sizeof arguments / sizeof *arguments - 1, arguments);
    prepare();
    kvrm_started();

    struct kvrm_input *input = &kvrm_environment.input;
    *input = (struct kvrm_input){.ticks = TICS_A_STEP, .draws = 1};
    uint64_t state = kvrm_seed, sum = 0, begin = frames_drawn;
    for (uint64_t step = 0; step < steps; step++) {
        random_action(&state, input->action);
        answer();
        sum = frame_checksum(sum);
    }
    uint64_t frames = frames_drawn - begin;
    fprintf(output, "doom frames=%llu checksum=%016llx\n", (unsigned long long)frames, (unsigned long long)sum);
    return fclose(output) ? 1 : 0;
}

static int print_frames(int argc, char **argv)
{
    bool has_max = argc > 2 && argv[2][0] != '-';
    uint64_t max = has_max ? number(argv[2], UINT64_MAX) : UINT64_MAX;
    FILE *output = own_output();
    start(argc, argv);
    // The engine exits at the end of a demo.
    for (uint64_t frame = 0; frame < max; frame++) {
        if (frame) {
            pass_tics(1);
            doomgeneric_Tick();
        }
        uint64_t sum = frame_checksum(checksum(0, doom_palette, sizeof doom_palette));
        fprintf(output, "%llu %016llx\n", (unsigned long long)frames_drawn, (unsigned long long)sum);
        fflush(output);
    }
    return fclose(output) ? 1 : 0;
}

static int serve(int argc, char **argv)
{
    // In the files of the lane.
    saves = true;
    start(argc, argv);
    prepare();
    while (kvrm_yield(&kvrm_environment)) answer();
    fprintf(stderr, "doom: this is an environment without a host; try `kvrm doom`, or `doom SEED STEPS`\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && argv[1][0] != '-') return play(number(argv[1], UINT64_MAX), number(argv[2], STEPS_MAX));
    if (argc > 1 && !strcmp(argv[1], "-frames")) return print_frames(argc, argv);
    return serve(argc, argv);
}
