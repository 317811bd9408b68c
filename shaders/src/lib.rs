//! The WGSL of KVRM as data, and the linker that puts modules together. Knows no GPU API.
//!
//! A module is a file below `wgsl/`; `arm64/flags.wgsl` is the module `arm64::flags`. Modules share one
//! namespace: the names they declare are unique. What a module takes from another it says at its top, one
//! import a line, in the syntax of WESL:
//!
//! ```wgsl
//! import package::arm64::flags::{AddResult, add_with_carry};
//! ```
//!
//! [`link`] makes of a module and all it imports one source that WGSL compilers take:
//!
//! ```
//! let linked = kvrm_shaders::link("arm64::flags", &[])?;
//! assert!(linked.source.contains("fn add_with_carry("), "the module itself");
//! assert!(linked.source.contains("fn truncate("), "and what it imports");
//! # Ok::<(), kvrm_shaders::LinkError>(())
//! ```

pub mod layout;

mod error;
mod link;
mod module;
mod modules;

pub use error::{LinkError, Place};
pub use link::{Linked, link, link_source};
pub use modules::{
    CHOICE, CHOICE_BY_DOMAIN, CHOICE_BY_STEP, CHOICE_BY_WORD, DISPATCH, DISPATCH_IN_SUBGROUPS, FRAMES,
    LINUX_CALLS, MODULES, SIMD_UNITS, SMALL_DISPATCH, SYNAPSES, Substitutions, WITHOUT,
};
