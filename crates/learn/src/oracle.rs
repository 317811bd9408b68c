//! How the memory oracle learns: samples with labels, the loss and its gradient, and the fine-tuning of a network while a program
//! runs.

mod accuracy;
mod learner;
mod loss;
mod network;
mod pattern;
mod sample;
mod sequences;
mod window;

pub use self::accuracy::Accuracy;
pub use self::learner::OracleLearner;
pub use self::loss::{CONFIDENCE_WEIGHT, DELTA_SCALE, DELTA_WEIGHT, loss_gradient};
pub use self::pattern::pattern_at;
pub use self::sample::{Label, SAMPLE_ACCESSES, Sample};
pub use self::sequences::{Sequences, inputs, sequences};
pub use self::window::{DELTAS, HORIZON, WINDOW_ACCESSES, Window, are_used};
