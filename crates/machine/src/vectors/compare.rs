//! Comparison of a lane's final state with the expected state of a vector.

use std::collections::BTreeSet;

use kvrm_arm64::disassemble;

use super::format::hex;
use super::setup::pages;
use super::{Bytes, Number, Vector};
use crate::error::Error;
use crate::executor::Executor;
use crate::pages::PAGE_BYTES;

/// A difference between the expected and the actual final state of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The register, `stop`, or the memory address.
    pub what: String,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
}

impl Vector {
    /// Returns the differences between the expected state and that of a lane that has run the vector.
    pub(super) fn compare(&self, executor: &mut dyn Executor, lane: usize) -> Result<Vec<Mismatch>, Error> {
        let mut mismatches = Vec::new();
        let mut check = |what: &str, expected: Option<u128>, before: u128, got: u128| {
            // In an exact vector, registers that `final` does not name must not have changed.
            let expected = expected.or(self.exact.then_some(before));
            if let Some(expected) = expected.filter(|&expected| expected != got) {
                let (expected, got) = (format!("{expected:#x}"), format!("{got:#x}"));
                mismatches.push(Mismatch { what: what.to_owned(), expected, got });
            }
        };
        let (before, after, named) = (self.cpu(), executor.cpu(lane)?, &self.expected);
        for n in 0..31 {
            let expected = named.x.get(&Number(n)).map(|value| value.0.into());
            check(&format!("x{n}"), expected, before.x(n).into(), after.x(n).into());
        }
        check("sp", named.sp.map(|v| v.0.into()), before.sp.into(), after.sp.into());
        check("pc", named.pc.map(|v| v.0.into()), after.pc.into(), after.pc.into());
        check("nzcv", named.nzcv.map(|v| v.0.into()), before.nzcv.into(), after.nzcv.into());
        for n in 0..32 {
            let expected = named.v.get(&Number(n)).map(|value| value.0);
            check(&format!("v{n}"), expected, before.v[n as usize], after.v[n as usize]);
        }
        check("fpcr", named.fpcr.map(|v| v.0.into()), before.fpcr.into(), after.fpcr.into());
        check("fpsr", named.fpsr.map(|v| v.0.into()), before.fpsr.into(), after.fpsr.into());
        let tpidr = named.tpidr_el0.map(|v| v.0.into());
        check("tpidr_el0", tpidr, before.tpidr_el0.into(), after.tpidr_el0.into());
        let stop = executor.stop(lane)?;
        if let Some(expected) =
            named.stop.filter(|expected| stop.map(|stop| stop.name()) != Some(expected.text()))
        {
            let got = stop.map_or_else(|| "none".to_owned(), |stop| stop.to_string());
            mismatches.push(Mismatch { what: "stop".into(), expected: expected.text().to_owned(), got });
        }
        for (at, want) in self.memory() {
            let mut got = vec![0; want.len()];
            match executor.read_memory(lane, at, &mut got, None)? {
                Ok(()) => compare_memory(at, &want, &got, &mut mismatches),
                Err(stop) => {
                    let (what, got) = (format!("memory at {at:#x}"), stop.to_string());
                    mismatches.push(Mismatch { what, expected: hex(&want), got });
                }
            }
        }
        Ok(mismatches)
    }

    /// Returns the memory to compare, as addresses and expected contents.
    fn memory(&self) -> Vec<(u64, Vec<u8>)> {
        let named = || self.expected.mem.iter().map(|Bytes { at, bytes }| (at.0, bytes));
        if !self.exact {
            return named().map(|(at, bytes)| (at, bytes.clone())).collect();
        }
        // Compare all mapped pages: their initial contents, overlaid with those in `final`.
        let segments = self.segments();
        let mapped: BTreeSet<u64> = segments.iter().flat_map(pages).collect();
        let mut memory = Vec::new();
        for &page in &mapped {
            let mut want = vec![0; PAGE_BYTES];
            for (at, bytes) in segments.iter().map(|segment| (segment.address, &segment.data)).chain(named())
            {
                overlay(page, &mut want, at, bytes);
            }
            memory.push((page, want));
        }
        // Memory in `final` outside the mapped pages cannot match; reading it will report the fault.
        for (at, bytes) in named() {
            if (at..at + bytes.len() as u64).any(|at| !mapped.contains(&(at & !0xfff))) {
                memory.push((at, bytes.clone()));
            }
        }
        memory
    }

    /// Returns a report of a failure: the disassembled code, and an aligned table of the differences.
    #[must_use]
    pub fn describe(&self, mismatches: &[Mismatch]) -> String {
        let mut text = format!("{}\n", self.name);
        for (word, pc) in self.code.iter().zip((self.pc.0..).step_by(4)) {
            text += &format!("    {pc:#10x}  {:08x}  {}\n", word.0, disassemble(word.0, pc));
        }
        let width =
            |f: fn(&Mismatch) -> &str| mismatches.iter().map(|m| f(m).len()).max().unwrap_or(0).max(8);
        let (what, expected) = (width(|m| &m.what), width(|m| &m.expected));
        text += &format!("    {:what$}  {:expected$}  got\n", "", "expected");
        for Mismatch { what: name, expected: want, got } in mismatches {
            text += &format!("    {name:what$}  {want:expected$}  {got}\n");
        }
        text
    }
}

/// Copies the part of `bytes`, which lie at address `at`, that falls into the page at address `page`.
fn overlay(page: u64, content: &mut [u8], at: u64, bytes: &[u8]) {
    let end = page + content.len() as u64;
    let (from, to) = (at.max(page), (at + bytes.len() as u64).min(end));
    if from < to {
        let source = &bytes[(from - at) as usize..(to - at) as usize];
        content[(from - page) as usize..(to - page) as usize].copy_from_slice(source);
    }
}

/// Adds the differences of memory at address `at`, in rows of up to sixteen bytes.
fn compare_memory(at: u64, want: &[u8], got: &[u8], mismatches: &mut Vec<Mismatch>) {
    for (index, (want, got)) in want.chunks(16).zip(got.chunks(16)).enumerate() {
        if want != got {
            let what = format!("memory at {:#x}", at + 16 * index as u64);
            mismatches.push(Mismatch { what, expected: hex(want), got: hex(got) });
        }
    }
}
