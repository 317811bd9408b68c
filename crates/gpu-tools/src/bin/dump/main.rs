//! Writes what a CUDA program needs to run slices of the interpreter on NVIDIA GPUs, whose tools count instructions.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin dump -- slice mix --lanes 128 --out FOLDER
//! cargo run --release --package kvrm-gpu-tools --bin dump -- kernel --out FOLDER
//! ```
//!
//! `crates/gpu-tools/count/README.md` explains the scripts that use these files.

#![expect(clippy::print_stdout, reason = "it is a program")]

mod kernel;
mod slice;

use clap::Parser as _;

/// Writes kernels of machines as HLSL, and the buffers of slices.
#[derive(clap::Parser)]
enum Command {
    /// Links an interpreter from the modules in a folder, and translates it to HLSL
    Kernel(kernel::Args),
    /// Runs a guest, and writes the buffers before a slice and the kernels for it
    Slice(slice::Args),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Command::parse() {
        Command::Kernel(args) => kernel::run(&args),
        Command::Slice(args) => slice::run(&args),
    }
}
