//! The data from which the networks that look at loops learn: logs of real programs, labels from the exact checker,
//! splits, synthetic loops, and the simple methods with which the networks are compared.

mod baseline;
mod estimate;
mod evaluate;
mod label;
mod logger;
mod metrics;
mod pattern;
mod record;
mod rename;
mod split;
mod symbolic;
mod synthetic;
mod variants;

pub use baseline::{Histogram, rule_kind, rule_pattern};
pub use estimate::estimate;
pub use evaluate::{DetectorScores, PredictorScores, RecogniserScores, Rejection, first_labels};
pub use label::{Analysis, LoopLabels};
pub use logger::{LogEngine, LoopLog};
pub use metrics::{Confusion, Errors};
pub use record::{Entry, LoopRecord, ReadError, read_records, write_records};
pub use rename::{Renaming, canonical, relative};
pub use split::{Part, Splits, is_held_out_level, is_held_out_program};
pub use synthetic::{Generated, mutated, synthetic};
pub use variants::varied;
