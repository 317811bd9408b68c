//! The state of the translation at one instruction: where registers, flags and fuel are.

use std::mem::offset_of;

use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types};
use cranelift_frontend::Variable;
use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{REGISTERS, SINK, SP, ZERO};

use crate::context::Site;
use crate::flags::Flags;
use crate::frame::Frame;

/// The translation of a region.
///
/// Registers are variables, with a copy in the memory of the lane. A changed register is copied before the next
/// instruction at which the code may be left. Where paths meet, registers are read from memory again, except for those
/// of loops at their heads: values that live long would have to be spilled anyway, and take the compiler's time.
pub(crate) struct Emitter<'a> {
    pub(crate) frame: Frame<'a>,
    registers: Vec<Variable>,
    /// The steps that the lane may take after the last root, minus those it took up to there.
    fuel: Variable,
    pub(crate) at: Place,
}

/// What is known at an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The address of the instruction.
    pub(crate) pc: u64,
    /// The steps since the last root.
    pub(crate) steps: u64,
    /// The registers whose variables are up to date, a bit each. The others are read from memory when they are needed.
    known: u64,
    /// The registers whose copies in memory are out of date, a bit each.
    changed: u64,
    flags: Flags,
    /// Whether memory has the flags, too.
    are_flags_stored: bool,
}

impl Place {
    /// Returns the place of a root, which is reached with all state in memory, and the `known` registers in variables.
    pub(crate) const fn root(pc: u64, flags: Flags, known: u64) -> Self {
        Self { pc, steps: 0, known, changed: 0, flags, are_flags_stored: true }
    }
}

impl<'a> Emitter<'a> {
    /// Begins the translation of the region that is entered at `pc`.
    pub(crate) fn new(mut frame: Frame<'a>, fuel: Value, pc: u64) -> Self {
        let registers: Vec<_> = (0..REGISTERS).map(|_| frame.b.declare_var(types::I64)).collect();
        let variable = frame.b.declare_var(types::I64);
        frame.b.def_var(variable, fuel);
        Self { frame, registers, fuel: variable, at: Place::root(pc, Flags::Stored, 0) }
    }

    /// Returns a register in 64 bits.
    pub(crate) fn register(&mut self, register: u32) -> Value {
        if register == ZERO {
            return self.frame.constant(0);
        }
        if self.at.known >> register & 1 == 0 {
            self.reload(&[register]);
        }
        self.frame.b.use_var(self.registers[register as usize])
    }

    /// Reads registers, a bit each, whose variables are not up to date.
    pub(crate) fn read_registers(&mut self, wanted: u64) {
        let missing = wanted & !self.at.known;
        for register in (0..REGISTERS).filter(|register| missing >> register & 1 == 1) {
            self.reload(&[register]);
        }
    }

    /// Returns a register as a value of a type.
    pub(crate) fn register_as(&mut self, register: u32, of: Type) -> Value {
        let value = self.register(register);
        if of == types::I64 { value } else { self.frame.b.ins().ireduce(of, value) }
    }

    /// Sets a register. Narrower values are zero-extended.
    pub(crate) fn set_register(&mut self, register: u32, value: Value) {
        if register == SINK || register == ZERO {
            return;
        }
        let narrow = crate::flags::type_of(&self.frame, value) != types::I64;
        let value = if narrow { self.frame.b.ins().uextend(types::I64, value) } else { value };
        self.frame.b.def_var(self.registers[register as usize], value);
        self.at.known |= 1 << register;
        self.at.changed |= 1 << register;
    }

    /// Reads registers from memory.
    pub(crate) fn reload(&mut self, registers: &[u32]) {
        for register in registers.iter().filter(|register| **register != ZERO && **register != SINK) {
            let value = self.frame.load_cpu(types::I64, offset(*register));
            self.frame.b.def_var(self.registers[*register as usize], value);
            self.at.known |= 1 << register;
        }
    }

