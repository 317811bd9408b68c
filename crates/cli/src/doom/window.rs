//! The game in a window. It needs the Cargo feature `window`.

#[cfg(feature = "window")]
mod app;
#[cfg(feature = "window")]
mod key_codes;
#[cfg(not(feature = "window"))]
mod missing_feature;
#[cfg(feature = "window")]
mod scaling;

#[cfg(feature = "window")]
pub(super) use app::{check, run};
#[cfg(not(feature = "window"))]
pub(super) use missing_feature::{check, run};
