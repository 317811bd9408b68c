//! Assembles a small program and runs it in a thousand lanes, each with its own input.
//!
//! ```console
//! $ cargo run --release --package kvrm --example lanes
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use kvrm::arm64::asm::{Assembler, W0, X0, X1, X2, XZR};
use kvrm::{Engine, Machine, Program, Register};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Replaces x0 by the number of steps that the Collatz sequence takes from x0 to 1.
    let mut a = Assembler::new(0x1000);
    let (again, even, done) = (a.label(), a.label(), a.label());
    a.mov(X2, 0);
    a.bind(again).subs(XZR, X0, 1).b_cond("eq", done);
    a.add(X2, X2, 1);
    a.tbz(W0, 0, even);
    a.add(X1, X0, X0).add(X0, X0, X1).add(X0, X0, 1);
    a.b(again);
    a.bind(even).ubfm(X0, X0, 1, 63).b(again);
    a.bind(done).add(X0, X2, 0).hlt(0);
    let code: Vec<u8> = a.finish()?.into_iter().flat_map(u32::to_le_bytes).collect();

    let program = Program::raw("collatz", code, 0x1000, 0)?;
    let mut machine = Machine::builder(program)
        .lanes(1000)
        .engine(Engine::Auto)
        .prepare(|lane| lane.set_x(0, lane.number() as u64 + 1))
        .build()?;
    let report = machine.run(1_000_000)?;

    let longest = machine.registers(Register::X(0))?.into_iter().zip(1..).max().unwrap_or_default();
    println!("{report}");
    println!("of 1 to 1000, {} takes longest: {} steps", longest.1, longest.0);
    Ok(())
}
