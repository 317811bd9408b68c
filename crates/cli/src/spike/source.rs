//! The sources of networks: files, and built-in networks with published measurements.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use kvrm::spiking::networks::{
    Balanced, Fly, HpcBenchmark, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly,
    hpc_benchmark, microcircuit, vogels_abbott,
};
use kvrm::spiking::{self, Injection, Input, Network};

/// The paragraph on networks at the end of help texts.
pub(crate) const HELP: &str = "\
A network is a file (a description in .toml, a saved network in .safetensors, or a NIR graph in .nir) or one of these names:
  feagi           an area of FEAGI, 500,000 neurons with 100 synapses each; 1 % of the neurons fire in each step
  microcircuit    Potjans and Diesmann (2014), 77,169 neurons and 299 million synapses; --scale is at most 1
  vogels-abbott   Vogels and Abbott (2005), 4,000 neurons with 80 synapses each, a connection probability of 2 %
  fly             the size of a fly's brain, 138,000 neurons and 15 million synapses, drawn at random
  balanced        Brunel (2000), 10,000 neurons with 1,000 synapses each
  hpc-benchmark   after Morrison and others (2007), 11,250 neurons with 11,250 synapses each; those between excitatory neurons learn
--scale multiplies the number of neurons. In microcircuit and vogels-abbott it also multiplies the synapses per neuron.";

/// The names of the built-in networks, each with a scale at which a CPU measures it in seconds.
pub(crate) const NAMES: [(&str, f64); 6] = [
    ("feagi", 1.0),
    ("microcircuit", 0.1),
    ("vogels-abbott", 1.0),
    ("fly", 1.0),
    ("balanced", 1.0),
    ("hpc-benchmark", 0.25),
];

/// The share of the neurons of FEAGI's area that fire in each step.
const FEAGI_FIRES: f64 = 0.01;
/// The number of synapses of each neuron of FEAGI's area.
const FEAGI_SYNAPSES: u32 = 100;
/// The number of neurons of the balanced network at scale 1.
const BALANCED_NEURONS: f64 = 10_000.0;
/// The default seed of built-in networks.
const SEED: u64 = 55;

/// The options for building a network.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MakeArgs {
    /// The size of a network with a name, relative to its published size. The default is 1.
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) scale: Option<f64>,
    /// The seed of the random numbers from which a network with a name is built. The default is 55.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The distance of the resting potential of vogels-abbott above its threshold, in mV. The default is 1, the published
    /// value; with more, the neurons fire faster.
    #[arg(long, value_name = "MV", allow_negative_numbers = true, value_parser = millivolts)]
    pub(crate) drive: Option<f64>,
    /// The length of a step of a NIR graph, in ms, as in the program that wrote it. The default is 0.1.
    #[arg(long, value_name = "MS", value_parser = factor)]
    pub(crate) dt: Option<f64>,
}

/// Parses a number above 0.
pub(crate) fn factor(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "expected a number above 0, such as 0.5".to_owned())
}

/// Parses a potential in mV.
pub(crate) fn millivolts(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number of mV, such as 1.5".to_owned())
}

/// Parses a time in ms.
pub(crate) fn milliseconds(text: &str) -> Result<f64, String> {
    let time: Option<f64> = text.parse().ok().filter(|time: &f64| *time >= 0.0 && time.is_finite());
    time.ok_or_else(|| "expected a time in ms, 0 or more, such as 100".to_owned())
}

/// Returns the number of steps of a second.
pub(crate) fn one_second(dt: f64) -> u64 {
    (1000.0 / dt).round().max(1.0) as u64
}

/// A network and its input.
pub(crate) struct Source {
    /// The name of the network: the built-in name, or the file name without its extension.
    pub(crate) title: String,
    pub(crate) network: Arc<Network>,
    /// The drive in mV, if the network is vogels-abbott.
    pub(crate) drive: Option<f64>,
    /// The seed of the choice of the neurons that are made to fire, if the network is FEAGI's area.
    feagi_seed: Option<u64>,
}

impl Source {
    /// Opens a file, or builds the built-in network with this name.
    pub(crate) fn open(name: &str, make: &MakeArgs) -> Result<Self> {
        if make.drive.is_some() && name != "vogels-abbott" {
            bail!("--drive: '{name}' has none, only vogels-abbott");
        }
        let is_named = NAMES.iter().any(|(known, _)| *known == name);
        if !is_named {
            let names = NAMES.map(|(name, _)| name).join(", ");
            for (option, is_given) in [("--scale", make.scale.is_some()), ("--seed", make.seed.is_some())] {
                if is_given {
                    bail!(
                        "{option}: '{name}' is a file, whose network has a fixed size and seed; expected one of {names}"
                    );
                }
            }
            let path = Path::new(name);
            let network = match spiking::open(path, make.dt) {
                Err(error) if path.extension().is_none() && !path.exists() => {
                    return Err(error)
                        .with_context(|| format!("'{name}' is neither a file nor one of {names}"));
                }
                opened => opened?,
            };
            let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(Self { title, network: Arc::new(network), drive: None, feagi_seed: None });
        }
        if make.dt.is_some() {
            bail!("--dt is for NIR graphs, and the step of '{name}' is fixed");
        }
        let (scale, seed) = (make.scale.unwrap_or(1.0), make.seed.unwrap_or(SEED));
        let neurons = |at_one: f64| match (at_one * scale).round() {
            neurons if (1.0..f64::from(u32::MAX)).contains(&neurons) => Ok(neurons as u32),
            neurons => bail!(
                "--scale {scale}: '{name}' would have {neurons} neurons, expected at least 1 and at most {}",
                u32::MAX - 1
            ),
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
            "hpc-benchmark" => hpc_benchmark(&HpcBenchmark { scale, seed }),
            _ => balanced(&Balanced { neurons: neurons(BALANCED_NEURONS)?, seed, ..Balanced::default() }),
        };
        let network = network.with_context(|| format!("'{name}' cannot be built"))?;
        let feagi_seed = (name == "feagi").then_some(seed);
        Ok(Self { title: name.to_owned(), network: Arc::new(network), drive: used_drive, feagi_seed })
    }

    /// Returns the input of `steps` steps from `begin`, without the injections of the user.
    pub(crate) fn input(&self, begin: u64, steps: u64) -> Result<Input> {
        let Some(seed) = self.feagi_seed else {
            return Ok(Input::default());
        };
        let mut injections = Vec::new();
        for step in 0..steps {
            // Each step has its own seed, so the input does not depend on the parts of a run.
            let seed = seed.wrapping_add(begin + step);
            let input = feagi_input(self.network.neurons(), FEAGI_FIRES, 1, seed)?;
            injections.extend(input.injections().iter().map(|injection| Injection { step, ..*injection }));
        }
        Ok(Input::new(injections)?)
    }

    /// Returns the published rate of a population in spikes per second, if there is one.
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
