//! How the iteration predictor learns: entries of loops whose number of iterations is proved, the loss and its gradient, and the
//! fine-tuning of a network while a program runs.

mod entry;
mod errors;
mod learner;
mod loss;
mod network;

pub use self::entry::Entry;
pub use self::errors::Errors;
pub use self::learner::IterationLearner;
pub use self::loss::{LOG10_SCALE, loss_gradient};
