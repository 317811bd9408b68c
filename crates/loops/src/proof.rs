//! The proof that iterations of a loop can be executed at once, or the reason why they cannot.

use alloc::boxed::Box;
use core::fmt;

use kvrm_arm64::micro_op::MicroOp;

use crate::body::Refusal;
use crate::motion::Loop;
use crate::nest::find_nest;
use crate::obstacle::Obstacle;
use crate::pass::Pass;

/// A loop whose iterations can be executed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// All iterations execute the same instructions, and none depends on memory that another one changes.
    Loop(Loop),
    /// A pass of a bubble sort.
    Pass(Box<Pass>),
}

/// The reason why iterations of a loop cannot be executed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// The loop is not understood.
    Refusal(Refusal),
    /// It is understood, but iterations depend on each other.
    Obstacle(Obstacle),
}

impl Proof {
    /// Finds out whether iterations of the loop whose branch back is at `end` can be executed at once. `fetch` returns the micro-op at
    /// an address.
    ///
    /// # Errors
    /// They cannot.
    pub fn find(end: u64, fetch: impl Fn(u64) -> Option<MicroOp>) -> Result<Self, Unproved> {
        let nest = || find_nest(end, None, &fetch);
        Self::of(Loop::find(end, &fetch), || Pass::find(end, None, &fetch), nest)
    }

    /// Like [`Self::find`], for iterations that begin at `entry`, which may be any instruction of the loop.
    ///
    /// # Errors
    /// They cannot.
    pub fn find_from(end: u64, entry: u64, fetch: impl Fn(u64) -> Option<MicroOp>) -> Result<Self, Unproved> {
        let pass = || Pass::find(end, Some(entry), &fetch);
        let nest = || find_nest(end, Some(entry), &fetch);
        Self::of(Loop::find_from(end, entry, &fetch), pass, nest)
    }

    fn of(
        found: Result<Loop, Refusal>,
        pass: impl FnOnce() -> Option<Pass>,
        nest: impl FnOnce() -> Result<Loop, Refusal>,
    ) -> Result<Self, Unproved> {
        let found = match found {
            Err(Refusal::InnerBranch(_)) => match pass() {
                Some(pass) => return Ok(Self::Pass(Box::new(pass))),
                None => nest(),
            },
            found => found,
        };
        let found = found.map_err(Unproved::Refusal)?;
        match found.obstacle() {
            None => Ok(Self::Loop(found)),
            Some(obstacle) => Err(Unproved::Obstacle(obstacle)),
        }
    }

    /// Returns the loop as if all iterations executed as many instructions as one may.
    #[must_use]
    pub const fn longest(&self) -> &Loop {
        match self {
            Self::Loop(found) => found,
            Self::Pass(pass) => pass.exchanging(),
        }
    }

    /// Returns the address of the first instruction.
    #[must_use]
    pub const fn head(&self) -> u64 {
        self.longest().body().head
    }

    /// Returns the largest number of instructions of an iteration, if its inner loop has one iteration.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.longest().body().ops.len() as u64
    }
}

impl Unproved {
    /// Returns a short name, the same for all loops.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refusal(of) => of.name(),
            Self::Obstacle(of) => of.name(),
        }
    }
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refusal(of) => of.fmt(f),
            Self::Obstacle(of) => of.fmt(f),
        }
    }
}
