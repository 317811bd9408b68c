//! Where networks come from: files, and networks that others publish measurements of.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use kvrm::spiking::networks::{
    Balanced, Fly, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly, microcircuit, vogels_abbott,
};
use kvrm::spiking::{self, Injection, Input, Network};

/// What the help says of networks.
pub(crate) const HELP: &str = "\
A network is a file, a description in .toml, a saved one in .safetensors or a NIR graph in .nir, or one of these names:
  feagi           an area of FEAGI, 500,000 neurons with 100 synapses each; a hundredth of them is made to fire each step
  microcircuit    Potjans and Diesmann (2014), 77,169 neurons and 299 million synapses; --scale is at most 1
  vogels-abbott   Vogels and Abbott (2005), 4,000 neurons with 80 synapses each, 2 % of all
  fly             the size of a fly's brain, 138,000 neurons and 15 million synapses, drawn at random
  balanced        Brunel (2000), 10,000 neurons with 1,000 synapses each
--scale multiplies their neurons; those of microcircuit and vogels-abbott have as many synapses fewer or more, too.";

/// Networks with names, and the scale at which all can be measured on a CPU in seconds.
pub(crate) const NAMES: [(&str, f64); 5] =
    [("feagi", 1.0), ("microcircuit", 0.1), ("vogels-abbott", 1.0), ("fly", 1.0), ("balanced", 1.0)];

/// The part of the neurons of FEAGI's area that fires in each step.
const FEAGI_FIRES: f64 = 0.01;
/// Synapses of a neuron of FEAGI's area.
const FEAGI_SYNAPSES: u32 = 100;
/// Neurons of the balanced network at scale 1.
const BALANCED_NEURONS: f64 = 10_000.0;
/// The seed of networks with names, unless another one is given.
const SEED: u64 = 55;

/// How a network with a name is made.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MakeArgs {
    /// How large a network with a name is, relative to its own size.
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) scale: Option<f64>,
    /// What the random numbers of a network with a name depend on.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How far the resting potential of vogels-abbott lies above its threshold, mV: 1 as published, more to fire faster.
    #[arg(long, value_name = "MV", allow_negative_numbers = true, value_parser = millivolts)]
    drive: Option<f64>,
    /// The length of a step of a NIR graph, ms; that of the program that wrote it.
    #[arg(long, value_name = "MS", value_parser = factor)]
    dt: Option<f64>,
}

/// Parses a number that is more than 0.
pub(crate) fn factor(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Parses a potential.
fn millivolts(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number of mV".to_owned())
}

/// A network, and what drives it.
pub(crate) struct Source {
    /// What to call it.
    pub(crate) title: String,
    pub(crate) network: Arc<Network>,
    /// How strongly it is driven, if it is vogels-abbott.
    pub(crate) drive: Option<f64>,
    /// FEAGI's area has to be made to fire, and this is the seed of who does.
    feagi_seed: Option<u64>,
}

impl Source {
    /// Opens the file, or makes the network, of this name.
    pub(crate) fn open(name: &str, make: &MakeArgs) -> Result<Self> {
        if make.drive.is_some() && name != "vogels-abbott" {
            bail!("--drive: '{name}' has none, only vogels-abbott");
        }
        let is_named = NAMES.iter().any(|(known, _)| *known == name);
        if !is_named {
            for (option, is_given) in [("--scale", make.scale.is_some()), ("--seed", make.seed.is_some())] {
                if is_given {
                    bail!("{option}: '{name}' is a file, whose network is what it is");
                }
            }
            let names = NAMES.map(|(name, _)| name).join(", ");
            let path = Path::new(name);
            let network = match spiking::open(path, make.dt) {
                Err(error) if path.extension().is_none() && !path.exists() => {
                    return Err(error).with_context(|| format!("'{name}' is none of {names}, and no file"));
                }
                opened => opened?,
            };
            let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(Self { title, network: Arc::new(network), drive: None, feagi_seed: None });
        }
        if make.dt.is_some() {
            bail!("--dt is for NIR graphs, and '{name}' has a step of its own");
        }
        let (scale, seed) = (make.scale.unwrap_or(1.0), make.seed.unwrap_or(SEED));
        let neurons = |at_one: f64| match (at_one * scale).round() {
            neurons if (1.0..f64::from(u32::MAX)).contains(&neurons) => Ok(neurons as u32),
            neurons => bail!("--scale {scale}: '{name}' would have {neurons} neurons"),
        };
        let mut used_drive = None;
        let network = match name {
            "feagi" => feagi(neurons(500_000.0)?, FEAGI_SYNAPSES, seed),
            "microcircuit" => microcircuit(&Microcircuit { scale, seed, ..Microcircuit::default() }),
            "vogels-abbott" => {
                let published = VogelsAbbott::default();
                let drive = make.drive.unwrap_or(published.drive);
                used_drive = Some(drive);
                vogels_abbott(&VogelsAbbott { neurons: neurons(4000.0)?, drive, seed, ..published })
            }
            "fly" => fly(&Fly { neurons: neurons(138_000.0)?.max(20), seed, ..Fly::default() }),
            _ => balanced(&Balanced { neurons: neurons(BALANCED_NEURONS)?, seed, ..Balanced::default() }),
        };
        let network = network.with_context(|| format!("'{name}' cannot be made"))?;
        let feagi_seed = (name == "feagi").then_some(seed);
        Ok(Self { title: name.to_owned(), network: Arc::new(network), drive: used_drive, feagi_seed })
    }

    /// What drives the network in `steps` steps from `begin`, beside what the user injects.
    pub(crate) fn input(&self, begin: u64, steps: u64) -> Result<Input> {
        let Some(seed) = self.feagi_seed else {
            return Ok(Input::default());
        };
        let mut injections = Vec::new();
        for step in 0..steps {
            // That of a step is its own, so it does not matter how a run is cut into parts.
            let seed = seed.wrapping_add(begin + step);
            let input = feagi_input(self.network.neurons(), FEAGI_FIRES, 1, seed)?;
            injections.extend(input.injections().iter().map(|injection| Injection { step, ..*injection }));
        }
        Ok(Input::new(injections)?)
    }

    /// Whether its rates are known from the literature, by population.
    pub(crate) fn published_rate(&self, population: &str) -> Option<f64> {
        let rates = [
            ("L23E", 0.86),
            ("L23I", 2.80),
            ("L4E", 4.45),
            ("L4I", 5.93),
            ("L5E", 7.59),
            ("L5I", 8.64),
            ("L6E", 1.09),
            ("L6I", 7.88),
        ];
        let is_known = self.title == "microcircuit";
        rates.iter().find(|(name, _)| is_known && *name == population).map(|(_, rate)| *rate)
    }
}
