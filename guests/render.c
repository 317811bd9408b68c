// Walks a tree of walls and draws them in columns, as early first-person games do. Lanes with different seeds part:
// they see different walls, whose columns have different heights.

#include "guest.h"

const struct guest guest = {"render", "frames", 200, 1000000000000, 1};

enum { WIDTH = 80, HEIGHT = 50, WORLD = 4096, LEVELS = 7, LEAVES = 1 << LEVELS, TEXTURES = 4, SIDE = 16, FOCAL = 48 };
enum { ACTORS = 24, ANGLES = 256, NEAR = 16 };

struct box {
    int left, right, bottom, top;
};

// A node of the tree divides its box by a line through (x, y) with the direction (dx, dy).
struct node {
    int x, y, dx, dy;
    struct box box;
};

// A leaf of the tree has a wall from one point to another.
struct wall {
    int x[2], y[2];
    int height;
    int texture;
    int light;
};

enum mood { IDLE, WALK, TURN, REST, MOODS };

struct actor {
    int x, y;
    u32 angle;
    enum mood mood;
    u32 patience;
    u64 visits;
    struct actor *next;
};

static struct node nodes[LEAVES]; // from 1; the children of n are 2 n and 2 n + 1
static struct wall walls[LEAVES];
static struct actor actors[ACTORS], *first_actor;
static u8 textures[TEXTURES][SIDE * SIDE];
static u8 colours[4][256];
static int sines[ANGLES]; // in units of 2^-14
static u8 screen[HEIGHT * WIDTH];
static bool filled[WIDTH];
static u32 left_to_fill;

struct view {
    int x, y;
    int sine, cosine;
    bool in_front_first;
};

static int below(u64 *state, u32 limit) {
    return (int)(random(state) % limit);
}

// The sine by the recurrence sin(n + 1) = 2 cos(1) sin(n) - sin(n - 1) would drift, so each quarter is a parabola.
static void make_sines(void) {
    for (int i = 0; i < ANGLES; i++) {
        int quarter = i & 127, offset = quarter < 64 ? quarter : 128 - quarter;
        int value = offset * (128 - offset) * 4; // 0 to 16384
        sines[i] = i < 128 ? value : -value;
    }
}

static void make_world(u64 *state, u32 n, struct box box, int level) {
    if (level == LEVELS) {
        struct wall *wall = &walls[n - LEAVES];
        for (int end = 0; end < 2; end++) {
            wall->x[end] = box.left + below(state, (u32)(box.right - box.left));
            wall->y[end] = box.bottom + below(state, (u32)(box.top - box.bottom));
        }
        wall->height = 40 + below(state, 100);
        wall->texture = below(state, TEXTURES);
        wall->light = below(state, LENGTH(colours));
        return;
    }
    struct node *node = &nodes[n];
    node->box = box;
    bool upright = level & 1;
    int low = upright ? box.left : box.bottom, size = upright ? box.right - low : box.top - low;
    int middle = low + size * 3 / 8 + below(state, (u32)size / 4);
    *node = (struct node){upright ? middle : box.left, upright ? box.bottom : middle, !upright, upright, box};
    struct box one = box, other = box;
    if (upright) {
        one.left = other.right = middle;
    } else {
        one.top = other.bottom = middle;
    }
    make_world(state, 2 * n, one, level + 1);
    make_world(state, 2 * n + 1, other, level + 1);
}

// Which child of a node a point is in.
static u32 side(const struct node *node, int x, int y) {
    long cross = (long)(x - node->x) * node->dy - (long)(y - node->y) * node->dx;
    return cross < 0;
}

static u32 find_leaf(int x, int y) {
    u32 n = 1;
    while (n < LEAVES) {
        n = 2 * n + side(&nodes[n], x, y);
    }
    return n - LEAVES;
}

struct seen {
    int along, depth;
};

static struct seen look_at(const struct view *view, int x, int y) {
    long dx = x - view->x, dy = y - view->y;
    return (struct seen){(int)((dx * view->sine - dy * view->cosine) >> 14), (int)((dx * view->cosine + dy * view->sine) >> 14)};
}

// Whether some part of a box may be on the screen.
static bool may_see(const struct view *view, const struct box *box) {
    u32 behind = 0, left = 0, right = 0;
    for (u32 corner = 0; corner < 4; corner++) {
        struct seen seen = look_at(view, corner & 1 ? box->right : box->left, corner & 2 ? box->top : box->bottom);
        behind += seen.depth < NEAR;
        left += seen.along * FOCAL < -seen.depth * (WIDTH / 2);
        right += seen.along * FOCAL > seen.depth * (WIDTH / 2);
    }
    return behind < 4 && left < 4 && right < 4;
}

static __attribute__((noinline)) void draw_column(int x, int height, int u, const struct wall *wall) {
    const u8 *texture = textures[wall->texture] + (u & (SIDE - 1)) * SIDE, *colour = colours[wall->light];
    int top = HEIGHT / 2 - height / 2, end = top + height;
    u32 step = ((u32)SIDE << 16) / (u32)height, v = 0;
    if (top < 0) {
        v = (u32)-top * step;
        top = 0;
    }
    end = end < HEIGHT ? end : HEIGHT;
    u8 *at = screen + x;
    for (int y = 0; y < top; y++, at += WIDTH) {
        *at = 1;
    }
    for (int y = top; y < end; y++, at += WIDTH, v += step) {
        *at = colour[texture[(v >> 16) & (SIDE - 1)]];
    }
    for (int y = end; y < HEIGHT; y++, at += WIDTH) {
        *at = 2;
    }
}

