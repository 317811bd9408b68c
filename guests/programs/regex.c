// Searches texts that a seed makes with PCRE2, with patterns that backtrack, look around, refer back and capture.
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

static unsigned char text[TEXT_BYTES];

int main(int argc, char **argv)
{
    static const char *const patterns[] = {
        "\\b(\\w+) (\\w+) \\1\\b",
        "(?i)\\b(?:mach|reg)\\w*\\b(?=.*\\bpage\\b)",
        "(?<!the )\\b([a-z]*?)(t|s)[a-z]{2,}(?:,| \\.)",
        "^(?:[^,.]+[,.]){2,3}",
        "\\b(?<word>[aeiou]\\w*)(?: \\g<word>)+ \\p{Lu}?",
        "(\\w+ )*?number (\\w+ ){1,3}of",
    };
    enum { PATTERNS = sizeof patterns / sizeof *patterns };
    if (argc != 3)
        return fprintf(stderr, "usage: regex SEED ROUNDS\n"), 2;
    unsigned long seed = strtoul(argv[1], NULL, 0), rounds = strtoul(argv[2], NULL, 0);
    const size_t size = 600;
    pcre2_code *codes[PATTERNS];
    for (size_t p = 0; p < PATTERNS; p++) {
        int error;
        PCRE2_SIZE offset;
        codes[p] = pcre2_compile((PCRE2_SPTR)patterns[p], PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE, &error, &offset, NULL);
        if (!codes[p])
            return fprintf(stderr, "pattern %zu: error %d at %zu\n", p, error, offset), 1;
    }
    pcre2_match_data *match = pcre2_match_data_create(16, NULL);
    unsigned long counts[PATTERNS] = {0};
    uint32_t check = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        make_text(text, size, seed * 1000 + i);
        for (size_t p = 0; p < PATTERNS; p++) {
            const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match);
            for (PCRE2_SIZE at = 0; at < size && pcre2_match(codes[p], text, size, at, 0, match, NULL) > 0;) {
                counts[p]++;
                check = check * 31 + hash(text + ends[0], ends[1] - ends[0]);
                at = ends[1] > at ? ends[1] : at + 1;
            }
        }
    }
    for (size_t p = 0; p < PATTERNS; p++)
        printf("%lu ", counts[p]);
    printf("matches, hash %08lx\n", (unsigned long)check);
    return 0;
}
