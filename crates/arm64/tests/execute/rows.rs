//! Rows that access memory with general registers, and the properties of their accesses.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Encoding, Feature};

/// A row that accesses memory at a base register.
#[derive(Clone, Copy)]
pub(crate) struct AccessRow {
    pub(crate) row: &'static Encoding,
    /// The bytes of the whole access; for pairs, of both registers.
    pub(crate) bytes: u64,
}

impl AccessRow {
    /// Returns all rows. Literals and prefetches are not among them.
    pub(crate) fn all() -> Vec<Self> {
        let rows: Vec<Self> = ENCODINGS.iter().filter_map(Self::of).collect();
        assert!(rows.len() >= 290, "only {} rows access memory", rows.len());
        rows
    }

    fn of(row: &'static Encoding) -> Option<Self> {
        let has_base = row.operands.iter().any(|operand| {
            use Operand as O;
            matches!(
                operand,
                O::Base
                    | O::ScaledOffset(_)
                    | O::Offset
                    | O::PreIndex
                    | O::PostIndex
                    | O::RegisterOffset(_)
                    | O::PairOffset(_)
                    | O::PairPreIndex(_)
                    | O::PairPostIndex(_)
            )
        });
        if !has_base || row.feature == Feature::Fp || row.mnemonic.starts_with("prf") {
            return None;
        }
        let is = |groups: &[&str]| groups.iter().any(|group| row.group().starts_with(group));
        let size = row.pattern.value >> 30;
        let single = if is(&["ldstpair", "ldstnapair"]) {
            if row.operands.contains(&Operand::Xt) && row.mnemonic != "ldpsw" { 8 } else { 4 }
        } else if is(&["comswappr"]) {
            4 << (size & 1)
        } else {
            1 << size
        };
        let is_pair = is(&["ldstpair", "ldstnapair", "comswappr", "ldstexclp"]);
        Some(Self { row, bytes: if is_pair { 2 * single } else { single } })
    }

    /// Returns a word of the row with base Rn, offset zero, and the given registers in the other fields.
    pub(crate) fn word(self, rt: u32, rt2: u32, rn: u32, rs: u32) -> u32 {
        let variable = self.row.pattern.variable_bits();
        // If there is an index register, it is XZR, extended as SXTX.
        let index = matches!(self.row.operands.last(), Some(Operand::RegisterOffset(_)));
        let rs = if index { 31 } else { rs };
        let extend = if index { 7 << 13 } else { 0 };
        let is_pair = self.row.operands.iter().any(|operand| matches!(operand, Operand::Wt2 | Operand::Xt2));
        let rt2 = if is_pair { rt2 << 10 } else { 0 };
        let has_high = index || self.row.operands.iter().any(|o| o.bits(variable) == 0x1f << 16);
        let rs = if has_high { rs << 16 } else { 0 };
        self.row.pattern.canonical() | (rt | rt2 | rn << 5 | rs | extend) & variable
    }

    pub(crate) fn is_atomic(self) -> bool {
        ["memop", "comswap", "comswappr"].contains(&self.row.group())
            && !self.row.mnemonic.starts_with("ldapr")
    }

    pub(crate) fn is_exclusive(self) -> bool {
        self.row.group().starts_with("ldstexcl")
    }

    /// Whether the address must be a multiple of the access size.
    pub(crate) fn is_aligned(self) -> bool {
        self.is_atomic() || self.is_exclusive() || self.row.semantics().starts_with("ordered::")
    }

    /// Whether the row is a plain, ordered or exclusive store.
    pub(crate) fn is_store(self) -> bool {
        self.row.mnemonic.starts_with("st")
    }

    pub(crate) fn writes(self) -> bool {
        self.is_store() || self.is_atomic()
    }
}
