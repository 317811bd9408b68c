//! Test vectors: state before, a few instructions, state after. The format is described in `docs/vectors.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read as _;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use kvrm_arm64::{Cpu, Features, Stop, disassemble};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::address_space::AddressSpace;
use crate::error::Error;
use crate::image::{ADDRESS_BITS, Image, PAGE_BYTES};
use crate::program::{Permissions, Segment};

/// The most steps a vector may ask for, so that a file of vectors comes to an end.
pub const STEPS_MAX: u64 = 1 << 24;
/// The most text a vector file may hold once it is unpacked.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// One test vector, a line of a vector file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// What it tests.
    pub name: String,
    /// Where the code lies and starts.
    pub pc: Hex<u64>,
    /// The code.
    pub code: Vec<Hex<u32>>,
    /// The budget.
    pub steps: u64,
    /// Whether the guest may write its code.
    #[serde(default, skip_serializing_if = "is_false")]
    pub code_writable: bool,
    /// Optional features the machine has beside those of every machine; `lse` is the one there is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The state before. Registers not named are zero.
    #[serde(default)]
    pub init: State,
    /// The state after, as far as it matters.
    #[serde(rename = "final", default)]
    pub expected: State,
    /// Whether everything that `final` does not name must be as it was, the pc excepted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exact: bool,
}

/// Registers and memory, as far as they are named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// General registers by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub x: BTreeMap<Number<31>, Hex<u64>>,
    /// The stack pointer. Its page is mapped if `init` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp: Option<Hex<u64>>,
    /// The flags: N is 8, Z is 4, C is 2, V is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nzcv: Option<Hex<u32>>,
    /// The pc. Only in `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pc: Option<Hex<u64>>,
    /// Vector registers by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub v: BTreeMap<Number<32>, Hex<u128>>,
    /// Floating-point control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpcr: Option<Hex<u32>>,
    /// Floating-point status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpsr: Option<Hex<u32>>,
    /// The thread pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpidr_el0: Option<Hex<u64>>,
    /// Why the lane stopped. Only in `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopName>,
    /// Stretches of memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mem: Vec<Bytes>,
}

/// A stretch of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bytes {
    /// Where it begins.
    pub at: Hex<u64>,
    /// Its bytes, two digits each.
    #[serde(serialize_with = "write_bytes", deserialize_with = "parse_bytes")]
    pub bytes: Vec<u8>,
}

/// A number written as a string of hexadecimal digits, with or without `0x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex<T>(pub T);

/// A register number below `LIMIT`, written in decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number<const LIMIT: u32>(pub u32);

/// The kind of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants are those of Stop")]
pub enum StopName {
    Exit,
    Halt,
    Breakpoint,
    Syscall,
    Undefined,
    Fault,
    Budget,
}

impl StopName {
    /// The name as [`Stop::name`] gives it.
    const fn text(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Halt => "halt",
            Self::Breakpoint => "breakpoint",
            Self::Syscall => "syscall",
            Self::Undefined => "undefined",
            Self::Fault => "fault",
            Self::Budget => "budget",
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl<T: fmt::LowerHex> Serialize for Hex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", self.0))
    }
}

impl<'de, T: TryFrom<u128>> Deserialize<'de> for Hex<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        // The standard parser alone would also take a sign.
        let number = if digits.starts_with('+') { None } else { u128::from_str_radix(digits, 16).ok() };
        number.and_then(|number| T::try_from(number).ok()).map(Self).ok_or_else(|| {
            let bits = 8 * size_of::<T>();
            serde::de::Error::custom(format_args!("`{text}` is no hexadecimal number of up to {bits} bits"))
        })
    }
}

impl<const LIMIT: u32> Serialize for Number<LIMIT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, const LIMIT: u32> Deserialize<'de> for Number<LIMIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Only the usual spelling, so that no two keys are the same register.
        let usual = |number: &u32| *number < LIMIT && number.to_string() == text;
        text.parse().ok().filter(usual).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format_args!("`{text}` is no register number from 0 to {}", LIMIT - 1))
        })
    }
}

