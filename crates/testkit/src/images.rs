//! Small images and programs for tests of engines.

use std::sync::Arc;

use kvrm_arm64::Features;
use kvrm_arm64::asm::{Assembler, W4, X0, X1, X2, X3, X5, at};
use kvrm_machine::{Image, PAGE_BYTES, Permissions, Segment};

/// The size of a page in bytes.
pub const PAGE: u64 = PAGE_BYTES as u64;
/// The address of the first instruction of a program.
pub const CODE: u64 = 0x1_0000;

/// Assembles a program at [`CODE`] and returns its bytes.
///
/// # Panics
/// If the program does not assemble.
pub fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the program assembles");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns an image of `segments` for a machine with all features.
///
/// # Panics
/// If the segments do not fit.
#[must_use]
pub fn image(segments: &[Segment]) -> Arc<Image> {
    Arc::new(Image::new(segments, Features::ALL).expect("the segments fit"))
}

/// Returns a segment of `bytes` bytes: `data`, then zeros.
#[must_use]
pub fn segment(address: u64, bytes: u64, data: Vec<u8>, permissions: Permissions) -> Segment {
    Segment { address, bytes, data, permissions }
}

/// Returns an image of 16 pages that may be read, written and executed, with a program at [`CODE`], their beginning.
///
/// # Panics
/// If the program does not assemble.
pub fn raw(write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[segment(CODE, 16 * PAGE, assemble(write), Permissions::RWX)])
}

/// Writes a program that never ends. It adds x0 to a word in each of seven pages, and modifies one of its own
/// instructions: `add x3, x3, #1` becomes `#2`, and so on.
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
