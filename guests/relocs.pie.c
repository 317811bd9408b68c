// Follows addresses that were not known before the program was loaded, SIZE times. This guest is position
// independent, and its tables hold addresses only after somebody has relocated them.

#include "guest.h"

const struct guest guest = {"relocs", "steps", 100000, 1000000000000, 1};

static __attribute__((noinline)) u64 add(u64 x) { return x + 0x9e3779b97f4a7c15; }
static __attribute__((noinline)) u64 rotate(u64 x) { return x >> 13 | x << 51; }
static __attribute__((noinline)) u64 shift(u64 x) { return x ^ x << 7; }
static __attribute__((noinline)) u64 multiply(u64 x) { return x * 0xd6e8feb86659fd93; }

typedef u64 function(u64);

struct node {
    const char *name;
    function *step;
    u64 *visits;
    struct node *even; // where to go on when the number is even,
    struct node **odd; // and when it is odd
};

// All tables can be written and are seen by the whole program, so the compiler must read what they hold.
u64 visits[5];
extern struct node nodes[4];
function *functions[] = {add, rotate, shift, multiply};
const char *names[] = {"add", "rotate", "shift", "multiply"};
struct node *others[] = {&nodes[2], &nodes[3], &nodes[0], &nodes[1]};
struct node nodes[] = {
    {"add", add, &visits[1], &nodes[1], &others[0]},
    {"rotate", rotate, &visits[2], &nodes[2], &others[1]},
    {"shift", shift, &visits[3], &nodes[3], &others[2]},
    {"multiply", multiply, &visits[4], &nodes[0], &others[3]},
};
void *self = &self;
u64 *end = visits + LENGTH(visits);

// Nothing says that what is relocated is aligned.
struct __attribute__((packed)) {
    u8 first;
    struct node *node;
} odd = {1, &nodes[0]};

// Each address in the tables is what the instructions here, relative to pc, find.
static bool relocated(void) {
    bool right = self == &self && end == visits + LENGTH(visits) && odd.node == nodes;
    right &= functions[0] == add && functions[1] == rotate;
    right &= functions[2] == shift && functions[3] == multiply;
    for (u64 i = 0; i < LENGTH(nodes); i++) {
        const struct node *node = &nodes[i];
        const char *name = node->name, *other = names[i];
        while (*name && *name == *other) {
            name++;
            other++;
        }
        right &= *name == *other && node->step == functions[i];
        right &= node->visits == &visits[i + 1] && node->even == &nodes[(i + 1) % 4];
        right &= node->odd == &others[i] && others[i] == &nodes[(i + 2) % 4];
    }
    return right;
}

bool run(u64 size, u64 seed) {
    u64 x = seed;
    const struct node *node = odd.node;
    for (u64 i = 0; i < size; i++) {
        x = node->step(x);
        ++*node->visits;
        node = x & 1 ? *node->odd : node->even;
    }
    put_hex("x", x);
    put_decimal("last", (u64)(node - nodes));

    // The same walk by numbers, with no address from a table.
    u64 y = seed;
    u64 at = 0;
    u64 expected[4] = {0, 0, 0, 0};
    for (u64 i = 0; i < size; i++) {
        y = at == 0 ? add(y) : at == 1 ? rotate(y) : at == 2 ? shift(y) : multiply(y);
        expected[at]++;
        at = (at + 1 + (y & 1)) % 4;
    }
    return relocated() && x == y && node == &nodes[at] && memcmp(visits + 1, expected, sizeof expected) == 0;
}
