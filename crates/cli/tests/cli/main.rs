//! The binary: what it prints where, and the status it ends with.

mod bench;
mod class_selection;
mod disasm;
mod doctor;
mod engines;
mod errors;
mod lanes;
mod linux;
mod options;
mod pipes;
mod record;
mod run;
mod spike;
mod support;
mod trace;
mod vectors;
mod verify;
