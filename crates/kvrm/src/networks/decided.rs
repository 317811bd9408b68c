//! The answers of networks in a run, and what became of them.

use std::fmt;

use kvrm_gpu::loop_advice::LoopMode;
use kvrm_machine::{Decisions, FrameMoves, LoopReport, Report};
use kvrm_models::Architecture;

use super::loaded::Networks;
use super::network::Network;

/// The answers of a network in a run, and what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decided {
    /// Classes of instructions, since the last report.
    Classes {
        /// The number of times that the network was asked.
        asked: u64,
        /// The number of times that it named a wrong class.
        mispredicted: u64,
        /// The number of times that the table decided instead.
        fell_back: u64,
    },
    /// Loops, since the machine was built. Loop detector and pattern recogniser decide together, so these are the numbers of
    /// both.
    Loops {
        /// The number of bodies about which they were asked, or which were too long for them.
        advised: u64,
        /// The number of loops that they proposed to the checker.
        proposed: u64,
        /// The number of proposals that the checker proved.
        proved: u64,
        /// The number of proofs that contradict an opinion.
        disagreed: u64,
    },
    /// Pages that come back from the host, since the last report.
    Pages {
        /// The number of windows of accesses about which the memory oracle was asked.
        asked: u64,
        /// The number of frames that came because it named their pages.
        prefetched: u64,
        /// The number of these frames that a lane used before they left again.
        used: u64,
    },
}

impl Networks {
    /// Returns each loaded network with its decisions in a run, which are `None` if it was not asked, or if they are not
    /// counted.
    ///
    /// The engine of the run has to be made from this value. A report names the weights of the network that selects classes,
    /// so decisions of other weights are never taken for those of this value. It does not name the weights of the others. The
    /// questions to the decoder, which no engine asks, and to the iteration predictor are not counted.
    ///
    /// ```
    /// use kvrm::models::Architecture;
    /// use kvrm::networks::Decided;
    /// use kvrm::{Loops, Machine, Networks, Program};
    ///
    /// let networks = Networks::builtin()?;
    /// // A countdown of x0: subs x0, x0, #1; b.ne to it; hlt #0
    /// let program = Program::from_code(0x1000, &[0xd2c0_0200, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?; // from 2^36
    /// let loops = Loops::advised_at_once("networks", networks.advisor()?);
    /// let report = Machine::builder(program).loops(loops).build()?.run(u64::MAX)?;
    /// for (network, decided) in networks.decisions(&report) {
    ///     match (network.architecture(), decided) {
    ///         (Architecture::LoopDetector, Some(Decided::Loops { proposed, proved, .. })) => {
    ///             assert_eq!((proposed, proved), (1, 1));
    ///         }
    ///         (architecture, decided) => {
    ///             assert_eq!(decided.is_some(), architecture == Architecture::PatternRecogniser, "{architecture}");
    ///         }
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decisions<'a>(
        &'a self,
        report: &'a Report,
    ) -> impl Iterator<Item = (Network<'a>, Option<Decided>)> {
        self.iter().map(|network| (network, decided(network, report)))
    }
}

/// Returns the decisions of a network in a run.
fn decided(network: Network<'_>, report: &Report) -> Option<Decided> {
    match network.architecture() {
        Architecture::Dispatch | Architecture::SmallDispatch => classes(network, report.decisions.as_ref()?),
        Architecture::LoopDetector | Architecture::PatternRecogniser => loops(report.loops.as_ref()?),
        Architecture::MemoryOracle => pages(report.frame_moves.as_ref()?),
        _ => None,
    }
}

/// Returns the decisions about classes, if they are those of this network.
fn classes(network: Network<'_>, decisions: &Decisions) -> Option<Decided> {
    // The name of the architecture, and the beginning of the SHA-256.
    let (name, digest) = decisions.network.split_once(' ')?;
    if name != network.architecture().name() || digest.is_empty() || !network.sha256().starts_with(digest) {
        return None;
    }
    Some(Decided::Classes {
        asked: decisions.asked(),
        mispredicted: decisions.mispredicted(),
        fell_back: decisions.fell_back(),
    })
}

/// Returns the decisions about loops, if networks with the weights of a user or of KVRM propose them.
fn loops(report: &LoopReport) -> Option<Decided> {
    let LoopReport { advised, proposed, proved, disagreed, .. } = *report;
    (report.mode == LoopMode::Networks.name()).then_some(Decided::Loops {
        advised,
        proposed,
        proved,
        disagreed,
    })
}

