//! Programs on the machine: budgets, lanes, stops, snapshots, frames, and what is refused.

mod bulk;
mod data_faults;
mod errors;
mod frames;
mod hostile;
mod inputs;
mod jumps;
mod observing;
mod reports;
mod resuming;
mod slicing;
mod snapshots;
mod stops;
mod support;
