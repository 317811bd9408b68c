//! Variables of a program that the host reads after each step.

use kvrm_machine::Program;

use crate::error::Error;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// A signed integer of 8 bits.
    I8,
    /// A signed integer of 16 bits.
    I16,
    /// A signed integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
}

impl VariableType {
    const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::I64 => 8,
        }
    }

    const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Returns the value of little-endian bytes.
    fn value(self, bytes: &[u8]) -> i64 {
        let unsigned = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let unused = 64 - 8 * bytes.len() as u32;
        let shifted = unsigned << unused;
        if self.is_signed() { shifted.cast_signed() >> unused } else { (shifted >> unused).cast_signed() }
    }
}

/// A variable of a program, in the memory of each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    place: Place,
    kind: VariableType,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Symbol(String),
    Address(u64),
}

impl Variable {
    /// The variable with this name in the program's symbol table.
    #[must_use]
    pub fn named(name: impl Into<String>, kind: VariableType) -> Self {
        Self { place: Place::Symbol(name.into()), kind }
    }

    /// The variable at this address.
    #[must_use]
    pub const fn at(address: u64, kind: VariableType) -> Self {
        Self { place: Place::Address(address), kind }
    }

    fn address(&self, program: &Program) -> Result<u64, Error> {
        let name = match &self.place {
            Place::Symbol(name) => name,
            Place::Address(address) => return Ok(*address),
        };
        let bytes = self.kind.bytes() as u64;
        let fail = |reason| Err(Error::NoVariable { name: name.clone(), bytes, reason });
        match program.symbol(name) {
            Some(symbol) if symbol.bytes >= bytes => Ok(symbol.address),
            Some(symbol) => fail(format!("it has {} bytes", symbol.bytes)),
            None => fail("the program has no such symbol".into()),
        }
    }
}

/// Gaps of at most so many bytes between variables are read with them.
const GAP_MAX: u64 = 256;

/// The ranges of memory that have the variables, and where each of them is.
#[derive(Debug)]
pub(crate) struct Places {
    /// The address and the bytes of each range.
    pub(crate) ranges: Vec<(u64, usize)>,
    /// The range of each variable, the offset in it, and the type.
    variables: Vec<(usize, usize, VariableType)>,
}

impl Places {
    pub(crate) fn new(variables: &[Variable], program: &Program) -> Result<Self, Error> {
        let addresses: Vec<u64> =
            variables.iter().map(|variable| variable.address(program)).collect::<Result<_, _>>()?;
        let mut order: Vec<usize> = (0..variables.len()).collect();
        order.sort_by_key(|index| addresses[*index]);
        let variables_at = vec![(0, 0, VariableType::I8); variables.len()];
        let mut places = Self { ranges: Vec::new(), variables: variables_at };
        for index in order {
            let (address, kind) = (addresses[index], variables[index].kind);
            match places.ranges.last_mut() {
                Some((start, bytes)) if address <= *start + *bytes as u64 + GAP_MAX => {
                    *bytes = (*bytes).max((address - *start) as usize + kind.bytes());
                }
                _ => places.ranges.push((address, kind.bytes())),
            }
            let range = places.ranges.len() - 1;
            places.variables[index] = (range, (address - places.ranges[range].0) as usize, kind);
        }
        Ok(places)
    }

    /// Returns the values of a lane from the bytes of the ranges.
    pub(crate) fn values<'a>(&'a self, ranges: &'a [&'a [u8]]) -> impl Iterator<Item = i64> + 'a {
        let value = |&(range, offset, kind): &(usize, usize, VariableType)| {
            kind.value(&ranges[range][offset..offset + kind.bytes()])
        };
        self.variables.iter().map(value)
    }
}
