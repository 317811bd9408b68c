//! One instruction: the choice among the forms of its mnemonic.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cursor::{Cursor, Mismatch};
use super::symbols::Context;
use super::token::Token;
use super::{form, mnemonics, names};

/// The number of alternatives that an error lists.
const ALTERNATIVES: usize = 3;

/// Assembles an instruction from its mnemonic and the tokens of its operands: the first form that takes them.
///
/// # Errors
/// What was expected.
pub(super) fn assemble(mnemonic: &str, operands: &[Token<'_>], context: Context<'_>) -> Result<u32, String> {
    let mut mnemonic = mnemonic.to_ascii_lowercase();
    let mut forms = form::forms(&mnemonic);
    // `beq` is `b.eq`.
    if forms.is_empty() && mnemonic.strip_prefix('b').is_some_and(|rest| names::condition(rest).is_some()) {
        mnemonic.insert(1, '.');
        forms = form::forms(&mnemonic);
    }
    let is_condition = |rest: &str| names::condition(rest).is_some();
    if forms.is_empty() || mnemonic.strip_prefix("b.").is_some_and(|rest| !is_condition(rest)) {
        let nearest =
            mnemonics::nearest(&mnemonic).map(|nearest| format!("; the nearest known one is `{nearest}`"));
        return Err(format!("unknown mnemonic `{mnemonic}`{}", nearest.unwrap_or_default()));
    }
    let mut mismatches = Vec::new();
    for form in &forms {
        match form.assemble(Cursor::new(operands, context), &mnemonic) {
            Ok(word) => return Ok(word),
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    Err(explain(&mismatches))
}

/// Returns what the forms expected that understood most of the operands.
fn explain(mismatches: &[Mismatch]) -> String {
    let rank = |mismatch: &Mismatch| (mismatch.position, mismatch.is_value);
    let best = mismatches.iter().map(rank).max();
    let mut expected: Vec<&str> = Vec::new();
    for mismatch in mismatches.iter().filter(|mismatch| Some(rank(mismatch)) == best) {
        if !expected.contains(&mismatch.expected.as_str()) {
            expected.push(&mismatch.expected);
        }
    }
    expected.truncate(ALTERNATIVES);
    format!("expected {}", expected.join(", or "))
}
