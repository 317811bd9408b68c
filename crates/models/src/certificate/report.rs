//! Certificates as text.

use std::fmt::{self, Display, Formatter};

use super::{Certificate, Failure};

/// A table of the results, then the failures.
impl Display for Certificate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { network, parameters, sha256, domain, sweep, exactness, failures } = self;
        let mut line = |what: &str, value: String| writeln!(f, "{what:<24}{value}");
        let grid = if exactness.on_grid { "multiples of 2^-6" } else { "off the grid of 2^-6" };
        let thousands = |number: u64| {
            let digits = number.to_string();
            let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(ascii).collect();
            groups.join(",")
        };
        let sums = |sums: [i64; 3]| sums.map(|sum| thousands(sum.unsigned_abs())).join(" / ");
        line("network", format!("{network}, {} parameters", thousands(*parameters as u64)))?;
        line("sha256", sha256.clone())?;
        line("tuples", format!("{}, {} wrong", thousands(domain.tuples), thousands(domain.errors)))?;
        line("least margin", format!("{} at {:#010x}", domain.margin, domain.margin_word))?;
        line("words", format!("{}, {} wrong", thousands(sweep.words), thousands(sweep.errors)))?;
        line("of them allocated", thousands(sweep.allocated))?;
        line("weights", format!("{grid}, largest {}", exactness.largest_weight))?;
        line("largest sum by layer", format!("{} units of 2^-12", sums(exactness.largest_sums)))?;
        line("bound by intervals", format!("{} units of 2^-12", sums(exactness.bounds)))?;
        line("bits of the largest", format!("{:.2} of 24", exactness.bits))?;
        line("integer = f32 = folded", format!("but for {} tuples", thousands(exactness.differences)))?;
        line("verdict", if self.holds() { "proved".to_owned() } else { "NOT PROVED".to_owned() })?;
        failures.iter().try_for_each(|failure| writeln!(f, "  {failure}"))
    }
}

fn ascii(digits: &[u8]) -> &str {
    str::from_utf8(digits).unwrap_or_default()
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digest { expected, found } => write!(f, "the weights are {found}, not {expected}"),
            Self::Word { word, expected, found, count } => {
                write!(f, "{word:#010x} is {expected}; the network says {found} ({count} such)")
            }
            Self::Label { word, expected, found, count } => {
                write!(f, "{word:#010x} is {expected} in the table; its label is {found} ({count} such)")
            }
            Self::Tie { word } => write!(f, "{word:#010x} has two greatest logits"),
            Self::Grid { index, value } => {
                write!(f, "weight {index} is {value}, no multiple of 2^-6 below 2^9")
            }
            Self::Bits { largest_sum } => {
                write!(f, "a sum can reach {largest_sum} units of 2^-12; f32 is exact below 2^24")
            }
            Self::Logits { word } => write!(f, "{word:#010x} has other logits in integers than in f32"),
        }
    }
}
