//! The GPU engine beside the reference: for the same inputs both give the same, bit for bit.

//TODO mod frames;
//TODO mod guests;
//TODO mod host_memory;
//TODO mod isolation;
mod lowering;
//TODO mod programs;
//TODO mod slicing;
//TODO mod snapshots;
mod support;
//TODO mod twins;
mod vectors;
