//! Searches for an input that makes a program fault, with snapshot and reset, as a fuzzer does.
//!
//! ```console
//! $ cargo run --release --package kvrm --example search
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use kvrm::arm64::asm::{Assembler, W1, W2, X0, X1, X3, at};
use kvrm::{Engine, Machine, Permissions, Program, Stop};

const CODE: u64 = 0x1_0000;
const INPUT: u64 = 0x2_0000;
const LANES: usize = 256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Reads through an invalid pointer if the exclusive or of the two bytes of input is 0x5a.
    let mut a = Assembler::new(CODE);
    let fine = a.label();
    a.mov(X0, INPUT as i64);
    a.ldrb(W1, at(X0, 0)).ldrb(W2, at(X0, 1));
    a.eor(W1, W1, W2).subs(W2, W1, 0x5a);
    a.b_cond("ne", fine);
    a.mov(X3, 0).ldr(X1, at(X3, 8));
    a.bind(fine).hlt(0);

    let program =
        Program::builder().code(CODE, &a.finish()?).zeros(INPUT, 0x1000, Permissions::RW).build()?;
    let mut machine = Machine::builder(program).lanes(LANES).engine(Engine::Auto).build()?;
    machine.snapshot()?;

    // A fuzzer would mutate interesting inputs; this example tries all inputs in order.
    let mut runs = 0;
    for first in 0..=255 {
        machine.reset(..)?;
        // Two bytes for each lane.
        let inputs: Vec<u8> = (0..LANES).flat_map(|lane| [first, lane as u8]).collect();
        machine.write_rows(.., INPUT, &inputs)?;
        machine.run(1000)?;
        runs += LANES;
        for (lane, stop) in machine.stops()?.into_iter().enumerate() {
            if let Some(Stop::Fault(fault)) = stop {
                println!("after {runs} runs: input {:02x?}: {fault}", [first, lane as u8]);
                return Ok(());
            }
        }
    }
    println!("{runs} runs, no failure");
    Ok(())
}
