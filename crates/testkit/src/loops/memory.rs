//! The memory that random loops access, and the registers with which they begin.

use std::sync::Arc;

use kvrm_machine::{Cpu, Features, Image, Permissions, Segment};
use proptest::prelude::*;

const PAGE: u64 = 4096;
/// The address of the loop, in a page of its own that may be written.
pub const CODE: u64 = 0x10_0000;
/// The pages of the image behind the code: the first two may be written, the next one may only be read, then one is missing,
/// and the others may be written.
pub const DATA: u64 = CODE + PAGE;
/// The number of pages behind the missing one.
pub const PAGES: u64 = 12;

/// Returns an image with a loop, and with data.
///
/// # Panics
/// Never: the segments do not overlap.
pub fn image(words: &[u32]) -> Arc<Image> {
    let data = |address: u64, pages: u64, permissions| Segment {
        address,
        bytes: pages * PAGE,
        data: (0..pages * PAGE).map(|place| (place * 7 % 251) as u8).collect(),
        permissions,
    };
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = Segment { address: CODE, bytes: PAGE, data: code, permissions: Permissions::RWX };
    let segments = [
        code,
        data(DATA, 2, Permissions::RW),
        data(DATA + 2 * PAGE, 1, Permissions::R),
        data(DATA + 4 * PAGE, PAGES, Permissions::RW),
    ];
    Arc::new(Image::new(&segments, Features::BASE).expect("the segments are apart"))
}

/// Registers: x0 to x2 are addresses anywhere near the data, x4 is small and counts.
pub fn lane() -> impl Strategy<Value = Cpu> {
    let near = prop_oneof![
        3 => -600..600_i64,
        1 => -(PAGE as i64)..((PAGES + 5) * PAGE) as i64,
        // The instructions of the loop, if it is relative to the first page.
        1 => -(PAGE as i64) - 30..-(PAGE as i64) + 60,
    ];
    let place = prop_oneof![3 => Just(6 * PAGE), 1 => Just(PAGE), 2 => Just(0), 1 => Just(3 * PAGE)];
    let value = prop_oneof![any::<u64>(), 0..4000_u64, (1_u64 << 32) - 600..(1 << 32) + 10];
    (prop::array::uniform3(near), place, value, -4..3000_i64, 0..16_u32, any::<bool>()).prop_map(
        |(near, place, value, count, nzcv, below)| {
            let mut cpu = Cpu::new(CODE, 0x8000);
            for (register, near) in near.into_iter().enumerate() {
                cpu.set_x(register as u32, (DATA + place).wrapping_add_signed(near));
            }
            if below {
                // For `indexed`: w2 becomes zero or negative, and the data is where it leads.
                let from = if near[0] < 0 { 1_u64 << 32 } else { 1 << 31 };
                cpu.set_x(2, from - near[2].unsigned_abs());
                cpu.set_x(1, (DATA + place).wrapping_sub(from));
            }
            cpu.set_x(3, value);
            cpu.set_x(4, count as u64);
            cpu.nzcv = nzcv;
            cpu
        },
    )
}
