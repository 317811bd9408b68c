//! `cargo xtask train`: trains the dispatch network, the small dispatch network, the decoder network, the networks that look at
//! loops, and the memory oracle.
//!
//! The same seed gives the same file, bit for bit: on every host for the first three, on the same kind of processor for the
//! others.

mod burn;
mod recipe;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kvrm_models::{
    Architecture, DecoderNetwork, DispatchNetwork, Dtype, Entry, MANIFEST, Manifest, Weights,
    certify_decoder, certify_dispatch, sha256_of,
};
use kvrm_train::{
    NotExact, Progress, TrainedWeights, train_decoder, train_dispatch, train_small_dispatch, tune_decoder,
    tune_dispatch,
};

use self::recipe::recipe;
use crate::loops::log_path;
use crate::prefetch::streams_folder;
use crate::root::root;

/// Arguments of `cargo xtask train`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The network to train.
    network: Network,
    /// The file for the weights, which is also listed in the manifest of its folder [default:
    /// weights/ARCHITECTURE.safetensors].
    #[arg(long)]
    out: Option<PathBuf>,
    /// The only seed to try [default: 1, 2, and so on to 8, until one gives an exact network; 1 for networks that are not
    /// exact].
    #[arg(long)]
    seed: Option<u64>,
    /// The number of steps, for networks that look at loops and the memory oracle [default: 10000, 16000, 60000 or 5000].
    #[arg(long)]
    steps: Option<u32>,
    /// The log of loops, for networks that look at loops [default: target/loops/log.txt], or the folder of streams, for the memory
    /// oracle [default: target/prefetch/streams].
    #[arg(long)]
    log: Option<PathBuf>,
    /// Fine-tune the weights of this file, of a dispatch or decoder network, until they are right on all words. Their certificate is
    /// proved before they are written.
    #[arg(long, value_name = "FILE", requires = "out", conflicts_with_all = ["steps", "log", "list_only"])]
    from: Option<PathBuf>,
    /// Train nothing: list an existing file of a network that looks at loops or of the memory oracle in the manifest.
    #[arg(long)]
    list_only: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Network {
    /// 10,279 weights: names the class of every word.
    Dispatch,
    /// 135 weights: guesses the class of a word from its top byte.
    SmallDispatch,
    /// 10,799 weights: names the category of every word.
    Decoder,
    /// 1,083,397 weights: proposes kind and counter of a loop, from the log of `cargo xtask loops log`.
    Loops,
    /// 508,161 weights: recognises well-known loops, from the same log.
    Patterns,
    /// 25,473 weights: estimates iterations, from the same log and the pattern recogniser.
    Iterations,
    /// 271,124 weights: predicts the next pages of a lane, from the streams of `cargo xtask prefetch log`.
    Oracle,
}

impl Network {
    const fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::SmallDispatch => "small-dispatch",
            Self::Decoder => "decoder",
            Self::Loops => "loops",
            Self::Patterns => "patterns",
            Self::Iterations => "iterations",
            Self::Oracle => "oracle",
        }
    }

    const fn architecture(self) -> Architecture {
        match self {
            Self::Dispatch => Architecture::Dispatch,
            Self::SmallDispatch => Architecture::SmallDispatch,
            Self::Decoder => Architecture::Decoder,
            Self::Loops => Architecture::LoopDetector,
            Self::Patterns => Architecture::PatternRecogniser,
            Self::Iterations => Architecture::IterationPredictor,
            Self::Oracle => Architecture::MemoryOracle,
        }
    }

    /// Returns the domain on which an exact network is proved to be right.
    const fn verified_domain(self) -> Option<&'static str> {
        match self {
            Self::Dispatch | Self::Decoder => Some("all 2^32 words"),
            Self::SmallDispatch | Self::Loops | Self::Patterns | Self::Iterations | Self::Oracle => None,
        }
    }

    /// Returns the data of a network that does not become exact, and the command that makes it.
    fn data(self) -> (PathBuf, &'static str) {
        match self {
            Self::Oracle => (streams_folder(), "cargo xtask prefetch log"),
            _ => (log_path(), "cargo xtask loops log"),
        }
    }

    /// Returns the trainer of a network that may become exact.
    fn trainer(self) -> Option<Trainer> {
        match self {
            Self::Dispatch => Some(train_dispatch),
            Self::SmallDispatch => Some(train_small_dispatch),
            Self::Decoder => Some(train_decoder),
            Self::Loops | Self::Patterns | Self::Iterations | Self::Oracle => None,
        }
    }
}

/// A function that trains a network with a seed until it is exact.
type Trainer = fn(u64, &mut dyn FnMut(&Progress)) -> Result<TrainedWeights, NotExact>;

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(from) = &args.from {
        return tune(args, from);
    }
    let Some(trainer) = args.network.trainer() else {
        let (network, out) = (args.network, out(args));
        let (name, architecture) = (network.name(), network.architecture());
        let seed = args.seed.unwrap_or(1);
        let (data, maker) = network.data();
        let data = args.log.clone().unwrap_or(data);
        let job = burn::Job { name, architecture, seed, steps: args.steps, data: &data, maker, out: &out };
        if !args.list_only {
            burn::train(&job)?;
        }
        let entry = burn::entry(&job)?;
        println!("{}: {}", out.display(), entry.result);
        burn::update_card(&entry, &out)?;
        return add_to_manifest(entry, &out);
    };
    let seeds = args.seed.map_or(1..=8, |seed| seed..=seed);
    for seed in seeds {
        let start = Instant::now();
        match try_seed(|observer| trainer(seed, observer)) {
            Ok(trained) => return write(args, (seed, None), &trained, start.elapsed().as_secs_f64()),
            Err(error) => println!("seed {seed}: {error}"),
        }
    }
    bail!("no seed gave an exact {} network", args.network.name());
}

