//! A64, the instruction set of 64-bit Arm: an instruction table, and tools derived from it.
//!
//! ```
//! use kvrm_arm64::{Op, decode, disassemble};
//!
//! let word = 0x8b02_0c20;
//! assert_eq!(decode(word), Some(Op::ADD_64_addsub_shift));
//! assert_eq!(disassemble(word, 0).to_string(), "add x0, x1, x2, lsl #3");
//! ```
//!
//! [`assemble`] is the inverse of [`disassemble`], for whole texts with labels; [`asm`] takes typed operands.
//!
//! The [instruction table](encoding::ENCODINGS) lists every supported encoding once. The decoder, the disassembler, the
//! assembler, and [`execute()`] are derived from it. [`semantics`] executes decoded words directly, in the terms of the
//! manual (Arm DDI 0487). It is the specification with which the engines of KVRM are compared.
//!
//! The crate has no memory and no programs. A caller implements [`Memory`]; `kvrm-machine` has an implementation. The
//! crate uses `alloc` but not `std`, and has no dependencies. With the feature `std`, it uses the host's square roots and
//! fused products, which is faster and gives the same results.

#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
mod isa;

mod alias;
pub mod asm;
mod class;
mod cpu;
mod decode;
mod disasm;
pub mod encoding;
mod execute;
mod features;
mod later_features;
pub mod lowering;
mod memory;
pub mod micro_op;
pub mod operand;
pub mod pattern;
mod processor;
pub mod semantics;
mod stop;
pub mod sysreg;
pub mod text;
pub mod vector_op;
pub mod view;
mod word;

pub use class::{CLASS_BITS, class_of};
pub use cpu::{Cpu, Monitor};
pub use decode::{decode, decode_for};
pub use disasm::{Disassembly, disassemble};
pub use encoding::{Class, Encoding, Op};
pub use execute::{execute, run, step};
pub use features::{Feature, Features};
pub use later_features::LaterFeature;
pub use memory::{Instruction, Memory};
pub use processor::Processor;
pub use stop::{Access, Fault, FaultKind, Stop};
pub use text::{ParseError, assemble};
pub use word::Word;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
