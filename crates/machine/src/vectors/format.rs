//! The format: a vector as it stands in a file. `docs/vectors.md` describes it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// Optional features the machine has beside those of every machine: `lse`, `fp`, `aes`, `pmull`, `sha1`, `sha256`.
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
            "`{text}` is no sequence of bytes of two hexadecimal digits each"
        ))
    })
}
