//! Tests that the GPU engine gives the same results as the reference for the same inputs, bit for bit.

mod accesses;
mod audit;
mod calls;
mod class_selection;
mod code_pages;
mod console;
mod forks;
mod frames;
mod guests;
mod hooks;
mod host_memory;
mod isolation;
mod linux;
mod loops;
mod lowering;
mod mapping;
mod pools;
mod programs;
mod recovery;
mod slicing;
mod snapshots;
mod support;
mod translation;
mod twins;
mod vectors;
mod views;
