// Text that is worth compressing, a megabyte or less: words, of which some are more frequent than others.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20 };

static void make_text(unsigned char *text, size_t bytes, uint64_t seed)
{
    static const char *const words[] = {
        "the", "of", "and", "a", "to", "in", "machine", "lane", "memory", "register", "instruction", "\n",
        "is", "that", "for", "it", "with", "as", "vector", "number", "every", "page", "system", "result",
        "step", "program", "one", "which", "exact", "signal", ".", ",",
    };
    size_t at = 0;
    while (at < bytes) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        // The lower of two numbers: words that come first come more often.
        unsigned a = seed >> 59, b = seed >> 54 & 31;
        const char *word = words[a < b ? a : b];
        for (size_t i = 0; word[i] && at < bytes; i++)
            text[at++] = word[i];
        if (at < bytes)
            text[at++] = ' ';
    }
}

// FNV-1a.
__attribute__((unused)) static uint32_t hash(const unsigned char *bytes, size_t count)
{
    uint32_t hash = 2166136261u;
    while (count--)
        hash = (hash ^ *bytes++) * 16777619u;
    return hash;
}
