//! Fine-tunes networks of KVRM on what a program does while it runs.
//!
//! The networks are those that decide what a machine does early and never what it computes: the memory oracle, which names pages to
//! bring to a device, and the iteration predictor, which says which loops are worth the time of a checker. So learning never
//! changes a result.
//!
//! [`Learning`] is what users hold. An engine tells it of page accesses and of entries of loops, and takes the networks that have
//! learned most.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kvrm_learn::Learning;
//! use kvrm_models::MemoryOracle;
//! use kvrm_prefetch::PageAccess;
//!
//! let learning = Learning::new(1);
//! let network = Arc::new(MemoryOracle::from_flat(&vec![0.01; MemoryOracle::PARAMETERS])?);
//! assert!(learning.begin_oracle(&network), "the first engine learns");
//! let access = |page| PageAccess { page, ..PageAccess::default() };
//! let better = learning.hear((0..500).map(|n| (0, access(100 + 3 * n))));
//! assert!(better.is_none(), "not yet");
//! assert_eq!(learning.oracle().map(|learned| learned.heard), Some(500));
//! # Ok::<(), kvrm_models::WeightsError>(())
//! ```

mod adam;
pub mod iterations;
mod learned;
mod learning;
mod network;
pub mod oracle;
mod parts;
mod random;
mod rounds;
mod score;
mod student;

pub use self::adam::Adam;
pub use self::learned::Learned;
pub use self::learning::Learning;
pub use self::random::Random;
pub use self::score::Score;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
