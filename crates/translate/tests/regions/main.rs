//! Regions of random programs, compared with what the reference executes.

mod control_flow;
mod guest;
mod liveness;
mod samples;
mod structure;