/// Reads a map in which no key stands twice.
fn unique<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord + fmt::Debug,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Unique<K, V>(PhantomData<(K, V)>);
    impl<'de, K: Deserialize<'de> + Ord + fmt::Debug, V: Deserialize<'de>> Visitor<'de> for Unique<K, V> {
        type Value = BTreeMap<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = access.next_entry::<K, V>()? {
                if map.contains_key(&key) {
                    return Err(serde::de::Error::custom(format_args!("{key:?} stands twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Unique(PhantomData))
}

fn write_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect::<Option<_>>().ok_or_else(|| {
        serde::de::Error::custom(format_args!(
            "`{text}` is no sequence of bytes of two hexadecimal digits each"
        ))
    })
}

/// Why a line is no vector.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct VectorError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

/// Reads a vector file: one JSON object a line, blank lines ignored; a name ending in `.gz` means compressed.
///
/// # Errors
/// If the file cannot be read, or a line is no vector.
pub fn open(path: &Path) -> Result<Vec<Vector>, OpenError> {
    let fail = |source| Error::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(fail)?;
    let unpacked: Box<dyn std::io::Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(std::io::BufReader::new(file)))
    } else {
        Box::new(file)
    };
    let mut text = String::new();
    unpacked.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::TooLarge { path: path.to_owned(), max: TEXT_BYTES_MAX }.into());
    }
    Ok(parse(&path.display().to_string(), &text)?)
}

/// Why a vector file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum OpenError {
    /// The file cannot be read.
    Read(#[from] Error),
    /// A line is no vector.
    Line(#[from] VectorError),
}

/// Parses the text of a vector file.
///
/// # Errors
/// At the first line that is no vector.
pub fn parse(file: &str, text: &str) -> Result<Vec<Vector>, VectorError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let fail = |problem| VectorError { file: file.to_owned(), line: index + 1, problem };
            let vector: Vector = serde_json::from_str(line).map_err(|error| {
                // The parser saw one line and would call it line 1.
                let text = error.to_string();
                let problem = text.rsplit_once(" at line ").map_or(&text[..], |(problem, _)| problem);
                fail(format!("{problem}, at column {}", error.column()))
            })?;
            vector.validate().map_err(fail)?;
            Ok(vector)
        })
        .collect()
}

/// Reads mapped memory.
pub type ReadMemory<'a> = &'a dyn Fn(u64, &mut [u8]) -> Result<(), Stop>;

/// The machine a vector ended up as.
pub struct Outcome<'a> {
    /// The registers.
    pub cpu: &'a Cpu,
    /// The stop.
    pub stop: Stop,
    /// Reads mapped memory.
    pub read: ReadMemory<'a>,
}

impl fmt::Debug for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:?}", self.stop, self.cpu)
    }
}

/// A difference between what a vector expects and what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The register or address.
    pub what: String,
    /// What the vector says.
    pub expected: String,
    /// What came out.
    pub got: String,
}

