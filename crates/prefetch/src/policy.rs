//! The names of the policies, and the baselines behind them.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::access::{PageAccess, Trigger};
use crate::best_offset::BestOffset;
use crate::candidates::Candidates;
use crate::markov::Markov;
use crate::next_page::NextPage;
use crate::prefetcher::{NoPrefetcher, Prefetcher};
use crate::stride::Stride;

/// A policy of prefetching: a value of the option `--prefetch`.
///
/// ```
/// use kvrm_prefetch::Policy;
///
/// let policy: Policy = "best-offset".parse()?;
/// assert_eq!(policy, Policy::BestOffset);
/// assert!(policy.baseline().is_some());
/// assert!(Policy::Oracle.baseline().is_none(), "the network is the caller's");
/// # Ok::<(), kvrm_prefetch::UnknownPolicy>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// No page is prefetched.
    None,
    /// The pages that follow: [`NextPage`].
    Next,
    /// Strides by instruction: [`Stride`]. It is the default, because it gains most in `kvrm bench prefetch`.
    #[default]
    Stride,
    /// The offset that would have been in time: [`BestOffset`].
    BestOffset,
    /// The pages that came next before: [`Markov`].
    Markov,
    /// The memory oracle, a network. Its prefetcher is the caller's.
    Oracle,
}

impl Policy {
    /// All policies, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Next, Self::Stride, Self::BestOffset, Self::Markov, Self::Oracle];

    /// Returns the name of the policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Next => "next",
            Self::Stride => "stride",
            Self::BestOffset => "best-offset",
            Self::Markov => "markov",
            Self::Oracle => "oracle",
        }
    }

    /// Returns a prefetcher of the policy that has heard nothing; `None` for the oracle.
    #[must_use]
    pub fn baseline(self) -> Option<Baseline> {
        match self {
            Self::None => Some(Baseline::None(NoPrefetcher)),
            Self::Next => Some(Baseline::Next(NextPage)),
            Self::Stride => Some(Baseline::Stride(Stride::default())),
            Self::BestOffset => Some(Baseline::BestOffset(Box::default())),
            Self::Markov => Some(Baseline::Markov(Markov::default())),
            Self::Oracle => None,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no policy has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        let named = Self::ALL.into_iter().find(|policy| policy.name() == text);
        named.ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Policy::ALL.map(Policy::name).join(", ");
        write!(f, "unknown policy of prefetching `{}`; expected one of {names}", self.0)
    }
}

impl Error for UnknownPolicy {}

/// A classical prefetcher, of any policy but the oracle. A copy is independent of the original.
#[derive(Clone, Debug)]
pub enum Baseline {
    /// That of [`Policy::None`].
    None(NoPrefetcher),
    /// That of [`Policy::Next`].
    Next(NextPage),
    /// That of [`Policy::Stride`].
    Stride(Stride),
    /// That of [`Policy::BestOffset`].
    BestOffset(Box<BestOffset>),
    /// That of [`Policy::Markov`].
    Markov(Markov),
}

impl Prefetcher for Baseline {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        match self {
            Self::None(prefetcher) => prefetcher.observe(access, trigger, candidates),
            Self::Next(prefetcher) => prefetcher.observe(access, trigger, candidates),
            Self::Stride(prefetcher) => prefetcher.observe(access, trigger, candidates),
            Self::BestOffset(prefetcher) => prefetcher.observe(access, trigger, candidates),
            Self::Markov(prefetcher) => prefetcher.observe(access, trigger, candidates),
        }
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        match self {
            Self::None(prefetcher) => prefetcher.arrived(page, is_prefetched),
            Self::Next(prefetcher) => prefetcher.arrived(page, is_prefetched),
            Self::Stride(prefetcher) => prefetcher.arrived(page, is_prefetched),
            Self::BestOffset(prefetcher) => prefetcher.arrived(page, is_prefetched),
            Self::Markov(prefetcher) => prefetcher.arrived(page, is_prefetched),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::None(prefetcher) => prefetcher.bytes(),
            Self::Next(prefetcher) => prefetcher.bytes(),
            Self::Stride(prefetcher) => prefetcher.bytes(),
            Self::BestOffset(prefetcher) => prefetcher.bytes(),
            Self::Markov(prefetcher) => prefetcher.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for policy in Policy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy), "{policy}");
            assert_eq!(policy.baseline().is_none(), policy == Policy::Oracle, "{policy}");
        }
        let error = "Stride".parse::<Policy>().expect_err("names are in lower case");
        let expected = "unknown policy of prefetching `Stride`; \
                        expected one of none, next, stride, best-offset, markov, oracle";
        assert_eq!(error.to_string(), expected, "the message");
    }
}
