//! The metadata of a file of weights: strings in the file, typed values in memory.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use crate::{Architecture, Error};

/// The origin and the measured quality of weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// The seed of the random numbers of the training.
    pub seed: Option<u64>,
    /// The command that makes the file.
    pub recipe: Option<String>,
    /// The SHA-256 of the training data.
    pub data_hash: Option<String>,
    /// The domain on which the network is proved to be right.
    pub verified_domain: Option<String>,
    /// Settings of the training.
    pub config: BTreeMap<String, String>,
    /// Measured values, all finite.
    pub metrics: BTreeMap<String, f64>,
}

/// The key that identifies metadata written by KVRM. Other programs may use keys of the same names.
const FORMAT: &str = "format";
const KVRM: &str = "kvrm-weights";

const VERSION: &str = "format_version";
const CURRENT: &str = "1";

const CONFIG: &str = "config.";
const METRICS: &str = "metrics.";

impl Metadata {
    /// Parses the strings of a file. Returns no architecture and empty metadata if another program wrote them.
    pub(crate) fn parse(
        file: &str,
        map: &BTreeMap<String, String>,
    ) -> Result<(Option<Architecture>, Self), Error> {
        let mut metadata = Self::default();
        if map.get(FORMAT).map(String::as_str) != Some(KVRM) {
            return Ok((None, metadata));
        }
        let version = map.get(VERSION).map_or("none", String::as_str);
        if version != CURRENT {
            return Err(Error::metadata(file, VERSION, CURRENT, version));
        }
        let mut architecture = None;
        for (key, value) in map {
            match key.as_str() {
                FORMAT | VERSION => {}
                "architecture" => {
                    let named = Architecture::from_name(value);
                    let unknown =
                        || Error::metadata(file, key, format!("one of {}", Architecture::names()), value);
                    architecture = Some(named.ok_or_else(unknown)?);
                }
                "seed" => metadata.seed = Some(number(file, key, value, "a number of 64 bits")?),
                "recipe" => metadata.recipe = Some(value.clone()),
                "data_hash" => metadata.data_hash = Some(value.clone()),
                "verified_domain" => metadata.verified_domain = Some(value.clone()),
                _ => {
                    if let Some(name) = key.strip_prefix(CONFIG) {
                        metadata.config.insert(name.to_owned(), value.clone());
                    } else if let Some(name) = key.strip_prefix(METRICS) {
                        let metric: f64 = number(file, key, value, "a finite number")?;
                        if !metric.is_finite() {
                            return Err(Error::metadata(file, key, "a finite number", value));
                        }
                        metadata.metrics.insert(name.to_owned(), metric);
                    } else {
                        return Err(Error::metadata(file, key, "a key of format version 1", "another one"));
                    }
                }
            }
        }
        if architecture.is_none() {
            return Err(Error::metadata(file, "architecture", "a name", "no such key"));
        }
        Ok((architecture, metadata))
    }

    /// Returns the metadata as strings for a file.
    pub(crate) fn to_map(&self, architecture: Architecture) -> BTreeMap<String, String> {
        let mut map = BTreeMap::new();
        let mut set = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        set(FORMAT, Some(KVRM.to_owned()));
        set(VERSION, Some(CURRENT.to_owned()));
        set("architecture", Some(architecture.name().to_owned()));
        set("seed", self.seed.map(|seed| seed.to_string()));
        set("recipe", self.recipe.clone());
        set("data_hash", self.data_hash.clone());
        set("verified_domain", self.verified_domain.clone());
        for (name, value) in &self.config {
            set(&format!("{CONFIG}{name}"), Some(value.clone()));
        }
        for (name, value) in &self.metrics {
            set(&format!("{METRICS}{name}"), Some(value.to_string()));
        }
        map
    }
}

fn number<T: FromStr>(file: &str, key: &str, value: &str, expected: impl Display) -> Result<T, Error> {
    value.parse().map_err(|_| Error::metadata(file, key, expected.to_string(), format!("`{value}`")))
}
