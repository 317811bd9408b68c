// A frame buffer: rectangles, lines, sprites, colours.

#include "loops.h"

const struct guest guest = {"image", "frames", 6, 100, 1};

enum { WIDTH = 160, HEIGHT = 100 };
static u32 screen[WIDTH * HEIGHT];
static u8 grey[WIDTH * HEIGHT];
static u16 thin[WIDTH * HEIGHT];

LOOP void horizontal(u32 *at, u32 width, u32 colour) {
    while (width--) {
        *at++ = colour;
    }
}
LOOP void vertical(u32 *at, u32 height, u32 colour) {
    for (u32 y = 0; y < height; y++) {
        *at = colour;
        at += WIDTH;
    }
}
LOOP void dashed(u16 *at, u64 width, u16 colour) {
    for (u64 x = 0; x < width; x += 4) {
        at[x] = colour;
    }
}
LOOP void blit(u32 *to, const u32 *from, u32 width) {
    for (u32 x = 0; x < width; x++) {
        to[x] = from[x];
    }
}
LOOP void sprite(u32 *to, const u32 *from, u32 width) {
    for (u32 x = 0; x < width; x++) {
        if (from[x]) {
            to[x] = from[x];
        }
    }
}
LOOP void mirror(u32 *row, u32 width) {
    u32 *end = row + width - 1;
    while (row < end) {
        u32 t = *row;
        *row++ = *end;
        *end-- = t;
    }
}
LOOP void to_grey(u8 *to, const u32 *from, u64 count) {
    for (u64 i = 0; i < count; i++) {
        u32 pixel = from[i];
        to[i] = (u8)(((pixel & 255) + (pixel >> 8 & 255) + (pixel >> 16 & 255)) / 3);
    }
}
LOOP void to_thin(u16 *to, const u32 *from, s32 count) {
    for (s32 i = 0; i < count; i++) {
        to[i] = (u16)from[i];
    }
}
LOOP void invert(u8 *at, u8 *end) {
    do {
        *at = (u8)~*at;
    } while (++at != end);
}
LOOP u32 seek(const u32 *at, u32 colour) {
    u32 n = 0;
    while (at[n] != colour) {
        n++;
    }
    return n;
}
LOOP u32 seek_row(const u8 *row, u32 width, u8 least) {
    u32 x = 0;
    while (x < width && row[x] < least) {
        x++;
    }
    return x;
}
LOOP void scroll(u8 *at, u64 count) {
    for (u64 i = 0; i < count; i++) {
        at[i] = at[i + WIDTH];
    }
}
LOOP void histogram(u32 *counts, const u8 *at, u64 count) {
    for (u64 i = 0; i < count; i++) {
        counts[at[i]]++;
    }
}
LOOP void wipe(u8 *at, s64 count) {
    for (s64 i = count - 1; i >= 0; i--) {
        at[i] = 0x80;
    }
}

bool run(u64 frames, u64 seed) {
    static u32 counts[256];
    for (u64 frame = 0; frame < frames; frame++) {
        for (u32 y = 0; y < HEIGHT; y++) {
            horizontal(screen + y * WIDTH, WIDTH - y, (u32)random(&seed));
            sprite(screen + y * WIDTH, screen + WIDTH, WIDTH / 2);
        }
        for (u32 x = 0; x < WIDTH; x += 9) {
            vertical(screen + x, HEIGHT - x / 4, x);
            blit(screen + WIDTH * (x % HEIGHT), screen, WIDTH - x);
            mirror(screen + WIDTH * (x % HEIGHT), WIDTH - x);
        }
        screen[WIDTH * HEIGHT - 1 - frame * 100] = 77;
        sink = seek(screen, 77);
        to_grey(grey, screen, WIDTH * HEIGHT);
        to_thin(thin, screen, WIDTH * HEIGHT);
        dashed(thin, WIDTH - frame, 5);
        invert(grey, grey + WIDTH * HEIGHT);
        scroll(grey, WIDTH * (HEIGHT - 1) - frame);
        histogram(counts, grey, WIDTH * HEIGHT);
        for (u32 y = 0; y < HEIGHT; y++) {
            sink = seek_row(grey + y * WIDTH, WIDTH, 200);
        }
        wipe(grey, WIDTH * (s64)(HEIGHT - frame));
    }
    return counts[0] < WIDTH * HEIGHT * frames;
}
