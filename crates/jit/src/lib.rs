//! Runs ARM64 programs as machine code of the host, bit for bit as the CPU reference does.
//!
//! The executor is that of the reference, with other runners: a lane interprets code that runs rarely, and translates
//! what it runs often, with Cranelift. All lanes of a machine share the translations. On hosts for which Cranelift has
//! no support, everything is interpreted.
//!
//! ```
//! use kvrm_jit::JitEngine;
//! use kvrm_machine::{Machine, Program};
//!
//! let program = Program::open("../../guests/bin/sha256.elf")?;
//! let mut machine = Machine::builder(program).lanes(4).engine(JitEngine::default()).build()?;
//! println!("{}", machine.run(u64::MAX)?);
//! # Ok::<(), kvrm_machine::Error>(())
//! ```

mod access;
mod compiler;
mod context;
mod elements;
mod emitter;
mod engine;
mod flags;
mod float;
mod frame;
mod function;
mod integer;
mod lane;
mod native;
mod queue;
mod region;
mod shared;
mod vector;

pub use engine::JitEngine;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