impl Vector {
    /// Checks what types alone cannot.
    ///
    /// # Errors
    /// What is wrong with the vector.
    pub fn validate(&self) -> Result<(), String> {
        let fits =
            |at: u64, bytes: usize| at.checked_add(bytes as u64).is_some_and(|end| end <= 1 << ADDRESS_BITS);
        if self.code.is_empty() {
            return Err("`code` is empty".into());
        }
        if !self.pc.0.is_multiple_of(4) {
            return Err(format!("`pc` {:#x} is not a multiple of 4", self.pc.0));
        }
        if !fits(self.pc.0, 4 * self.code.len()) {
            return Err(format!("`code` at {:#x} leaves the {ADDRESS_BITS}-bit address space", self.pc.0));
        }
        if let Some(Bytes { at, .. }) = self.init.mem.iter().find(|mem| !fits(mem.at.0, mem.bytes.len())) {
            return Err(format!("`init.mem` at {:#x} leaves the {ADDRESS_BITS}-bit address space", at.0));
        }
        if let Some(Bytes { at, .. }) = self.expected.mem.iter().find(|mem| !fits(mem.at.0, mem.bytes.len()))
        {
            return Err(format!("`final.mem` at {:#x} leaves the {ADDRESS_BITS}-bit address space", at.0));
        }
        if self.steps > STEPS_MAX {
            return Err(format!("`steps` is {}, more than the {STEPS_MAX} a vector may take", self.steps));
        }
        if self.init.pc.is_some() || self.init.stop.is_some() {
            return Err("`init` has a `pc` or a `stop`, which belong to `final`".into());
        }
        if let Some(nzcv) =
            [self.init.nzcv, self.expected.nzcv].into_iter().flatten().find(|nzcv| nzcv.0 > 15)
        {
            return Err(format!("`nzcv` {:#x} has more than four bits", nzcv.0));
        }
        if let Some(feature) = self.features.iter().find(|feature| *feature != "lse") {
            return Err(format!("unknown feature `{feature}`; the one there is is `lse`"));
        }
        Ok(())
    }

    /// The features the machine must have.
    #[must_use]
    pub fn machine_features(&self) -> Features {
        Features { lse: self.features.iter().any(|feature| feature == "lse"), ..Features::ARMV8_0 }
    }

