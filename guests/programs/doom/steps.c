// DOOM as an environment: what an action does, what a step earns, and the variables that a host may read.

#include <string.h>

#include "doomkeys.h"
#include "doomstat.h"
#include "environment.h"
#include "g_game.h"
#include "p_local.h"
#include "platform.h"
#include "steps.h"

void doomgeneric_Tick(void);
// Of m_random.c: the places in the table of random numbers, of the game and of everything else.
extern int prndindex, rndindex;

// Components of an action. The first seven are held for the whole step.
enum { MOVE, STRAFE, TURN, RUN, FIRE, USE, WEAPON, LOOK, COMPONENTS };

struct kvrm_environment kvrm_environment = {
    .magic = "KVRM",
    .version = KVRM_ENVIRONMENT_VERSION,
    .frame = {.format = KVRM_FRAME_PALETTE, .width = 320, .height = 200, .stride = 320},
    .actions = COMPONENTS,
    .action =
        {
            [MOVE] = {"move", -1, 1},     // back, none, forward
            [STRAFE] = {"strafe", -1, 1}, // left, none, right
            [TURN] = {"turn", -1, 1},     // left, none, right
            [RUN] = {"run", 0, 1},
            [FIRE] = {"fire", 0, 1},
            [USE] = {"use", 0, 1},
            [WEAPON] = {"weapon", 0, 7}, // none, or the key of a weapon
            // How far the mouse moves to the right: 8192 is a right angle.
            [LOOK] = {"look", -16384, 16384},
        },
};

// Variables, as of the last yield. Coordinates have 16 bits behind the binary point; an angle of 2^32 is a full turn.
SHARED int32_t doom_health, doom_armor, doom_kills, doom_items, doom_secrets, doom_weapon;
SHARED int32_t doom_bullets, doom_shells, doom_cells, doom_rockets;
SHARED int32_t doom_x, doom_y, doom_z;
SHARED uint32_t doom_angle;
SHARED int32_t doom_episode, doom_map, doom_tics, doom_damage;

// What the step before has found.
static int32_t known_kills;
static bool was_alive;

static void publish(void)
{
    const player_t *player = &players[consoleplayer];
    doom_health = player->health;
    doom_armor = player->armorpoints;
    doom_kills = player->killcount;
    doom_items = player->itemcount;
    doom_secrets = player->secretcount;
    doom_weapon = player->readyweapon + 1;
    doom_bullets = player->ammo[am_clip];
    doom_shells = player->ammo[am_shell];
    doom_cells = player->ammo[am_cell];
    doom_rockets = player->ammo[am_misl];
    doom_damage = player->damagecount;
    if (player->mo) {
        doom_x = player->mo->x;
        doom_y = player->mo->y;
        doom_z = player->mo->z;
        doom_angle = player->mo->angle;
    }
    doom_episode = gameepisode;
    doom_map = gamemap;
    doom_tics = leveltime;
}

// Presses the keys of an action, and releases the others of actions.
static void press(const int32_t *action)
{
    hold_key(KEY_UPARROW, action[MOVE] > 0);
    hold_key(KEY_DOWNARROW, action[MOVE] < 0);
    hold_key(KEY_STRAFE_L, action[STRAFE] < 0);
    hold_key(KEY_STRAFE_R, action[STRAFE] > 0);
    hold_key(KEY_LEFTARROW, action[TURN] < 0);
    hold_key(KEY_RIGHTARROW, action[TURN] > 0);
    hold_key(KEY_RSHIFT, action[RUN] > 0);
    hold_key(KEY_FIRE, action[FIRE] > 0);
    hold_key(KEY_USE, action[USE] > 0);
    for (int weapon = 1; weapon <= 7; weapon++) hold_key('0' + weapon, action[WEAPON] == weapon);
    doom_mouse[0] += action[LOOK];
}

// Lets tics pass. Then draws a frame, if it is wanted.
static void pass(uint32_t tics, bool draws)
{
    // The engine takes as many tics at once.
    enum { TOGETHER_MAX = 4 };
    while (tics) {
        uint32_t together = tics < TOGETHER_MAX ? tics : TOGETHER_MAX;
        tics -= together;
        pass_tics(together);
        nodrawers = !draws || tics;
        doomgeneric_Tick();
    }
}

// Prepares an episode. A scenario is SKILL * 10000 + EPISODE * 100 + MAP.
static void begin(const struct kvrm_input *input)
{
    if (input->scenario) {
        static const int32_t NOTHING[COMPONENTS];
        press(NOTHING);
        G_InitNew(input->scenario / 10000 - 1, input->scenario / 100 % 100, input->scenario % 100);
        // The engine sets the height of the eyes with the first tic.
        pass(1, true);
    }
    prndindex = input->seed & 255;
    rndindex = input->seed >> 8 & 255;
}

// Returns which weapons the player has, as keys.
static uint64_t weapons(void)
{
    const player_t *player = &players[consoleplayer];
    uint64_t keys = 1;
    for (int weapon = 0; weapon < 7; weapon++) keys |= (uint64_t)(player->weaponowned[weapon] != 0) << (weapon + 1);
    return keys;
}

void answer(void)
{
    const struct kvrm_input *input = &kvrm_environment.input;
    struct kvrm_output *output = &kvrm_environment.output;
    bool begins = input->begins, has_left = false;
    if (begins) {
        begin(input);
    } else {
        press(input->action);
        pass(input->ticks, input->draws);
        has_left = gamestate != GS_LEVEL;
    }
    publish();
    bool is_alive = players[consoleplayer].playerstate == PST_LIVE;
    bool has_died = !begins && was_alive && !is_alive;
    output->reward = begins ? 0 : doom_kills - known_kills + 10 * has_left - has_died;
    output->terminated = has_left || has_died;
    known_kills = doom_kills;
    was_alive = is_alive;
    memset(output->mask, -1, sizeof output->mask);
    output->mask[WEAPON] = weapons();
}

void prepare(void)
{
    kvrm_environment.frame.pixels = (uint64_t)doom_frame;
    kvrm_environment.frame.palette = (uint64_t)doom_palette;
    kvrm_environment.input.begins = 1;
    answer();
}
