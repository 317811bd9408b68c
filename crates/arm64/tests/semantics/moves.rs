//! Wide moves, compared by halfwords; addresses relative to the pc.

use crate::harness::{check, datasize, set_x, x};
use crate::numbers::{field, low, signed_field};

#[test]
fn a_wide_move_writes_one_halfword() {
    check(&["movewide"], |cpu, row, w| {
        let (size, rd) = (datasize(w), field(w, 4, 0));
        let old = x(cpu, rd, size);
        let mut halves: Vec<u64> = (0..4).map(|i| old >> (16 * i) & 0xffff).collect();
        let (imm, place) = (u64::from(field(w, 20, 5)), field(w, 22, 21) as usize);
        match row.mnemonic {
            "movz" => halves.fill(0),
            "movn" => halves.fill(0xffff),
            "movk" => {}
            mnemonic => panic!("the test has no result for {mnemonic}"),
        }
        halves[place] = if row.mnemonic == "movn" { 0xffff - imm } else { imm };
        let value = halves.iter().rev().fold(0, |value, half| value << 16 | half);
        set_x(cpu, rd, low(value, size));
    });
}

#[test]
fn adr_and_adrp_add_bytes_or_pages_to_the_pc() {
    check(&["pcreladdr"], |cpu, row, w| {
        let pc = cpu.pc.wrapping_sub(4);
        let distance = signed_field(w, 23, 5) * 4 + i64::from(field(w, 30, 29));
        let value = match row.mnemonic {
            "adr" => pc.wrapping_add_signed(distance),
            "adrp" => (pc / 4096 * 4096).wrapping_add_signed(distance * 4096),
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        set_x(cpu, field(w, 4, 0), value);
    });
}
