//! Methods of the assembler against the disassembler, which is itself tested against a corpus of objdump.

use kvrm_arm64::asm::{
    Arg, AsmError, Assembler, Mode, SP, W0, W1, W2, W3, WSP, X0, X1, X2, X3, X29, X30, XZR, at,
    system_register,
};
use kvrm_arm64::disassemble;
use kvrm_arm64::operand::{BARRIERS, CONDITIONS};

/// A call of a method of the assembler.
type Method = fn(&mut Assembler) -> &mut Assembler;

/// Calls of methods, and the text of the instruction they assemble at address 0x1000.
const METHODS: &[(Method, &str)] = &[
    (|a| a.add(X0, X1, X2), "add x0, x1, x2"),
    (|a| a.add(X0, X1, Arg::Shifted(X2, 2, 7)), "add x0, x1, x2, asr #7"),
    (|a| a.add(X0, X1, Arg::Extended(W2, 6, 3)), "add x0, x1, w2, sxtw #3"),
    (|a| a.add(SP, SP, 0x10), "add sp, sp, #0x10"),
    (|a| a.add(W0, WSP, 0x5000), "add w0, wsp, #0x5, lsl #12"),
    (|a| a.adds(W0, W1, W2), "adds w0, w1, w2"),
    (|a| a.sub(X0, X1, 0xfff), "sub x0, x1, #0xfff"),
    (|a| a.subs(XZR, X1, X2), "cmp x1, x2"),
    (|a| a.and(X0, X1, 0xff00), "and x0, x1, #0xff00"),
    (|a| a.and(W0, W1, -2), "and w0, w1, #0xfffffffe"),
    (|a| a.orr(X0, XZR, X2), "mov x0, x2"),
    (|a| a.eor(W0, W1, 0x5555_5555), "eor w0, w1, #0x55555555"),
    (|a| a.ands(XZR, X1, 1), "tst x1, #0x1"),
    (|a| a.lsl(X0, X1, X2), "lsl x0, x1, x2"),
    (|a| a.lsr(W0, W1, W2), "lsr w0, w1, w2"),
    (|a| a.asr(X0, X1, X2), "asr x0, x1, x2"),
    (|a| a.ror(W0, W1, W2), "ror w0, w1, w2"),
    (|a| a.ubfm(X0, X1, 4, 63), "lsr x0, x1, #4"),
    (|a| a.sbfm(W0, W1, 0, 7), "sxtb w0, w1"),
    (|a| a.madd(X0, X1, X2, X3), "madd x0, x1, x2, x3"),
    (|a| a.msub(W0, W1, W2, W3), "msub w0, w1, w2, w3"),
    (|a| a.udiv(X0, X1, X2), "udiv x0, x1, x2"),
    (|a| a.sdiv(W0, W1, W2), "sdiv w0, w1, w2"),
    (|a| a.csel(X0, X1, X2, Arg::Cond(11)), "csel x0, x1, x2, lt"),
    (|a| a.adr(X0, Arg::Offset(-1)), "adr x0, 0xfff"),
    (|a| a.b(Arg::Offset(8)), "b 0x1008"),
    (|a| a.bl(Arg::Offset(-8)), "bl 0xff8"),
    (|a| a.br(X1), "br x1"),
    (|a| a.blr(X2), "blr x2"),
    (|a| a.ret(X30), "ret"),
    (|a| a.ret(X29), "ret x29"),
    (|a| a.cbz(W0, Arg::Offset(4)), "cbz w0, 0x1004"),
    (|a| a.cbnz(X0, Arg::Offset(4)), "cbnz x0, 0x1004"),
    (|a| a.tbz(W0, 31, Arg::Offset(4)), "tbz w0, #31, 0x1004"),
    (|a| a.tbnz(X0, 32, Arg::Offset(4)), "tbnz x0, #32, 0x1004"),
    (|a| a.ldr(X0, at(SP, 8)), "ldr x0, [sp, #8]"),
    (|a| a.ldr(W0, Arg::Address(X1, Mode::Post(-4))), "ldr w0, [x1], #-4"),
    (
        |a| a.ldr(X0, Arg::Address(X1, Mode::Index { register: W2, extend: 2, scaled: true })),
        "ldr x0, [x1, w2, uxtw #3]",
    ),
    (|a| a.ldrb(W0, at(X1, 4095)), "ldrb w0, [x1, #4095]"),
    (|a| a.ldrh(W0, Arg::Address(X1, Mode::Pre(-256))), "ldrh w0, [x1, #-256]!"),
    (|a| a.str(X0, at(X1, 32760)), "str x0, [x1, #32760]"),
    (
        |a| a.strb(W0, Arg::Address(X1, Mode::Index { register: X2, extend: 3, scaled: false })),
        "strb w0, [x1, x2]",
    ),
    (|a| a.strh(W0, at(X1, 2)), "strh w0, [x1, #2]"),
    (|a| a.ldp(X0, X1, Arg::Address(SP, Mode::Post(16))), "ldp x0, x1, [sp], #16"),
    (|a| a.stp(W0, W1, Arg::Address(SP, Mode::Pre(-8))), "stp w0, w1, [sp, #-8]!"),
    (|a| a.ldxr(X0, at(X1, 0)), "ldxr x0, [x1]"),
    (|a| a.stxr(W2, W0, at(X1, 0)), "stxr w2, w0, [x1]"),
    (|a| a.svc(1), "svc #0x1"),
    (|a| a.brk(0xffff), "brk #0xffff"),
    (|a| a.hlt(0xf000), "hlt #0xf000"),
    (|a| a.nop(), "nop"),
    (|a| a.clrex(15), "clrex"),
];

