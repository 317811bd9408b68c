// Bodies of equal masses that attract each other, in double precision.
//
// Places and velocities are multiples of a step of 2^-36, and so is all that is added to them. No sum is rounded,
// so every step can be taken back exactly, and the sum of all velocities never changes.

#include "guest.h"

enum { BODIES = 5, LARGEST = 1000000 };
const struct guest guest = {"nbody", "steps", 6000, LARGEST, 1};

static double place[BODIES][3], velocity[BODIES][3];

// To the nearest multiple of 2^-36, for numbers up to 2^15: what a double holds between 2^16 and 2^17.
static double on_grid(double x) {
    const double shift = 0x1.8p16;
    return x + shift - shift;
}

// Adds to all velocities what attraction gives in one step of time, or takes it away.
static void attract(double time) {
    const double softness = 0x1p-4; // bodies may meet
    for (int i = 0; i < BODIES; i++) {
        for (int j = i + 1; j < BODIES; j++) {
            double distance[3];
            double square = softness;
            for (int k = 0; k < 3; k++) {
                distance[k] = place[i][k] - place[j][k];
                square = __builtin_fma(distance[k], distance[k], square);
            }
            double change = time / (square * __builtin_sqrt(square));
            for (int k = 0; k < 3; k++) {
                double both = on_grid(distance[k] * change);
                velocity[i][k] -= both;
                velocity[j][k] += both;
            }
        }
    }
}

static void move(double time) {
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            place[i][k] += on_grid(velocity[i][k] * time);
        }
    }
}

static u64 hash_of(double (*vectors)[3]) {
    u64 hash = 0;
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            u64 bits;
            memcpy(&bits, &vectors[i][k], sizeof bits);
            hash = fold(hash, bits);
        }
    }
    return hash;
}

static double sum_of_velocities(void) {
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        sum += velocity[i][0] + velocity[i][1] + velocity[i][2];
    }
    return sum;
}

bool run(u64 size, u64 seed) {
    const double time = 0x1p-8;
    for (int i = 0; i < BODIES; i++) {
        for (int k = 0; k < 3; k++) {
            place[i][k] = on_grid((double)(long)random(&seed) * 0x1p-62);
            velocity[i][k] = on_grid((double)(long)random(&seed) * 0x1p-63);
        }
    }
    u64 places = hash_of(place);
    u64 velocities = hash_of(velocity);
    double sum = sum_of_velocities();

    for (u64 i = 0; i < size; i++) {
        attract(time);
        move(time);
    }
    put_hex("places", hash_of(place));
    put_hex("velocities", hash_of(velocity));
    bool is_same_sum = sum == sum_of_velocities();

    for (u64 i = 0; i < size; i++) {
        move(-time);
        attract(-time);
    }
    return is_same_sum && places == hash_of(place) && velocities == hash_of(velocity);
}
