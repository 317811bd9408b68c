//! Files of networks and states in the safetensors format. `docs/spiking.md` describes the tensors.

mod container;
mod error;
mod network;
mod state;

pub use error::FileError;

#[cfg(test)]
mod tests;
