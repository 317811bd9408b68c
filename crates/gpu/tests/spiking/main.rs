//! Tests that the burst engine on a GPU has the same state as the reference after every step, bit for bit.

mod edges;
mod fused;
mod progress;
mod recovery;
mod samples;
mod steps;
mod support;
mod twins;
