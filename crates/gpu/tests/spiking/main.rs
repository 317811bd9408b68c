//! The burst engine on a GPU beside its reference: the same state after every step, bit for bit.

mod edges;
mod progress;
mod recovery;
mod samples;
mod steps;
mod support;
mod twins;
