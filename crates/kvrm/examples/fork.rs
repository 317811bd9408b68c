//! Runs the start of a program once, and forks it into a thousand lanes that share what the start has computed.
//!
//! ```console
//! $ cargo run --release --package kvrm --example fork
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use kvrm::arm64::asm::{Assembler, W1, W2, W4, X0, X1, X2, X3, X4, X5, X7, XZR, at};
use kvrm::{Engine, Fork, Hooks, Machine, Permissions, Program, Register};

const CODE: u64 = 0x1_0000;
const TABLE: u64 = 0x2_0000;
/// The number of entries of the table.
const NUMBERS: u64 = 8192;
const LANES: usize = 1024;
/// The number of entries that a lane looks at.
const SHARE: u64 = NUMBERS / LANES as u64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The start: for each n, table[n] = the steps of the Collatz sequence from n to 1.
    let mut a = Assembler::new(CODE);
    let (next, step, even, done) = (a.label(), a.label(), a.label(), a.label());
    a.mov(X5, TABLE as i64).mov(X7, NUMBERS as i64).mov(X0, 1);
    a.bind(next).add(X5, X5, 4).add(X1, X0, 0).mov(X2, 0);
    a.bind(step).subs(XZR, X1, 1).b_cond("eq", done);
    a.add(X2, X2, 1);
    a.tbz(W1, 0, even);
    a.add(X3, X1, X1).add(X1, X1, X3).add(X1, X1, 1);
    a.b(step);
    a.bind(even).ubfm(X1, X1, 1, 63).b(step);
    a.bind(done).str(W2, at(X5, 0)).add(X0, X0, 1);
    a.subs(XZR, X0, X7).b_cond("ne", next);
    // The search: of the x1 numbers from x0 on, x2 becomes the one with the most steps, and x3 these steps.
    let search = a.here();
    let (look, smaller) = (a.label(), a.label());
    a.mov(X3, 0).mov(X5, TABLE as i64).add(X4, X0, X0).add(X4, X4, X4).add(X5, X5, X4);
    a.bind(look).ldr(W4, at(X5, 0));
    a.subs(XZR, X4, X3).b_cond("ls", smaller);
    a.add(X2, X0, 0).add(X3, X4, 0);
    a.bind(smaller).add(X5, X5, 4).add(X0, X0, 1);
    a.subs(X1, X1, 1).b_cond("ne", look).hlt(0);
    let program =
        Program::builder().code(CODE, &a.finish()?).zeros(TABLE, 4 * NUMBERS, Permissions::RW).build()?;

    // One lane runs up to the search, on the CPU, which is fastest for a single lane.
    let mut start = Machine::builder(program).hooks(Hooks::new().breakpoint(search)).build()?;
    println!("{}", start.run(u64::MAX)?);

    // All lanes of the fork are at the search. They get different registers, and go on.
    let mut machine = start.fork_with(0, Fork::new(LANES).engine(Engine::Auto))?;
    let first: Vec<u64> = (0..LANES as u64).map(|lane| lane * SHARE).collect();
    machine.set_registers(.., Register::X(0), &first)?;
    machine.set_registers(.., Register::X(1), &[SHARE; LANES])?;
    machine.resume(..)?;
    println!("{}", machine.run(1000)?);

    let longest = machine.registers(Register::X(2))?;
    let steps = machine.registers(Register::X(3))?;
    let (steps, number) = steps.into_iter().zip(longest).max().ok_or("there are lanes")?;
    println!("of 1 to {}, {number} takes longest: {steps} steps", NUMBERS - 1);
    Ok(())
}
