//! Plots of runs: rasters of spikes, and rates over time. They need the Cargo feature `plots`.

#[cfg(feature = "plots")]
mod drawing;
#[cfg(not(feature = "plots"))]
mod missing_feature;

#[cfg(feature = "plots")]
pub(crate) use drawing::{Picture, picture, raster, rate_curves};
#[cfg(not(feature = "plots"))]
pub(crate) use missing_feature::{Picture, picture, raster, rate_curves};
