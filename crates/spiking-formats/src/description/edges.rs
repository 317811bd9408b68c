//! Edge lists: files with one synapse per row.

use std::collections::BTreeMap;
use std::ops::Range;

use kvrm_spiking::{FileError, ListedSynapse};
use serde::Deserialize;

use super::context::{BuildContext, DescriptionError, SourceText};
use crate::columns::{self, Column};

/// An edge list. Its neurons are numbered across all populations, or within the named ones.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edges {
    file: String,
    /// The name of the column with presynaptic neurons.
    #[serde(default = "source_column")]
    source: String,
    #[serde(default = "target_column")]
    target: String,
    weight: Value,
    /// The factor of all weights.
    #[serde(default = "one")]
    weight_scale: f64,
    /// The delay, in ms. The default is one step.
    delay: Option<Value>,
    /// The population in which sources are numbered.
    source_population: Option<String>,
    target_population: Option<String>,
}

fn source_column() -> String {
    "source".to_owned()
}

fn target_column() -> String {
    "target".to_owned()
}

const fn one() -> f64 {
    1.0
}

/// A value for all edges, or the name of a column.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or the name of a column")]
enum Value {
    Constant(f64),
    Column(String),
}

impl Edges {
    pub(super) fn connect(
        &self,
        context: &mut BuildContext,
        text: &SourceText<'_>,
        span: &Range<usize>,
    ) -> Result<(), FileError> {
        let path = text.folder.join(&self.file);
        let file = path.display().to_string();
        let mut names = vec![self.source.as_str(), &self.target];
        names.extend(
            [Some(&self.weight), self.delay.as_ref()].into_iter().flatten().filter_map(Value::column),
        );
        let mut table = columns::read(&path, &names)?.into_iter();
        let mut next = || table.next().unwrap_or(Column::Floats(Vec::new()));
        let (sources, targets) = (next(), next());
        let weights = self.weight.values(&file, sources.len(), &mut next)?;
        let delays = match &self.delay {
            Some(delay) => delay.values(&file, sources.len(), &mut next)?,
            None => vec![context.dt; sources.len()],
        };
        let ends =
            [&self.source_population, &self.target_population].map(|name| context.numbered(name.as_deref()));
        let [from, to] = ends.map(|end| {
            end.map_err(|error| match error {
                DescriptionError::Text(message) => text.error_at(span, message),
                DescriptionError::Network(source) => text.network_error(span, "edges", source),
            })
        });
        let (from, to) = (from?, to?);
        let sources = sources.below(&file, &self.source, from.end - from.start)?;
        let targets = targets.below(&file, &self.target, to.end - to.start)?;
        let mut lists = BTreeMap::<(usize, usize), Vec<ListedSynapse>>::new();
        for row in 0..sources.len() {
            let (source, target) =
                (context.locate(from.start + sources[row]), context.locate(to.start + targets[row]));
            let steps = (delays[row] / context.dt).round();
            if !(1.0..=65535.0).contains(&steps) {
                let expected = format!("1 to 65535 steps of {} ms", context.dt);
                let found = format!("{} ms in row {row}", delays[row]);
                return Err(FileError::content(&file, "delay", expected, found));
            }
            let weight = weights[row] * self.weight_scale;
            let link = ListedSynapse { source: source.1, target: target.1, weight, delay: steps as u32 };
            lists.entry((source.0, target.0)).or_default().push(link);
        }
        for ((source, target), links) in lists {
            let (source, target) = (context.ranges[source].0, context.ranges[target].0);
            context
                .builder
                .connect_list(source, target, &links)
                .map_err(|source| FileError::network(&file, "edges", source))?;
        }
        Ok(())
    }
}

impl Value {
    fn column(&self) -> Option<&str> {
        match self {
            Self::Constant(_) => None,
            Self::Column(name) => Some(name),
        }
    }

    fn values(
        &self,
        file: &str,
        rows: usize,
        next: &mut impl FnMut() -> Column,
    ) -> Result<Vec<f64>, FileError> {
        match self {
            Self::Constant(value) => Ok(vec![*value; rows]),
            Self::Column(name) => next().finite(file, name),
        }
    }
}

impl BuildContext {
    /// Returns the neurons that the numbers of a list select, given the name of a population or `None` for all neurons.
    fn numbered(&self, name: Option<&str>) -> Result<Range<u32>, DescriptionError> {
        let all = 0..self.ranges.last().map_or(0, |(_, range)| range.end);
        let Some(name) = name else { return Ok(all) };
        let id = self.population(name)?;
        Ok(self.ranges[id.number() as usize].1.clone())
    }

    /// Returns the population of a neuron and its index in it.
    fn locate(&self, neuron: u32) -> (usize, u32) {
        let population = self.ranges.partition_point(|(_, range)| range.end <= neuron);
        (population, neuron - self.ranges[population].1.start)
    }
}
