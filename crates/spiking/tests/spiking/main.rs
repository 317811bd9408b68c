//! Tests of networks and of the engines on CPUs.

mod batches;
mod changes;
mod engines;
mod feagi;
mod learning;
mod models;
mod networks;
mod potentials;
mod rules;
mod sample;
mod validation;
