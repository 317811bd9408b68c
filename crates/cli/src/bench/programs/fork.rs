//! Lanes that are forks of a lane in which the program has started.

use anyhow::{Context as _, Result, bail};
use kvrm::{Builder, Engine, Factory, Fork, Hooks, Machine, Stop};

/// The place at which a program is forked, and the input of the forks.
#[derive(Clone, Copy)]
pub(super) struct ForkPoint {
    /// The name of the function that the program calls when it has started.
    pub(super) function: &'static str,
    /// The name of the variable that it reads afterwards. It has 64 bits, and gets the number of the lane.
    pub(super) variable: &'static str,
}

impl ForkPoint {
    /// Runs the lane of `builder` on the CPU up to the function. Returns a machine with forks of it, which have their
    /// numbers in the variable.
    pub(super) fn machine(
        self,
        builder: Builder<'static>,
        lanes: usize,
        engine: impl Factory,
    ) -> Result<Machine> {
        let mut start = builder.engine(Engine::Jit).build()?;
        let address = |name: &str| {
            let symbol = start.program().symbol(name);
            let missing =
                || format!("the program has no symbol {name}; it was not made from guests/programs");
            Ok::<_, anyhow::Error>(symbol.with_context(missing)?.address)
        };
        let (function, variable) = (address(self.function)?, address(self.variable)?);
        start.set_hooks(Hooks::new().breakpoint(function))?;
        start.run(u64::MAX)?;
        match start.stop(0)? {
            Some(Stop::HardwareBreakpoint) => {}
            Some(stop) => bail!("the program stopped before {}: {stop}", self.function),
            None => bail!("the program did not run to {}", self.function),
        }
        // Forks take over hooks. Without them, all lanes go on at once.
        start.set_hooks(Hooks::new())?;
        start.resume(0)?;
        let mut machine = start.fork_with(0, Fork::new(lanes).engine(engine))?;
        let numbers: Vec<u8> = (0..lanes as u64).flat_map(u64::to_le_bytes).collect();
        machine.write_rows(.., variable, &numbers)?;
        Ok(machine)
    }
}

#[cfg(test)]
mod tests {
    use kvrm::elf::{Symbol, SymbolKind};
    use kvrm::{Permissions, Program, ProgramBuilder, Register};

    use super::*;

    const CODE: u64 = 0x1000;
    const VARIABLE: u64 = 0x2000;
    const POINT: ForkPoint = ForkPoint { function: "started", variable: "number" };

    /// Returns a program without its symbols, which adds the variable to x0 after a start of two instructions.
    fn program() -> ProgramBuilder {
        // movz x1, #0x2000; add x0, x0, #100; ldr x1, [x1]; add x0, x0, x1; hlt #0
        let words = [0xd284_0001, 0x9101_9000, 0xf940_0021, 0x8b01_0000, 0xd440_0000];
        Program::builder().code(CODE, &words).zeros(VARIABLE, 8, Permissions::RW)
    }

    fn symbol(name: &str, kind: SymbolKind, address: u64) -> Symbol {
        Symbol { name: name.to_owned(), kind, address, bytes: 8 }
    }

    fn machine(program: ProgramBuilder) -> Result<Machine> {
        POINT.machine(Machine::builder(program.build()?), 3, Engine::Reference)
    }

    #[test]
    fn forks_go_on_behind_the_start_with_their_numbers() {
        let program = program().symbol(symbol("started", SymbolKind::Function, CODE + 8)).symbol(symbol(
            "number",
            SymbolKind::Data,
            VARIABLE,
        ));
        let mut machine = machine(program).expect("the program can be forked");
        assert_eq!((machine.lanes(), machine.engine()), (3, "reference"), "the fork");
        let report = machine.run(100).expect("the lanes run");
        assert_eq!(machine.registers(Register::X(0)).expect("they have registers"), [100, 101, 102]);
        assert_eq!(
            machine.registers(Register::Steps).expect("and counts"),
            [4; 3],
            "with those of the start"
        );
        assert_eq!(report.steps, 3 * 2, "which is not repeated");
    }

    #[test]
    fn programs_that_cannot_be_forked_are_refused() {
        let refused = |program| format!("{:#}", machine(program).expect_err("there is no fork"));
        let text = refused(program());
        assert!(text.contains("no symbol started"), "{text}");
        let number = || symbol("number", SymbolKind::Data, VARIABLE);
        let text =
            refused(program().symbol(number()).symbol(symbol("started", SymbolKind::Function, 0x9000)));
        assert!(text.contains("stopped before started: "), "{text}");
    }
}
