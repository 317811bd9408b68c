//! Shifts by a register.

use crate::harness::{check, datasize, set_x, x};
use crate::numbers::field;
use crate::operands::shifted;
use crate::pauth;

/// Returns the result, if the instruction is a shift by a register.
pub(crate) fn result(mnemonic: &str, first: u64, second: u64, datasize: u32) -> Option<u64> {
    let kind = match mnemonic {
        "lsl" => 0,
        "lsr" => 1,
        "asr" => 2,
        "ror" => 3,
        _ => return None,
    };
    Some(shifted(first, kind, (second % u64::from(datasize)) as u32, datasize))
}

#[test]
fn instructions_with_two_sources_do_what_their_names_say() {
    check(&["dp_2src"], |cpu, row, w| {
        let size = datasize(w);
        let (rd, rn, rm) = (field(w, 4, 0), field(w, 9, 5), field(w, 20, 16));
        let (first, second) = (x(cpu, rn, size), x(cpu, rm, size));
        if row.mnemonic == "pacga" {
            return set_x(cpu, rd, pauth::generic(cpu, w));
        }
        let result = result(row.mnemonic, first, second, size)
            .or_else(|| crate::divide::result(row.mnemonic, first, second, size))
            .or_else(|| crate::crc::result(row.mnemonic, x(cpu, rn, 32), x(cpu, rm, 64)));
        set_x(cpu, rd, result.unwrap_or_else(|| panic!("the test has no result for {}", row.name)));
    });
}
