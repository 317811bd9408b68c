//! Prefetchers of memory pages, and replays that measure them.
//!
//! A lane whose pages do not all fit into the memory of a device waits when it needs one that is away. A [`Prefetcher`] hears of
//! such misses and names pages to bring before they are needed. The classical ones are here: [`NextPage`], [`Stride`],
//! [`BestOffset`] and [`Markov`], by their names in [`Policy`]. [`replay`] runs one over a recorded stream of accesses with
//! a pool of pages and counts what it gains, and [`belady`], [`foresight`] and [`least_stall`] say what could be gained.
//!
//! ```
//! use kvrm_prefetch::{Degree, PageAccess, Policy, RecordedAccess, ReplaySettings, replay};
//!
//! // A loop over 100 pages by one instruction, 5,000 steps for each.
//! let access = |n: u64| PageAccess { page: n % 100, size: 8, load: true, pc: 0x1000, step: 5_000 * n };
//! let accesses: Vec<_> =
//!     (0..1000).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect();
//! let settings = ReplaySettings { degree: Degree::new(4)?, ..ReplaySettings::new(50) };
//! let mut stride = Policy::Stride.baseline().ok_or("the oracle")?;
//! let outcome = replay(&accesses, &settings, &mut stride)?;
//! assert!(outcome.coverage() > Some(0.95) && outcome.accuracy() > Some(0.95), "{outcome:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod belady;
mod best_offset;
mod builder;
mod candidates;
mod eviction;
mod foresight;
mod format;
mod future;
mod groups;
mod markov;
mod next_page;
mod oracle;
mod outcome;
mod policy;
mod prefetcher;
mod recorded;
mod replay;
mod settings;
mod stride;
mod throttle;

pub use access::{PAGES, PageAccess, Trigger};
pub use belady::{belady, least_stall};
pub use best_offset::BestOffset;
pub use builder::{FILTER_PAGES, StreamBuilder};
pub use candidates::{Candidate, Candidates, DEGREE_MAX, Degree, InvalidDegree};
pub use eviction::{Eviction, UnknownEviction};
pub use foresight::foresight;
pub use format::{AccessStream, StreamError};
pub use groups::{GROUPS, Groups, Place};
pub use markov::Markov;
pub use next_page::NextPage;
pub use oracle::{InvalidOracleSettings, OracleLane, OraclePrefetcher, OracleQuestion, OracleSettings};
pub use outcome::Outcome;
pub use policy::{Baseline, Policy, UnknownPolicy};
pub use prefetcher::{NoPrefetcher, Prefetcher};
pub use recorded::{RecordedAccess, footprint};
pub use replay::replay;
pub use settings::{InvalidSettings, ReplaySettings, Start};
pub use stride::Stride;
pub use throttle::Throttle;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
