//! Plots of runs: rasters of spikes, and rates over time. They need the Cargo feature `plots`.

#[cfg(not(feature = "plots"))]
mod absent;
#[cfg(feature = "plots")]
mod drawn;

#[cfg(not(feature = "plots"))]
pub(crate) use absent::{Picture, picture, raster, rate_curves};
#[cfg(feature = "plots")]
pub(crate) use drawn::{Picture, picture, raster, rate_curves};
