//! Networks described in TOML. `docs/spiking.md` lists the keys, and `crates/kvrm/examples/networks` contains examples.

mod context;
mod edges;
mod models;
mod rules;

use std::collections::HashMap;
use std::path::Path;

use kvrm_spiking::{Builder, FileError, Kind, Model, Network, PopulationId, random};
use serde::Deserialize;
use toml::Spanned;

use self::context::{BuildContext, DescriptionError, SourceText};
use self::edges::Edges;
use self::models::{Feagi, Izhikevich, Lif, Poisson};
use self::rules::Projection;

/// The contents of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// The length of a step, in ms.
    dt: f64,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    fraction_bits: u32,
    /// The injection limit, in the unit of weights.
    injection_limit: Option<f64>,
    #[serde(default, rename = "population")]
    populations: Vec<Spanned<Population>>,
    #[serde(default, rename = "projection")]
    projections: Vec<Spanned<Projection>>,
    #[serde(default)]
    edges: Vec<Spanned<Edges>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Population {
    name: String,
    neurons: Option<u32>,
    /// The extents of a grid, instead of the number of neurons.
    dimensions: Option<[u32; 3]>,
    /// The initial membrane potential.
    potential: Option<Potential>,
    feagi: Option<Feagi>,
    lif: Option<Lif>,
    izhikevich: Option<Izhikevich>,
    poisson: Option<Poisson>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number or { low = NUMBER, high = NUMBER }")]
enum Potential {
    Same(f64),
    Between { low: f64, high: f64 },
}

/// Builds the network that a TOML file describes. Paths of other files are relative to its folder.
///
/// # Errors
/// The file cannot be read or describes no valid network. The message contains the line.
pub fn describe(path: &Path) -> Result<Network, FileError> {
    let contents = std::fs::read_to_string(path).map_err(|source| FileError::read(path, source))?;
    let file = path.display().to_string();
    let text =
        SourceText { file: &file, contents: &contents, folder: path.parent().unwrap_or(Path::new("")) };
    let description: Description = toml::from_str(&contents).map_err(|error| text.syntax_error(&error))?;
    build(&description, &text)
}

fn build(description: &Description, text: &SourceText<'_>) -> Result<Network, FileError> {
    let &Description { dt, seed, fraction_bits, .. } = description;
    let mut builder = Builder::new(dt).seed(seed).fraction_bits(fraction_bits);
    if let Some(limit) = description.injection_limit {
        let units = limit * f64::from(fraction_bits.min(31)).exp2();
        if !(0.0..=f64::from(i32::MAX)).contains(&units) {
            let expected = "0 or more, and less than 2^31 weight units";
            return Err(FileError::content(text.file, "injection_limit", expected, limit.to_string()));
        }
        builder = builder.injection_limit(units as i32);
    }
    let mut context =
        BuildContext { builder, populations: HashMap::new(), ranges: Vec::new(), dt, fraction_bits };
    for population in &description.populations {
        let span = population.span();
        let population = population.get_ref();
        let within = format!("population `{}`", population.name);
        let fail = |source| text.network_error(&span, &within, source);
        let id = populate(&mut context, population, seed).map_err(|error| match error {
            DescriptionError::Text(message) => text.error_at(&span, format!("{within}: {message}")),
            DescriptionError::Network(source) => fail(source),
        })?;
        if context.populations.insert(population.name.clone(), id).is_some() {
            return Err(text.error_at(&span, format!("{within}: the name is used twice")));
        }
    }
    for projection in &description.projections {
        let span = projection.span();
        projection.get_ref().connect(&mut context).map_err(|(within, error)| match error {
            DescriptionError::Text(message) => text.error_at(&span, format!("{within}: {message}")),
            DescriptionError::Network(source) => text.network_error(&span, &within, source),
        })?;
    }
    for edges in &description.edges {
        edges.get_ref().connect(&mut context, text, &edges.span())?;
    }
    context.builder.build().map_err(|source| FileError::network(text.file, "network", source))
}

fn populate(
    context: &mut BuildContext,
    population: &Population,
    seed: u64,
) -> Result<PopulationId, DescriptionError> {
    let error = |message: &str| Err(DescriptionError::Text(message.to_owned()));
    let Population { neurons, dimensions, potential, feagi, lif, izhikevich, poisson, .. } = population;
    let dimensions = match (neurons, dimensions) {
        (Some(neurons), None) => [*neurons, 1, 1],
        (None, Some(dimensions)) => *dimensions,
        _ => return error("expected either `neurons` or `dimensions`"),
    };
    let models = [
        feagi.as_ref().map(|model| Model::Feagi(model.into())),
        lif.as_ref().map(|model| Model::Lif(model.into())),
        izhikevich.as_ref().map(|model| Model::Izhikevich(model.into())),
        poisson.as_ref().map(|model| Model::Poisson(model.into())),
    ];
    let mut models = models.into_iter().flatten();
    let (Some(model), None) = (models.next(), models.next()) else {
        return error("expected one of the tables `feagi`, `lif`, `izhikevich` and `poisson`");
    };
    if model.kind() == Kind::Poisson && potential.is_some() {
        return error("a Poisson source has no potential");
    }
    // Random numbers that depend only on the seed, the population and the index of the neuron in it.
    let key = [seed as u32, (seed >> 32) as u32, context.ranges.len() as u32]
        .into_iter()
        .fold(0, |key, word| random::pcg(key ^ word));
    let potential = |index: u32| {
        potential.map(|potential| match potential {
            Potential::Same(value) => value,
            Potential::Between { low, high } => {
                low + (high - low) * f64::from(random::draw(key, index)) / (1_u64 << 32) as f64
            }
        })
    };
    let neuron = |index| (model.clone(), potential(index));
    let id = context.builder.populate(&population.name, dimensions, model.kind(), neuron)?;
    let start = context.ranges.last().map_or(0, |(_, range)| range.end);
    context.ranges.push((id, start..start + dimensions.iter().product::<u32>()));
    Ok(id)
}
