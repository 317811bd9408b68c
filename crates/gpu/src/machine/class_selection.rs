//! Class selection: how lanes find the class of an instruction, from a table or from a network.

mod network;

use std::fmt;
use std::sync::Arc;

use kvrm_models::{Architecture, Weights};

pub(crate) use network::{Network, loops_of};
pub use network::{Sharing, machine_logits};

use crate::device::error::Error;

/// The times at which a network is asked for the class of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectionMode {
    /// Never. A table decides.
    #[default]
    Table,
    /// For all 2^20 tuples when the machine is built. The lowering looks words up in the table of its answers.
    MemoDomain,
    /// Each time a word is lowered.
    MemoWord,
    /// In each step.
    Network,
    /// In each step, but a table decides. Wrong answers of the network are only counted.
    Hybrid,
}

impl SelectionMode {
    /// All modes.
    pub const ALL: [Self; 5] = [Self::Table, Self::MemoDomain, Self::MemoWord, Self::Network, Self::Hybrid];

    /// Returns the name of the mode on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::MemoDomain => "memo-domain",
            Self::MemoWord => "memo-word",
            Self::Network => "network",
            Self::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for SelectionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The method by which lanes find the class of an instruction.
///
/// Runs have the same results with every class selection. A class is taken only if the instruction has a row in it. If
/// it has none, the table decides, unless the selection [stops on a
/// misprediction](ClassSelection::stop_on_misprediction). The decisions of a network are counted in
/// [`Report::decisions`](kvrm_machine::Report::decisions).
///
/// ```no_run
/// use kvrm_gpu::{ClassSelection, GpuEngine, SelectionMode};
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpuEngine::open(None)?.with_class_selection(ClassSelection::new(SelectionMode::Network));
/// let mut machine = Machine::builder(Program::open("guests/bin/mix.elf")?).engine(engine).build()?;
/// let decisions = machine.run(u64::MAX)?.decisions.expect("there is a network");
/// assert_eq!(decisions.mispredicted(), 0);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClassSelection {
    mode: SelectionMode,
    /// The weights of the network. `None` stands for those of the dispatch network that comes with KVRM.
    weights: Option<Arc<Weights>>,
    stops_on_misprediction: bool,
}

impl ClassSelection {
    /// Class selection from the table.
    pub const TABLE: Self = Self { mode: SelectionMode::Table, weights: None, stops_on_misprediction: false };

    /// Creates a class selection from the dispatch network that comes with KVRM, which is right for each of the 2^32
    /// words.
    #[must_use]
    pub const fn new(mode: SelectionMode) -> Self {
        Self { mode, weights: None, stops_on_misprediction: false }
    }

    /// Creates a class selection from a network with any weights. Its wrong answers are counted.
    ///
    /// If sums of the network round, another device may add in another order and give some words another class.
    ///
    /// # Errors
    ///
    /// The weights are neither of a dispatch network nor of a small dispatch network.
    pub fn with_weights(mode: SelectionMode, weights: Weights) -> Result<Self, Error> {
        match weights.architecture() {
            Architecture::Dispatch | Architecture::SmallDispatch => {
                Ok(Self { mode, weights: Some(Arc::new(weights)), stops_on_misprediction: false })
            }
            other => Err(Error::NotADispatchNetwork { architecture: other.name() }),
        }
    }

    /// Makes lanes stop where the network chooses a class in which the instruction has no row, as at an undefined word,
    /// instead of going on with the row from the table. This has no effect in [`SelectionMode::Table`] and
    /// [`SelectionMode::Hybrid`], where the table decides.
    #[must_use]
    pub fn stop_on_misprediction(self) -> Self {
        Self { stops_on_misprediction: true, ..self }
    }

    /// Returns whether lanes stop where the network chooses a class in which the instruction has no row.
    #[must_use]
    pub const fn stops_on_misprediction(&self) -> bool {
        self.stops_on_misprediction && !matches!(self.mode, SelectionMode::Table | SelectionMode::Hybrid)
    }

    /// Returns when the network is asked.
    #[must_use]
    pub const fn mode(&self) -> SelectionMode {
        self.mode
    }
}
