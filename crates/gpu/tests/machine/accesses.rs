//! Loads and stores in pages that the TLB has, at all alignments.

use kvrm_machine::{Permissions, Stop};
use kvrm_testkit::random::Random;

use crate::support::{CODE, DATA, EnginePair, PAGE, assemble, image, segment};

/// The bytes between the addresses of two accesses: at least the largest access, and odd, so that alignments differ.
const STRIDE: u32 = 33;
/// The base register, which all accesses share.
const BASE: u32 = 1;

/// The size, `V` and `opc` of the loads and stores of single registers.
const SINGLE: [(u32, u32, u32); 23] = [
    (0, 0, 0),
    (0, 0, 1),
    (0, 0, 2),
    (0, 0, 3),
    (1, 0, 0),
    (1, 0, 1),
    (1, 0, 2),
    (1, 0, 3), // bytes and halfwords
    (2, 0, 0),
    (2, 0, 1),
    (2, 0, 2),
    (3, 0, 0),
    (3, 0, 1), // words and doublewords
    (0, 1, 0),
    (0, 1, 1),
    (1, 1, 0),
    (1, 1, 1),
    (2, 1, 0),
    (2, 1, 1),
    (3, 1, 0),
    (3, 1, 1), // B, H, S, D
    (0, 1, 2),
    (0, 1, 3), // Q
];
/// `opc`, `V` and `L` of the loads and stores of pairs.
const PAIRS: [(u32, u32, u32); 11] = [
    (0, 0, 0),
    (0, 0, 1),
    (1, 0, 1),
    (2, 0, 0),
    (2, 0, 1), // W, SW, X
    (0, 1, 0),
    (0, 1, 1),
    (1, 1, 0),
    (1, 1, 1),
    (2, 1, 0),
    (2, 1, 1), // S, D, Q
];

/// Returns loads and stores of all sizes in all addressing modes. Loads have different destinations where registers
/// suffice.
fn accesses() -> Vec<u32> {
    let mut words = Vec::new();
    let mut register = 1;
    let mut next = || {
        // X0 and the base stay as they are.
        register = if register == 30 { 2 } else { register + 1 };
        register
    };
    for (size, v, opc) in SINGLE {
        let fixed = size << 30 | v << 26 | opc << 22 | BASE << 5;
        // Offset 0; then post-indexed by 9 and pre-indexed by -7.
        for mode in [0x3900_0000, 0x3800_0400 | 9 << 12, 0x3800_0c00 | 0x1f9 << 12] {
            words.push(fixed | mode | next());
        }
    }
    for (opc, v, l) in PAIRS {
        let fixed = opc << 30 | v << 26 | l << 22 | BASE << 5;
        // Offset 0; then post-indexed by 2 and pre-indexed by -1 times the size of a register.
        for mode in [0x2900_0000, 0x2880_0000 | 2 << 15, 0x2980_0000 | 0x7f << 15] {
            words.push(fixed | mode | next() << 10 | next());
        }
    }
    for opc in 0..3 {
        // LDR (literal, SIMD&FP) from 16 bytes before, twice: the first may miss the TLB.
        let word = 0x1c00_0000 | opc << 30 | 0x7_fffc << 5;
        words.extend([word | next(), word | next()]);
    }
    words
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn accesses_at_every_alignment_end_as_on_the_reference() {
    let words = accesses();
    let code = assemble(|a| {
        // STRB WZR, [X0] and STRB WZR, [X0, #4095]: both pages become the lane's own, and the TLB permits stores.
        a.word(0x3900_001f).word(0x3900_001f | 0xfff << 10);
        for &word in &words {
            // ADD X1, X1, #STRIDE
            a.word(word).word(0x9100_0000 | STRIDE << 10 | BASE << 5 | BASE);
        }
        a.hlt(0);
    });
    let mut random = Random::new(1);
    let data = (0..3 * PAGE).map(|_| random.below(256) as u8).collect();
    let image =
        image(&[segment(CODE, PAGE, code, Permissions::RX), segment(DATA, 3 * PAGE, data, Permissions::RW)]);
    // The first lanes stay in a page. The others come to the end of a page, each with another access.
    let lanes = 64 + 64;
    let mut pair = EnginePair::new(&[image], lanes, 8);
    for lane in 0..lanes as u64 {
        let base = if lane < 64 { DATA + lane } else { DATA + PAGE - 45 * (lane - 63) };
        pair.change_registers(lane as usize, |cpu| {
            cpu.pc = CODE;
            (2..31).for_each(|n| {
                cpu.set_x(n, (lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(n));
            });
            cpu.set_x(0, DATA + 1);
            cpu.set_x(BASE, base);
        });
    }
    pair.run(u64::MAX);
    let ends = pair.assert_same("at the end");
    assert!(ends.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have ended");
}
