//! The neural networks of KVRM: what they are, what they compute, and proofs that they are right.
//!
//! [`DispatchNetwork`] gives the kernel class of every word, [`DecoderNetwork`] its category, and
//! [`SmallDispatchNetwork`] the class as far as the top byte tells it. All are built from flat slices of
//! weights, and the crate reads no files.
//!
//! ```
//! use kvrm_models::{DispatchNetwork, Tuple};
//!
//! let untrained = DispatchNetwork::from_flat(&[0.0; DispatchNetwork::PARAMETERS])?;
//! assert_eq!(untrained.logits(Tuple::of(0xd503_201f)), [0.0; 7]);
//! # Ok::<(), kvrm_models::WeightsError>(())
//! ```

mod certificate;
mod decoder;
mod dispatch;
mod error;
mod small_dispatch;
mod tanh;
mod tuple;
mod tuple_network;

pub use certificate::{
    Certificate, Domain, Exactness, Failure, Sweep, certify_decoder, certify_dispatch, sha256_of,
};
pub use decoder::{Category, DecoderNetwork};
pub use dispatch::{DispatchNetwork, layout as dispatch_layout};
pub use error::WeightsError;
pub use small_dispatch::{Agreement, SmallDispatchNetwork};
pub use tanh::tanh;
pub use tuple::{FEATURE_BITS, TUPLES, Tuple};
pub use tuple_network::{Folded, IntegerNetwork, TupleNetwork, argmax, floor_to_grid, margin};
