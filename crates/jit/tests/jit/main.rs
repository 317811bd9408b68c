//! Tests of the JIT against the reference.

mod code;
mod floats;
mod forks;
mod guests;
mod hooks;
mod instructions;
mod programs;
mod slicing;
mod support;
mod vectors;
