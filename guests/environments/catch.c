// A game to step: balls fall, and a paddle catches them. With SIZE 0 it is an environment (environment.h);
// else it plays SIZE episodes itself, without ever missing a ball.
//
// The check: where a ball lands is computed without letting it fall, and a frame is drawn cell by cell.

#include "environment.h"
#include "guest.h"

const struct guest guest = {.name = "catch", .unit = "episodes", .size = 300, .largest = 1000000000000, .seed = 1};

// The field in cells, and the pixels of a cell's side.
enum { COLUMNS = 16, ROWS = 12, CELL = 4, WIDTH = COLUMNS * CELL, HEIGHT = ROWS * CELL };
// The ball, the paddle of three cells, and nothing, as colors of the palette.
enum { NOTHING, BALL, PADDLE };

_Alignas(8) static u8 frame[WIDTH * HEIGHT];
_Alignas(8) static u32 palette[256] = {[NOTHING] = 0x102030, [BALL] = 0xffc040, [PADDLE] = 0x40ff80};

// Variables that a host may read.
int32_t catch_ball_x, catch_ball_y, catch_paddle_x;

static int32_t drift;    // of the ball, in cells a tick: -1, 0 or 1
static u32 balls;    // that are still to fall in this episode
static u64 state;    // of the random numbers

static struct kvrm_environment environment = {
    .magic = {'K', 'V', 'R', 'M'},
    .version = KVRM_ENVIRONMENT_VERSION,
    .frame = {.format = KVRM_FRAME_PALETTE, .width = WIDTH, .height = HEIGHT, .stride = WIDTH},
    .actions = 2,
    .action =
        {
            {"move", -1, 1}, // left, none, right
            {"wait", 0, 1},  // whether the ball stays where it is, for a tick
        },
};

static void fill(int32_t column, int32_t row, u8 color) {
    for (int32_t y = 0; y < CELL; y++) {
        memset(frame + (row * CELL + y) * WIDTH + column * CELL, color, CELL);
    }
}

static void draw(u8 ball, u8 paddle) {
    for (int32_t x = -1; x <= 1; x++) {
        fill(catch_paddle_x + x, ROWS - 1, paddle);
    }
    fill(catch_ball_x, catch_ball_y, ball);
}

static void drop_ball(void) {
    u64 bits = random(&state);
    catch_ball_x = bits % COLUMNS;
    catch_ball_y = 0;
    drift = (int32_t)(bits >> 32) % 2;
    drift = bits >> 40 & 1 ? drift : -drift;
}

static void begin(u64 seed, u32 scenario) {
    state = seed;
    balls = scenario ? scenario : 1;
    catch_paddle_x = COLUMNS / 2;
    drop_ball();
}

// Lets a tick pass. Returns the reward: whether a ball was caught, or missed.
static int32_t tick(int32_t move, bool waits) {
    int32_t x = catch_paddle_x + move;
    catch_paddle_x = x < 1 ? 1 : x > COLUMNS - 2 ? COLUMNS - 2 : x;
    if (waits) {
        return 0;
    }
    if (catch_ball_x + drift < 0 || catch_ball_x + drift >= COLUMNS) {
        drift = -drift;
    }
    catch_ball_x += drift;
    catch_ball_y++;
    if (catch_ball_y < ROWS - 1) {
        return 0;
    }
    int32_t distance = catch_ball_x - catch_paddle_x;
    if (--balls) {
        drop_ball();
    }
    return distance >= -1 && distance <= 1 ? 1 : -1;
}

// Returns the reward.
static int32_t answer(void) {
    struct kvrm_input *input = &environment.input;
    int32_t reward = 0;
    bool has_ball = true;
    draw(NOTHING, NOTHING);
    if (input->begins) {
        begin(input->seed, input->scenario);
    } else if (!balls) {
        // A host may go on after the end.
        balls = 1;
        drop_ball();
    }
    for (u32 i = 0; i < input->ticks && has_ball; i++) {
        reward += tick(input->action[0], input->action[1]);
        has_ball = balls;
    }
    draw(BALL, PADDLE);
    // The bits of a double: the program has no floating point.
    u64 magnitude = reward < 0 ? -reward : reward, exponent = 0;
    while (magnitude >> exponent > 1) {
        exponent++;
    }
    u64 bits = magnitude ? (1023 + exponent) << 52 | (magnitude << (52 - exponent) & ~(~0ul << 52)) : 0;
    bits |= reward < 0 ? 1ul << 63 : 0;
    memcpy(&environment.output.reward, &bits, 8);
    environment.output.terminated = !has_ball;
    environment.output.mask[0] = 2 | (catch_paddle_x > 1 ? 1 : 0) | (catch_paddle_x < COLUMNS - 2 ? 4 : 0);
    environment.output.mask[1] = 3;
    return reward;
}

static bool serve(void) {
    environment.frame.pixels = (u64)frame;
    environment.frame.palette = (u64)palette;
    environment.input.begins = 1;
    answer();
    while (kvrm_yield(&environment)) {
        answer();
    }
    return false;
}

// Returns the column in which a ball lands: that of a ball that flies straight, folded at the walls.
static int32_t landing(int32_t x, int32_t by) {
    int32_t fold = 2 * COLUMNS - 2;
    int32_t straight = (x + by * (ROWS - 1) + 2 * fold) % fold;
    return straight < COLUMNS ? straight : fold - straight;
}

// Returns whether the frame shows what the variables say.
static bool is_right(void) {
    bool right = true;
    for (int32_t y = 0; y < HEIGHT; y++) {
        for (int32_t x = 0; x < WIDTH; x++) {
            int32_t column = x / CELL, row = y / CELL, off = column - catch_paddle_x;
            u8 color = row == ROWS - 1 && off >= -1 && off <= 1 ? PADDLE : NOTHING;
            right &= frame[y * WIDTH + x] == (column == catch_ball_x && row == catch_ball_y ? BALL : color);
        }
    }
    return right;
}

bool run(u64 size, u64 seed) {
    if (!size) {
        return serve();
    }
    u64 hash = 0, caught = 0;
    bool right = true;
    for (u64 episode = 0; episode < size; episode++) {
        environment.input = (struct kvrm_input){.begins = 1, .seed = random(&seed)};
        answer();
        int32_t target = landing(catch_ball_x, drift);
        environment.input = (struct kvrm_input){.ticks = 1};
        while (!environment.output.terminated) {
            environment.input.action[0] = (target > catch_paddle_x) - (target < catch_paddle_x);
            caught += answer();
            hash = fold(hash, catch_ball_x << 16 | catch_ball_y << 8 | catch_paddle_x);
        }
        right &= catch_ball_x == target;
        if (episode % 256 == 0) {
            right &= is_right();
        }
    }
    put_decimal("caught", caught);
    put_hex("hash", hash);
    return right && caught == size;
}
