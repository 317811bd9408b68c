//! The neural networks of KVRM: their shapes, their weights, what they compute, and proofs that they are right.
//!
//! [`DispatchNetwork`] gives the kernel class of every word, [`DecoderNetwork`] its category, and
//! [`SmallDispatchNetwork`] the class as far as the top byte tells it. All are built from flat slices of weights.
//!
//! An [`Architecture`] says which tensors a network has and where they lie in its flat form. [`Weights`] are the
//! values of one network, checked against its architecture; [`Models`] holds one of each; a [`Manifest`] says where
//! the files of a folder come from.
//!
//! ```
//! use kvrm_models::{DispatchNetwork, Tuple};
//!
//! let untrained = DispatchNetwork::from_flat(&[0.0; DispatchNetwork::PARAMETERS])?;
//! assert_eq!(untrained.logits(Tuple::of(0xd503_201f)), [0.0; 7]);
//! # Ok::<(), kvrm_models::WeightsError>(())
//! ```

mod architecture;
mod builtin;
mod certificate;
mod decoder;
mod dispatch;
mod error;
pub mod files;
mod models;
mod small_dispatch;
mod tanh;
mod tensor;
mod tuple;
mod tuple_network;
mod weights;

pub use architecture::{Architecture, TensorSpec};
pub use certificate::{
    Certificate, Domain, Exactness, Failure, Sweep, certify_decoder, certify_dispatch, decoder_labels,
    dispatch_labels, sha256_of,
};
pub use decoder::{Category, DecoderNetwork};
pub use dispatch::{DispatchNetwork, layout as dispatch_layout};
pub use error::{Error, Problem, WeightsError};
pub use models::Models;
pub use small_dispatch::{Agreement, SmallDispatchNetwork};
pub use tanh::tanh;
pub use tensor::{Dtype, NamedTensor, TensorFile};
pub use tuple::{FEATURE_BITS, TUPLES, Tuple};
pub use tuple_network::{Folded, GRID, IntegerNetwork, TupleNetwork, argmax, floor_to_grid, margin};
pub use weights::manifest::{Entry, MANIFEST, Manifest};
pub use weights::metadata::Metadata;
pub use weights::{Weights, safetensors};
