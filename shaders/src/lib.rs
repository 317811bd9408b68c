//! The WGSL modules of KVRM, embedded as text, and the linker that combines them. The crate uses no GPU API.
//!
//! A module is a file below `wgsl/`; `arm64/flags.wgsl` is the module `arm64::flags`. Modules share one
//! namespace: the names they declare are unique. A module lists the names that it uses of others at its top, in imports
//! with the syntax of WESL:
//!
//! ```wgsl
//! import package::arm64::bitmask::{BitMasks, decode_bit_masks};
//! ```
//!
//! A module can also declare a fragment: `fragment name {`, statements, and `}`. A module that imports the fragment
//! inserts its statements into a function with the line `insert name;`.
//!
//! [`link`] combines a module and everything it imports into one source that WGSL compilers accept:
//!
//! ```
//! let linked = kvrm_shaders::link("arm64::operand", &[])?;
//! assert!(linked.source.contains("fn shift_reg("), "the module itself");
//! assert!(linked.source.contains("fn truncate("), "and what it imports");
//! # Ok::<(), kvrm_shaders::LinkError>(())
//! ```

pub mod interface;
pub mod kernel;
pub mod layout;
pub mod variants;

mod error;
mod link;
mod loops;
mod module;
mod modules;

pub use error::{LinkError, Place};
pub use kernel::{Access, Workgroup};
pub use link::{Linked, link, link_modules, link_source, link_with};
pub use modules::MODULES;
pub use variants::{FAMILIES, Family, Substitution};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
