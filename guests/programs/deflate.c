// Compresses a megabyte of text that a seed makes with zlib, at every level, and decompresses it again. With a number
// of rounds, it does this in every round with another text of 16 KiB, at one level, without new memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "text.h"

static unsigned char text[TEXT_BYTES], packed[TEXT_BYTES + TEXT_BYTES / 8 + 4096], again[TEXT_BYTES];

static int rounds(unsigned long seed, unsigned long count)
{
    const size_t size = 16 << 10;
    z_stream deflater = {0}, inflater = {0};
    if (deflateInit(&deflater, 6) != Z_OK || inflateInit(&inflater) != Z_OK)
        return fprintf(stderr, "no memory\n"), 1;
    unsigned long check = 0, total = 0;
    for (unsigned long i = 0; i < count; i++) {
        make_text(text, size, seed * 1000 + i);
        deflateReset(&deflater), inflateReset(&inflater);
        deflater.next_in = text, deflater.avail_in = size;
        deflater.next_out = packed, deflater.avail_out = sizeof packed;
        if (deflate(&deflater, Z_FINISH) != Z_STREAM_END)
            return fprintf(stderr, "round %lu: cannot compress\n", i), 1;
        inflater.next_in = packed, inflater.avail_in = deflater.total_out;
        inflater.next_out = again, inflater.avail_out = sizeof again;
        if (inflate(&inflater, Z_FINISH) != Z_STREAM_END || inflater.total_out != size || memcmp(again, text, size))
            return fprintf(stderr, "round %lu: not the same again\n", i), 1;
        check = crc32(check, packed, deflater.total_out), total += deflater.total_out;
    }
    printf("%lu rounds: %lu bytes, crc32 %08lx\n", count, total, check);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return rounds(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
    make_text(text, sizeof text, argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
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
