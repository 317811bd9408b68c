//! Atoms: values of an iteration that are not sums of others.

use alloc::vec::Vec;

use kvrm_arm64::micro_op::MicroOp;

use crate::flags::Flags;
use crate::term::{AtomId, Term};

/// A value that is not a sum of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// The register with this number in micro-ops at the beginning of the iteration.
    Entry(u32),
    /// The low word of a value, zero-extended.
    Low(Term),
    /// The low word of a value, sign-extended.
    Signed(Term),
    /// A value that is loaded.
    Loaded(Loaded),
    /// The first value if a four-bit condition on flags holds, else the second.
    Select {
        /// The condition, from 0 to 13.
        cond: u32,
        /// The flags.
        flags: Flags,
        /// The value if it holds.
        yes: Term,
        /// The value if it does not.
        no: Term,
        /// Whether values have 64 bits rather than 32.
        wide: bool,
    },
    /// The result of a micro-op whose register numbers are 0, for these operands.
    Result(MicroOp, Vec<Term>),
    /// A result about which nothing is known: that of the micro-op at this place of the body, or for greater numbers that of an inner
    /// loop.
    Unknown(usize),
    /// The number of iterations that the inner loop of the body executes in each iteration.
    Trips,
}

/// A value that an access loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The number of the access in [`Body::accesses`](crate::Body::accesses).
    pub access: usize,
    /// Whether it is the second value of a pair.
    pub is_second: bool,
    /// The number of bytes in memory: 1, 2, 4 or 8.
    pub size: u64,
    /// How it is extended: 0 with zeros, 1 with the sign to 32 bits and with zeros to 64, 2 with the sign to 64 bits.
    pub extend: u32,
}

impl Loaded {
    /// Returns the value of bytes in memory.
    #[must_use]
    pub const fn extended(&self, bytes: u64) -> u64 {
        let unused = 64 - 8 * self.size as u32;
        let signed = ((bytes << unused) as i64 >> unused) as u64;
        match self.extend {
            0 => bytes << unused >> unused,
            1 => signed & u32::MAX as u64,
            _ => signed,
        }
    }
}

/// The atoms of the terms of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Atoms {
    atoms: Vec<Atom>,
}

impl Atoms {
    /// Returns the atom with a number.
    #[must_use]
    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.0 as usize]
    }

    /// Returns the term that is an atom.
    pub fn term(&mut self, atom: Atom) -> Term {
        self.find(&atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            Term::atom(AtomId(self.atoms.len() as u32 - 1))
        })
    }

    /// Returns the term that is an atom, if the iteration has it.
    pub(crate) fn find(&self, atom: &Atom) -> Option<Term> {
        // Bodies are short, so there are few atoms.
        let place = self.atoms.iter().position(|known| known == atom)?;
        Some(Term::atom(AtomId(place as u32)))
    }

    /// Returns a register at the beginning of the iteration.
    pub fn entry(&mut self, register: u32) -> Term {
        self.term(Atom::Entry(register))
    }

    /// Returns the low word of a value, zero-extended.
    pub fn low(&mut self, value: &Term) -> Term {
        let value = self.modulo_word(value);
        if let Some(constant) = value.as_constant() {
            return Term::constant(constant & u64::from(u32::MAX));
        }
        if let ([(atom, 1)], 0) = (value.parts(), value.addend())
            && self.has_one_word(*atom)
        {
            return value;
        }
        self.term(Atom::Low(value))
    }

    /// Returns the low word of a value, sign-extended.
    pub fn signed(&mut self, value: &Term) -> Term {
        let value = self.modulo_word(value);
        match value.as_constant() {
            Some(constant) => Term::constant(i64::from(constant as i32) as u64),
            None => self.term(Atom::Signed(value)),
        }
    }

    /// Returns whether the high word of an atom is known to be zero.
    fn has_one_word(&self, atom: AtomId) -> bool {
        match self.atom(atom) {
            Atom::Low(_) => true,
            Atom::Loaded(loaded) => loaded.extend == 1 || (loaded.extend == 0 && loaded.size <= 4),
            // Extractions have no handler, and may have a high word.
            Atom::Result(op, _) => op.handler() != 0 && op.wide() == 0,
            _ => false,
        }
    }

    /// Returns a simple term that is the same modulo 2^32.
    fn modulo_word(&self, value: &Term) -> Term {
        let mut simple = Term::constant(value.addend());
        for (atom, factor) in value.parts() {
            // A word within a word: only its own sum matters.
            let inner = match self.atom(*atom) {
                Atom::Low(inner) | Atom::Signed(inner) => inner.clone(),
                _ => Term::atom(*atom),
            };
            simple = simple.plus(&inner.times(*factor));
        }
        simple.of_words()
    }

    /// Returns whether `test` holds for an atom of the term or for one within its atoms.
    pub fn any(&self, term: &Term, test: &mut dyn FnMut(&Atom) -> bool) -> bool {
        term.parts().iter().any(|(id, _)| {
            let atom = self.atom(*id);
            test(atom)
                || match atom {
                    Atom::Low(inner) | Atom::Signed(inner) => self.any(inner, test),
                    Atom::Result(_, operands) => operands.iter().any(|operand| self.any(operand, test)),
                    Atom::Select { flags, yes, no, .. } => {
                        let mut found = self.any(yes, test) || self.any(no, test);
                        flags.terms(&mut |term| found = found || self.any(term, test));
                        found
                    }
                    Atom::Entry(_) | Atom::Loaded(_) | Atom::Unknown(_) | Atom::Trips => false,
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_equal_if_their_values_are() {
        let mut atoms = Atoms::default();
        let [x, y] = [0, 1].map(|register| atoms.entry(register));
        let one = Term::constant(1);
        assert_eq!(x.plus(&y).minus(&y), x);
        assert_eq!(x.plus(&x), x.times(2));
        assert_eq!(x.times(1 << 63).times(2), Term::default(), "modulo 2^64");
        assert_eq!(x.minus(&x).as_constant(), Some(0));
        assert_eq!(x.complement().plus(&one).plus(&x).as_constant(), Some(0), "x + !x + 1");
        assert_ne!(x, y);
    }

    #[test]
    fn words_within_words_are_one_sum() {
        let mut atoms = Atoms::default();
        let x = atoms.entry(0);
        let one = Term::constant(1);
        let once = atoms.low(&x.plus(&one));
        let twice = atoms.low(&once.plus(&one));
        assert_eq!(twice, atoms.low(&x.plus(&Term::constant(2))));
        assert_eq!(atoms.low(&once), once, "the low word of a word");
        let wide = atoms.low(&x.plus(&Term::constant(1 << 32)));
        assert_eq!(wide, atoms.low(&x), "the high word does not matter");
        assert_eq!(atoms.low(&Term::constant(u64::MAX)), Term::constant(0xffff_ffff));
        assert_eq!(atoms.signed(&Term::constant(0xffff_ffff)), Term::constant(u64::MAX));
        assert_ne!(atoms.signed(&once), once);
    }
}
