//! Values that are not live can be replaced by others, and nobody notices.

use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{MicroOp, SP};
use kvrm_arm64::semantics::system::{FPCR_MASK, FPSR_MASK};
use kvrm_testkit::random::Random;
use kvrm_translate::{Checks, FLOAT_CONTROL, Live, Liveness, NZCV, Region, Registers, VECTORS};
use proptest::prelude::*;

use crate::guest::{Lane, Program};

/// A place in a region: a block, and the number of its instructions that have been executed.
#[derive(Clone, Copy)]
struct Place {
    block: usize,
    index: usize,
}

/// A run of a lane from an entry until it leaves the region.
struct Run<'a> {
    region: &'a Region,
    liveness: &'a Liveness,
    place: Place,
}

/// How a step ended.
enum Outcome {
    InRegion,
    /// The lane has left the region. These registers may have changed.
    Left(Registers),
    /// The instruction has stopped the lane.
    Stopped,
}

impl Run<'_> {
    /// Returns what is live here, at the beginning of a block or behind an instruction.
    fn live(&self) -> Live {
        match self.place.index {
            0 => self.liveness.before[self.place.block],
            index => self.liveness.after[self.place.block][index - 1],
        }
    }

    fn op(&self) -> MicroOp {
        self.region.blocks[self.place.block].ops[self.place.index]
    }

    fn changed(&self) -> Registers {
        self.liveness.changed_after(self.region, self.place.block, self.place.index)
    }

    /// Executes an instruction in each lane.
    fn step(&mut self, lanes: &mut [Lane<'_>]) -> Outcome {
        for lane in &mut *lanes {
            if !lane.step() {
                return Outcome::Stopped;
            }
        }
        self.place.index += 1;
        let block = &self.region.blocks[self.place.block];
        if self.place.index < block.ops.len() {
            return Outcome::InRegion;
        }
        let changed = self.changed();
        let pc = lanes[0].cpu.pc;
        let next = block.successors().find(|to| self.region.blocks[*to].pc == pc);
        self.place = Place { block: next.unwrap_or(0), index: 0 };
        if next.is_some() { Outcome::InRegion } else { Outcome::Left(changed) }
    }
}

/// Returns the registers in which two lanes differ.
fn difference(left: &Cpu, right: &Cpu) -> Registers {
    let differs = |number: &u32| register(left, *number) != register(right, *number);
    (0..=FLOAT_CONTROL).filter(differs).fold(Registers::NONE, |all, number| all.with(Registers::of(number)))
}

fn register(cpu: &Cpu, register: u32) -> u128 {
    match register {
        SP => cpu.sp.into(),
        VECTORS..FLOAT_CONTROL => cpu.v[(register - VECTORS) as usize],
        FLOAT_CONTROL => u128::from(cpu.fpsr) << 32 | u128::from(cpu.fpcr),
        _ => cpu.x(register).into(),
    }
}

/// Replaces a register or flags that are not live. Returns the flags that exits do not see, either.
fn replace(cpu: &mut Cpu, live: Live, random: &mut Random) -> u32 {
    let bits = random.bits();
    for register in 0..31 {
        if !live.registers.has(register) && bits >> register & 1 == 1 {
            cpu.set_x(register, random.bits());
        }
    }
    if !live.registers.has(SP) && bits >> SP & 1 == 1 {
        cpu.sp = random.bits();
    }
    let vectors = random.bits();
    for register in (0..32).filter(|register| vectors >> register & 1 == 1) {
        if !live.registers.has(VECTORS + register) {
            cpu.v[register as usize] = u128::from(random.bits()) << 64 | u128::from(random.bits());
        }
    }
    if !live.registers.has(FLOAT_CONTROL) {
        cpu.fpcr = random.bits() as u32 & FPCR_MASK;
        cpu.fpsr = random.bits() as u32 & FPSR_MASK;
    }
    cpu.nzcv ^= random.bits() as u32 & NZCV & !live.flags;
    NZCV & !live.flags & !live.flags_at_exits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nobody_sees_what_is_not_live(seed: u64) {
        let random = &mut Random::new(seed);
        let (program, cpu) = Program::random(random);
        let region = program.region(random);
        let Some(entry) = region.block_at(program.pc) else { return Ok(()) };
        let checks = Checks::of(&region);
        let exit = random.bits();
        let may_exit = |op: MicroOp| exit >> (op.handler() % 64) & 1 == 1;
        let liveness = Liveness::of(&region, &checks, may_exit);
        let mut run = Run { region: &region, liveness: &liveness, place: Place { block: entry, index: 0 } };
        let mut lanes = [program.lane(cpu.clone()), program.lane(cpu.clone())];
        for _ in 0..random.below(60) {
            let changed = difference(&lanes[0].cpu, &cpu).without(run.changed());
            prop_assert!(changed.is_empty(), "{:?} have not changed", run.changed());
            let Outcome::InRegion = run.step(&mut lanes) else { return Ok(()) };
        }
        let unseen = replace(&mut lanes[1].cpu, run.live(), random);
        for _ in 0..200 {
            let at_check = run.place.index == 0 && checks.steps[run.place.block].is_some();
            let changed = if (may_exit(run.op()) || at_check) && random.below(4) == 0 {
                Some(run.changed())
            } else {
                match run.step(&mut lanes) {
                    Outcome::InRegion => None,
                    Outcome::Left(changed) => Some(changed),
                    // An instruction that stops a lane, and before which there is no exit: nobody translates it so.
                    Outcome::Stopped => return Ok(()),
                }
            };
            let [left, right] = &lanes;
            prop_assert_eq!(left.cpu.pc, right.cpu.pc, "the same path");
            prop_assert!(left.memory() == right.memory(), "the same memory");
            let Some(changed) = changed else { continue };
            for number in changed.iter() {
                prop_assert_eq!(register(&left.cpu, number), register(&right.cpu, number), "register {}", number);
            }
            prop_assert_eq!((left.cpu.nzcv ^ right.cpu.nzcv) & unseen, 0, "the flags that exits do not see");
            return Ok(());
        }
    }
}
