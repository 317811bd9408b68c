//! Networks as advisors: which loops they propose to the checker.

mod advisor;
mod learning;
mod look;
mod mode;
mod opinions;
mod rule;
mod weights;

pub use self::advisor::NetworkAdvisor;
pub use self::mode::LoopMode;
