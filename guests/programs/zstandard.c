// Compresses a megabyte of text that a seed makes with zstd, at several levels, and decompresses it again. With a number
// of rounds, it does this in every round with another text of 16 KiB, at one level, without new memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "text.h"

static unsigned char text[TEXT_BYTES], packed[TEXT_BYTES + TEXT_BYTES / 8 + 4096], again[TEXT_BYTES];

static int rounds(unsigned long seed, unsigned long count)
{
    const size_t size = 16 << 10;
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    ZSTD_DCtx *decompressor = ZSTD_createDCtx();
    unsigned long total = 0;
    uint32_t check = 0;
    for (unsigned long i = 0; i < count; i++) {
        make_text(text, size, seed * 1000 + i);
        size_t bytes = ZSTD_compressCCtx(compressor, packed, sizeof packed, text, size, 5);
        if (ZSTD_isError(bytes))
            return fprintf(stderr, "round %lu: %s\n", i, ZSTD_getErrorName(bytes)), 1;
        if (ZSTD_decompressDCtx(decompressor, again, sizeof again, packed, bytes) != size || memcmp(again, text, size))
            return fprintf(stderr, "round %lu: not the same again\n", i), 1;
        check = check * 31 + hash(packed, bytes), total += bytes;
    }
    printf("%lu rounds: %lu bytes, hash %08lx\n", count, total, (unsigned long)check);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return rounds(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0));
    make_text(text, sizeof text, argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
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
