//! The claims of opinions about loops, which a proof may contradict.

use kvrm_arm64::micro_op::SP;
use kvrm_loops::{Loop, Motion};

/// A claim about a loop. `None` claims nothing. A proof decides whether the claim is right, and no execution depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopClaim {
    /// Whether it loads anything.
    pub loads: Option<bool>,
    /// Whether it stores anything.
    pub stores: Option<bool>,
    /// The register that counts its iterations.
    pub counter: Option<CounterClaim>,
}

/// A register that moves by the same number in all iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterClaim {
    /// The number of the register; 31 is the stack pointer.
    pub register: u32,
    /// Whether it goes up, if anything is claimed about that.
    pub rises: Option<bool>,
}

impl LoopClaim {
    /// The claim of nothing.
    pub const NONE: Self = Self { loads: None, stores: None, counter: None };

    /// Creates a claim about accesses to memory and the counter.
    #[must_use]
    pub const fn new(loads: Option<bool>, stores: Option<bool>, counter: Option<CounterClaim>) -> Self {
        Self { loads, stores, counter }
    }

    /// Returns whether a part of the claim is wrong.
    pub(super) fn is_contradicted_by(&self, found: &Loop) -> bool {
        let accesses = &found.body().accesses;
        let loads = accesses.iter().any(|access| access.stores.is_empty());
        let stores = accesses.iter().any(|access| !access.stores.is_empty());
        self.loads.is_some_and(|claimed| claimed != loads)
            || self.stores.is_some_and(|claimed| claimed != stores)
            || self.counter.is_some_and(|counter| counter.is_contradicted_by(found))
    }
}

impl CounterClaim {
    fn is_contradicted_by(self, found: &Loop) -> bool {
        let step = match found.motion(if self.register == 31 { SP } else { self.register }) {
            Motion::Wide(step) => step.as_constant().map(|step| step as i64),
            Motion::Narrow(step) => step.as_constant().map(|step| i64::from(step as i32)),
            _ => return true,
        };
        // The direction of a step that is a register is not known.
        self.rises.zip(step).is_some_and(|(rises, step)| rises != (step > 0))
    }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;
    use kvrm_arm64::lowering::lower;

    use super::*;

    #[test]
    fn each_part_may_be_wrong() {
        // strb w3, [x0], #1; subs x4, x4, #1; b.ne
        let words = [0x3800_1403, 0xf100_0484, 0x54ff_ffc1];
        let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
        let found = Loop::find(8, fetch).expect("the loop is simple");
        let counter = |register, rises| LoopClaim::new(None, None, Some(CounterClaim { register, rises }));
        let claims = [
            (LoopClaim::NONE, false),
            (LoopClaim::new(Some(false), Some(true), None), false),
            (LoopClaim::new(Some(true), None, None), true),
            (LoopClaim::new(None, Some(false), None), true),
            (counter(4, None), false),
            (counter(4, Some(false)), false),
            (counter(4, Some(true)), true),
            (counter(0, Some(true)), false),
            (counter(3, None), true),
            (counter(31, None), true),
        ];
        for (claim, expected) in claims {
            assert_eq!(claim.is_contradicted_by(&found), expected, "{claim:?}");
        }
    }
}
