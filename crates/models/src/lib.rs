//! The neural networks of KVRM: their shapes, weights and forward passes, and proofs that they are right.
//!
//! [`DispatchNetwork`] names the class of a word, [`DecoderNetwork`] its category. [`SmallDispatchNetwork`] guesses the
//! class from the top byte alone.
//!
//! Three networks look at the body of a loop, and [`inputs`] has the encodings of what they see. [`LoopDetector`] proposes
//! the kind of the loop, its counter register and the number of iterations. [`PatternRecogniser`] compares the body with
//! known patterns, and [`IterationPredictor`] estimates the number of iterations from the recogniser's embedding. Their
//! answers are guesses: an engine proposes the loops to an exact checker.
//!
//! [`MemoryOracle`] predicts the next accesses to memory of a lane from a window of the last ones.
//!
//! These four networks need only [`exp`], [`log2`], [`tanh`], [`sigmoid`], [`erf`] and [`gelu`], which are basic arithmetic,
//! so that kernels compute the same up to rounding. Devices store weights in half precision: `rounded_to_half` of a network
//! is the network that a device evaluates.
//!
//! All networks are built from flat slices of weights.
//!
//! An [`Architecture`] lists the tensors of a network and their offsets in its flat form; its [`Cost`] follows from them.
//! [`Weights`] are the values of one network, checked against its architecture. [`Models`] holds the weights of at most one network per architecture.
//! A [`Manifest`] states the origin and the SHA-256 of each file in a folder of weights. [`certify_dispatch`] and
//! [`certify_decoder`] prove a network right on all words.
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
mod cost;
mod decoder;
mod dispatch;
mod elementary;
mod error;
pub mod files;
#[cfg(test)]
mod gradient_check;
mod half_precision;
pub mod inputs;
mod iteration_predictor;
mod layers;
mod loop_detector;
mod memory_oracle;
mod models;
mod pattern_recogniser;
mod small_dispatch;
mod tanh;
mod tensor;
mod tuple;
mod tuple_network;
mod untrained;
mod weights;

pub use architecture::{Architecture, TensorSpec};
pub use certificate::{
    Certificate, Domain, Exactness, Failure, Sweep, certify_decoder, certify_dispatch, decoder_labels,
    dispatch_labels, sha256_of,
};
pub use cost::{Cost, Tokens};
pub use decoder::{Category, DecoderNetwork};
pub use dispatch::{DispatchNetwork, layout as dispatch_layout};
pub use elementary::{erf, exp, gelu, log2, sigmoid};
pub use error::{Error, Problem, WeightsError};
pub use half_precision::{half_bits, rounded_to_half};
pub use iteration_predictor::{IterationPredictor, IterationTrace};
pub use loop_detector::{LoopDetector, LoopKind, LoopProposal};
pub use memory_oracle::{
    AccessPattern, AccessPrediction, MemoryOracle, OracleProgress, OracleTrace, OutputGradient,
};
pub use models::Models;
pub use pattern_recogniser::{LoopPattern, PatternMatch, PatternRecogniser};
pub use small_dispatch::{Agreement, SmallDispatchNetwork};
pub use tanh::tanh;
pub use tensor::{Dtype, NamedTensor, TensorFile};
pub use tuple::{FEATURE_BITS, TUPLES, Tuple};
pub use tuple_network::{Folded, GRID, IntegerNetwork, TupleNetwork, argmax, floor_to_grid, margin};
pub use untrained::untrained_weights;
pub use weights::manifest::{Entry, MANIFEST, Manifest};
pub use weights::metadata::Metadata;
pub use weights::{Weights, safetensors};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
