//! The burst engine on a GPU beside its reference: the same state after every step, bit for bit.

mod edges;
mod networks;
mod samples;
mod steps;
mod support;
mod twins;
