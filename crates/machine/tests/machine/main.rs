//! Tests of machines: budgets, lanes, stops, snapshots, frames, and errors.

mod bulk;
mod data_faults;
mod errors;
mod forks;
mod frames;
mod hooks;
mod host_memory;
mod hostile;
mod inputs;
mod jumps;
mod lane_sets;
mod observing;
mod reports;
mod resuming;
mod saved;
mod slicing;
mod snapshots;
mod stops;
mod support;
mod views;
