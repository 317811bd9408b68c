//! Descriptions of networks in TOML. `docs/spiking.md` lists the keys; `examples/networks` has some.

mod edges;
mod models;
mod rules;
mod site;

use std::collections::HashMap;
use std::path::Path;

use kvrm_spiking::{Builder, FileError, Kind, Model, Network, PopulationId, random};
use serde::Deserialize;
use toml::Spanned;

use self::edges::Edges;
use self::models::{Feagi, Izhikevich, Lif, Poisson};
use self::rules::Projection;
use self::site::{Place, Refused, Site};

/// The file as a whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// ms.
    dt: f64,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    fraction_bits: u32,
    /// In the unit of weights.
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
    /// Instead of their number.
    dimensions: Option<[u32; 3]>,
    /// Where potentials begin.
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

/// Makes the network that a TOML file describes. Files it names are looked for beside it.
///
/// # Errors
/// The file cannot be read, or describes no network; the message names the line.
pub fn describe(path: &Path) -> Result<Network, FileError> {
    let text = std::fs::read_to_string(path).map_err(|source| FileError::read(path, source))?;
    let file = path.display().to_string();
    let place = Place { file: &file, text: &text, folder: path.parent().unwrap_or(Path::new("")) };
    let description: Description = toml::from_str(&text).map_err(|error| place.syntax(&error))?;
    build(&description, &place)
}

fn build(description: &Description, place: &Place<'_>) -> Result<Network, FileError> {
    let &Description { dt, seed, fraction_bits, .. } = description;
    let mut builder = Builder::new(dt).seed(seed).fraction_bits(fraction_bits);
    if let Some(limit) = description.injection_limit {
        let units = limit * f64::from(fraction_bits.min(31)).exp2();
        if !(0.0..=f64::from(i32::MAX)).contains(&units) {
            let expected = "one that is below 2^31 weight units";
            return Err(FileError::content(place.file, "injection_limit", expected, limit.to_string()));
        }
        builder = builder.injection_limit(units as i32);
    }
    let mut site = Site { builder, populations: HashMap::new(), ranges: Vec::new(), dt, fraction_bits };
    for population in &description.populations {
        let span = population.span();
        let population = population.get_ref();
        let within = format!("population `{}`", population.name);
        let fail = |source| place.network(&span, &within, source);
        let id = populate(&mut site, population, seed).map_err(|error| match error {
            Refused::Text(message) => place.at(&span, format!("{within}: {message}")),
            Refused::Spiking(source) => fail(source),
        })?;
        if site.populations.insert(population.name.clone(), id).is_some() {
            return Err(place.at(&span, format!("a second {within}")));
        }
    }
    for projection in &description.projections {
        let span = projection.span();
        projection.get_ref().connect(&mut site).map_err(|(within, refused)| match refused {
            Refused::Text(message) => place.at(&span, format!("{within}: {message}")),
            Refused::Spiking(source) => place.network(&span, &within, source),
        })?;
    }
    for edges in &description.edges {
        edges.get_ref().connect(&mut site, place, &edges.span())?;
    }
    site.builder.build().map_err(|source| FileError::network(place.file, "no network", source))
}

fn populate(site: &mut Site, population: &Population, seed: u64) -> Result<PopulationId, Refused> {
    let refused = |message: &str| Err(Refused::Text(message.to_owned()));
    let Population { neurons, dimensions, potential, feagi, lif, izhikevich, poisson, .. } = population;
    let dimensions = match (neurons, dimensions) {
        (Some(neurons), None) => [*neurons, 1, 1],
        (None, Some(dimensions)) => *dimensions,
        _ => return refused("expected either `neurons` or `dimensions`"),
    };
    let models = [
        feagi.as_ref().map(|model| Model::Feagi(model.into())),
        lif.as_ref().map(|model| Model::Lif(model.into())),
        izhikevich.as_ref().map(|model| Model::Izhikevich(model.into())),
        poisson.as_ref().map(|model| Model::Poisson(model.into())),
    ];
    let mut models = models.into_iter().flatten();
    let (Some(model), None) = (models.next(), models.next()) else {
        return refused("expected one of the tables `feagi`, `lif`, `izhikevich` and `poisson`");
    };
    if model.kind() == Kind::Poisson && potential.is_some() {
        return refused("a Poisson source has no potential");
    }
    // Numbers of a neuron that depend on nothing but the seed, the population and its place in it.
    let key = [seed as u32, (seed >> 32) as u32, site.ranges.len() as u32]
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
    let id = site.builder.populate(&population.name, dimensions, model.kind(), neuron)?;
    let start = site.ranges.last().map_or(0, |(_, range)| range.end);
    site.ranges.push((id, start..start + dimensions.iter().product::<u32>()));
    Ok(id)
}
