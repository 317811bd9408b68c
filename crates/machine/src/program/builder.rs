//! A program that is described segment by segment.

use std::sync::Arc;

use super::Program;
use crate::elf::Symbol;
use crate::error::Error;
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::LinuxProgram;

/// Describes a [`Program`] segment by segment.
///
/// ```
/// use kvrm_machine::{Machine, Permissions, Program};
///
/// let program = Program::builder()
///     .name("answer")
///     .code(0x1_0000, &[0x5801_0000, 0xf940_0001, 0xd440_0000]) // ldr x0, 0x1_2000; ldr x1, [x0]; hlt #0
///     .data(0x1_2000, 0x2_0000_u64.to_le_bytes(), Permissions::R)
///     .data(0x2_0000, 42_u64.to_le_bytes(), Permissions::RW)
///     .zeros(0x3_0000, 0x1_0000, Permissions::RW)
///     .build()?;
/// let mut machine = Machine::builder(program).build()?;
/// machine.run(10)?;
/// assert_eq!(machine.cpu(0)?.x(1), 42);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a description is no program until it is built"]
pub struct ProgramBuilder {
    name: String,
    entry: Option<u64>,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    linux: Option<LinuxProgram>,
}

impl Program {
    /// Describes a program segment by segment.
    pub const fn builder() -> ProgramBuilder {
        ProgramBuilder {
            name: String::new(),
            entry: None,
            segments: Vec::new(),
            symbols: Vec::new(),
            linux: None,
        }
    }
}

impl ProgramBuilder {
    /// Sets the name that the guest sees as its first argument; `program` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the address of the first instruction; by default that of the first code added.
    pub const fn entry(mut self, address: u64) -> Self {
        self.entry = Some(address);
        self
    }

    /// Adds instruction words at `address`, in pages that may be read and executed. The first code that is added is the
    /// default entry.
    pub fn code(mut self, address: u64, words: &[u32]) -> Self {
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.entry = self.entry.or(Some(address));
        self.data(address, data, Permissions::RX)
    }

    /// Adds the bytes `data` at `address`, in pages with these permissions.
    pub fn data(self, address: u64, data: impl Into<Vec<u8>>, permissions: Permissions) -> Self {
        let data = data.into();
        self.segment(Segment { address, bytes: data.len() as u64, data, permissions })
    }

    /// Adds `bytes` bytes of zeros at `address`. Pages that nobody writes cost no memory.
    pub fn zeros(self, address: u64, bytes: u64, permissions: Permissions) -> Self {
        self.segment(Segment { address, bytes, data: Vec::new(), permissions })
    }

    /// Adds a segment. Where segments share a page, the page has the permissions of both; where their data overlaps,
    /// the later segment wins.
    pub fn segment(mut self, segment: Segment) -> Self {
        self.segments.push(segment);
        self
    }

    /// Adds several segments, as [`ProgramBuilder::segment`] does.
    pub fn segments(mut self, segments: impl IntoIterator<Item = Segment>) -> Self {
        self.segments.extend(segments);
        self
    }

    /// Adds the name and the addresses of a function or variable, for [`Program::symbol`] and reports.
    pub fn symbol(mut self, symbol: Symbol) -> Self {
        self.symbols.push(symbol);
        self
    }

    /// Makes the program a Linux program, and sets the place of its program headers.
    pub const fn linux(mut self, linux: LinuxProgram) -> Self {
        self.linux = Some(linux);
        self
    }

    /// Builds the program.
    ///
    /// # Errors
    /// - [`Error::NoEntry`]: there is neither code nor an entry.
    /// - [`Error::Segment`]: a segment has more data than bytes, or leaves the 48-bit address space.
    pub fn build(self) -> Result<Program, Error> {
        let Self { name, entry, segments, mut symbols, linux } = self;
        let entry = entry.ok_or(Error::NoEntry)?;
        segments.iter().try_for_each(Segment::check)?;
        symbols.sort_by_key(|symbol| symbol.address);
        let name = if name.is_empty() { "program".to_owned() } else { name };
        let (interpreter, file) = (None, Arc::default());
        Ok(Program { name, entry, segments, symbols, linux, interpreter, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_code_is_the_entry() {
        let program = Program::builder()
            .data(0x9000, [1, 2, 3], Permissions::R)
            .code(0x4000, &[1, 2])
            .code(0x2000, &[3])
            .build()
            .expect("the segments are valid");
        assert_eq!(program.entry, 0x4000, "the first code, although it is neither first nor lowest");
        assert_eq!(program.segments[1].data, [1, 0, 0, 0, 2, 0, 0, 0], "little-endian words");
    }

    #[test]
    fn wrong_descriptions_are_refused_with_the_addresses() {
        let message = |builder: ProgramBuilder| builder.build().expect_err("it is wrong").to_string();
        assert_eq!(
            message(Program::builder().zeros(0, 4096, Permissions::RW)),
            "the program has no entry address: add code, or set one",
        );
        let error = message(Program::builder().code(0xffff_ffff_fffc, &[0; 2]));
        assert!(error.contains("0xfffffffffffc"), "{error}");
    }
}
