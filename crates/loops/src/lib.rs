//! Symbolic analysis of loops: what an iteration does, and how many iterations are certain to follow.
//!
//! The [`Body`] of a [`Loop`] is executed once with [`Term`]s in place of numbers. A [`Motion`] says how a register changes from one
//! iteration to the next. With the numbers in the registers, [`certain_iterations`] returns how many of the iterations that
//! follow cannot leave the loop, in exact modular arithmetic, and a [`Plan`] says what they do to registers and memory.
//!
//! ```
//! use kvrm_arm64::Features;
//! use kvrm_arm64::lowering::lower;
//! use kvrm_loops::{Loop, Motion, certain_iterations};
//!
//! let words = [0x9b00_7c21, 0xf100_0400, 0x54ff_ffc1]; // mul x1, x1, x0; subs x0, x0, #1; b.ne to the first
//! let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
//! let found = Loop::find(8, fetch).expect("the loop is simple");
//! assert!(matches!(found.motion(0), Motion::Wide(step) if step.as_constant() == Some(u64::MAX)));
//! assert_eq!(*found.motion(1), Motion::Other, "a product has no closed form");
//!
//! let mut registers = [0; 34];
//! registers[0] = 1_000_000;
//! assert_eq!(certain_iterations(&found, &registers), 999_999, "the last one leaves");
//! ```

#![no_std]

extern crate alloc;

mod atom;
mod block;
mod body;
mod byte_table;
mod distance;
mod execution;
mod flags;
mod memory;
mod motion;
mod nest;
mod obstacle;
mod pass;
mod plan;
mod proof;
mod reach;
mod registers;
mod result;
mod tape;
mod term;
mod trips;

pub use atom::{Atom, Atoms, Loaded};
pub use body::{Access, Body, Exit, INSTRUCTIONS_MAX, Refusal, branch_target};
pub use distance::Distance;
pub use flags::{Condition, Flags};
pub use memory::Memory;
pub use motion::{Fold, InnerLoop, Loop, Motion, Progression};
pub use obstacle::Obstacle;
pub use pass::{Count, Order, Pass, PassPlan, PassResult};
pub use plan::{Plan, Source, Stream};
pub use proof::{Proof, Unproved};
pub use registers::{micro_op_registers, registers, set_register};
pub use tape::{Operation, Slot, Tape};
pub use term::{AtomId, Term};
pub use trips::certain_iterations;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
