//! Random Linux programs: random instructions, interspersed with random system calls.

use kvrm_arm64::Features;
use kvrm_arm64::asm::{X0, X1, X2, X8, X29, at};
use kvrm_machine::vectors::{Hex, Vector};
use kvrm_machine::{Error, LinuxProgram, Machine, Program};

use crate::calls::{self, Call, TABLE};
use crate::images::assemble;
use crate::programs;
use crate::random::Random;

/// The largest number of instructions, without those that make system calls.
const LENGTH: usize = 96;
/// The number of calls in a lane's table. Memory after the table is zero, so later calls have number 0.
const CALLS: usize = 120;
/// The last page of the address space. A segment there would leave no room for stack and heap after the program.
const LAST_PAGE: u64 = 0xffff_ffff_f000;

/// A random program, with the initial state of its lanes.
#[derive(Clone, Debug)]
pub struct LinuxProgramCase {
    /// The program.
    pub program: Program,
    /// The features that its machine has to have.
    pub features: Features,
    start: Vector,
}

/// Returns the program for a seed. X29 points to the next entry of the lane's table of calls.
///
/// # Panics
/// Never: the instructions of a call assemble.
#[must_use]
pub fn random(seed: u64) -> LinuxProgramCase {
    let random = &mut Random::new(seed);
    let mut start = programs::random(&format!("program {seed}"), LENGTH, 0, random);
    let call = assemble(|a| {
        a.ldr(X8, at(X29, 0)).ldr(X0, at(X29, 8)).ldr(X1, at(X29, 16)).ldr(X2, at(X29, 24));
        a.add(X29, X29, 32).svc(0);
    });
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let call: Vec<u32> = call.chunks_exact(4).map(word).collect();
    // The inserted instructions shift the targets of branches, but the targets stay near the program.
    let with_call = |word| {
        let is_followed = random.below(5) == 0;
        std::iter::once(word).chain(call.iter().copied().filter(move |_| is_followed).map(Hex))
    };
    start.code = start.code.iter().copied().flat_map(with_call).collect();
    let mut segments = start.segments();
    segments.retain(|segment| segment.address < LAST_PAGE);
    segments.push(calls::memory());
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    let program = Program::builder().name(&start.name).entry(start.pc.0).segments(segments).linux(linux);
    let program = program.build().expect("the segments are valid");
    LinuxProgramCase { program, features: start.machine_features(), start }
}

impl LinuxProgramCase {
    /// Sets the registers and the table of calls of each lane. They differ by lane and depend on `seed`.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn start(&self, machine: &mut Machine, seed: u64) -> Result<(), Error> {
        let heap = machine.layout().heap.clone();
        for lane in 0..machine.lanes() {
            let random = &mut Random::new(seed ^ (lane as u64) << 32);
            let calls: Vec<Call> = (0..CALLS).map(|_| calls::random(random, &heap)).collect();
            calls::prepare(machine, lane, &calls, 0)?;
            let mut cpu = self.start.cpu();
            cpu.set_x(29, TABLE);
            if lane > 0 {
                (0..12).for_each(|n| cpu.set_x(n, random.bits() >> random.below(64)));
            }
            machine.set_cpu(lane, &cpu)?;
        }
        Ok(())
    }
}
