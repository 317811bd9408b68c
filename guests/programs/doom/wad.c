// WADs, in place of d_iwad.c, w_file.c and w_file_stdc.c. Lumps are used where they lie in memory, and the engine does not
// write them. The WAD with the levels of Freedoom is a part of the program's constants, so all forks share it. Files that
// -iwad and -file name are mapped.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "d_iwad.h"
#include "m_argv.h"
#include "w_file.h"

#define WAD_NAME "freedoom1.wad"

extern const unsigned char wad_begin[], wad_end[];

// The assembler is told the folder of the WAD. The symbols are global, because the linker takes the addresses of two
// local ones for the same.
__asm__(".pushsection .rodata\n"
        ".global wad_begin, wad_end\n"
        ".balign 4096\n"
        "wad_begin: .incbin \"" WAD_NAME "\"\n"
        "wad_end:\n"
        ".popsection\n");

// Maps a file. Returns NULL if that is not possible.
static const byte *map_file(const char *path, unsigned int *length)
{
    int file = open(path, O_RDONLY);
    if (file < 0) return NULL;
    struct stat status;
    void *mapped = MAP_FAILED;
    if (!fstat(file, &status) && status.st_size > 0 && status.st_size <= INT32_MAX) {
        mapped = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        *length = status.st_size;
    }
    close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

wad_file_t *W_OpenFile(char *path)
{
    unsigned int length = wad_end - wad_begin;
    const byte *mapped = strcmp(path, WAD_NAME) ? map_file(path, &length) : wad_begin;
    wad_file_t *wad = mapped ? malloc(sizeof *wad) : NULL;
    // A write to the constants would be a fault.
    if (wad) *wad = (wad_file_t){.mapped = (byte *)mapped, .length = length};
    return wad;
}

void W_CloseFile(wad_file_t *wad) {}

size_t W_Read(wad_file_t *wad, unsigned int offset, void *buffer, size_t bytes)
{
    if (offset > wad->length) return 0;
    if (bytes > wad->length - offset) bytes = wad->length - offset;
    memcpy(buffer, wad->mapped + offset, bytes);
    return bytes;
}

// The engine finds out from the lumps which game it is.
char *D_FindIWAD(int mask, GameMission_t *mission)
{
    int option = M_CheckParmWithArgs("-iwad", 1);
    *mission = none;
    return option ? myargv[option + 1] : WAD_NAME;
}

char *D_FindWADByName(char *name)
{
    return NULL;
}

char *D_TryFindWADByName(char *name)
{
    return name;
}

char *D_SaveGameIWADName(GameMission_t mission)
{
    return WAD_NAME;
}

char *D_SuggestGameName(GameMission_t mission, GameMode_t mode)
{
    return "DOOM";
}
