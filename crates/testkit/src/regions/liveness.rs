//! Values that are not live can be replaced by others, and nobody notices.

use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{MicroOp, SP};
use kvrm_arm64::semantics::system::{FPCR_MASK, FPSR_MASK};
use kvrm_translate::{Checks, FLOAT_CONTROL, Live, Liveness, NZCV, Region, Registers, VECTORS};

use super::program::{Lane, Program};
use crate::random::Random;

/// The number of instructions in which a lane has to come to an entry, and that it executes when values were replaced.
const LENGTH: usize = 200;
/// The largest number of instructions in the region before values are replaced.
const BEFORE_MAX: u64 = 60;

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

/// Checks that nobody notices if values that are not live are replaced by others: after random steps from the first entry
/// to which a program comes, the registers and flags of a second lane are replaced. Both lanes must take the same path,
/// have the same memory, and store the same registers at a random exit.
///
/// # Panics
///
/// A value is needed that is not live, or a register has changed that cannot have.
pub fn check_liveness(program: &Program, region: &Region, random: &mut Random) {
    let mut lane = program.lane();
    let is_entry = |block: &usize| region.blocks[*block].is_entry;
    let mut entry = None;
    for _ in 0..LENGTH {
        entry = region.block_at(lane.cpu.pc).filter(is_entry);
        if entry.is_some() || !lane.step() {
            break;
        }
    }
    let Some(entry) = entry else { return };
    let cpu = lane.cpu.clone();
    let checks = Checks::of(region);
    let exit = random.bits();
    let may_exit = |op: MicroOp| exit >> (op.handler() % 64) & 1 == 1;
    let liveness = Liveness::of(region, &checks, may_exit);
    let mut run = Run { region, liveness: &liveness, place: Place { block: entry, index: 0 } };
    let mut lanes = [lane.clone(), lane];
    for _ in 0..random.below(BEFORE_MAX) {
        let changed = difference(&lanes[0].cpu, &cpu).without(run.changed());
        assert!(changed.is_empty(), "{changed:?} have changed, and not only {:?}", run.changed());
        let Outcome::InRegion = run.step(&mut lanes) else { return };
    }
    let unseen = replace(&mut lanes[1].cpu, run.live(), random);
    for _ in 0..LENGTH {
        let at_check = run.place.index == 0 && checks.steps[run.place.block].is_some();
        let changed = if (may_exit(run.op()) || at_check) && random.below(4) == 0 {
            Some(run.changed())
        } else {
            match run.step(&mut lanes) {
                Outcome::InRegion => None,
                Outcome::Left(changed) => Some(changed),
                // An instruction that stops a lane, and before which there is no exit: nobody translates it so.
                Outcome::Stopped => return,
            }
        };
        let [left, right] = &lanes;
        assert_eq!(left.cpu.pc, right.cpu.pc, "the same path");
        assert!(left.memory() == right.memory(), "the same memory");
        let Some(changed) = changed else { continue };
        for number in changed.iter() {
            assert_eq!(register(&left.cpu, number), register(&right.cpu, number), "register {number}");
        }
        assert_eq!((left.cpu.nzcv ^ right.cpu.nzcv) & unseen, 0, "the flags that exits do not see");
        return;
    }
}
