//! The layers of networks on a device, for batches of sequences: the words of bodies of loops, or the accesses of windows.
//! Each word or access is a token.
//!
//! All kernels work on one buffer of values, which an [`Arena`](arena::Arena) divides into matrices. A layer is a dispatch
//! with its places and shapes in a uniform buffer, so all layers of a kind share a pipeline.

pub(crate) mod arena;
pub(crate) mod batch;
pub(crate) mod kernels;
pub(crate) mod packing;
pub(crate) mod plan;
pub(crate) mod workspace;
