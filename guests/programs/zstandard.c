// Compresses a megabyte of text that a seed makes with zstd, at several levels, and decompresses it again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "text.h"

static unsigned char text[TEXT_BYTES], packed[TEXT_BYTES + TEXT_BYTES / 8 + 4096], again[TEXT_BYTES];

int main(int argc, char **argv)
{
    make_text(text, argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
    printf("zstd %s\n", ZSTD_versionString());
    size_t packed_bytes = 0;
    const int levels[] = {-5, 1, 3, 9};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        packed_bytes = ZSTD_compress(packed, sizeof packed, text, sizeof text, levels[i]);
        if (ZSTD_isError(packed_bytes))
            return fprintf(stderr, "level %d: %s\n", levels[i], ZSTD_getErrorName(packed_bytes)), 1;
        memset(again, 0, sizeof again);
        size_t bytes = ZSTD_decompress(again, sizeof again, packed, packed_bytes);
        if (bytes != sizeof text || memcmp(again, text, sizeof text))
            return fprintf(stderr, "level %d: not the same again\n", levels[i]), 1;
        printf("level %d: %zu bytes, %.2f %%, hash %08lx\n", levels[i], packed_bytes,
               100.0 * packed_bytes / sizeof text, (unsigned long)hash(packed, packed_bytes));
    }
    // What is damaged is noticed.
    packed[0] ^= 1;
    printf("damaged: %s\n", ZSTD_getErrorName(ZSTD_decompress(again, sizeof again, packed, packed_bytes)));
    return 0;
}
