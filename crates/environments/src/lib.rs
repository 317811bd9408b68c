//! Environments for reinforcement learning: a program that takes steps for agents, in many lanes at once.
//!
//! Any program can be an environment. It describes itself in a block of memory, and yields when it waits for the host; the
//! header `guests/environments/environment.h` has what a program in C needs, and `docs/environments.md` explains it.

mod batch;
mod builder;
pub mod doom;
mod environments;
mod error;
mod interface;
mod variable;

pub use batch::Batch;
pub use builder::Builder;
pub use environments::Environments;
pub use error::Error;
pub use interface::{Component, Interface, YIELD};
pub use variable::{Variable, VariableType};
