//! Regions of hot code: micro-ops as a graph of blocks, and what translators of it need to know.
//!
//! ```
//! use kvrm_arm64::Features;
//! use kvrm_arm64::lowering::lower;
//! use kvrm_translate::{Checks, Limits, Liveness, Region};
//!
//! // A loop that adds x0, x0 - 1, ... to x1, and the instruction behind it.
//! let words = [0x8b00_0021, 0xf100_0400, 0x54ff_ffc1, 0xd503_201f]; // add, subs, b.ne, nop
//! let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
//! let region = Region::find(&[0], &Limits { instructions: 100, pages: 1, distance: 8 }, fetch);
//!
//! let checks = Checks::of(&region);
//! assert_eq!(checks.steps, [Some(4), None], "a turn of the loop, and the instruction behind it");
//! let liveness = Liveness::of(&region, &checks, |_| false);
//! assert_eq!(liveness.before[0].registers.iter().collect::<Vec<u32>>(), [0, 1]);
//! assert_eq!(liveness.after[0][1].flags, 4, "b.ne reads Z");
//! ```
//!
//! A [`Region`] is the unit of translation. [`Checks`] say where translated code compares its budget. [`Liveness`] says
//! which registers it loads and stores, and which flags it computes. Nothing in these depends on what the code is
//! translated to. [`Structure`] arranges blocks for languages without jumps, and [`to_wgsl`] translates to one of them.

mod block;
mod checks;
mod code;
mod discovery;
mod effects;
mod liveness;
mod order;
mod region;
mod registers;
mod samples;
mod structure;
mod vector;
mod wgsl;

pub use block::{Block, Edge, End, Limits};
pub use checks::Checks;
pub use code::Code;
pub use effects::{Effects, Flow, NZCV, condition_flags, handler};
pub use liveness::{Live, Liveness};
pub use region::Region;
pub use registers::{FLOAT_CONTROL, Registers, VECTORS};
pub use samples::Samples;
pub use structure::{Item, Structure};
#[doc(hidden)]
pub use wgsl::IMPORTS;
pub use wgsl::{Entry, PlacedOp, Translation, is_costly, is_translatable, to_wgsl};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
