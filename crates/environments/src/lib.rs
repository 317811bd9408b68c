//! Environments for reinforcement learning: a program that takes steps for agents, in many lanes at once.
//!
//! Any program can be an environment. It describes itself in a block of memory, and yields when it waits for the host; the
//! header `guests/environments/environment.h` has what a program in C needs, and `docs/environments.md` explains it.
//!
//! ```
//! use kvrm_environments::Environments;
//! use kvrm_machine::{Machine, Program};
//!
//! # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/environments/bin/catch.elf");
//! let start = Machine::builder(Program::open(guest)?).arguments(|_| vec!["0".into()]).build()?;
//! let mut environments = Environments::builder(start).lanes(100).build()?;
//! environments.reset(..)?;
//! let batch = environments.step(&[1, 0].repeat(100))?; // all paddles move to the right
//! assert_eq!(batch.rewards, [0.0; 100]);
//! # Ok::<(), kvrm_environments::Error>(())
//! ```

mod batch;
mod builder;
pub mod doom;
mod environments;
mod error;
mod interface;
mod options;
mod variable;

pub use batch::Batch;
pub use builder::Builder;
pub use environments::Environments;
pub use error::Error;
pub use interface::{Component, Interface, YIELD};
pub use variable::{Variable, VariableType};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
