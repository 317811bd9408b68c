// A cache of objects: a hash table finds them, and a list has them in the order of their last uses.

#include "guest.h"

enum { OBJECTS = 1 << 14, BUCKETS = 1 << 14, LARGEST = 100000000 };
const struct guest guest = {"lru", "requests", 250000, LARGEST, 1};

struct object {
    struct object *before, *after, *chain;
    u64 key, used;
    u64 values[27];
};
static struct object objects[OBJECTS + 1]; // the first one is the head of the list
static struct object *buckets[BUCKETS];

static struct object **find(u64 key) {
    struct object **at = &buckets[fold(5, key) % BUCKETS];
    while (*at && (*at)->key != key) {
        at = &(*at)->chain;
    }
    return at;
}

static void leave(struct object *object) {
    object->before->after = object->after;
    object->after->before = object->before;
}

static void enter(struct object *object) {
    struct object *head = &objects[0];
    object->after = head->after;
    object->before = head;
    head->after->before = object;
    head->after = object;
}

// Whether the object was there.
static __attribute__((noinline)) bool request(u64 key, u64 time, u64 *count) {
    struct object *object = *find(key);
    bool hit = object != 0;
    if (hit) {
        leave(object);
    } else {
        if (*count < OBJECTS) {
            object = &objects[++*count];
        } else {
            object = objects[0].before;
            leave(object);
            *find(object->key) = object->chain;
        }
        object->key = key;
        object->values[26] = ~key;
        struct object **bucket = &buckets[fold(5, key) % BUCKETS];
        object->chain = *bucket;
        *bucket = object;
    }
    object->used = time;
    enter(object);
    return hit;
}

bool run(u64 size, u64 seed) {
    struct object *head = &objects[0];
    head->before = head->after = head;
    u64 count = 0, hits = 0, listed = 0;
    for (u64 time = 0; time < size; time++) {
        // The lower of two numbers: low keys come more often.
        u64 bits = random(&seed), a = bits % 50000, b = (bits >> 32) % 50000;
        hits += request(a < b ? a : b, time, &count);
    }
    bool right = true;
    u64 last = size;
    for (struct object *at = head->after; at != head; at = at->after) {
        right &= at->used < last && at->values[26] == ~at->key && *find(at->key) == at;
        last = at->used;
        listed++;
    }
    put_decimal("hits", hits);
    return right && listed == count;
}
