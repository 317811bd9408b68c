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
//! A [`Program`] says what is mapped before the first step. A [`Machine`] runs it on an [`Executor`], which an
//! engine makes; today that is the [`ReferenceEngine`], which uses all cores. A run takes a *budget* of steps, a step being one retired
//! instruction, and ends each lane in a [`Stop`]: the guest's own exit, a fault with its address, an undefined
//! word, the budget. What a guest does wrong is a stop; an [`Error`] is a failure of the host or its input.
//!
//! Memory is paged and copied when first written, so a lane costs what it writes. [`Machine::snapshot`] and
//! [`Machine::reset`] take lanes back at the same price, which is what fuzzing and search need.
//!
//! # What it does not do
//!
//! There is no floating point, SIMD or operating system yet: guests are bare-metal programs that use Arm
//! semihosting. Time a guest sees is counted in steps, so every run can be repeated.
//!
//! # Where to go next
//!
//! [`arm64`] holds the instruction table, decoder, disassembler and assembler; [`vectors`] reads and runs test
//! vectors; the binary `kvrm` does all this from the command line.

pub use kvrm_arm64 as arm64;
pub use kvrm_machine::*;
