// The entry point: arguments, environment and the auxiliary vector lie on the stack.

        .file "start.S" // otherwise the linker names the temporary object file
        .section .text.start, "ax"
        .global _start
        .type _start, %function
_start:
        mov     x29, #0
        mov     x30, #0
        mov     x0, sp
        b       start
        .size _start, . - _start
