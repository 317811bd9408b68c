//! Runs ARM64 programs, one lane or many, with results that are exact.
//!
//! A *lane* is one guest machine. All lanes run the same program with different inputs; what they share costs
//! memory once.
//!
//! ```
//! use kvrm::{Machine, Program, Stream};
//!
//! # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
//! let program = Program::open(guest)?;
//! let mut machine = Machine::builder(program)
//!     .lanes(3)
//!     .arguments(|lane| vec![format!("{}", 1000 * (lane + 1))])
//!     .build()?;
//! let report = machine.run(u64::MAX)?;
//!
//! assert_eq!(report.stops["exit"], 3);
//! let line = String::from_utf8_lossy(machine.output(1, Stream::Output)?).into_owned();
//! assert!(line.starts_with("sieve size=2000 seed=1 primes=303"));
//! # Ok::<(), kvrm::Error>(())
//! ```
//!
//! # The model
//!
//! A [`Program`] says what is mapped before the first step. A [`Machine`] runs it on an [`Engine`]: the CPU
//! reference, which uses all cores and is what a machine has unless told otherwise, or a GPU, where one dispatch
//! runs all lanes. [`Engine::Auto`] takes a GPU if there is one. Whatever the engine, the results are the same.
//!
//! A run takes a *budget* of steps, a step being one retired instruction, and ends each lane in a [`Stop`]: the
//! guest's own exit, a fault with its address, an undefined word, the budget. What a guest does wrong is a stop;
//! an [`Error`] is a failure of the host, the device or their input.
//!
//! ```
//! # use kvrm::{Engine, Machine, Program};
//! # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
//! # let program = Program::open(guest)?;
//! let choice = Engine::Auto.choose();
//! if let Some(reason) = choice.reason {
//!     eprintln!("{reason}"); // such as "no GPU: llvmpipe is software; running on the CPU reference"
//! }
//! let mut machine = Machine::builder(program).lanes(100).engine(choice.engine).build()?;
//! # Ok::<(), kvrm::Error>(())
//! ```
//!
//! Memory is paged and copied when first written, so a lane costs what it writes. [`Machine::snapshot`] and
//! [`Machine::reset`] take lanes back at the same price, which is what fuzzing and search need.
//!
//! A transfer from a GPU takes about as long for one lane as for all, so it is best to read results with
//! [`Machine::results`], [`Machine::registers`] and [`Machine::read_all`], which fetch those of all lanes at once. Between runs
//! the host can also write ([`Machine::write`]), map and protect memory ([`Machine::map`], [`Machine::protect`]).
//!
//! # What chooses instructions
//!
//! The class of an instruction, by which its row in the instruction table is found, can be chosen by a neural network
//! on the GPU, in each step or once for each word of code: [`ClassSelection`] says which, and [`Report::decisions`] what it
//! decided. The row that is found is the check: results are the same whatever the network says.
//!
//! # What it does not do
//!
//! Guests are bare-metal programs that use Arm semihosting, or static programs for Linux ([`linux`]) with one process and
//! one thread. Time a guest sees is counted in steps unless it is to see the host's, so every run can be repeated.
//!
//! # Where to go next
//!
//! [`spiking`] runs spiking networks, which is another kind of program altogether.
//! [`arm64`] holds the instruction table, decoder, disassembler and assembler; [`gpu`] opens devices and says
//! what is wrong with those that cannot be used; [`models`] holds the networks that choose kernels, their weights
//! and the proofs that they are right; [`vectors`] reads and runs test vectors; the binary `kvrm` does
//! all this from the command line.

pub use kvrm_arm64 as arm64;
pub use kvrm_gpu as gpu;
pub use kvrm_gpu::{Choice, ClassSelection, Engine, GpuEngine, SelectionMode};
pub use kvrm_machine::*;
pub use kvrm_models as models;

/// The types of most programs: `use kvrm::prelude::*;`.
///
/// ```
/// use kvrm::prelude::*;
///
/// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
/// let mut machine = Machine::builder(program).lanes(8).engine(Engine::Auto).build()?;
/// machine.run(1000)?;
/// assert!(machine.results()?.all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })));
/// # Ok::<(), Error>(())
/// ```
pub mod prelude {
    pub use crate::{
        Engine, Error, Hooks, LaneResult, Machine, Permissions, Program, Register, Report, RunProgress, Stop,
        Stream,
    };
}

/// Spiking networks: the burst engine.
///
/// ```
/// use kvrm::spiking::{Builder, Connect, Feagi, Model, Parallel, Projection, Simulation};
///
/// let mut builder = Builder::new(1.0); // steps of 1 ms
/// let area = builder.population("area", 1000, &Model::Feagi(Feagi::default()))?;
/// builder.connect(area, area, &Projection::new(Connect::OutDegree(2), 1.0, 1))?;
/// let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
/// simulation.record(100_000);
/// simulation.inject(7, 1)?;
/// simulation.run(10)?;
/// assert_eq!(simulation.spikes()[0].neuron, 7);
/// # Ok::<(), kvrm::spiking::Error>(())
/// ```
///
/// All engines ([`Reference`], [`Parallel`], [`BurstExecutor`]) give the same state after the same steps, bit by bit.
/// [`Simulation::sample`] tells at which potential neurons fire. [`open`] takes networks from files of many kinds.
///
/// [`Simulation::sample`]: spiking::Simulation::sample
/// [`Reference`]: spiking::Reference
/// [`Parallel`]: spiking::Parallel
/// [`BurstExecutor`]: spiking::BurstExecutor
/// [`open`]: spiking::open
pub mod spiking {
    pub use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, CACHE_VARIABLE, Options, Speeds};
    pub use kvrm_spiking::*;
    pub use kvrm_spiking_formats::{NIR_DT, describe, import, open, write_firings, write_spikes};
}
