//! The GPU engine beside the reference: for the same inputs both give the same, bit for bit.

mod audit;
mod calls;
mod code_pages;
mod console;
mod dispatch;
mod frames;
mod guests;
mod host_memory;
mod isolation;
mod linux;
mod lowering;
mod mapping;
mod pools;
mod programs;
mod recovery;
mod slicing;
mod snapshots;
mod support;
mod twins;
mod vectors;
