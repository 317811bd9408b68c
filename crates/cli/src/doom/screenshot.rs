//! Pictures of the game as files. They need the Cargo feature `screenshots`.

#[cfg(not(feature = "screenshots"))]
mod missing_feature;
#[cfg(feature = "screenshots")]
mod picture;

#[cfg(not(feature = "screenshots"))]
pub(super) use missing_feature::{Screenshot, screenshot};
#[cfg(feature = "screenshots")]
pub(super) use picture::{Screenshot, screenshot};
