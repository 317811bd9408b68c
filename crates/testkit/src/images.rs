//! Small images, and programs for them.

use std::sync::Arc;

use kvrm_arm64::Features;
use kvrm_arm64::asm::{Assembler, W4, X0, X1, X2, X3, X5, at};
use kvrm_machine::{Image, PAGE_BYTES, Permissions, Segment};

/// Bytes of a page.
pub const PAGE: u64 = PAGE_BYTES as u64;
/// Where the programs lie.
pub const CODE: u64 = 0x1_0000;

/// The bytes of a program for [`CODE`].
///
/// # Panics
/// If it does not assemble.
pub fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the program assembles");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// An image of segments, on a machine with every feature.
///
/// # Panics
/// If the segments do not fit.
#[must_use]
pub fn image(segments: &[Segment]) -> Arc<Image> {
    Arc::new(Image::new(segments, Features::ALL).expect("the segments fit"))
}

/// A segment that is zero behind its data.
#[must_use]
pub fn segment(address: u64, bytes: u64, data: Vec<u8>, permissions: Permissions) -> Segment {
    Segment { address, bytes, data, permissions }
}

/// 16 pages of memory that may be read, written and executed, with a program at their beginning.
///
/// # Panics
/// If it does not assemble.
pub fn raw(write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[segment(CODE, 16 * PAGE, assemble(write), Permissions::RWX)])
}

/// A program that never ends: it sums x0 into one page after the other, and changes one of its own instructions: `add x3,
/// x3, #1` becomes `#2`, and so on.
pub fn busy(a: &mut Assembler) {
    let (start, again) = (a.label(), a.label());
    a.bind(start);
    a.mov(X1, (CODE + PAGE) as i64).mov(X2, 7);
    a.bind(again);
    a.ldr(X5, at(X1, 16)).add(X5, X5, X0).str(X5, at(X1, 16)).add(X1, X1, 0x1000);
    a.subs(X2, X2, 1).b_cond("ne", again);
    let changed = a.here();
    a.add(X3, X3, 1);
    a.mov(X5, changed as i64).ldr(W4, at(X5, 0)).add(W4, W4, 1024).str(W4, at(X5, 0));
    a.add(X0, X0, X3).b(start);
}
