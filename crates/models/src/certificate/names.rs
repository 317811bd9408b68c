//! The names in certificates, which are those of networks, classes and categories.

use kvrm_arm64::Class;
use serde::{Deserialize as _, Deserializer, de};

use crate::architecture::Architecture;
use crate::decoder::Category;

/// A name from a fixed list. As an alias, it does not make `Deserialize` borrow from the input.
pub(super) type Name = &'static str;

/// Reads the name of a network.
pub(super) fn network<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    find(&name, "a network", Architecture::ALL.iter().map(|architecture| architecture.name()))
}

/// Reads the name of a class or category.
pub(super) fn answer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    let classes = Class::ALL.iter().map(|class| class.name());
    find(&name, "a class or category", classes.chain(Category::ALL.iter().map(|category| category.name())))
}

fn find<E: de::Error>(name: &str, what: &str, mut names: impl Iterator<Item = Name>) -> Result<Name, E> {
    names
        .find(|known| *known == name)
        .ok_or_else(|| E::custom(format_args!("{name:?} is not the name of {what}")))
}

#[cfg(test)]
mod tests {
    use crate::certificate::{Certificate, Domain, Exactness, Failure, Sweep};

    #[test]
    fn a_certificate_that_was_written_is_read_unchanged() {
        let certificate = Certificate {
            network: "decoder",
            parameters: 3,
            sha256: "01".to_owned(),
            domain: Domain { tuples: 1, errors: 2, margin: 0.1, margin_word: 4 },
            sweep: Sweep { words: 1 << 32, allocated: 5, errors: 6 },
            exactness: Exactness {
                on_grid: true,
                largest_weight: 0.7,
                largest_sums: [1, -2, i64::MAX],
                bounds: [3, 4, 5],
                bits: 23.4,
                differences: 8,
            },
            failures: vec![
                Failure::Digest { expected: "01".to_owned(), found: "02".to_owned() },
                Failure::Word { word: u32::MAX, expected: "SHIFT", found: "EXTEND_SHIFT", count: 9 },
                Failure::Label { word: 0, expected: "LOAD", found: "UNKNOWN", count: 10 },
                Failure::Tie { word: 11 },
                Failure::Grid { index: 12, value: 0.3 },
                Failure::Bits { largest_sum: 1 << 40 },
                Failure::Logits { word: 13 },
            ],
        };
        let text = serde_json::to_string(&certificate).expect("a certificate is JSON");
        let read: Certificate = serde_json::from_str(&text).expect("the JSON is a certificate");
        assert_eq!(read, certificate, "from {text}");
        for (known, message) in [("decoder", "of a network"), ("SHIFT", "of a class or category")] {
            let changed = text.replacen(known, "other", 1);
            let error =
                serde_json::from_str::<Certificate>(&changed).expect_err("the name is unknown").to_string();
            assert!(error.starts_with(&format!("\"other\" is not the name {message}")), "{error}");
        }
    }
}
