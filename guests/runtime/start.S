// The entry point: the host has set SP and nothing else.

#define DT_RELA 7
#define DT_RELASZ 8
#define R_AARCH64_RELATIVE 1027

        .file "start.S" // otherwise the linker names the temporary object file
        .section .text.start, "ax"
        .global _start
        .type _start, %function
_start:
#ifdef __PIE__
        // A position independent guest relocates itself, from its own .dynamic section. The addends are in
        // the relocation table and not in the words that are relocated, so a loader that has already done
        // this does no harm: the same words are stored again. Everything here is found relative to pc.
        adrp    x0, __ehdr_start                // x0: where address 0 of the file was loaded
        add     x0, x0, :lo12:__ehdr_start
        adrp    x1, _DYNAMIC
        add     x1, x1, :lo12:_DYNAMIC
        mov     x2, #0                          // x2: first relocation
        mov     x3, #0                          // x3: size of all of them, then the end
.Lnext_tag:
        ldp     x4, x5, [x1], #16
        cbz     x4, .Lhave_tags                 // DT_NULL
        cmp     x4, #DT_RELA
        csel    x2, x5, x2, eq
        cmp     x4, #DT_RELASZ
        csel    x3, x5, x3, eq
        b       .Lnext_tag
.Lhave_tags:
        add     x2, x2, x0
        add     x3, x3, x2
.Lnext_relocation:
        cmp     x2, x3
        b.hs    .Lrelocated
        ldp     x4, x5, [x2], #16               // r_offset, r_info
        ldr     x6, [x2], #8                    // r_addend
        cmp     x5, #R_AARCH64_RELATIVE
        b.ne    .Lunexpected
        add     x6, x6, x0
        str     x6, [x4, x0]
        b       .Lnext_relocation
.Lunexpected:
        // The linker makes no other kind for a program that needs no library.
        brk     #1
.Lrelocated:
#endif
        // The frame chain ends here.
        mov     x29, #0
        mov     x30, #0
        b       start
        .size _start, . - _start