    /// The memory before the first step.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        const PAGE: u64 = PAGE_BYTES as u64;
        let code: Vec<u8> = self.code.iter().flat_map(|word| word.0.to_le_bytes()).collect();
        let mut segments = Vec::new();
        let permissions = if self.code_writable { Permissions::RWX } else { Permissions::RX };
        segments.push(Segment { address: self.pc.0, bytes: code.len() as u64, data: code, permissions });
        for Bytes { at, bytes } in &self.init.mem {
            let (address, data) = (at.0, bytes.clone());
            segments.push(Segment { address, bytes: data.len() as u64, data, permissions: Permissions::RW });
        }
        if let Some(sp) = self.init.sp.filter(|sp| sp.0 < 1 << ADDRESS_BITS) {
            let (address, permissions) = (sp.0 & !(PAGE - 1), Permissions::RW);
            segments.push(Segment { address, bytes: PAGE, data: Vec::new(), permissions });
        }
        segments
    }

    /// The registers before the first step.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        let init = &self.init;
        let mut cpu = Cpu::new(self.pc.0, init.sp.map_or(0, |sp| sp.0));
        for (n, value) in &init.x {
            cpu.set_x(n.0, value.0);
        }
        for (n, value) in &init.v {
            cpu.v[n.0 as usize] = value.0;
        }
        cpu.nzcv = init.nzcv.map_or(0, |nzcv| nzcv.0);
        cpu.fpcr = init.fpcr.map_or(0, |fpcr| fpcr.0);
        cpu.fpsr = init.fpsr.map_or(0, |fpsr| fpsr.0);
        cpu.tpidr_el0 = init.tpidr_el0.map_or(0, |tpidr| tpidr.0);
        cpu
    }

    /// Runs the vector on the CPU reference.
    #[must_use]
    pub fn run(&self) -> Vec<Mismatch> {
        let mismatch = |got| vec![Mismatch { what: "vector".into(), expected: "a valid one".into(), got }];
        if let Err(problem) = self.validate() {
            return mismatch(problem);
        }
        let image = match Image::new(&self.segments(), self.machine_features()) {
            Ok(image) => Arc::new(image),
            Err(error) => return mismatch(error.to_string()),
        };
        let mut memory = AddressSpace::new(image, usize::MAX);
        let mut cpu = self.cpu();
        let stop = kvrm_arm64::run(&mut cpu, &mut memory, self.steps);
        let read = |address, out: &mut [u8]| Ok(memory.read_bytes(address, out, None)?);
        self.compare(&Outcome { cpu: &cpu, stop, read: &read })
    }

    /// What differs between the expected and a given outcome.
    #[must_use]
    pub fn compare(&self, outcome: &Outcome<'_>) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        let mut check = |what: &str, expected: Option<u128>, before: u128, got: u128| {
            // What is not named counts only if the vector is exact, and then must be as before.
            let expected = expected.or(self.exact.then_some(before));
            if let Some(expected) = expected.filter(|&expected| expected != got) {
                let (expected, got) = (format!("{expected:#x}"), format!("{got:#x}"));
                mismatches.push(Mismatch { what: what.to_owned(), expected, got });
            }
        };
        let (before, after, named) = (self.cpu(), outcome.cpu, &self.expected);
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
        if let Some(expected) = named.stop.filter(|stop| stop.text() != outcome.stop.name()) {
            let (expected, got) = (expected.text().to_owned(), outcome.stop.to_string());
            mismatches.push(Mismatch { what: "stop".into(), expected, got });
        }
        self.compare_memory(outcome, &mut mismatches);
        mismatches
    }

    fn compare_memory(&self, outcome: &Outcome<'_>, mismatches: &mut Vec<Mismatch>) {
        let mut check = |at: u64, want: &[u8]| {
            let mut got = vec![0; want.len()];
            match (outcome.read)(at, &mut got) {
                Ok(()) if got == want => {}
                Ok(()) => differing(at, want, &got, mismatches),
                Err(stop) => {
                    let (what, got) = (format!("memory at {at:#x}"), stop.to_string());
                    mismatches.push(Mismatch { what, expected: hex(want), got });
                }
            }
        };
        let named = || self.expected.mem.iter().map(|Bytes { at, bytes }| (at.0, &bytes[..]));
        if !self.exact {
            named().for_each(|(at, bytes)| check(at, bytes));
            return;
        }
        // All mapped pages with what they held, under what `final` says of them.
        let segments = self.segments();
        let mapped: BTreeSet<u64> = segments.iter().flat_map(pages).collect();
        for &page in &mapped {
            let mut want = vec![0; PAGE_BYTES];
            for (at, bytes) in segments.iter().map(|s| (s.address, &s.data[..])).chain(named()) {
                overlay(page, &mut want, at, bytes);
            }
            check(page, &want);
        }
        // What `final` names outside them cannot be right; reading it says how.
        let outside =
            |at: u64, bytes: &[u8]| (at..at + bytes.len() as u64).any(|at| !mapped.contains(&(at & !0xfff)));
        for (at, bytes) in named().filter(|(at, bytes)| outside(*at, bytes)) {
            check(at, bytes);
        }
    }

    /// The failure of this vector, as a disassembled and aligned list.
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

/// The pages a segment touches.
fn pages(segment: &Segment) -> impl Iterator<Item = u64> + use<> {
    let range = segment.range();
    (range.start & !(PAGE_BYTES as u64 - 1)..range.end).step_by(PAGE_BYTES)
}

/// Copies into a page what part of `bytes`, which lie at `at`, falls into it.
fn overlay(page: u64, content: &mut [u8], at: u64, bytes: &[u8]) {
    let end = page + content.len() as u64;
    let (from, to) = (at.max(page), (at + bytes.len() as u64).min(end));
    if from < to {
        let source = &bytes[(from - at) as usize..(to - at) as usize];
        content[(from - page) as usize..(to - page) as usize].copy_from_slice(source);
    }
}

/// Reports the stretches of memory that differ, in runs of up to sixteen bytes.
fn differing(at: u64, want: &[u8], got: &[u8], mismatches: &mut Vec<Mismatch>) {
    for (index, (want, got)) in want.chunks(16).zip(got.chunks(16)).enumerate() {
        if want != got {
            let what = format!("memory at {:#x}", at + 16 * index as u64);
            mismatches.push(Mismatch { what, expected: hex(want), got: hex(got) });
        }
    }
}
