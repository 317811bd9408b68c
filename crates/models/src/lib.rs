//! The neural networks of KVRM: their shapes, and files with their weights.
//!
//! An [`Architecture`] says which tensors a network has and where they lie in its flat form. [`Weights`] are the
//! values of one network, checked against its architecture; [`Models`] holds one of each; a [`Manifest`] says where
//! the files of a folder come from.

mod architecture;
mod error;
pub mod files;
mod models;
mod tensor;
mod weights;

pub use architecture::{Architecture, DECODER_BITS, DECODER_CATEGORIES, TensorSpec, decoder_tensors};
pub use error::Error;
pub use models::Models;
pub use tensor::{Dtype, NamedTensor, TensorFile};
pub use weights::manifest::{Entry, MANIFEST, Manifest, Problem};
pub use weights::metadata::Metadata;
pub use weights::{Weights, safetensors};