#[test]
fn methods_assemble_what_their_names_say() {
    for (method, text) in METHODS {
        let mut a = Assembler::new(0x1000);
        method(&mut a);
        let words = a.finish().unwrap_or_else(|error| panic!("{text}: {error}"));
        let texts: Vec<String> = words.iter().map(|&word| disassemble(word, 0x1000).to_string()).collect();
        assert_eq!(texts, [*text], "of {words:08x?}");
    }
}

#[test]
fn the_immediate_zero_is_not_shifted() {
    // As in GNU as. With the shift it would not be the MOV that moves SP.
    let mut a = Assembler::new(0);
    a.add(X0, SP, 0);
    assert_eq!(a.finish(), Ok(vec![0x9100_03e0]), "mov x0, sp");
}

#[test]
fn all_conditions_have_their_branch() {
    for (number, condition) in CONDITIONS.iter().enumerate() {
        let mut a = Assembler::new(0);
        a.b_cond(condition, Arg::Offset(0));
        assert_eq!(a.finish(), Ok(vec![0x5400_0000 | number as u32]), "b.{condition}");
    }
    let mut a = Assembler::new(0);
    a.b_cond("maybe", Arg::Offset(0));
    assert_eq!(a.finish(), Err(AsmError::NoEncoding { text: "b.maybe".to_owned() }), "no such condition");
}

#[test]
fn barriers_are_found_by_name() {
    for (number, option) in BARRIERS.iter().enumerate().filter(|(_, option)| !option.is_empty()) {
        let mut a = Assembler::new(0);
        a.dmb(option);
        assert_eq!(a.finish(), Ok(vec![0xd503_30bf | (number as u32) << 8]), "dmb {option}");
    }
    for option in ["", "all"] {
        let mut a = Assembler::new(0);
        a.dmb(option);
        let error = AsmError::NoEncoding { text: format!("dmb {option}") };
        assert_eq!(a.finish(), Err(error), "no such option");
    }
}

#[test]
fn system_registers_are_found_by_name() {
    let register = system_register("tpidr_el0").expect("the thread pointer has a name");
    let mut a = Assembler::new(0);
    a.mrs(X3, register).msr(register, X3);
    assert_eq!(a.finish(), Ok(vec![0xd53b_d043, 0xd51b_d043]), "mrs and msr of the thread pointer");
    assert_eq!(system_register("tpidr"), None, "only whole names count");
}

#[test]
fn operands_that_no_encoding_takes_are_refused() {
    let cases: [(Method, &str); 4] = [
        (|a| a.add(X0, W1, X2), "add "),
        (|a| a.ldrb(X0, at(X1, 0)), "ldrb "),
        (|a| a.ldxr(X0, at(X1, 8)), "ldxr "),
        (|a| a.emit("frobnicate", &[]), "frobnicate "),
    ];
    for (method, start) in cases {
        let mut a = Assembler::new(0);
        method(&mut a);
        let error = a.finish().expect_err("no encoding takes these operands");
        assert!(matches!(&error, AsmError::NoEncoding { text } if text.starts_with(start)), "{error}");
    }
}
