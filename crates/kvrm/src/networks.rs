//! All networks of KVRM together: where they come from, what they cost, whether they are proved, and what they decided.
//!
//! [`Networks`] holds them. This program asks the networks that come with KVRM, but for those in a file, and says what each of
//! them decided:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use kvrm::prefetch::Degree;
//! use kvrm::{GpuEngine, Machine, MemoryLimits, Networks, Program, SelectionMode};
//!
//! let mut networks = Networks::builtin()?;
//! networks.load_file(Path::new("mine.safetensors"))?;
//! let engine = GpuEngine::open(None)?
//!     .with_class_selection(networks.class_selection(SelectionMode::Network)?)
//!     .with_memory(MemoryLimits::new(1 << 30, 8 << 30))
//!     .with_prefetch(networks.prefetch(Degree::default())?);
//! let loops = networks.loops(Some(engine.device()))?;
//! let program = Program::open("guests/bin/sha256.elf")?;
//! let mut machine = Machine::builder(program).lanes(100_000).engine(engine).loops(loops).build()?;
//! let report = machine.run(u64::MAX)?;
//! for (network, decided) in networks.decisions(&report) {
//!     let decided = decided.map_or_else(|| "nothing that is counted".to_owned(), |it| it.to_string());
//!     println!("{} ({}): {decided}", network.architecture(), network.source());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decided;
mod engines;
mod loaded;
mod network;
mod proof;
mod source;

pub use self::decided::Decided;
pub use self::loaded::Networks;
pub use self::network::Network;
pub use self::proof::ProofState;
pub use self::source::Source;