/// Fine-tunes the weights of a file, proves their certificate and writes them.
fn tune(args: &Args, from: &Path) -> Result<()> {
    let name = args.network.name();
    let failed = || format!("--from '{}'", from.display());
    let tuner = match args.network {
        Network::Dispatch => tune_dispatch,
        Network::Decoder => tune_decoder,
        _ => bail!("{}: {name} networks are not proved; expected dispatch or decoder", failed()),
    };
    let weights = Weights::load(from).with_context(failed)?;
    let (found, expected) = (weights.architecture(), args.network.architecture());
    if found != expected {
        bail!("{}: the weights are those of {found}; expected {expected}", failed());
    }
    let (seed, start) = (args.seed.unwrap_or(1), Instant::now());
    let trained = try_seed(|observer| tuner(weights.values(), seed, observer)).with_context(failed)?;
    let certificate = match args.network {
        Network::Decoder => certify_decoder(&DecoderNetwork::from_flat(&trained.weights)?, None, &|_| ()),
        _ => certify_dispatch(&DispatchNetwork::from_flat(&trained.weights)?, None, &|_| ()),
    };
    if !certificate.holds() {
        bail!("the tuned network has no certificate:\n{certificate}");
    }
    write(args, (seed, Some(&weights)), &trained, start.elapsed().as_secs_f64())
}

/// Returns the path of the file for the weights.
fn out(args: &Args) -> PathBuf {
    let default = || root().join("weights").join(format!("{}.safetensors", args.network.architecture()));
    args.out.clone().unwrap_or_else(default)
}

fn try_seed(
    train: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<TrainedWeights, NotExact>,
) -> Result<TrainedWeights, NotExact> {
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{bar:30} step {pos}/{len}, {eta} left at most: {msg}") {
        bar.set_style(style);
    }
    let trained = train(&mut |progress| {
        bar.set_length(u64::from(progress.steps));
        bar.set_position(u64::from(progress.step));
        let Progress { errors, margin, loss, .. } = progress;
        bar.set_message(format!("{errors} errors, margin {margin:.2}, loss {loss:.4}"));
    });
    bar.finish_and_clear();
    trained
}

/// Writes weights, which were trained with a seed, perhaps from others.
fn write(
    args: &Args,
    (seed, parent): (u64, Option<&Weights>),
    trained: &TrainedWeights,
    seconds: f64,
) -> Result<()> {
    let name = args.network.name();
    let out = out(args);
    let recipe = recipe(name, seed) + if parent.is_some() { " --from FILE --out FILE" } else { "" };
    let Progress { step, margin, .. } = trained.progress;
    let mut weights = Weights::from_flat(args.network.architecture(), trained.weights.clone())?;
    weights.metadata.seed = Some(seed);
    weights.metadata.recipe = Some(recipe.clone());
    if let Some(parent) = parent {
        let sha256 = sha256_of(parent.values());
        weights.metadata.config.insert("parent".to_owned(), sha256);
    }
    weights.metadata.verified_domain = args.network.verified_domain().map(str::to_owned);
    weights.metadata.metrics.insert("steps".to_owned(), step.into());
    weights.metadata.metrics.insert("least_margin".to_owned(), f64::from(margin));
    weights.save(&out, Dtype::F32)?;
    list(args.network, (seed, recipe), trained, &out)?;
    println!("seed {seed}, {step} steps, {seconds:.0} s, least margin {margin}");
    println!("{}  {} (its weights)", sha256_of(&trained.weights), out.display());
    Ok(())
}

/// Adds a file of an exact network to the manifest of its folder.
fn list(network: Network, (seed, recipe): (u64, String), trained: &TrainedWeights, out: &Path) -> Result<()> {
    let file = out.file_name().and_then(|name| name.to_str()).context("the file needs a name in UTF-8")?;
    let bytes = fs::read(out).with_context(|| format!("cannot read {}", out.display()))?;
    let mut entry = Entry::new(file, network.architecture(), &bytes);
    let Progress { step, errors, margin, .. } = trained.progress;
    entry.weights_sha256 = Some(sha256_of(&trained.weights));
    entry.recipe = recipe;
    entry.seed = Some(seed);
    entry.verified_domain = network.verified_domain().map(str::to_owned);
    entry.result = format!("{errors} errors after {step} steps, least margin {margin}");
    add_to_manifest(entry, out)
}

/// Adds an entry to the manifest of a file's folder, in place of an existing one.
fn add_to_manifest(entry: Entry, out: &Path) -> Result<()> {
    let path = out.with_file_name(MANIFEST);
    let mut manifest = if path.exists() { Manifest::load(&path)? } else { Manifest::default() };
    manifest.files.retain(|other| other.name != entry.name);
    manifest.files.push(entry);
    manifest.files.sort_by(|a, b| a.name.cmp(&b.name));
    fs::write(&path, manifest.to_toml()?).with_context(|| format!("cannot write {}", path.display()))
}
