//! Breakpoints, watchpoints and system-call filters on the command line.

use std::ops::Range;

use anyhow::{Result, anyhow};
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
    /// Stop each lane before an instruction that loads from or stores to these bytes; by default one byte. With r: only
    /// loads stop lanes, with w: only stores. May be repeated.
    #[arg(long = "watch", value_name = "[r:|w:]ADDRESS[+BYTES]", value_parser = watchpoint)]
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
    bytes: Range<u64>,
}

impl HookArgs {
    /// Returns the hooks for a program.
    pub(super) fn hooks(&self, program: &Program) -> Result<Hooks> {
        let mut hooks = Hooks::new();
        for place in &self.breakpoints {
            hooks = hooks.breakpoint(instruction(place, program)?);
        }
        for Watchpoint { is_for_loads, is_for_stores, bytes } in &self.watchpoints {
            if *is_for_loads {
                hooks = hooks.watch_reads(bytes.clone());
            }
            if *is_for_stores {
                hooks = hooks.watch_writes(bytes.clone());
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
    let function = program.symbols.iter().find(|symbol| symbol.name == place);
    if let Some(function) = function {
        return Ok(function.address);
    }
    let address = number::address(place).map_err(|_| {
        let names: Vec<String> =
            program.symbols.iter().map(|symbol| symbol.name.escape_debug().to_string()).collect();
        let functions = match names.len() {
            0 => "the program has no symbols, so give an address such as 0x10000".to_owned(),
            1..=SHOWN => {
                format!("expected an address such as 0x10000, or one of the functions {}", names.join(", "))
            }
            count => format!(
                "expected an address such as 0x10000, or one of the {count} functions: {}, ...",
                names[..SHOWN].join(", ")
            ),
        };
        anyhow!("--break '{place}': {functions}")
    })?;
    if !address.is_multiple_of(4) {
        return Err(anyhow!("--break '{place}': instructions begin at multiples of 4"));
    }
    Ok(address)
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
    let (address, bytes) = range.split_once('+').unwrap_or((range, "1"));
    let (address, bytes) = (number::address(address)?, number::bytes(bytes)?);
    if bytes == 0 {
        return Err("no byte is watched".to_owned());
    }
    Ok(Watchpoint { is_for_loads, is_for_stores, bytes: address..address.saturating_add(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchpoints_are_parsed() {
        let all = Watchpoint { is_for_loads: true, is_for_stores: true, bytes: 0x20..0x21 };
        assert_eq!(watchpoint("0x20"), Ok(all.clone()), "one byte");
        assert_eq!(
            watchpoint("r:32+1K"),
            Ok(Watchpoint { is_for_stores: false, bytes: 32..1056, ..all.clone() }),
            "loads"
        );
        assert_eq!(watchpoint("w:0+8"), Ok(Watchpoint { is_for_loads: false, bytes: 0..8, ..all }), "stores");
        for wrong in ["", "x:4", "4+0", "4+x", "main", "r:", "4+8+1"] {
            assert!(watchpoint(wrong).is_err(), "'{wrong}' is refused");
        }
    }
}
