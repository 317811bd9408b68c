//! Runs many copies of an ARM64 program at once, on a GPU or on the CPU, with the same exact results on both.
//!
//! Each copy is a *lane*: one guest CPU with its own registers and memory. All lanes run the same program, and may have
//! different inputs. Memory that no lane has written exists only once.
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
//! # Programs, machines, engines
//!
//! A [`Program`] is the memory of a guest before its first step. A [`Machine`] runs it in any number of lanes on an
//! [`Engine`]. The default engine is the CPU reference, which uses all cores. [`Engine::Jit`] does, too, and
//! translates code that runs often, so it is several times faster. On a GPU, one dispatch runs all lanes.
//! [`Engine::Auto`] takes a GPU if there is one, else the JIT. [`Engine::Gpus`] takes all GPUs of the host, and each runs a
//! part of the lanes; [`GpusEngine`] selects some of them. All engines give the same results.
//!
//! ```
//! # use kvrm::{Engine, Machine, Program};
//! # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
//! # let program = Program::open(guest)?;
//! let choice = Engine::Auto.choose();
//! if let Some(reason) = choice.reason {
//!     eprintln!("{reason}"); // such as "no GPU: llvmpipe is software; running on the CPU"
//! }
//! let mut machine = Machine::builder(program).lanes(100).engine(choice.engine).build()?;
//! # Ok::<(), kvrm::Error>(())
//! ```
//!
//! # Runs and stops
//!
//! A step is one retired instruction. [`Machine::run`] takes a *budget*, the largest number of steps for each lane. It
//! runs every lane until it has a [`Stop`]: the exit of the guest, a fault with its address, an undefined word, or the
//! end of the budget. A mistake of the guest is always a stop. An [`Error`] is a failure of the host, of the device, or
//! of their input.
//!
//! # Memory and snapshots
//!
//! A page of memory is copied when a lane first writes it. So a lane needs memory only for its registers and for the
//! pages that it has written. [`Machine::snapshot`] saves the state of all lanes, and [`Machine::reset`] goes back to
//! it; both cost at most what was written. This makes fuzzing and search fast.
//!
//! # Many lanes from one start
//!
//! [`Machine::fork`] makes a machine whose lanes all begin where one lane has stopped, for instance at a breakpoint after
//! a program has loaded its data. They share the memory of this lane until they write it, so it is paid once. The start
//! may run on the CPU, and the lanes on a GPU: [`Fork::engine`].
//!
//! [`Machine::write_rows`] and [`Machine::set_registers`] give each lane its own input, in one call for all lanes. These
//! methods and [`Machine::resume`], [`Machine::reset`] and [`Machine::write`] take a [`LaneSet`]: a lane, a range, `..`
//! for all, a list or a mask. [`Program::symbol`] returns the address and the size of a variable.
//!
//! ```
//! use kvrm::{Engine, Fork, Hooks, Machine, Program, Stream};
//!
//! # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
//! let program = Program::open(guest)?;
//! let run = program.symbol("run").expect("the guest has this function").address;
//! let mut start = Machine::builder(program).hooks(Hooks::new().breakpoint(run)).build()?;
//! start.run(u64::MAX)?;
//!
//! let mut machine = start.fork_with(0, Fork::new(100).engine(Engine::Auto))?;
//! machine.resume(..)?;
//! let report = machine.run(u64::MAX)?;
//! assert_eq!(report.stops["exit"], 100);
//! assert_eq!(machine.output(0, Stream::Output)?, machine.output(99, Stream::Output)?);
//! # Ok::<(), kvrm::Error>(())
//! ```
//!
//! # Memory between runs
//!
//! Between runs the host can write memory ([`Machine::write`]) and map and protect pages ([`Machine::map`],
//! [`Machine::protect`]).
//!
//! # Reading results
//!
//! A transfer from a GPU takes about as long for one lane as for all. So read all lanes at once with
//! [`Machine::results`], [`Machine::registers`] and [`Machine::read_all`], not one lane after the other.
//!
//! # Class selection by a network
//!
//! To decode an instruction, its class is named first, by a table or by a neural network on the GPU. Then the
//! instruction is searched among the rows of this class; if it is not there, the class was wrong. So results are the
//! same whatever the network answers. [`ClassSelection`] sets when the network is asked, and [`Report::decisions`]
//! counts its answers.
//!
//! [`Networks`] has all networks together, also those that propose loops and prefetch pages: where each comes from, what it
//! costs, whether it is proved, and what it decided in a run.
//!
//! # Limits
//!
//! Guests are bare-metal programs that use Arm semihosting, or static programs for Linux ([`linux`]) with one process
//! and one thread. By default, the time that a guest sees is its number of steps, so every run can be repeated.
//!
//! # Compatibility
//!
//! The crates of KVRM follow [Cargo's rules](https://doc.rust-lang.org/cargo/reference/semver.html): what compiles with
//! 0.1.0 compiles with every 0.1.x.
//!
//! - Errors, stops, reports, statistics and enums of choices are `#[non_exhaustive]`, because they will grow. A `match`
//!   needs an arm `_`, and a pattern of a struct needs `..`.
//! - Options and parameters are structs with a `Default`. Write `Options { slice: Some(1), ..Options::default() }`:
//!   fields may be added.
//! - [`Report`], `spiking::Statistics`, `models::Certificate`, benchmark records and test vectors can be written and read
//!   with serde. Later versions may add fields, and read what earlier ones wrote.
//! - Not covered: the interface of engines ([`Executor`], [`Factory`], [`Plan`]), the crate `kvrm-shaders`, and items
//!   that the documentation does not show.
//!
//! # Other modules
//!
//! - [`environments`] steps programs for agents, in many lanes at once.
//! - [`spiking`] runs networks of spiking neurons.
//! - [`arm64`] has the instruction table, decoder, disassembler and assembler.
//! - [`gpu`] lists and opens GPUs, and says why one cannot be used.
//! - [`learn`] fine-tunes networks while a program runs.
//! - [`networks`] has what [`Networks`] says about each network.
//! - [`models`] has the networks that name classes, their weights, and the proofs that they are right.
//! - [`vectors`] reads and runs test vectors.
//!
//! The binary `kvrm` does all this from the command line.

