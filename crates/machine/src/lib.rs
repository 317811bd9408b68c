//! Programs, lanes, memory, services, and the CPU engine of KVRM.
//!
//! You probably want the facade crate `kvrm`, which re-exports this one. A [`Program`] is loaded from an ELF
//! file; a [`Machine`] runs it in one or many lanes on an [`Executor`]; a run ends in a [`Report`], and each
//! lane in a [`Stop`].

mod address_space;
pub mod elf;
mod error;
mod executor;
mod image;
pub mod linux;
mod machine;
mod page_map;
mod pick;
mod program;
mod reference;
mod report;
mod semihosting;
pub mod vectors;

pub use address_space::{AddressSpace, MemorySnapshot};
pub use error::Error;
pub use executor::{Executor, Factory, Kept, LaneAccess, Plan, Progress, Register, RunStats};
pub use image::{ADDRESS_BITS, Image, ImagePage, PAGE_BYTES, Region, pieces};
pub use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Stop};
pub use machine::{Builder, LaneSetup, Machine};
pub use page_map::{Mapping, PageMap};
#[doc(hidden)]
pub use pick::pick;
pub use program::{LinuxProgram, Permissions, Program, Segment, System, read};
pub use reference::{Reference, ReferenceEngine};
pub use report::{ClassDecisions, Decisions, Report};
pub use semihosting::{Layout, SEMIHOSTING, SHADER_NUMBERS, Stream};
