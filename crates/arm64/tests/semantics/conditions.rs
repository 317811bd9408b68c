//! Conditions, compared with the table of the manual (DDI 0487, C1.2.4) and with comparisons of numbers.

use kvrm_arm64::Cpu;
use kvrm_arm64::Word;
use kvrm_arm64::semantics::add_sub::{self, SET_FLAGS, SUB};
use kvrm_arm64::semantics::flags::condition_holds;
use proptest::prelude::*;

use crate::numbers::{low, number, signed};

/// Whether a condition holds, by the manual's table.
pub(crate) fn holds(cond: u32, nzcv: u32) -> bool {
    let [n, z, c, v] = [8, 4, 2, 1].map(|flag| nzcv & flag != 0);
    match cond {
        0b0000 => z,             // EQ
        0b0001 => !z,            // NE
        0b0010 => c,             // CS
        0b0011 => !c,            // CC
        0b0100 => n,             // MI
        0b0101 => !n,            // PL
        0b0110 => v,             // VS
        0b0111 => !v,            // VC
        0b1000 => c && !z,       // HI
        0b1001 => !c || z,       // LS
        0b1010 => n == v,        // GE
        0b1011 => n != v,        // LT
        0b1100 => !z && n == v,  // GT
        0b1101 => z || n != v,   // LE
        0b1110 | 0b1111 => true, // AL, NV
        _ => panic!("a condition has four bits"),
    }
}

#[test]
fn conditions_hold_for_the_flags_the_manual_says() {
    for cond in 0..16 {
        for nzcv in 0..16 {
            assert_eq!(condition_holds(cond, nzcv), holds(cond, nzcv), "{cond:04b} for {nzcv:04b}");
        }
    }
}

proptest! {
    #[test]
    fn after_a_comparison_conditions_say_how_the_numbers_compare(a in number(), b in number(), same in 0..4) {
        let b = if same == 0 { a } else { b };
        for datasize in [32, 64] {
            let mut cpu = Cpu::default();
            cpu.set_x(1, a);
            cpu.set_x(2, b);
            // CMP X1, X2
            let operands = Word(31 | 1 << 5 | 2 << 16);
            match datasize {
                32 => add_sub::shifted_register::<32, SUB, SET_FLAGS>(&mut cpu, operands),
                _ => add_sub::shifted_register::<64, SUB, SET_FLAGS>(&mut cpu, operands),
            }
            let (ua, ub) = (low(a, datasize), low(b, datasize));
            let (sa, sb) = (signed(a, datasize), signed(b, datasize));
            let expected = [
                ua == ub, ua != ub, ua >= ub, ua < ub, sa - sb < 0, sa - sb >= 0, false, true,
                ua > ub, ua <= ub, sa >= sb, sa < sb, sa > sb, sa <= sb, true, true,
            ];
            for (cond, expected) in (0..16).zip(expected) {
                // MI, PL, VS and VC compare numbers only if the difference does not overflow.
                if (4..8).contains(&cond) && sa - sb != signed((sa - sb) as u64, datasize) {
                    continue;
                }
                let holds = condition_holds(cond, cpu.nzcv);
                prop_assert_eq!(holds, expected, "{:04b} of {:#x} and {:#x}", cond, a, b);
            }
        }
    }
}
