// Compresses a megabyte of text that a seed makes with zlib, at every level, and decompresses it again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "text.h"

static unsigned char text[TEXT_BYTES], packed[TEXT_BYTES + TEXT_BYTES / 8 + 4096], again[TEXT_BYTES];

int main(int argc, char **argv)
{
    make_text(text, argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
    printf("zlib %s, crc32 %08lx, adler32 %08lx\n", zlibVersion(), crc32(0, text, sizeof text),
           adler32(1, text, sizeof text));
    const int levels[] = {0, 1, 6, 9};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        uLongf packed_bytes = sizeof packed, bytes = sizeof again;
        if (compress2(packed, &packed_bytes, text, sizeof text, levels[i]) != Z_OK)
            return fprintf(stderr, "level %d: cannot compress\n", levels[i]), 1;
        memset(again, 0, sizeof again);
        if (uncompress(again, &bytes, packed, packed_bytes) != Z_OK || bytes != sizeof text ||
            memcmp(again, text, sizeof text))
            return fprintf(stderr, "level %d: not the same again\n", levels[i]), 1;
        printf("level %d: %lu bytes, %.2f %%, crc32 %08lx\n", levels[i], packed_bytes,
               100.0 * packed_bytes / sizeof text, crc32(0, packed, packed_bytes));
    }
    // What is damaged is noticed.
    packed[1000] ^= 1;
    uLongf bytes = sizeof again;
    printf("damaged: %s\n", zError(uncompress(again, &bytes, packed, sizeof packed)));
    return 0;
}
