//! The game in a terminal. It needs the Cargo feature `terminal`.

#[cfg(feature = "terminal")]
mod half_blocks;
#[cfg(feature = "terminal")]
mod key_events;
#[cfg(not(feature = "terminal"))]
mod missing_feature;
#[cfg(feature = "terminal")]
mod player;
#[cfg(feature = "terminal")]
mod screen;

#[cfg(not(feature = "terminal"))]
pub(super) use missing_feature::{check, run};
#[cfg(feature = "terminal")]
pub(super) use player::{check, run};
