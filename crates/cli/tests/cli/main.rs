//! Tests of the binary: its output on both streams and its exit status.

mod asm;
mod bench;
mod class_selection;
mod disasm;
mod doctor;
mod doom;
mod engines;
mod errors;
mod gpus;
mod lanes;
mod learning;
mod linux;
mod loops;
mod mistakes;
mod networks;
mod options;
mod pipes;
mod record;
mod regions;
mod run;
mod spike;
mod support;
mod trace;
mod vectors;
mod verify;
