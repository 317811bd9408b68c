//! Sets of lanes, for calls that act on several lanes at once.

use std::borrow::Cow;
use std::ops::{Range, RangeFull};

use crate::error::Error;

/// A set of lanes, for the methods of [`Machine`](crate::Machine) that act on several lanes at once.
///
/// | value | lanes |
/// | --- | --- |
/// | `3` | lane 3 |
/// | `..` | all lanes |
/// | `0..16` | lanes 0 to 15 |
/// | `&[5, 2]` | lanes 5 and 2, in this order |
/// | `LaneSet::mask(&flags)` | the lanes whose flag is `true` |
///
/// ```
/// use kvrm_machine::{LaneSet, Machine, Program, Register};
///
/// let program = Program::from_code(0x1000, &[0xd440_0000])?; // hlt #0
/// let mut machine = Machine::builder(program).lanes(4).build()?;
/// machine.set_registers(.., Register::X(0), &[7, 8, 9, 10])?;
/// machine.set_registers(&[3, 0], Register::X(0), &[1, 2])?;
/// machine.set_registers(LaneSet::mask(&[false, true, false, false]), Register::X(0), &[3])?;
/// assert_eq!(machine.registers(Register::X(0))?, [2, 3, 9, 1]);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaneSet<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    All,
    One(usize),
    Range(Range<usize>),
    List(&'a [usize]),
    Mask(&'a [bool]),
}

impl<'a> LaneSet<'a> {
    /// Returns the set of the lanes whose flag is `true`. There is a flag for each lane of the machine.
    #[must_use]
    pub const fn mask(flags: &'a [bool]) -> Self {
        Self(Kind::Mask(flags))
    }

    /// Returns the numbers of the lanes, in their order, for a machine with `lanes` lanes.
    pub(super) fn numbers(self, lanes: usize) -> Result<Cow<'a, [usize]>, Error> {
        let numbers: Cow<'a, [usize]> = match self.0 {
            Kind::All => (0..lanes).collect(),
            Kind::One(lane) => Cow::Owned(vec![lane]),
            // Do not collect a range that is much too long.
            Kind::Range(Range { start, end }) if start < end && end > lanes => {
                return Err(Error::NoSuchLane { lane: start.max(lanes), lanes });
            }
            Kind::Range(range) => range.collect(),
            Kind::List(list) => Cow::Borrowed(list),
            Kind::Mask(flags) if flags.len() == lanes => (0..lanes).filter(|lane| flags[*lane]).collect(),
            Kind::Mask(flags) => return Err(Error::Mask { flags: flags.len(), lanes }),
        };
        match numbers.iter().find(|lane| **lane >= lanes) {
            Some(&lane) => Err(Error::NoSuchLane { lane, lanes }),
            None => Ok(numbers),
        }
    }
}

impl From<RangeFull> for LaneSet<'_> {
    fn from(_: RangeFull) -> Self {
        Self(Kind::All)
    }
}

impl From<usize> for LaneSet<'_> {
    fn from(lane: usize) -> Self {
        Self(Kind::One(lane))
    }
}

impl From<Range<usize>> for LaneSet<'_> {
    fn from(lanes: Range<usize>) -> Self {
        Self(Kind::Range(lanes))
    }
}

impl<'a> From<&'a [usize]> for LaneSet<'a> {
    fn from(lanes: &'a [usize]) -> Self {
        Self(Kind::List(lanes))
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for LaneSet<'a> {
    fn from(lanes: &'a [usize; N]) -> Self {
        Self(Kind::List(lanes))
    }
}

impl<'a> From<&'a Vec<usize>> for LaneSet<'a> {
    fn from(lanes: &'a Vec<usize>) -> Self {
        Self(Kind::List(lanes))
    }
}
