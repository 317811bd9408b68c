//! Programs on the machine: budgets, lanes, stops, snapshots, frames, resuming, observing, and what is refused.

mod errors;
mod frames;
mod hostile;
mod inputs;
mod observing;
mod resuming;
mod slicing;
mod snapshots;
mod stops;
mod support;
