//! Breakpoints, watchpoints and system-call filters on the command line.

use std::ops::Range;

use anyhow::{Result, anyhow};
use kvrm::elf::SymbolKind;
use kvrm::{Hooks, Program};

use super::system_calls;
use crate::number;

/// The number of functions that an error names at most.
const SHOWN: usize = 24;

/// The hooks of `kvrm run`. A lane that one of them stops has not executed the instruction.
#[derive(clap::Args)]
pub(super) struct HookArgs {
    /// Stop each lane before the instruction at this address, or before the first one of this function. May be repeated.
    #[arg(long = "break", value_name = "ADDRESS|FUNCTION")]
    breakpoints: Vec<String>,
    /// Stop each lane before an instruction that loads from or stores to these bytes; by default one byte, or all of the
    /// named variable. With r: only loads stop lanes, with w: only stores. May be repeated.
    #[arg(long = "watch", value_name = "[r:|w:]ADDRESS|VARIABLE[+BYTES]", value_parser = watchpoint)]
    watchpoints: Vec<Watchpoint>,
    /// Stop each lane before this system call of Linux, given by name or number, or before this operation of
    /// semihosting, given by number. May be repeated.
    #[arg(long = "stop-at-call", value_name = "NAME|NUMBER")]
    calls: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Watchpoint {
    is_for_loads: bool,
    is_for_stores: bool,
    /// An address, or the name of a variable.
    place: String,
    bytes: Option<u64>,
}

impl HookArgs {
    /// Returns the hooks for a program.
    pub(super) fn hooks(&self, program: &Program) -> Result<Hooks> {
        let mut hooks = Hooks::new();
        for place in &self.breakpoints {
            hooks = hooks.breakpoint(instruction(place, program)?);
        }
        for watchpoint in &self.watchpoints {
            let bytes = watched(watchpoint, program)?;
            if watchpoint.is_for_loads {
                hooks = hooks.watch_reads(bytes.clone());
            }
            if watchpoint.is_for_stores {
                hooks = hooks.watch_writes(bytes);
            }
        }
        for name in &self.calls {
            hooks = hooks.system_call(call(name, program)?);
        }
        Ok(hooks)
    }
}

/// Returns the address of an instruction, given as address or by the name of a function.
fn instruction(place: &str, program: &Program) -> Result<u64> {
    let mut functions = program.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    if let Some(function) = functions.find(|symbol| symbol.name == place) {
        return Ok(function.address);
    }
    let address = number::address(place).map_err(|_| {
        let expected = expected_place(program, SymbolKind::Function);
        anyhow!("--break '{place}': {expected}")
    })?;
    if !address.is_multiple_of(4) {
        return Err(anyhow!("--break '{place}': instructions begin at multiples of 4"));
    }
    Ok(address)
}

/// Returns the bytes of a watchpoint.
fn watched(watchpoint: &Watchpoint, program: &Program) -> Result<Range<u64>> {
    let Watchpoint { place, bytes, .. } = watchpoint;
    let (address, all) = match program.symbol(place) {
        Some(symbol) => (symbol.address, symbol.bytes.max(1)),
        None => (
            number::address(place).map_err(|_| {
                let expected = expected_place(program, SymbolKind::Data);
                anyhow!("--watch '{place}': {expected}")
            })?,
            1,
        ),
    };
    Ok(address..address.saturating_add(bytes.unwrap_or(all)))
}

/// Says that an address or the name of a function or variable is expected, with some of the names.
fn expected_place(program: &Program, kind: SymbolKind) -> String {
    let symbols = program.symbols.iter().filter(|symbol| symbol.kind == kind);
    let names: Vec<String> = symbols.map(|symbol| symbol.name.escape_debug().to_string()).collect();
    let what = if kind == SymbolKind::Function { "functions" } else { "variables" };
    match names.len() {
        0 => format!("the program names no {what}, so give an address such as 0x10000"),
        1..=SHOWN => {
            format!("expected an address such as 0x10000, or one of the {what} {}", names.join(", "))
        }
        count => format!(
            "expected an address such as 0x10000, or one of the {count} {what}: {}, ...",
            names[..SHOWN].join(", ")
        ),
    }
}

/// Returns the number of a system call of Linux or of a semihosting operation.
fn call(name: &str, program: &Program) -> Result<u32> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    if program.linux.is_none() {
        return Err(anyhow!(
            "--stop-at-call '{name}': this program makes semihosting calls, so give the number of an operation, such as \
             5 for SYS_WRITE"
        ));
    }
    let number = system_calls::number(name).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| {
        anyhow!(
            "--stop-at-call '{name}': expected the name or the number of a system call, such as write or 64"
        )
    })
}

/// Parses a watchpoint.
fn watchpoint(text: &str) -> Result<Watchpoint, String> {
    let (kind, range) = text.split_once(':').unwrap_or(("", text));
    let (is_for_loads, is_for_stores) = match kind {
        "" => (true, true),
        "r" => (true, false),
        "w" => (false, true),
        _ => return Err(format!("'{kind}:' is neither r: for loads nor w: for stores")),
    };
    let (place, bytes) = match range.split_once('+') {
        Some((place, bytes)) => (place, Some(number::bytes(bytes)?)),
        None => (range, None),
    };
    if bytes == Some(0) {
        return Err("no byte is watched".to_owned());
    }
    // Names of variables do not begin with a digit.
    if place.starts_with(|c: char| c.is_ascii_digit()) {
        number::address(place)?;
    }
    if place.is_empty() {
        return Err("expected an address such as 0x10000, or the name of a variable".to_owned());
    }
    Ok(Watchpoint { is_for_loads, is_for_stores, place: place.to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchpoints_are_parsed() {
        let all =
            Watchpoint { is_for_loads: true, is_for_stores: true, place: "0x20".to_owned(), bytes: None };
        let range = |place: &str, bytes| Watchpoint { place: place.to_owned(), bytes, ..all.clone() };
        assert_eq!(watchpoint("0x20"), Ok(all.clone()), "one byte");
        let loads = Watchpoint { is_for_stores: false, ..range("32", Some(1024)) };
        assert_eq!(watchpoint("r:32+1K"), Ok(loads), "loads");
        let stores = Watchpoint { is_for_loads: false, ..range("line", Some(8)) };
        assert_eq!(watchpoint("w:line+8"), Ok(stores), "stores");
        assert_eq!(watchpoint("line"), Ok(range("line", None)), "a variable");
        for wrong in ["", "x:4", "4+0", "4+x", "4x", "r:", "+4", "4+8+1", "line+0"] {
            assert!(watchpoint(wrong).is_err(), "'{wrong}' is refused");
        }
    }
}
