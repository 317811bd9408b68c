//! The types of a vector, as serialized in a file. `docs/vectors.md` describes the format.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A test vector: one line of a vector file.
///
/// ```
/// use kvrm_machine::vectors;
///
/// let line = r#"{"name": "add", "pc": "0x1000", "code": ["0x91000400"], "steps": 1, "final": {"x": {"0": "0x1"}}}"#;
/// let parsed = vectors::parse("add.jsonl", line)?; // add x0, x0, #1
/// assert!(parsed[0].run().is_empty(), "no mismatches");
/// # Ok::<(), vectors::VectorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// The subject of the test; in the corpora it begins with the name of the encoding.
    pub name: String,
    /// The address of the code, at which execution starts. A multiple of 4.
    pub pc: Hex<u64>,
    /// The words of the code.
    pub code: Vec<Hex<u32>>,
    /// The budget: the largest number of steps to retire, at most [`STEPS_MAX`](super::STEPS_MAX).
    pub steps: u64,
    /// Whether the code is mapped writable.
    #[serde(default, skip_serializing_if = "is_false")]
    pub code_writable: bool,
    /// The optional features of the machine, by the names of `kvrm_arm64::Feature`, or of processors that have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The state before the first step. Registers that are not named are zero.
    #[serde(default)]
    pub init: State,
    /// The expected state after the run, `final` in the file. Only the named parts are compared, unless the vector is
    /// exact.
    #[serde(rename = "final", default)]
    pub expected: State,
    /// Whether all registers and mapped memory that `final` does not name, except the pc, must be unchanged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exact: bool,
}

/// A partial state: the registers and memory that a vector names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// General registers by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub x: BTreeMap<Number<31>, Hex<u64>>,
    /// The stack pointer. Its page is mapped if `init` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp: Option<Hex<u64>>,
    /// The condition flags as four bits: N is 8, Z is 4, C is 2, V is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nzcv: Option<Hex<u32>>,
    /// The pc. Only in `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pc: Option<Hex<u64>>,
    /// Vector registers by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique")]
    pub v: BTreeMap<Number<32>, Hex<u128>>,
    /// The floating-point control register FPCR.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpcr: Option<Hex<u32>>,
    /// The floating-point status register FPSR, including QC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpsr: Option<Hex<u32>>,
    /// The thread pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpidr_el0: Option<Hex<u64>>,
    /// The kind of stop. Only in `final`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopName>,
    /// Ranges of memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mem: Vec<Bytes>,
}

/// A range of memory with its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bytes {
    /// The address of the first byte.
    pub at: Hex<u64>,
    /// The bytes, each written as two hexadecimal digits.
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
#[non_exhaustive]
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
    /// Returns the name that [`Stop::name`](kvrm_arm64::Stop::name) gives.
    pub(super) const fn text(self) -> &'static str {
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
        // `from_str_radix` alone would accept a plus sign.
        let number = if digits.starts_with('+') { None } else { u128::from_str_radix(digits, 16).ok() };
        number.and_then(|number| T::try_from(number).ok()).map(Self).ok_or_else(|| {
            let bits = 8 * size_of::<T>();
            serde::de::Error::custom(format_args!(
                "`{text}` is not a hexadecimal number of up to {bits} bits"
            ))
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
        // Accept only the canonical spelling, so that no two keys name the same register.
        let is_canonical = |number: &u32| *number < LIMIT && number.to_string() == text;
        text.parse().ok().filter(is_canonical).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format_args!(
                "`{text}` is not a register number from 0 to {}",
                LIMIT - 1
            ))
        })
    }
}

/// Deserializes a map and refuses duplicate keys.
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
                    return Err(serde::de::Error::custom(format_args!("the key {key:?} occurs twice")));
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

pub(super) fn hex(bytes: &[u8]) -> String {
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
            "`{text}` is not a sequence of bytes of two hexadecimal digits each"
        ))
    })
}
