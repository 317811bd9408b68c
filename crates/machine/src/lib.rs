//! Programs, lanes, memory, services, and the CPU engine of KVRM.
//!
//! Most users want the facade crate `kvrm`, which re-exports this one. A [`Program`] is loaded from an ELF file. A
//! [`Machine`] runs it in one or many lanes. A run returns a [`Report`], and each lane ends in a [`Stop`]. Engines
//! implement [`Executor`].
//!
//! ```
//! use kvrm_machine::{Machine, Program};
//!
//! let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
//! let mut machine = Machine::builder(program).lanes(2).build()?;
//! let report = machine.run(100)?;
//! assert_eq!((report.steps, report.stops["halt"]), (2, 2));
//! assert_eq!(machine.cpu(1)?.x(0), 1);
//! # Ok::<(), kvrm_machine::Error>(())
//! ```

mod address_space;
mod arm64_forms;
mod audit;
mod call_table;
mod console;
mod copied_pages;
mod data_access;
pub mod elf;
mod error;
mod executor;
mod frame_moves;
mod hooks;
mod hot_code;
mod image;
mod interned;
mod lane_memory;
mod layout;
pub mod linux;
mod loops;
mod machine;
mod page_map;
mod pages;
mod permissions;
mod pick;
mod picture;
mod program;
mod reference;
mod register;
mod report;
mod runner;
mod segment;
mod semihosting;
mod shared;
mod split;
mod system;
mod translation;
pub mod vectors;

pub use address_space::{AddressSpace, MemorySnapshot};
pub use audit::{Damage, Violation};
pub use call_table::{
    Answer, CallTable, PIPE_ADDRESS, PIPE_BYTES, PIPE_CALL_BYTES, PIPE_HANDLES, PIPE_WINDOWS, PipeWindow,
    ProcessState,
};
pub use console::Stream;
pub use data_access::DataAccess;
pub use error::{Error, MapFailure};
#[doc(hidden)]
pub use executor::compute_views;
pub use executor::{Executor, Factory, LaneAccess, LaneStart, Plan, Progress, RunStats};
pub use frame_moves::FrameMoves;
pub use hooks::{HookKind, Hooks};
pub use hot_code::{TranslationReport, TranslationTrial};
pub use image::{CodePage, Image};
pub use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Stop};
pub use lane_memory::{Contents, LaneMemory};
pub use layout::Layout;
pub use loops::{
    CounterClaim, HotLoop, LoopAdvice, LoopAdvisor, LoopCandidate, LoopClaim, LoopEntry, LoopHandle,
    LoopListener, LoopOpinion, LoopReport, LoopRunner, Loops,
};
pub use machine::{Builder, Fork, LaneResult, LaneSet, LaneSetup, Machine, Results, RunProgress};
pub use page_map::{ImagePage, Mapping, PageMap, Region, SavedMappings};
pub use pages::{ADDRESS_BITS, PAGE_BYTES, pieces};
pub use permissions::Permissions;
#[doc(hidden)]
pub use pick::{for_each_picked, pick};
pub use picture::{Picture, PictureFormat, View, ViewFormat};
pub use program::{Program, ProgramBuilder, read};
pub use reference::{Reference, ReferenceEngine};
pub use register::Register;
pub use report::{ClassDecisions, Decisions, Report};
pub use runner::{Interpreter, Runner};
pub use segment::Segment;
pub use semihosting::{SEMIHOSTING, SHADER_NUMBERS};
pub use split::SplitEngine;
#[doc(hidden)]
pub use split::device_names;
pub use system::{LinuxProgram, System};
pub use translation::{CodeVersion, TlbLayout};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