    /// Copies changed registers to memory.
    pub(crate) fn store_registers(&mut self) {
        let changed = self.at.changed;
        for register in (0..REGISTERS).filter(|register| changed >> register & 1 == 1) {
            let value = self.register(register);
            self.frame.store_cpu(value, offset(register));
        }
        self.at.changed = 0;
    }

    /// Returns the fuel that is left after `steps` steps more than at this place.
    pub(crate) fn fuel(&mut self, steps: u64) -> Value {
        let fuel = self.frame.b.use_var(self.fuel);
        self.frame.b.ins().iadd_imm_s(fuel, -((self.at.steps + steps).cast_signed()))
    }

    /// Sets the fuel at a root.
    pub(crate) fn set_fuel(&mut self, fuel: Value) {
        self.frame.b.def_var(self.fuel, fuel);
    }

    /// Returns what set the flags last.
    pub(crate) const fn flags(&self) -> Flags {
        self.at.flags
    }

    /// Sets the flags.
    pub(crate) const fn set_flags(&mut self, flags: Flags) {
        self.at.flags = flags;
        self.at.are_flags_stored = false;
    }

    /// Notes that memory has the flags, and nothing else.
    pub(crate) const fn forget_flags(&mut self) {
        self.at.flags = Flags::Stored;
        self.at.are_flags_stored = true;
    }

    /// Stores the flags, unless memory has them.
    pub(crate) fn store_flags(&mut self) {
        if !self.at.are_flags_stored {
            self.at.flags.store(&mut self.frame);
            self.at.are_flags_stored = true;
        }
    }

    /// Stores what has changed since memory was up to date.
    pub(crate) fn store_state(&mut self) {
        self.store_registers();
        self.store_flags();
    }

    /// Leaves the region before this instruction if a value is not 0. Registers have been stored.
    pub(crate) fn leave_if(&mut self, value: Value) {
        let [leave, stay] = [self.frame.b.create_block(), self.frame.b.create_block()];
        self.frame.b.ins().brif(value, leave, &[], stay, &[]);
        self.frame.b.set_cold_block(leave);
        self.frame.begin(leave);
        let place = self.at;
        self.store_flags();
        self.at = place;
        let (pc, fuel) = (self.frame.constant(self.at.pc), self.fuel(0));
        self.frame.return_at(pc, fuel);
        self.frame.begin(stay);
    }

    /// Calls a helper for this instruction. The state has been stored.
    pub(crate) fn call(&mut self, helper: u64, first: Value, second: Value) {
        let site = self.frame.constant(Site::new(self.at.pc, self.at.steps).0);
        self.frame.call(helper, [site, first, second]);
    }

    /// Returns the fuel at the last check.
    pub(crate) fn fuel_at_check(&mut self) -> Value {
        self.frame.b.use_var(self.fuel)
    }

    /// Goes on in `next`, unless the helper that was called last says that the code has to be left.
    pub(crate) fn go_on_if_told(&mut self, next: Block, takes_answer: bool) {
        let fuel = self.fuel_at_check();
        self.frame.go_on_if_told(next, takes_answer, fuel);
    }

    /// Executes this instruction as the reference does. `uses_flags` says whether it reads or sets the flags; `changed`
    /// are the registers that it changes.
    pub(crate) fn interpret(&mut self, uses_flags: bool, changed: &[u32]) {
        self.store_state();
        let unused = self.frame.constant(0);
        self.call(self.frame.helpers.execute, unused, unused);
        let next = self.frame.b.create_block();
        self.go_on_if_told(next, false);
        self.frame.begin(next);
        if uses_flags {
            self.forget_flags();
        }
        self.reload(changed);
    }
}

/// Returns the offset of a register in [`Cpu`].
pub(crate) const fn offset(register: u32) -> usize {
    if register == SP { offset_of!(Cpu, sp) } else { Cpu::GENERAL_OFFSET + 8 * register as usize }
}
