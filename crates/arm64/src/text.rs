//! The text assembler: from assembly text, as the disassembler prints it, to instruction words.
//!
//! ```
//! use kvrm_arm64::assemble;
//!
//! let words = assemble(
//!     0x1000,
//!     "
//!         mov x0, #10           // a counter
//!         mov x1, xzr
//!     again:
//!         add x1, x1, x0
//!         subs x0, x0, #1
//!         b.ne again
//!         hlt #0
//!     ",
//! )?;
//! assert_eq!(words.len(), 6);
//! assert_eq!(words[4], 0x54ff_ffc1, "b.ne 0x1008");
//! # Ok::<(), kvrm_arm64::ParseError>(())
//! ```
//!
//! # Syntax
//!
//! A line has instructions, directives and labels, with `;` between them. `//` begins a comment, and so does `#` at the
//! start of a line. Names of instructions and registers may be in upper or lower case; labels are case-sensitive.
//!
//! - **Instructions** are those of the [table](crate::encoding::ENCODINGS) with all aliases that [`disassemble`] prints. The
//!   `#` of an immediate is optional. Numbers are decimal, hexadecimal (`0x`) or binary (`0b`), and may be sums such as
//!   `end - start`.
//! - **Labels** are `name:`, or `1:` for a local label, which may be repeated: `1b` is the last one before and `1f` the next
//!   one. Targets are labels or absolute addresses, and `.` is the address of the instruction. `:lo12:name` is the low part
//!   of an address, for an ADRP of `name`.
//! - **Directives** put data between the code: `.inst` (words), `.byte`, `.hword`, `.word`, `.quad`, `.ascii`, `.asciz`,
//!   `.zero N`, `.balign N`, `.align N` (a power of two). Others that matter only to a linker, such as `.globl`, are skipped.
//!   The result is padded with zeros to a whole word.
//!
//! An instruction becomes exactly the one that is written, so there is no `ldr x0, =value`, and an offset that only LDUR
//! takes must be written with `ldur`. GNU as changes such instructions. Immediates that only the opposite instruction takes,
//! such as `add x0, x1, #-1`, are refused, too.
//!
//! # The inverse of the disassembler
//!
//! For every word of the table, the text of [`disassemble`] assembles to a word of the same encoding that disassembles to
//! this text again. It is the same word, with two exceptions, in which several words have one text and one meaning:
//!
//! - Bits that the instruction ignores are not part of the text. They become zero, or what the manual says they should be.
//! - A bit mask immediate of a small element has several encodings. It gets the one with the fewest bits of rotation.
//!
//! [`disassemble`]: crate::disassemble

mod cursor;
mod data;
mod error;
mod expectation;
mod form;
mod instruction;
mod mnemonics;
mod names;
mod operand;
mod source;
mod symbols;
mod token;

use alloc::vec::Vec;

pub use self::error::ParseError;
pub use self::source::{Assembly, Label};

/// Assembles text. `address` is the address of the first word, a multiple of 4. The module has
/// [the syntax](self).
///
/// ```
/// use kvrm_arm64::assemble;
///
/// assert_eq!(assemble(0, "ldr x0, [x1, #8]; ret"), Ok(vec![0xf940_0420, 0xd65f_03c0]));
///
/// let error = assemble(0, "ldr x0, [x1, #3]").unwrap_err();
/// let expected = "an offset from 0 to 32760 that is a multiple of 8; ldur takes others from -256 to 255";
/// assert_eq!(error.to_string(), format!(r#"line 1: "ldr x0, [x1, #3]": expected {expected}"#));
/// ```
///
/// # Errors
/// [`ParseError`]: a line that is not understood, and what was expected instead.
pub fn assemble(address: u64, text: &str) -> Result<Vec<u32>, ParseError> {
    Assembly::parse(address, text).map(|assembly| assembly.words)
}
