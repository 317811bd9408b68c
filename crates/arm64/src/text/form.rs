//! Forms of instructions: an encoding or one of its aliases, and the words of their texts.

use alloc::vec::Vec;

use super::cursor::{Cursor, Mismatch};
use super::expectation;
use super::operand::{self, Meaning};
use crate::alias::{Alias, pstate_field};
use crate::asm::{AsmError, CONTRADICTION, encode_operands, has_no_arg, is_called};
use crate::operand::Operand;
use crate::{Encoding, Word, alias, decode, encoding};

/// The mnemonics of SYS instructions with names.
pub(super) const SYS_MNEMONICS: [&str; 4] = ["ic", "dc", "at", "tlbi"];

/// A form of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Form {
    row: &'static Encoding,
    operands: Vec<Operand>,
    /// The alias, if the form is one.
    alias: Option<&'static Alias>,
    /// The bits that the operands leave out.
    rest: fn(Word) -> u32,
}

/// Returns the forms with a mnemonic, which is in lower case.
pub(super) fn forms(mnemonic: &str) -> Vec<Form> {
    let name = if mnemonic.starts_with("b.") { "b." } else { mnemonic };
    let mut forms = Vec::new();
    for row in encoding::ENCODINGS.iter().filter(|row| is_called(row, name)) {
        forms.push(Form { row, operands: row.operands.into(), alias: None, rest: |_| 0 });
    }
    for alias in alias::all().filter(|alias| is_alias_called(alias, name)) {
        let rows = encoding::ENCODINGS.iter();
        for row in rows.filter(|row| row.mnemonic == alias.mnemonic && row.group() == alias.group) {
            forms.push(Form { row, operands: alias.operands.into(), alias: Some(alias), rest: alias.rest });
        }
    }
    // An atomic that neither returns the old value nor acquires is called a store.
    if let Some(operation) = name.strip_prefix("st") {
        let is_atomic = |row: &&Encoding| row.group() == "memop" && row.pattern.value >> 23 & 1 == 0;
        let is_called = |row: &&Encoding| row.mnemonic.strip_prefix("ld") == Some(operation);
        for row in encoding::ENCODINGS.iter().filter(is_called).filter(is_atomic) {
            let operands = row.operands.iter().copied();
            let operands = operands.filter(|operand| !matches!(operand, Operand::Wt | Operand::Xt)).collect();
            forms.push(Form { row, operands, alias: None, rest: |_| 31 });
        }
    }
    forms
}

fn is_alias_called(alias: &Alias, mnemonic: &str) -> bool {
    match alias.name.strip_suffix("{2}") {
        Some(first_half) => mnemonic.strip_suffix('2').unwrap_or(mnemonic) == first_half,
        None if alias.name.is_empty() => SYS_MNEMONICS.contains(&mnemonic),
        None => alias.name == mnemonic,
    }
}

impl Form {
    /// Assembles the operands that `cursor` has.
    pub(super) fn assemble(&self, mut cursor: Cursor<'_>, mnemonic: &str) -> Result<u32, Mismatch> {
        let cursor = &mut cursor;
        let row = self.row;
        let mut args = Vec::new();
        // The place after each operand that has an argument, and the operand.
        let mut places = Vec::new();
        let mut element_bits = None;
        let mut is_first = true;
        for &operand in self.operands.iter().filter(|operand| !operand.is_hidden()) {
            if !is_first {
                cursor.expect(',')?;
            }
            match operand::read(cursor, operand, row, mnemonic)? {
                Meaning::Arg(arg) => args.push(arg),
                Meaning::Nothing => {}
                Meaning::ElementBits(bits) => element_bits = Some(bits),
            }
            if !has_no_arg(operand) {
                places.push((cursor.position(), operand));
            }
            is_first = operand == Operand::BranchCond;
        }
        if !cursor.is_at_end() {
            return Err(cursor.mismatch("the end of the instruction"));
        }
        let word = match encode_operands(row.op, &self.operands, &args, self.rest) {
            Ok(word) => word,
            Err(AsmError::Operand { problem: CONTRADICTION, .. }) => {
                let expected = "operands whose elements go together, and shifts within an element";
                return Err(Mismatch { is_value: true, ..cursor.mismatch(expected) });
            }
            Err(AsmError::Operand { index, .. }) => {
                let (position, operand) = places[index];
                let expected = expectation::of(operand, operand::is_wide(row));
                return Err(Mismatch { position, is_value: true, expected });
            }
            Err(_) => return Err(cursor.mismatch("other operands")),
        };
        self.check(word, mnemonic, element_bits)
            .map(|()| word)
            .map_err(|expected| Mismatch { is_value: true, ..cursor.mismatch(expected) })
    }

    /// Checks that the operands of `word`, each valid by itself, go together. Returns what is expected otherwise.
    fn check(&self, word: u32, mnemonic: &str, element_bits: Option<i64>) -> Result<(), &'static str> {
        let w = Word(word);
        let decoded = decode(word);
        // HINT includes the hints that have names.
        if decoded != Some(self.row.op) && (decoded.is_none() || self.row.mnemonic != "hint") {
            return Err("operands that go together; these are undefined");
        }
        let name = self.alias.map_or(self.row.mnemonic, |alias| alias.name);
        if name.ends_with("{2}") && (w.q() == 1) != mnemonic.ends_with('2') {
            return Err("the suffix 2 for the upper half of a 128-bit register, and only for it");
        }
        if element_bits.is_some_and(|bits| bits != 8 << w.size()) {
            return Err("a shift by the bits of an element");
        }
        if self.operands.contains(&Operand::PstateField) && pstate_field(w).is_none() {
            return Err("0 or 1");
        }
        match self.alias {
            Some(alias) if !(alias.when)(w) => Err("operands of another instruction"),
            _ => Ok(()),
        }
    }
}
