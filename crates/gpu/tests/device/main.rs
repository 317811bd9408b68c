//! Tests of the device layer: its results, and its errors.

mod adapters;
mod buffers;
mod doctor;
mod errors;
mod frames;
mod languages;
mod loop_networks;
mod memory_oracle;
mod networks;
mod pipelines;
mod regions;
mod support;
