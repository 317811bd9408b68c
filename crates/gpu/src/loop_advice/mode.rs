//! The modes of the acceleration of loops.

use std::fmt;

use kvrm_machine::Loops;

use super::advisor::NetworkAdvisor;
use crate::device::Device;
use crate::device::error::Error;

/// The acceleration of loops, by who proposes them to the checker. Results are the same in all modes.
///
/// ```
/// use kvrm_gpu::loop_advice::LoopMode;
/// use kvrm_machine::{Machine, Program};
///
/// // A countdown of x0: subs x0, x0, #1; b.ne to it; hlt #0
/// let program = Program::from_code(0x1000, &[0xd2a0_2000, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?; // from 2^24
/// for mode in [LoopMode::Off, LoopMode::Checker, LoopMode::Networks] {
///     let mut machine = Machine::builder(program.clone()).loops(mode.open(None)?).build()?;
///     assert_eq!(machine.run(u64::MAX)?.steps, 1 + (2 << 24), "{mode}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoopMode {
    /// No iterations are executed at once.
    #[default]
    Off,
    /// All candidates are proposed.
    Checker,
    /// Networks propose candidates.
    Networks,
    /// Networks with random weights propose candidates.
    Random {
        /// The seed of the weights.
        seed: u64,
    },
    /// The candidates that networks do not propose are proposed, with opinions that are wrong.
    Adversarial,
}

impl LoopMode {
    /// Returns the name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Checker => "checker",
            Self::Networks => "networks",
            Self::Random { .. } => "random",
            Self::Adversarial => "adversarial",
        }
    }

    /// Returns the acceleration of loops in this mode, with networks on `device`, or on the host without one.
    ///
    /// # Errors
    ///
    /// This build has no weights of the networks.
    pub fn open(self, device: Option<&Device>) -> Result<Option<Loops>, Error> {
        let advisor = match self {
            Self::Off => return Ok(None),
            Self::Checker => return Ok(Some(Loops::checker())),
            Self::Networks => NetworkAdvisor::builtin()?,
            Self::Random { seed } => NetworkAdvisor::random(seed)?,
            Self::Adversarial => NetworkAdvisor::builtin()?.adversarial(),
        };
        Ok(Some(self.advised_by(advisor, device)))
    }

    /// Returns the acceleration of the loops that an advisor proposes, with this mode in reports, and networks on `device`, or on the
    /// host without one.
    ///
    /// Lanes do not wait for advice, unless a network of the advisor learns: then it must not depend on chance of which loops it
    /// hears.
    #[must_use]
    pub fn advised_by(self, advisor: NetworkAdvisor, device: Option<&Device>) -> Loops {
        let advisor = match device {
            Some(device) => advisor.with_device(device),
            None => advisor,
        };
        if advisor.learns() {
            Loops::advised_at_once(self.name(), advisor)
        } else {
            Loops::advised(self.name(), advisor)
        }
    }
}

impl fmt::Display for LoopMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
