//! The device layer: what it computes, and that whatever goes wrong is an error that says so.

mod adapters;
mod buffers;
mod doctor;
mod errors;
mod networks;
mod pipelines;
mod support;
