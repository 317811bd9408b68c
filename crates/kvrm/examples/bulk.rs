//! Gives every lane its own part of the input, and reads registers and memory of all lanes at once.
//!
//! ```console
//! $ cargo run --release --package kvrm --example bulk
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use kvrm::arm64::asm::{Assembler, W0, W3, X0, X1, X2, X3, at};
use kvrm::{Engine, Machine, Permissions, Program, Register};

const CODE: u64 = 0x1_0000;
const DATA: u64 = 0x2_0000;
const LANES: usize = 10_000;
/// The number of bytes of input per lane.
const BYTES: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Replaces each byte by the sum of the bytes up to and including it, modulo 256. x0 becomes the sum of all bytes.
    let mut a = Assembler::new(CODE);
    let again = a.label();
    a.mov(X0, 0).mov(X1, DATA as i64).mov(X2, BYTES as i64);
    a.bind(again).ldrb(W3, at(X1, 0)).add(X0, X0, X3);
    a.strb(W0, at(X1, 0)).add(X1, X1, 1);
    a.subs(X2, X2, 1).b_cond("ne", again).hlt(0);
    let program = Program::builder().code(CODE, &a.finish()?).zeros(DATA, 0x1000, Permissions::RW).build()?;

    // The inputs of all lanes, one after the other.
    let inputs: Vec<u8> = (0..LANES * BYTES).map(|i| (i * 31 % 251) as u8).collect();
    let mut machine = Machine::builder(program)
        .lanes(LANES)
        .engine(Engine::Auto)
        .prepare(|lane| lane.write(DATA, &inputs[lane.number() * BYTES..][..BYTES]))
        .build()?;
    let report = machine.run(1000)?;

    // One transfer reads a register of all lanes, and another one the same range of memory of all lanes.
    let sums = machine.registers(Register::X(0))?;
    let outputs = machine.read_all(DATA, BYTES)?;

    for ((input, output), sum) in inputs.chunks(BYTES).zip(outputs.chunks(BYTES)).zip(sums) {
        let expected: u64 = input.iter().map(|&byte| u64::from(byte)).sum();
        assert!(sum == expected && output[BYTES - 1] == sum as u8, "the host adds up to the same");
    }
    println!("{report}");
    println!("{LANES} lanes have summed {BYTES} bytes each");
    Ok(())
}
