//! Loops whose iterations can be executed at once.

use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_loops::{Loop, Obstacle, Pass, Refusal};

use super::claim::LoopClaim;
use super::commit::{execute, execute_pass};
use super::reason::Reason;
use crate::address_space::AddressSpace;

/// A loop for which it is proved how iterations are executed at once.
#[derive(Debug)]
pub(super) enum Proved {
    /// All iterations execute the same instructions, and none depends on memory that another one changes.
    Loop(Loop),
    /// A pass of a bubble sort.
    Pass(Box<Pass>),
}

impl Proved {
    /// Finds the loop whose branch back is at `end`. `fetch` returns the micro-op at an address.
    pub(super) fn find(end: u64, fetch: impl Fn(u64) -> Option<MicroOp>) -> Result<Self, Reason> {
        match Loop::find(end, &fetch) {
            Ok(found) => {
                found.obstacle().map_or(Ok(Self::Loop(found)), |obstacle| Err(Reason::Obstacle(obstacle)))
            }
            Err(refusal @ Refusal::InnerBranch(_)) => {
                Pass::find(end, &fetch).map(|pass| Self::Pass(Box::new(pass))).ok_or(Reason::Refusal(refusal))
            }
            Err(refusal) => Err(Reason::Refusal(refusal)),
        }
    }

    /// Returns the address of the first instruction.
    pub(super) const fn head(&self) -> u64 {
        match self {
            Self::Loop(found) => found.body().head,
            Self::Pass(pass) => pass.head(),
        }
    }

    /// Returns the largest number of steps of an iteration.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Loop(found) => found.body().ops.len() as u64,
            Self::Pass(pass) => pass.length(),
        }
    }

    /// Returns whether an iteration may store anything.
    pub(super) fn stores(&self) -> bool {
        match self {
            Self::Loop(found) => found.body().accesses.iter().any(|access| !access.stores.is_empty()),
            Self::Pass(_) => true,
        }
    }

    /// Returns whether a part of a claim is wrong.
    pub(super) fn contradicts(&self, claim: &LoopClaim) -> bool {
        let path = match self {
            Self::Loop(found) => found,
            // An iteration that exchanges does all that one without an exchange does.
            Self::Pass(pass) => pass.exchanging(),
        };
        claim.is_contradicted_by(path)
    }

    /// Executes at most `most` iterations, if the lane is at their beginning, and returns the number of steps. One more iteration is
    /// certain to follow.
    ///
    /// # Errors
    /// No iteration can be executed at once. The obstacle is there if the analysis knows it.
    pub(super) fn execute(
        &self,
        cpu: &mut Cpu,
        memory: &mut AddressSpace,
        most: u64,
    ) -> Result<u64, Option<Obstacle>> {
        let before = cpu.steps;
        match self {
            Self::Loop(found) => execute(found, cpu, memory, most)?,
            Self::Pass(pass) => execute_pass(pass, cpu, memory, most)?,
        };
        Ok(cpu.steps - before)
    }
}
