//! Directives: data between the code.

use alloc::string::String;
use alloc::vec::Vec;

use super::cursor::Cursor;
use super::symbols::Context;
use super::token::Token;

/// The largest alignment, in bytes.
const ALIGNMENT_MAX: u64 = 1 << 16;
const NOP: [u8; 4] = 0xd503_201f_u32.to_le_bytes();

/// Directives that matter only to linkers and debuggers.
const SKIPPED: [&str; 6] = [".text", ".globl", ".global", ".type", ".size", ".arch"];

/// A directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// Numbers of so many bytes.
    Numbers(usize),
    /// Strings, each with a zero at the end or without.
    Strings(bool),
    /// So many zeros.
    Zeros,
    /// Alignment to a number of bytes, or with `true` to a power of two.
    Align(bool),
    /// Nothing.
    Skipped,
}

impl Directive {
    /// Finds a directive by its name.
    pub(super) fn find(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            ".byte" => Self::Numbers(1),
            ".hword" | ".short" | ".2byte" => Self::Numbers(2),
            ".inst" | ".word" | ".long" | ".4byte" => Self::Numbers(4),
            ".quad" | ".xword" | ".8byte" => Self::Numbers(8),
            ".ascii" => Self::Strings(false),
            ".asciz" | ".string" => Self::Strings(true),
            ".zero" | ".space" | ".skip" => Self::Zeros,
            ".align" | ".p2align" => Self::Align(true),
            ".balign" => Self::Align(false),
            other if SKIPPED.contains(&other) => Self::Skipped,
            _ => return None,
        })
    }

    /// Returns the number of bytes of a directive with these operands, at an address.
    pub(super) fn bytes(self, operands: &[Token<'_>], context: Context<'_>) -> Result<u64, String> {
        let mut cursor = Cursor::new(operands, context);
        let items = 1 + operands.iter().filter(|token| **token == Token::Mark(',')).count() as u64;
        Ok(match self {
            Self::Numbers(bytes) => items * bytes as u64,
            Self::Strings(terminated) => {
                let bytes = operands.iter().map(|token| match token {
                    Token::String(bytes) => bytes.len() as u64 + u64::from(terminated),
                    _ => 0,
                });
                bytes.sum()
            }
            Self::Zeros => {
                let count = number(&mut cursor)?;
                u64::try_from(count).map_err(|_| "expected a number of bytes, which is not negative")?
            }
            Self::Align(is_power) => {
                let number = number(&mut cursor)?;
                let alignment = match u32::try_from(number) {
                    Ok(power) if is_power => 1_u64.checked_shl(power),
                    Ok(bytes) => Some(bytes.into()),
                    Err(_) => None,
                };
                let alignment = alignment.filter(|bytes| bytes.is_power_of_two() && *bytes <= ALIGNMENT_MAX);
                let alignment =
                    alignment.ok_or("expected an alignment that is a power of two of at most 65536 bytes")?;
                context.pc.wrapping_neg() & (alignment - 1)
            }
            Self::Skipped => 0,
        })
    }

    /// Appends the bytes of a directive to `data`.
    pub(super) fn append(
        self,
        operands: &[Token<'_>],
        context: Context<'_>,
        data: &mut Vec<u8>,
    ) -> Result<(), String> {
        let bytes = self.bytes(operands, context)?;
        let mut cursor = Cursor::new(operands, context);
        match self {
            Self::Numbers(bytes) => loop {
                let value = number(&mut cursor)?;
                data.extend(&number_bytes(value, bytes)?[..bytes]);
                if !cursor.mark(',') {
                    break;
                }
            },
            Self::Strings(terminated) => loop {
                data.extend(cursor.string().ok_or(r#"expected a string such as "text""#)?);
                data.extend(terminated.then_some(0));
                if !cursor.mark(',') {
                    break;
                }
            },
            Self::Zeros => {
                number(&mut cursor)?;
                data.extend((0..bytes).map(|_| 0));
            }
            Self::Align(_) => {
                number(&mut cursor)?;
                // Whole words are executable, as in GNU as.
                data.extend((0..bytes % 4).map(|_| 0));
                data.extend((0..bytes / 4).flat_map(|_| NOP));
            }
            Self::Skipped => return Ok(()),
        }
        if cursor.is_at_end() { Ok(()) } else { Err("expected the end of the directive".into()) }
    }
}

fn number(cursor: &mut Cursor<'_>) -> Result<i64, String> {
    let expected = || "a number or a label".into();
    cursor.immediate(expected).map_err(|mismatch| alloc::format!("expected {}", mismatch.expected))
}

/// Returns a number in the first `bytes` bytes, if it fits them, signed or unsigned.
fn number_bytes(value: i64, bytes: usize) -> Result<[u8; 8], String> {
    let bits = 8 * bytes as u32;
    let fits = bits == 64 || (-(1 << (bits - 1))..1 << bits).contains(&value);
    if fits { Ok(value.to_le_bytes()) } else { Err(alloc::format!("expected a number of {bits} bits")) }
}