static void draw_wall(const struct view *view, const struct wall *wall) {
    struct seen a = look_at(view, wall->x[0], wall->y[0]), b = look_at(view, wall->x[1], wall->y[1]);
    if (a.depth < NEAR || b.depth < NEAR) {
        return;
    }
    int from = WIDTH / 2 + a.along * FOCAL / a.depth, to = WIDTH / 2 + b.along * FOCAL / b.depth;
    if (from > to) {
        int column = from;
        from = to;
        to = column;
        struct seen seen = a;
        a = b;
        b = seen;
    }
    if (to < 0 || from >= WIDTH || from == to) {
        return;
    }
    int first = (wall->height * FOCAL << 8) / a.depth, last = (wall->height * FOCAL << 8) / b.depth;
    int slope = (last - first) / (to - from), height = first;
    int u = 0, u_slope = (4 * SIDE << 8) / (to - from);
    for (int x = from; x <= to && x < WIDTH; x++, height += slope, u += u_slope) {
        if (x < 0 || (view->in_front_first && filled[x])) {
            continue;
        }
        left_to_fill -= !filled[x];
        filled[x] = true;
        draw_column(x, height < 512 ? 2 : height >> 8, u >> 8, wall);
    }
}

static void draw_node(const struct view *view, u32 n) {
    if (n >= LEAVES) {
        draw_wall(view, &walls[n - LEAVES]);
        return;
    }
    const struct node *node = &nodes[n];
    if (!may_see(view, &node->box) || (view->in_front_first && !left_to_fill)) {
        return;
    }
    u32 near = side(node, view->x, view->y) ^ !view->in_front_first;
    draw_node(view, 2 * n + near);
    draw_node(view, 2 * n + !near);
}

static void draw_frame(struct view view, bool in_front_first) {
    view.in_front_first = in_front_first;
    memset(screen, 0, sizeof screen);
    memset(filled, 0, sizeof filled);
    left_to_fill = WIDTH;
    draw_node(&view, 1);
}

static void idle(struct actor *actor, u64 *state) {
    if (!actor->patience--) {
        *actor = (struct actor){actor->x, actor->y, actor->angle, below(state, 3) ? WALK : TURN, (u32)below(state, 8), actor->visits, actor->next};
    }
}

static void walk(struct actor *actor, u64 *state) {
    int x = actor->x + (sines[(actor->angle + 64) % ANGLES] >> 9), y = actor->y + (sines[actor->angle % ANGLES] >> 9);
    if (x < 0 || x >= WORLD || y < 0 || y >= WORLD) {
        actor->mood = TURN;
    } else {
        u32 leaf = find_leaf(x, y);
        actor->visits = fold(actor->visits, leaf);
        actor->x = x;
        actor->y = y;
        if (!actor->patience--) {
            actor->mood = walls[leaf].height & 1 ? REST : IDLE;
            actor->patience = (u32)below(state, 16);
        }
    }
}

static void turn(struct actor *actor, u64 *state) {
    actor->angle += 32 + (u32)below(state, 128);
    actor->mood = WALK;
    actor->patience = 4 + (u32)below(state, 16);
}

static void rest(struct actor *actor, u64 *state) {
    actor->mood = below(state, 4) ? REST : TURN;
}

static void (*const moods[MOODS])(struct actor *, u64 *) = {idle, walk, turn, rest};

bool run(u64 size, u64 seed) {
    u64 world = 1, state = seed;
    make_sines();
    make_world(&world, 1, (struct box){0, WORLD, 0, WORLD}, 0);
    for (u32 i = 0; i < TEXTURES * SIDE * SIDE; i++) {
        textures[i / (SIDE * SIDE)][i % (SIDE * SIDE)] = (u8)random(&world);
    }
    for (u32 light = 0; light < LENGTH(colours); light++) {
        for (u32 i = 0; i < LENGTH(colours[0]); i++) {
            colours[light][i] = (u8)(i * (4 - light) / 4);
        }
    }
    for (u32 i = 0; i < ACTORS; i++) {
        actors[i] = (struct actor){below(&state, WORLD), below(&state, WORLD), (u32)below(&state, ANGLES), IDLE, i, 0, first_actor};
        first_actor = &actors[i];
    }
    int x = below(&state, WORLD), y = below(&state, WORLD);
    u32 angle = (u32)below(&state, ANGLES);
    u64 pixels = 0;
    bool same = true;
    for (u64 frame = 1; frame <= size; frame++) {
        for (struct actor *actor = first_actor; actor; actor = actor->next) {
            moods[actor->mood](actor, &state);
        }
        angle += (u32)below(&state, 33) - 16;
        int ahead_x = x + (sines[(angle + 64) % ANGLES] >> 8), ahead_y = y + (sines[angle % ANGLES] >> 8);
        x = ahead_x < 0 || ahead_x >= WORLD ? x : ahead_x;
        y = ahead_y < 0 || ahead_y >= WORLD ? y : ahead_y;
        struct view view = {x, y, sines[angle % ANGLES], sines[(angle + 64) % ANGLES], true};
        draw_frame(view, true);
        u64 frame_pixels = 0;
        for (u32 i = 0; i < sizeof screen; i += 8) {
            frame_pixels = fold(frame_pixels, *(const u64 *)(const void *)(screen + i));
        }
        pixels = fold(pixels, frame_pixels);
        // Drawing everything from back to front gives the same picture.
        if (frame == size) {
            static u8 before[sizeof screen];
            memcpy(before, screen, sizeof screen);
            draw_frame(view, false);
            same = !memcmp(before, screen, sizeof screen);
        }
    }
    u64 visits = 0;
    for (const struct actor *actor = first_actor; actor; actor = actor->next) {
        visits = fold(visits, actor->visits);
    }
    put_hex("pixels", pixels);
    put_hex("visits", visits);
    return same;
}