pub mod networks;

pub use kvrm_arm64 as arm64;
pub use kvrm_environments as environments;
pub use kvrm_gpu as gpu;
pub use kvrm_gpu::loop_advice::{LoopMode, NetworkAdvisor};
pub use kvrm_gpu::{
    ClassSelection, Engine, EngineChoice, GpuEngine, GpuSelection, GpusEngine, HostFile, MemoryLimits,
    Prefetch, SelectionMode, Translation,
};
pub use kvrm_learn::{self as learn, Learning};
pub use kvrm_machine::*;
pub use kvrm_models as models;
pub use kvrm_prefetch as prefetch;
pub use kvrm_translate as translate;

pub use self::networks::Networks;

/// The types that most users of a machine need: `use kvrm::prelude::*;`.
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
        Engine, Error, Fork, Hooks, LaneResult, LaneSet, Machine, Permissions, Program, Register, Report,
        RunProgress, Stop, Stream,
    };
}

/// Spiking networks, and the burst engine that runs them.
///
/// The example builds a network of 1,000 neurons, runs it for ten steps, and reads the recorded spikes.
///
/// ```
/// use kvrm::spiking::{Builder, ConnectionRule, Feagi, Model, Parallel, Projection, Simulation};
///
/// let mut builder = Builder::new(1.0); // steps of 1 ms
/// let area = builder.population("area", 1000, &Model::Feagi(Feagi::default()))?;
/// builder.connect(area, area, &Projection::new(ConnectionRule::OutDegree(2), 1.0, 1))?;
/// let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
/// simulation.record(100_000);
/// simulation.inject(7, 1)?;
/// simulation.run(10)?;
/// assert_eq!(simulation.spikes()[0].neuron, 7);
/// # Ok::<(), kvrm::spiking::Error>(())
/// ```
///
/// All engines ([`Reference`] and [`Parallel`] on the CPU, [`BurstExecutor`] on a GPU) give the same state after the
/// same steps, bit by bit. [`BurstEngine`] chooses one of them, and says why. [`Simulation::sample`] returns the
/// potentials at which neurons fire. [`open`] reads a network from a file: a TOML description, an edge list, a NIR graph
/// or a saved network.
///
/// [`Simulation::sample`]: spiking::Simulation::sample
/// [`Reference`]: spiking::Reference
/// [`Parallel`]: spiking::Parallel
/// [`BurstExecutor`]: spiking::BurstExecutor
/// [`BurstEngine`]: spiking::BurstEngine
/// [`open`]: spiking::open
pub mod spiking {
    pub use kvrm_gpu::spiking::{
        BurstChoice, BurstEngine, BurstEngineError, BurstEngines, BurstExecutor, BurstKernels, BurstPlan,
        CACHE_VARIABLE, ChoiceReason, Kernel, KernelPlan, OpenBurstEngine, Options, Speeds, StepTimes,
        Unsuitable,
    };
    pub use kvrm_spiking::*;
    pub use kvrm_spiking_formats::{NIR_DT, describe, import, open, write_sampled_spikes, write_spikes};
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
