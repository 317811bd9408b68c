// The screen, in place of i_video.c: the engine draws into the frame that the host reads.

#include <string.h>

#include "doomtype.h"
#include "i_video.h"
#include "platform.h"
#include "tables.h"

// The engine reads these.
boolean screensaver_mode, screenvisible = true;
float mouse_acceleration = 1;
int mouse_threshold, usegamma, usemouse = 1;
byte *I_VideoBuffer;

_Alignas(4096) uint8_t doom_frame[SCREENWIDTH * SCREENHEIGHT];
_Alignas(4096) uint32_t doom_palette[256];
uint64_t frames_drawn;

void I_InitGraphics(void)
{
    I_VideoBuffer = doom_frame;
}

void I_FinishUpdate(void)
{
    frames_drawn++;
}

void I_SetPalette(byte *palette)
{
    const byte *gamma = gammatable[usegamma];
    for (int i = 0; i < 256; i++, palette += 3) {
        doom_palette[i] = gamma[palette[0]] << 16 | gamma[palette[1]] << 8 | gamma[palette[2]];
    }
}

void I_ReadScreen(byte *screen)
{
    memcpy(screen, I_VideoBuffer, SCREENWIDTH * SCREENHEIGHT);
}

// Returns the color of the palette that is nearest.
int I_GetPaletteIndex(int r, int g, int b)
{
    int nearest = 0, least = -1;
    for (int i = 0; i < 256; i++) {
        int dr = (int)(doom_palette[i] >> 16) - r, dg = (int)(doom_palette[i] >> 8 & 255) - g,
            db = (int)(doom_palette[i] & 255) - b;
        int distance = dr * dr + dg * dg + db * db;
        if (least < 0 || distance < least) least = distance, nearest = i;
    }
    return nearest;
}

void I_ShutdownGraphics(void) {}
void I_StartFrame(void) {}
void I_UpdateNoBlit(void) {}
void I_BeginRead(void) {}
void I_EndRead(void) {}
void I_SetWindowTitle(char *title) {}
void I_GraphicsCheckCommandLine(void) {}
void I_SetGrabMouseCallback(grabmouse_callback_t callback) {}
void I_EnableLoadingDisk(void) {}
void I_BindVideoVariables(void) {}
void I_DisplayFPSDots(boolean dots_on) {}
void I_CheckIsScreensaver(void) {}
