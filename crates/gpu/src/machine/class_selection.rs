//! How the class of an instruction is chosen, by which the rows for it are found: by a table or by a network.

mod network;

use std::fmt;
use std::sync::Arc;

use kvrm_models::{Architecture, Weights};

pub(crate) use network::{Network, loops_of};
pub use network::{Sharing, machine_logits};

use crate::device::error::Error;

/// When a network is asked for the class of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectionMode {
    /// Never: a table decides.
    #[default]
    Table,
    /// For all 2^20 tuples when the machine is built. Words are looked up in the table of its answers when they are
    /// lowered.
    MemoDomain,
    /// Each time a word is lowered.
    MemoWord,
    /// For each step.
    Network,
    /// For each step, too, but a table decides, and the network is only compared with it.
    Hybrid,
}

impl SelectionMode {
    /// All modes.
    pub const ALL: [Self; 5] = [Self::Table, Self::MemoDomain, Self::MemoWord, Self::Network, Self::Hybrid];

    /// Its name on the command line and in reports.
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

/// How the class of an instruction is chosen.
///
/// Whatever it is, runs are the same: a class is only taken if the instruction has a row in it. Where it has none,
/// the table decides, unless [`ClassSelection::stopping`] says otherwise. What a network decided is in
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
    /// Those that come with KVRM unless said.
    weights: Option<Arc<Weights>>,
    stops: bool,
}

impl ClassSelection {
    /// By the table.
    pub const TABLE: Self = Self { mode: SelectionMode::Table, weights: None, stops: false };

    /// By the dispatch network that comes with KVRM, which is right for each of the 2^32 words.
    #[must_use]
    pub const fn new(mode: SelectionMode) -> Self {
        Self { mode, weights: None, stops: false }
    }

    /// By a network with these weights. They may be any: what they get wrong is counted.
    ///
    /// If sums of theirs round, another device may add up otherwise and give some words another class.
    ///
    /// # Errors
    ///
    /// They are neither of the dispatch network nor of the small one.
    pub fn with_weights(mode: SelectionMode, weights: Weights) -> Result<Self, Error> {
        match weights.architecture() {
            Architecture::Dispatch | Architecture::SmallDispatch => {
                Ok(Self { mode, weights: Some(Arc::new(weights)), stops: false })
            }
            other => Err(Error::NoDispatchNetwork { architecture: other.name() }),
        }
    }

    /// A lane stops where the network chooses a class in which the instruction has no row, as at an undefined word,
    /// instead of going on with the row that the table finds. In [`SelectionMode::Hybrid`] the table decides all the same.
    #[must_use]
    pub fn stopping(self) -> Self {
        Self { stops: true, ..self }
    }

    /// Whether a lane stops where the network is wrong.
    #[must_use]
    pub const fn is_stopping(&self) -> bool {
        self.stops && !matches!(self.mode, SelectionMode::Table | SelectionMode::Hybrid)
    }

    /// When the network is asked.
    #[must_use]
    pub const fn mode(&self) -> SelectionMode {
        self.mode
    }
}