/// Returns the decisions about pages, if a memory oracle was asked.
const fn pages(moves: &FrameMoves) -> Option<Decided> {
    let FrameMoves { asked, prefetched, used, .. } = *moves;
    if asked == 0 {
        return None;
    }
    Some(Decided::Pages { asked, prefetched, used })
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classes { asked, mispredicted, fell_back } => {
                write!(f, "{asked} classes named, {mispredicted} wrong, {fell_back} replaced by the table")
            }
            Self::Loops { advised, proposed, proved, disagreed } => {
                write!(f, "{advised} bodies seen, {proposed} loops proposed, {proved} proved")?;
                write!(f, ", {disagreed} of them with another opinion")
            }
            Self::Pages { asked, prefetched, used } => {
                write!(f, "{asked} windows seen, {prefetched} pages prefetched, {used} of them used")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Class;
    use kvrm_machine::{ClassDecisions, Machine, Program};
    use kvrm_models::Weights;

    use super::*;

    /// The report of a program that ends at once.
    fn report() -> Report {
        let program = Program::from_code(0x1000, &[0xd440_0000]).expect("a word of code"); // hlt #0
        let mut machine = Machine::builder(program).build().expect("the reference needs no device");
        machine.run(1).expect("it ends")
    }

    /// Returns the decisions of a network of an architecture in a run.
    fn of(networks: &Networks, architecture: Architecture, report: &Report) -> Option<Decided> {
        let mut all = networks.decisions(report);
        all.find(|(network, _)| network.architecture() == architecture).and_then(|(_, decided)| decided)
    }

    #[test]
    fn decisions_of_other_weights_are_not_those_of_this_network() {
        let mut networks = Networks::builtin().expect("all weights are valid");
        let sha256 = networks.get(Architecture::Dispatch).expect("it is built in").sha256().to_owned();
        let of_network = |network: String| {
            let classes = vec![
                ClassDecisions::new(Class::Branch, 10, 3, 2),
                ClassDecisions::new(Class::Logical, 5, 0, 0),
            ];
            let mut run = report();
            run.decisions = Some(Decisions::new("network", network, 100, 99, classes));
            run
        };
        let run = of_network(format!("dispatch {}", &sha256[..12]));
        let expected = Decided::Classes { asked: 15, mispredicted: 3, fell_back: 2 };
        assert_eq!(of(&networks, Architecture::Dispatch, &run), Some(expected), "of all classes");
        assert_eq!(of(&networks, Architecture::SmallDispatch, &run), None, "it was not asked");
        for other in [format!("small-dispatch {}", &sha256[..12]), "dispatch ffff".into(), "dispatch ".into()]
        {
            assert_eq!(of(&networks, Architecture::Dispatch, &of_network(other.clone())), None, "{other}");
        }
        let zeros = vec![0.0; Architecture::Dispatch.parameters()];
        networks.insert(Weights::from_flat(Architecture::Dispatch, zeros).expect("the number is right"));
        assert_eq!(of(&networks, Architecture::Dispatch, &run), None, "the weights are others now");
    }

    #[test]
    fn loops_and_pages_count_only_if_networks_decided() {
        let networks = Networks::builtin().expect("all weights are valid");
        let mut run = report();
        assert!(networks.decisions(&run).all(|(_, decided)| decided.is_none()), "no network was asked");

        let mut loops = LoopReport::default();
        (loops.advised, loops.proposed, loops.proved, loops.disagreed) = (9, 7, 5, 1);
        for (mode, is_theirs) in [("networks", true), ("checker", false), ("random", false)] {
            loops.mode = mode.into();
            run.loops = Some(loops.clone());
            let expected = Decided::Loops { advised: 9, proposed: 7, proved: 5, disagreed: 1 };
            for architecture in [Architecture::LoopDetector, Architecture::PatternRecogniser] {
                let found = of(&networks, architecture, &run);
                assert_eq!(found, is_theirs.then_some(expected), "{architecture} in mode {mode}");
            }
            assert_eq!(of(&networks, Architecture::IterationPredictor, &run), None, "nobody counts");
        }

        let mut moves = FrameMoves::new(30, 20, 10);
        (moves.prefetched, moves.used, moves.heard) = (8, 6, 12);
        run.frame_moves = Some(moves);
        assert_eq!(of(&networks, Architecture::MemoryOracle, &run), None, "another prefetcher");
        moves.asked = 14;
        run.frame_moves = Some(moves);
        let expected = Decided::Pages { asked: 14, prefetched: 8, used: 6 };
        assert_eq!(of(&networks, Architecture::MemoryOracle, &run), Some(expected), "the oracle");
    }
}
