//! Regions of random programs, compared with what the reference executes.

mod random;
mod samples;
