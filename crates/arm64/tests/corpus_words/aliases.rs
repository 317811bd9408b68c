//! Aliases at the limits of their conditions, which random words of the corpus hardly ever reach.

use kvrm_arm64::disassemble;

/// Words, and the text that GNU objdump 2.40 prints for them.
const TEXTS: &[(u32, &str)] = &[
    // An ORR whose value MOVZ or MOVN could make is not called MOV, except to the stack pointer.
    (0xb240_1fff, "mov sp, #0xff"),
    (0xb240_1fe3, "orr x3, xzr, #0xff"),
    (0x3200_1fff, "mov wsp, #0xff"),
    (0x3200_1fe3, "orr w3, wzr, #0xff"),
    (0xb250_1fe3, "orr x3, xzr, #0xff000000000000"),
    (0x3200_7be3, "orr w3, wzr, #0x7fffffff"),
    (0xb240_7fe3, "mov x3, #0xffffffff"),
    // A MOVN whose value MOVZ could make, or a wide move of a shifted zero, is not called MOV.
    (0x129f_ffe0, "movn w0, #0xffff"),
    (0x129f_ffc0, "mov w0, #0xffff0001"),
    (0x92bf_ffe0, "mov x0, #0xffffffff0000ffff"),
    (0x92a0_0000, "movn x0, #0x0, lsl #16"),
    (0x52a0_0000, "movz w0, #0x0, lsl #16"),
    // Adding zero to the stack pointer is called MOV, but not if the zero is shifted.
    (0x9100_03e0, "mov x0, sp"),
    (0x9140_03e0, "add x0, sp, #0x0, lsl #12"),
    // Bit fields that are shifts, extensions, insertions.
    (0x3300_0be2, "bfxil w2, wzr, #0, #3"),
    (0x331f_03e2, "bfc w2, #1, #1"),
    (0x5300_1ca2, "uxtb w2, w5"),
    (0xd340_1ca2, "ubfx x2, x5, #0, #8"),
    (0x531f_7ca2, "lsr w2, w5, #31"),
    (0xd37f_f8a2, "lsl x2, x5, #1"),
    (0x9340_7ca2, "sxtw x2, w5"),
    (0x1300_7ca2, "asr w2, w5, #0"),
    (0x1383_0061, "ror w1, w3, #0"),
    // The conditions AL and NV have no inverse.
    (0x1a9f_07e1, "cset w1, ne"),
    (0x1a9f_e7e1, "csinc w1, wzr, wzr, al"),
    (0x1a9f_f7e1, "csinc w1, wzr, wzr, nv"),
    (0x5a9f_03e1, "csetm w1, ne"),
    // Operands that the text omits.
    (0xd503_309f, "ssbb"),
    (0xd503_349f, "pssbb"),
    (0xd503_3fdf, "isb"),
    (0xd503_30df, "isb #0x0"),
    (0xd503_3f5f, "clrex"),
    (0xd503_30bf, "dmb #0x00"),
    (0xd503_241f, "bti"),
    (0xd503_24df, "bti jc"),
    (0xd65f_03c0, "ret"),
    (0xd65f_03e0, "ret xzr"),
    (0xd4a0_0001, "dcps1"),
    (0xd4a0_0021, "dcps1 #0x1"),
    // System registers and instructions by name, and the only register with different names for MRS and MSR.
    (0xd53b_d043, "mrs x3, tpidr_el0"),
    (0xd533_0503, "mrs x3, dbgdtrrx_el0"),
    (0xd513_0503, "msr dbgdtrtx_el0, x3"),
    (0xd50b_7423, "dc zva, x3"),
    (0xd50b_7523, "ic ivau, x3"),
    (0xd508_751f, "ic iallu"),
];

#[test]
fn words_next_to_alias_conditions_print_as_in_objdump() {
    for &(word, text) in TEXTS {
        assert_eq!(disassemble(word, 0).to_string(), text, "of {word:#010x}");
    }
}
